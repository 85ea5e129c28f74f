from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench import InvalidInputError, Settings
from workbench.providers.fake_embedder import FakeEmbedder


def test_an_option_that_ask_has_not_is_told_by_its_name_with_what_to_write_instead(tmp_path: Path) -> None:
    settings = Settings.load(library=tmp_path / "library.duckdb", user="ann", chat="extractive")
    with workbench.open(settings=settings, embedder=FakeEmbedder()) as wb:
        talk = wb.conversations.create()
        calls: list[tuple[Callable[[], Any], str]] = [
            (lambda: wb.ask("?", project="Thesis"), r"^ask\(\) takes no 'project': .*scope=Scope.project"),
            (lambda: asyncio.run(wb.aask("?", project="Thesis")), r"^aask\(\) takes no 'project'"),
            (lambda: wb.ask("?", limit=3), r"^ask\(\) takes no 'limit': .*top_k"),
            (lambda: wb.ask("?", colour="red"), r"^ask\(\) takes no 'colour'\. Its options are top_k, "),
            (lambda: talk.ask("?", scope=None), r"^ask\(\) takes no 'scope': a conversation has its own"),
            (lambda: talk.ask_again(limit=3), r"^ask_again\(\) takes no 'limit': .*top_k"),
            (lambda: talk.astream("?", limit=3), r"^astream\(\) takes no 'limit': .*top_k"),
        ]
        for call, told in calls:
            with pytest.raises(TypeError, match=told):
                call()


@pytest.mark.parametrize("name", ["top_k", "max_per_paper"])
def test_a_call_takes_as_many_passages_as_the_settings_do(tmp_path: Path, name: str) -> None:
    settings = Settings.load(library=tmp_path / "library.duckdb", user="ann", chat="extractive")
    with workbench.open(settings=settings, embedder=FakeEmbedder()) as wb:
        assert len(wb.search("?", **{name: 200})) == 0
        for call in (wb.search, wb.ask, wb.stream):
            with pytest.raises(
                InvalidInputError, match=f"{name} must be a whole number from 1 to 200, not 201"
            ):
                call("?", **{name: 201})  # type: ignore[operator]

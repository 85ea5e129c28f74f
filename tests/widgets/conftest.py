"""What tests of the panels may use: a workbench that follows a script, and a real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from tests.widgets.scripted import ScriptedWorkbench
from workbench import Workbench
from workbench.providers.fake_embedder import FakeEmbedder


@pytest.fixture
def scripted() -> ScriptedWorkbench:
    """A workbench with two projects, the second used last, and no paper."""
    made = ScriptedWorkbench()
    made.projects.create("Notes on engines")
    made.projects.create("Weaving")
    return made


@pytest.fixture
def wb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A real library with project "Weaving", a small embedder, and answers in the papers' own words."""
    monkeypatch.setenv("WORKBENCH_CHAT", "extractive")
    with workbench.open(
        tmp_path / "library" / "library.duckdb", user="ada", embedder=FakeEmbedder()
    ) as opened:
        opened.projects.create("Weaving")
        yield opened

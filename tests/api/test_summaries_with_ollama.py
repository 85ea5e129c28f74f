"""Summaries as an Ollama server writes them, or fails to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ollama_server import OllamaServer
from workbench import ProjectSummary, Settings, Workbench


@pytest.fixture
def open_summing(
    library: Path, open_as: Callable[..., Workbench], ollama_server: OllamaServer
) -> Callable[..., Workbench]:
    """Opens Ann's library, which has no summaries at first, beside a server."""
    with open_as("ann")._database.write() as cursor:
        cursor.execute(
            "UPDATE projects SET auto_summary = NULL, summary_updated_at = NULL, summary_by = NULL"
        )

    def open_library(**more: Any) -> Workbench:
        settings = Settings.load(
            library=library, user="ann", ollama_host=ollama_server.url, summaries="auto", **more
        )
        return open_as("ann", settings=settings)

    return open_library


def summary(wb: Workbench) -> ProjectSummary:
    assert wb._background.wait(30)
    return wb.summaries.get(1)


def test_the_model_of_projects_writes_the_summary_and_its_thinking_stays_out(
    open_summing: Callable[..., Workbench], ollama_server: OllamaServer
) -> None:
    ollama_server.models["big:latest"] = ("completion",)
    ollama_server.reply("<think>Which two? ", "Maybe…</think>", "It compares ", "two minerals.")
    found = summary(open_summing(project_chat_model="big"))
    assert (found.text, found.written_by) == ("It compares two minerals.", "ollama/big")
    (asked,) = ollama_server.sent("/api/chat")
    assert "Title: Minerals" in asked["messages"][1]["content"]


def test_a_server_that_breaks_off_or_only_thinks_leaves_no_summary_and_no_error(
    open_summing: Callable[..., Workbench], ollama_server: OllamaServer
) -> None:
    ollama_server.reply("<think>for ever")
    wb = open_summing()
    assert summary(wb).text is None
    ollama_server.reply("It compares two minerals.")
    wb.projects.update(1, goal="Know them")
    assert summary(wb).text == "It compares two minerals."


def test_what_a_model_wrote_stays_while_the_server_is_down_unless_a_summary_is_asked_for(
    open_summing: Callable[..., Workbench], ollama_server: OllamaServer
) -> None:
    ollama_server.reply("It compares two minerals.")
    wb = open_summing()
    written = summary(wb)
    ollama_server.stop()
    later = open_summing()
    later.projects.update(1, goal="Know them")
    assert summary(later) == written
    asked_for = later.summaries.refresh(1)
    assert asked_for.written_by == "extractive"
    assert "Goal: Know them. It holds 2 papers" in str(asked_for.text)


def test_without_a_server_the_papers_own_words_make_the_first_summary_and_the_next(
    open_summing: Callable[..., Workbench], ollama_server: OllamaServer
) -> None:
    ollama_server.stop()
    wb = open_summing()
    assert summary(wb).written_by == "extractive"
    wb.projects.update(1, goal="Know them")
    assert "Goal: Know them." in str(summary(wb).text)

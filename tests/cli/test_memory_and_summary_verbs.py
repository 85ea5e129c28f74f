from __future__ import annotations

from pathlib import Path

import pytest

import workbench
from tests.cli.conftest import Cli
from workbench import Scope
from workbench.providers.fake_embedder import FakeEmbedder

MINERALS = (
    "A project on Minerals. It holds 2 papers: “A study of bolmarite” and “A study of arvenite”. "
    "Recurring terms: mineral, northern, mines, samples, washed, dried."
)


@pytest.fixture
def told(library: Path) -> None:
    """Ann has said two things, one of them in her project."""
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
        wb.memory.remember("I use mice.")
        wb.memory.remember("We melt mice\u202e-shaped ore.", scope=Scope.project(1))


@pytest.mark.usefixtures("told")
def test_memories_are_listed_recalled_and_forgotten(cli: Cli) -> None:
    found = cli("memory", "list", "--json").json["memories"]
    assert [(m["id"], m["text"], m["project_id"]) for m in found] == [
        (2, "We melt mice\u202e-shaped ore.", 1),
        (1, "I use mice.", None),
    ]
    header, *lines = cli("memory", "list").out.splitlines()
    assert header.split() == ["id", "last", "seen", "project", "text"]
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert lines[0].endswith("Minerals  We melt mice-shaped ore.")
    recalled = cli("memory", "recall", "which dose for mice?", "--limit", "1", "--json").json["memories"]
    assert len(recalled) == 1
    for option, number in ((["--orphans"], 1), (["--project", "minerals"], 2)):
        assert [m["id"] for m in cli("memory", "recall", "mice", *option, "--json").json["memories"]] == [
            number
        ]
        assert [m["id"] for m in cli("memory", "list", *option, "--json").json["memories"]] == [number]
    assert cli("memory", "edit", 1, "I use old mice.").out == "Memory 1: I use old mice.\n"
    assert cli("memory", "edit", 1, "I use mice.", "--json").json["memory"]["text"] == "I use mice."
    assert cli("memory", "forget", 1, 2).out == "Forgotten: 1, 2.\n"
    assert cli("memory", "list", "--json").json == {"memories": []}


def test_a_statement_is_remembered_by_command_and_a_question_is_not(cli: Cli) -> None:
    [kept] = cli("memory", "add", "I use mice.", "--json").json["memories"]
    assert (kept["text"], kept["project_id"]) == ("I use mice.", None)
    assert cli("memory", "add", "We melt ore.", "--project", "minerals").out.endswith(
        "Minerals  We melt ore.\n"
    )
    refused = cli("memory", "add", "Do I use mice?")
    assert (refused.status, refused.out) == (1, "")
    assert refused.error == "There is no statement in this to remember: say it in a plain sentence."


@pytest.mark.usefixtures("told")
def test_what_memory_cannot_do_is_one_line_and_nobody_sees_anothers(
    cli: Cli, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Memory not found: 9" in cli("memory", "forget", 1, 9).error
    assert "exclude each other" in cli("memory", "list", "--project", "Minerals", "--orphans").error
    assert "Project not found" in cli("memory", "recall", "mice", "--project", "Ores").error
    assert cli("memory", "forget", "--json", 1).json == {"forgotten": [1]}
    monkeypatch.setenv("WORKBENCH_USER", "bob")
    assert cli("memory", "list", "--json").json == {"memories": []}
    assert "Memory not found: 2" in cli("memory", "forget", 2).error


def test_summaries_are_shown_and_written_anew(cli: Cli) -> None:
    shown = cli("summaries", "refresh", "minerals", "--json").json["summaries"]
    assert [(s["project_id"], s["name"], s["text"]) for s in shown] == [(1, "Minerals", MINERALS)]
    assert cli("summaries", "list", "--json").json["summaries"] == shown
    name, text, end = cli("summaries", "show", "Minerals").out.split("\n", 2)
    assert name.startswith("Minerals (20")
    assert (text, end) == (f"  {MINERALS}", "\n")
    assert cli("projects", "create", "Ores").status == 0
    assert "Ores" in cli("summaries", "refresh").out
    assert "Project not found" in cli("summaries", "show", "Caves").error


def test_a_project_is_described_shown_and_found(cli: Cli) -> None:
    changed = cli("projects", "describe", "Minerals", "--description", "Of the north", "--json").json[
        "project"
    ]
    assert (changed["description"], changed["goal"]) == ("Of the north", None)
    cli("summaries", "refresh")
    found = cli("projects", "show", "Minerals", "--json").json
    assert found["project"]["summary"].startswith("Of the north. It holds 2 papers")
    assert found["project"]["summary_updated_at"].startswith("20")
    assert [paper["file"] for paper in found["papers"]] == ["arvenite.pdf", "bolmarite.pdf"]
    lines = cli("projects", "show", "Minerals").out.splitlines()
    assert lines[:2] == ["Minerals (active, 2 papers)", "About: Of the north"]
    assert lines[2].startswith("Summary: Of the north. It holds 2 papers")
    assert lines[3:] == ["  1  A study of arvenite", "  2  A study of bolmarite"]
    (match,) = cli("projects", "find", "northern minerals", "--json").json["projects"]
    assert (match["id"], match["title"]) == (1, "Minerals")
    assert match["summary_snippet"] == found["project"]["summary"][:200]
    assert "Minerals  Of the north." in cli("projects", "find", "northern minerals").out
    emptied = cli("projects", "describe", "Minerals", "--description", "", "--json").json["project"]
    assert emptied["description"] is None
    assert "Say what to change" in cli("projects", "describe", "Minerals").error


def test_the_command_line_leaves_a_summary_behind_by_itself(
    cli: Cli, mineral_files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_SUMMARIES", raising=False)
    assert cli("projects", "create", "Ores").status == 0
    assert cli("add", mineral_files[3], "--project", "Ores").status == 0
    texts = [s["text"] for s in cli("summaries", "list", "--json").json["summaries"]]
    assert texts[1] == "A project on Ores. It holds 1 paper: “A study of dravosite”."

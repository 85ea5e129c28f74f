from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import workbench
from tests.cli.conftest import Cli, run_here
from tests.ollama_server import OllamaServer
from workbench.cli.running import command

MELTING = "What is the melting point of arvenite?"


def test_add_tells_a_person_what_became_of_each_file(
    cli: Cli, mineral_files: list[Path], tmp_path: Path
) -> None:
    run = cli("add", mineral_files[3], tmp_path / "nowhere.pdf", mineral_files[0])
    assert run.out.splitlines() == [
        "ready      dravosite.pdf (pages: 3, chunks: 1)",
        "failed     nowhere.pdf: there is no such file",
        "duplicate  arvenite.pdf (pages: 3, chunks: 1)",
    ]
    assert (run.status, run.error) == (1, "1 of 3 files could not be added.")


def test_add_takes_all_files_of_a_folder(cli: Cli, mineral_files: list[Path]) -> None:
    run = cli("add", mineral_files[0].parent, "--json")
    assert [(f["file"], f["status"]) for f in run.json["files"]] == [
        ("arvenite.pdf", "duplicate"),
        ("bolmarite.pdf", "duplicate"),
        ("cendrite.pdf", "duplicate"),
        ("dravosite.pdf", "ready"),
        ("elbergite.pdf", "ready"),
    ]


def test_projects_are_made_listed_changed_and_deleted(cli: Cli) -> None:
    cli("projects", "create", "Ores", "--description", "What is dug", "--goal", "Dig less")
    assert cli("projects", "list").out.splitlines() == [
        "id  papers  name      description",
        "1   2       Minerals",
        "2   0       Ores      What is dug",
    ]
    assert cli("projects", "add", "Ores", "3", "1").out == "“Ores” has 2 papers.\n"
    assert cli("projects", "remove", "2", "1", "2").error == "Paper not found in project “Ores”: 2."
    assert cli("projects", "remove", "2", "1").out == "“Ores” has 1 paper.\n"
    assert cli("projects", "rename", "ores", "Rocks").out == "The project is now called “Rocks”.\n"
    assert cli("projects", "archive", "Rocks").out == "“Rocks” is archived.\n"
    assert cli("projects", "list", "--archived").out.splitlines()[1:] == ["2   1       Rocks  What is dug"]
    assert cli("projects", "archive", "Rocks", "--undo").out == "“Rocks” is active.\n"
    gone = cli("projects", "delete", "Rocks")
    assert gone.out == "Deleted project “Rocks” with its chat. Its papers (1) stay in the library.\n"
    assert [p["id"] for p in cli("papers", "list", "--json").json["papers"]] == [1, 2, 3]


def test_a_project_called_by_a_number_is_meant_before_the_one_with_that_id(cli: Cli) -> None:
    cli("projects", "create", "1")
    cli("projects", "add", "1", "3")
    assert [p["paper_id"] for p in cli("search", "point", "--project", "1", "--json").json["passages"]] == [3]
    assert (
        cli("papers", "list", "--project", "2", "--json").json
        == cli("papers", "list", "--project", "1", "--json").json
    )


def test_papers_are_listed_and_removed(cli: Cli) -> None:
    assert cli("papers", "list").out.splitlines() == [
        "id  state  year  pages  title                 file",
        "1   ready        3      A study of arvenite   arvenite.pdf",
        "2   ready        3      A study of bolmarite  bolmarite.pdf",
        "3   ready        3      A study of cendrite   cendrite.pdf",
    ]
    assert [p["id"] for p in cli("papers", "list", "--orphans", "--json").json["papers"]] == [3]
    assert [p["id"] for p in cli("papers", "list", "--project", "1", "--json").json["papers"]] == [1, 2]
    assert cli("papers", "remove", "1").out == "Removed “A study of arvenite”.\n"
    assert cli("search", MELTING, "--all", "--json").json["papers_in_scope"] == 2
    assert cli("ask", MELTING, "--all", "--json").json["refused"] is True


def test_a_paper_is_shown_with_its_projects(cli: Cli) -> None:
    lines = dict(line.split(None, 1) for line in cli("papers", "show", "1").out.splitlines()[1:])
    assert lines | {"added": "today"} == {
        "authors": "none",
        "year": "none",
        "doi": "none",
        "file": "arvenite.pdf",
        "pages": "3",
        "chunks": "1",
        "state": "ready",
        "added": "today",
        "projects": "Minerals",
    }
    shown = cli("papers", "show", "1", "--json").json
    assert (shown["paper"]["title"], shown["projects"]) == (
        "A study of arvenite",
        [{"id": 1, "name": "Minerals"}],
    )
    assert cli("papers", "show", "3", "--json").json["projects"] == []
    assert "Paper not found" in cli("papers", "show", "99").error


def test_a_cited_page_is_read_and_drawn_with_its_quote(cli: Cli, tmp_path: Path) -> None:
    quote, picture = "The melting point of arvenite is 1013 degrees Celsius.", tmp_path / "page.png"
    assert quote in cli("papers", "page", "1", "2").out
    drawn = cli("papers", "page", "1", "2", "--quote", quote, "--output", picture, "--json")
    assert (drawn.json["page"]["page"], drawn.json["path"], drawn.json["quote_found"]) == (
        2,
        str(picture),
        True,
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    unplaced = cli("papers", "page", "1", "1", "--quote", "Verona sang all night.", "-o", picture)
    assert unplaced.out == f"Wrote {picture}.\n"
    assert unplaced.err.startswith("note: The quote cannot be placed")
    assert cli("papers", "page", "1", "9").error == "“A study of arvenite” has pages 1 to 3, no 9."
    assert "give --output" in cli("papers", "page", "1", "2", "--quote", quote).error
    assert "cannot be written" in cli("papers", "page", "1", "2", "-o", tmp_path / "no" / "page.png").error


def test_a_shared_paper_is_marked_in_the_list(cli: Cli) -> None:
    cli("papers", "share", "1")
    assert cli("papers", "list").out.splitlines()[1].startswith("1   ready, shared  ")


def test_search_shows_passages_to_a_person(cli: Cli) -> None:
    lines = cli("search", MELTING, "--all", "--top-k", "1").out.splitlines()
    assert lines[0].startswith("[1] ")
    assert lines[0].endswith("A study of arvenite, page 1–3")
    assert lines[1].startswith("    Arvenite is a mineral of the northern mines.")
    assert len(lines) == 2


def test_ask_shows_the_answer_and_its_sources_to_a_person(cli: Cli) -> None:
    lines = cli("ask", MELTING, "--project", "Minerals", "--top-k", "1").out.splitlines()
    assert lines[:3] == [
        "**A study of arvenite**",
        "",
        "- The melting point of arvenite is 1013 degrees Celsius. [1]",
    ]
    assert lines[-3:] == [  # the quote is the answer's own sentence
        "[1] ✓ A study of arvenite, page 2 (paper 1)",
        "",
        "2 papers in scope, 1 retrieved, 1 cited. Not retrieved: “A study of bolmarite”.",
    ]


def test_a_search_of_the_orphans_that_finds_nothing_says_where_to_look(cli: Cli) -> None:
    cli("papers", "remove", "3")
    hint = (
        "2 papers of yours are in projects, where this search did not look: choose a project, or all notes."
    )
    run = cli("search", MELTING)
    assert (run.status, run.err) == (0, f"note: {hint}\n")
    look = "Nothing found in: Orphan notes only (0 papers). Use --project NAME or --all to look elsewhere."
    assert run.out.splitlines() == [look]
    asked = cli("ask", MELTING)
    assert (asked.status, asked.err) == (0, f"note: {hint}\n")
    assert asked.out.splitlines()[-1] == look
    assert "There are no papers in it (Orphan notes only)" in asked.out
    assert cli("search", MELTING, "--json").json["warnings"] == [hint]


def test_notes_that_come_after_text_do_not_break_its_line(
    cli: Cli, ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CHAT", "auto")
    monkeypatch.setenv("OLLAMA_HOST", ollama_server.url)
    ollama_server.reply("The melting point of arvenite is 1013 degrees Celsius. [1]", " It", drop_after=2)
    run = cli("ask", MELTING, "--all")
    assert run.out.startswith("The melting point of arvenite is 1013 degrees Celsius. [1] It\n")
    assert run.err == (
        "note: The answer is incomplete: Ollama broke off in the middle of its answer. Ask again.\n"
    )


def test_reprocess_renews_the_papers_named_or_all(cli: Cli) -> None:
    assert cli("reprocess", "2", "1", "2").out.splitlines() == [
        "ready      bolmarite.pdf (pages: 3, chunks: 1)",
        "ready      arvenite.pdf (pages: 3, chunks: 1)",
    ]
    assert [f["paper_id"] for f in cli("reprocess", "--all", "--json").json["files"]] == [1, 2, 3]
    unknown = cli("reprocess", "1", "99")
    assert (unknown.status, unknown.out) == (1, "")
    assert "Paper not found" in unknown.error
    neither, both = cli("reprocess"), cli("reprocess", "1", "--all")
    assert neither.error == both.error == "Name the papers by id, or say --all."


def test_reprocess_goes_on_after_a_paper_that_fails(cli: Cli, library: Path) -> None:
    import duckdb

    with duckdb.connect(str(library)) as connection:
        connection.execute("UPDATE sources SET data = 'no longer a PDF'::BLOB WHERE paper_id = 2")
    run = cli("reprocess", "--all", "--json")
    assert [(f["paper_id"], f["status"]) for f in run.json["files"]] == [
        (1, "ready"),
        (2, "failed"),
        (3, "ready"),
    ]
    assert (run.status, run.error) == (1, "1 of 3 files could not be renewed.")
    assert (
        cli("search", "melting point of bolmarite", "--all", "--top-k", "1", "--json").json["passages"] != []
    )


def test_status_compact_and_backup_say_what_they_did(cli: Cli, library: Path, tmp_path: Path) -> None:
    status = dict(line.split(None, 1) for line in cli("status").out.splitlines())
    assert status == {
        "library": str(library),
        "user": "ann",
        "size": f"{library.stat().st_size / 1e6:.1f} MB",
        "papers": "3",
        "indexing": "0",
        "chunks": "3",
        "projects": "1",
        "embedder": "fake-words-64",
        "generation": "1",
        "chat_model": "extractive",
    }
    assert "MB before, " in cli("compact").out
    copy = tmp_path / "copy.duckdb"
    assert cli("backup", copy).out == f"Wrote {copy}.\n"
    assert [p["id"] for p in run_here("--library", copy, "papers", "list", "--json").json["papers"]] == [
        1,
        2,
        3,
    ]
    assert "exists already" in cli("backup", copy).error


def test_the_library_and_the_user_may_come_from_the_environment(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_LIBRARY", str(library))
    assert len(run_here("papers", "list", "--json").json["papers"]) == 3
    monkeypatch.setenv("WORKBENCH_USER", "bob")
    assert run_here("papers", "list", "--json").json["papers"] == []


def test_demo_asks_the_sample_project_also_the_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_PROJECT_MAX_PAPERS", "2")  # two papers are enough to see it work
    library = tmp_path / "new" / "library.duckdb"
    question = "Does a second thread make embedding faster or slower?"
    first = run_here("--library", library, "demo", "--question", question)
    assert (first.status, first.out.splitlines()[0]) == (0, f"> {question}")
    assert "[1] ✓ Ratios, not milliseconds" in first.out
    assert run_here("--library", library, "demo", "--question", question).out == first.out
    asked = run_here("--library", library, "demo", "--question", question, "--json").json
    assert (asked["refused"], asked["scope"]) == (False, "Sample: retrieval over papers")
    [project] = run_here("--library", library, "projects", "list", "--json").json["projects"]
    assert (project["name"], project["paper_count"]) == ("Sample: retrieval over papers", 2)


# --- help ---------------------------------------------------------------------------------------


def commands(group: click.Command, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    found = {path: group}
    if isinstance(group, click.Group):
        for name, one in group.commands.items():
            found |= commands(one, (*path, name))
    return found


@pytest.mark.parametrize("path", commands(command))
def test_every_verb_explains_itself_and_its_options(path: tuple[str, ...]) -> None:
    run = run_here(*path, "--help")
    assert (run.status, run.err) == (0, "")
    assert run.out.startswith(f"Usage: workbench {' '.join(path)}".rstrip())
    one = commands(command)[path]
    assert one.help
    assert [line for line in run.out.splitlines() if re.match(r"  [a-z]+  .*\.\.\.$", line)] == [], "cut off"
    silent = [p.name for p in one.params if isinstance(p, click.Option) and not p.help]
    assert silent == []


@pytest.mark.parametrize("group", [(), ("projects",), ("papers",)])
def test_a_group_alone_shows_its_help(group: tuple[str, ...]) -> None:
    run = run_here(*group)
    assert (run.status, run.out) == (0, run_here(*group, "--help").out)


def test_the_version_is_the_packages() -> None:
    assert run_here("--version").out.strip().endswith(workbench.__version__)

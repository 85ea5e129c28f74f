"""The forms that programs outside rely on: exactly these verbs, options, fields and exit statuses."""

from __future__ import annotations

from pathlib import Path

import click

from tests.cli.conftest import Cli, run_apart, run_here
from tests.mineral_papers import write_pdf
from workbench.cli.running import command

MELTING = "What is the melting point of arvenite?"
SENTENCE = "The melting point of arvenite is 1013 degrees Celsius."

FILE_FIELDS = {"file", "paper_id", "status", "pages", "chunks", "error"}
PASSAGE_FIELDS = {"n", "file", "title", "page_start", "page_end", "score", "text"}
CITATION_FIELDS = {"n", "file", "title", "page", "quote", "support"}
ANSWER_FIELDS = {"answer", "refused", "citations", "provider", "warnings", "timing"}


def test_from_nothing_to_a_cited_answer(tmp_path: Path, mineral_files: list[Path]) -> None:
    """As a program of its own, once through."""
    library = tmp_path / "new" / "library.duckdb"
    created = run_apart("--library", library, "projects", "create", "Ores").checked()
    assert (created.status, created.out) == (0, "Created project “Ores”.\n")
    added = run_apart(
        "--library", library, "add", *mineral_files[:2], "--project", "Ores", "--json"
    ).checked()
    assert added.status == 0
    assert [set(f) >= FILE_FIELDS for f in added.json["files"]] == [True, True]
    asked = run_apart("--library", library, "ask", MELTING, "--project", "Ores", "--json").checked()
    assert (asked.status, asked.json["citations"][0]["quote"]) == (0, SENTENCE)
    doctor = run_apart("--library", library, "doctor", "--json").checked()
    assert (doctor.status, doctor.json) == (0, {"healthy": True, "findings": []})


def test_add_reports_each_file_as_ready_duplicate_or_failed(
    cli: Cli, mineral_files: list[Path], tmp_path: Path
) -> None:
    scan = write_pdf(tmp_path / "scan.pdf", title="A scan", pages=[[]])
    run = cli("add", mineral_files[3], scan, mineral_files[0], "--project", "Minerals", "--json")
    files = run.json["files"]
    assert [{name: f[name] for name in FILE_FIELDS - {"error"}} for f in files] == [
        {"file": "dravosite.pdf", "paper_id": 4, "status": "ready", "pages": 3, "chunks": 1},
        {"file": "scan.pdf", "paper_id": None, "status": "failed", "pages": 0, "chunks": 0},
        {"file": "arvenite.pdf", "paper_id": 1, "status": "duplicate", "pages": 3, "chunks": 1},
    ]
    assert [f["error"] is None for f in files] == [True, False, True]
    assert "no readable text" in files[1]["error"]
    assert (run.status, run.error) == (1, "1 of 3 files could not be added.")
    again = cli("add", mineral_files[3], "--project", "Minerals", "--json")
    assert (again.status, again.json["files"][0]["status"]) == (0, "duplicate")


def test_search_prints_the_passages(cli: Cli) -> None:
    run = cli("search", MELTING, "--project", "Minerals", "--top-k", "1", "--json")
    [passage] = run.json["passages"]
    assert set(passage) >= PASSAGE_FIELDS
    assert {k: passage[k] for k in ("n", "file", "title", "page_start", "page_end")} == {
        "n": 1,
        "file": "arvenite.pdf",
        "title": "A study of arvenite",
        "page_start": 1,
        "page_end": 3,
    }
    assert 0 < passage["score"] <= 1
    assert SENTENCE in passage["text"]
    assert run.status == 0


def test_ask_prints_the_answer(cli: Cli) -> None:
    run = cli("ask", MELTING, "--project", "Minerals", "--provider", "extractive", "--json")
    assert set(run.json) >= ANSWER_FIELDS
    assert (run.json["refused"], run.json["provider"], run.json["warnings"]) == (False, "extractive", [])
    first = run.json["citations"][0]
    assert set(first) >= CITATION_FIELDS
    assert {k: first[k] for k in CITATION_FIELDS} == {
        "n": 1,
        "file": "arvenite.pdf",
        "title": "A study of arvenite",
        "page": 2,
        "quote": SENTENCE,
        "support": "supported",
    }
    assert f"{SENTENCE} [1]" in run.json["answer"]
    assert set(run.json["timing"]) >= {"total", "scope", "vectors", "keywords"}


def test_a_question_the_papers_do_not_answer_is_refused_with_status_0(cli: Cli) -> None:
    run = cli("ask", "Which choir sang at the wedding in Verona?", "--all", "--json")
    assert (run.status, run.json["refused"]) == (0, True)


def test_the_scope_options_see_what_they_say_and_orphans_are_the_default(cli: Cli) -> None:
    query = "melting point of arvenite, bolmarite and cendrite"
    seen = {
        options: {p["paper_id"] for p in cli("search", query, *options, "--json").json["passages"]}
        for options in ((), ("--orphans",), ("--project", "minerals"), ("--project", "1"), ("--all",))
    }
    assert seen == {
        (): {3},
        ("--orphans",): {3},
        ("--project", "minerals"): {1, 2},
        ("--project", "1"): {1, 2},
        ("--all",): {1, 2, 3},
    }
    asked = {
        options: {c["paper_id"] for c in cli("ask", query, *options, "--json").json["citations"]}
        for options in ((), ("--project", "Minerals"))
    }
    assert asked == {(): {3}, ("--project", "Minerals"): {1, 2}}


def test_another_user_has_another_library_in_the_same_file(cli: Cli, library: Path) -> None:
    other = run_here("--library", library, "--user", "bob", "search", MELTING, "--all", "--json")
    assert (other.status, other.json["passages"], other.json["papers_in_scope"]) == (0, [], 0)
    assert run_here("--library", library, "--user", "bob", "papers", "list", "--json").json == {"papers": []}


def test_doctor_tells_a_sound_library_from_a_broken_one(cli: Cli, library: Path) -> None:
    import duckdb

    sound = cli("doctor", "--json")
    assert (sound.status, sound.json) == (0, {"healthy": True, "findings": []})
    assert cli("doctor").out == "The library is healthy.\n"
    with duckdb.connect(str(library)) as connection:
        connection.execute("DELETE FROM pages WHERE paper_id = 1")
    broken = cli("doctor", "--json")
    assert (broken.status, broken.json["healthy"]) == (1, False)
    assert broken.json["findings"] != []
    assert "wrong with the library" in broken.error
    library.write_bytes(b"no database" * 1000)
    ruined = cli("doctor", "--json")
    assert (ruined.status, ruined.json["healthy"]) == (1, False)
    assert "is not a library" in ruined.json["findings"][0]


def test_every_verb_takes_json_but_those_that_serve() -> None:
    def leaves(one: click.Command, path: str) -> dict[str, click.Command]:
        if not isinstance(one, click.Group):
            return {path: one}
        return {
            name: leaf
            for verb, inner in one.commands.items()
            for name, leaf in leaves(inner, f"{path} {verb}".strip()).items()
        }

    without = {
        name
        for name, verb in leaves(command, "").items()
        if not any("--json" in parameter.opts for parameter in verb.params)
    }
    assert without == {"dashboard", "lab"}


def test_every_verb_with_json_prints_one_object(cli: Cli, tmp_path: Path) -> None:
    keys = {
        ("projects", "create", "New"): {"project"},
        ("projects", "list"): {"projects"},
        ("projects", "rename", "New", "Newer"): {"project"},
        ("projects", "add", "Newer", "3"): {"project"},
        ("projects", "remove", "Newer", "3"): {"project"},
        ("projects", "archive", "Newer"): {"project"},
        ("projects", "delete", "Newer"): {"project"},
        ("papers", "list"): {"papers"},
        ("papers", "show", "1"): {"paper", "projects"},
        ("papers", "page", "1", "1"): {"page", "path", "quote_found"},
        ("memory", "add", "I use mice."): {"memories"},
        ("reprocess", "1"): {"files"},
        ("papers", "remove", "1"): {"papers"},
        ("compact",): {"bytes", "bytes_before"},
        ("backup", str(tmp_path / "copy.duckdb")): {"path"},
        ("doctor",): {"healthy", "findings"},
    }
    assert {verb: set(cli(*verb, "--json").json) for verb in keys} == keys
    assert set(cli("status", "--json").json) == {
        *("library", "user", "bytes", "papers", "indexing", "chunks", "projects"),
        *("embedder", "generation", "chat_model", "warnings"),
    }

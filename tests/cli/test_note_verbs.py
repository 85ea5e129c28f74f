from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli


def test_a_note_is_written_listed_changed_and_deleted(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "visit.md"
    file.write_text("# Visit\n\nTervolite was seen near the old mine.\n", encoding="utf-8")
    made = cli("notes", "create", "Mine visit", "--from", file, "--json").json["note"]
    assert (made["title"], made["projects"], made["state"]) == ("Mine visit", [], "ready")
    number = made["id"]
    found = cli("search", "tervolite", "--orphans", "--top-k", "1", "--json").json["passages"]
    assert [(p["title"], p["file"]) for p in found] == [("Mine visit", "Mine visit.md")]
    moved = cli("notes", "update", number, "--project", "minerals", "--json").json["note"]
    assert (moved["projects"], moved["body"]) == ([1], file.read_text(encoding="utf-8"))
    assert "Mine visit  Minerals" in cli("notes", "list", "--project", "Minerals").out
    changed = cli("notes", "update", number, "--text", "Valdorite.", "--orphan", "--json").json["note"]
    assert (changed["title"], changed["body"], changed["projects"]) == ("Mine visit", "Valdorite.", [])
    assert cli("notes", "show", number).out == "Valdorite.\n"
    assert cli("notes", "delete", number).out == "Deleted note “Mine visit”.\n"
    assert cli("notes", "list", "--json").json == {"notes": []}


def test_what_cannot_be_a_note_is_one_line(cli: Cli, tmp_path: Path) -> None:
    assert "has no text" in cli("notes", "create", "Empty").error
    assert "needs some text" in cli("notes", "create", "Empty", "--text", " ").error
    missing, bytes_file = tmp_path / "missing.md", tmp_path / "bytes.md"
    bytes_file.write_bytes(b"\xff\xfe\x00")
    gone, odd = (cli("notes", "create", "x", "--from", path).error for path in (missing, bytes_file))
    assert gone == f"{missing} cannot be read: No such file or directory."
    assert odd == f"{bytes_file} cannot be read: it is not a text in UTF-8."
    assert "exclude each other" in cli("notes", "create", "x", "--text", "a", "--from", "b").error
    assert "Note not found" in cli("notes", "show", 1).error, "a paper is no note"
    assert "Say what to change" in cli("notes", "update", 1).error
    assert cli("notes", "list", "--json").json == {"notes": []}

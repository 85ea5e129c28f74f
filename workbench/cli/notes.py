"""Verbs on notes."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, pass_opening, project_named
from workbench.errors import InvalidInputError
from workbench.named_files import read_named
from workbench.records import Note

_text_option = click.option("--text", metavar="MARKDOWN", help="The note itself.")
_file_option = click.option(
    "--from", "path", metavar="FILE", help="Take the text from a file; - is standard input."
)


@click.group()
def notes() -> None:
    """Write, list and change notes of your own.

    A note is a paper of kind "note", in Markdown, and ID is its number as the list shows it.
    """


@notes.command("create")
@click.argument("title")
@_text_option
@_file_option
@click.option("--project", metavar="NAME", help="Put it into this project; else it is in none.")
@as_json_option
@pass_opening
def notes_create(
    opening: Opening, title: str, text: str | None, path: str | None, project: str | None, as_json: bool
) -> None:
    """Write a note."""
    body = _body(text, path)
    if body is None:
        raise InvalidInputError("The note has no text: give it with --text, or --from FILE.")
    with opening.workbench() as wb:
        chosen = None if project is None else project_named(wb, project)
        note = wb.notes.create(title, body, project=chosen)
    _report(note, f"Note {note.id}: “{note.title}”.", as_json=as_json)


@notes.command("list")
@click.option("--project", metavar="NAME", help="Only the notes in this project.")
@as_json_option
@pass_opening
def notes_list(opening: Opening, project: str | None, as_json: bool) -> None:
    """List your notes, the one changed last first."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.notes.list(project=None if project is None else project_named(wb, project))
        names = {p.id: p.name for p in wb.projects.list(status=None)}
    if as_json:
        terminal.show_json({"notes": [asdict(note) for note in found]})
        return
    rows = [
        [
            n.id,
            n.state if n.state == "ready" else "indexing…",
            f"{n.updated_at:%Y-%m-%d}",
            n.title,
            ", ".join(names.get(i, "") for i in n.projects),
        ]
        for n in found
    ]
    terminal.show_rows(["id", "state", "changed", "title", "projects"], rows)


@notes.command("show")
@click.argument("note_id", type=int, metavar="ID")
@as_json_option
@pass_opening
def notes_show(opening: Opening, note_id: int, as_json: bool) -> None:
    """Print a note's text."""
    with opening.workbench(must_exist=True) as wb:
        note = wb.notes.get(note_id)
    _report(note, note.body, as_json=as_json)


@notes.command("update")
@click.argument("note_id", type=int, metavar="ID")
@click.option("--title", help="A new title.")
@_text_option
@_file_option
@click.option("--project", metavar="NAME", help="Move it into this project alone.")
@click.option("--orphan", is_flag=True, help="Take it out of every project.")
@as_json_option
@pass_opening
def notes_update(
    opening: Opening,
    /,
    note_id: int,
    title: str | None,
    text: str | None,
    path: str | None,
    project: str | None,
    orphan: bool,
    as_json: bool,
) -> None:
    """Change a note; what is not named stays."""
    if project is not None and orphan:
        raise InvalidInputError("--project and --orphan exclude each other: give one.")
    given = {"title": title, "body": _body(text, path)}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with opening.workbench(must_exist=True) as wb:
        if project is not None or orphan:
            changes["project"] = None if project is None else project_named(wb, project)
        if not changes:
            raise InvalidInputError("Say what to change: --title, --text, --from, --project or --orphan.")
        note = wb.notes.update(note_id, **changes)
    _report(note, f"Changed note {note.id}: “{note.title}”.", as_json=as_json)


@notes.command("delete")
@click.argument("note_id", type=int, metavar="ID")
@yes_option
@as_json_option
@pass_opening
def notes_delete(opening: Opening, note_id: int, yes: bool, as_json: bool) -> None:
    """Delete a note."""
    with opening.workbench(must_exist=True) as wb:
        note = wb.notes.get(note_id)
        confirm(f"Delete note “{note.title}”?", yes=yes)
        wb.notes.delete(note)
    _report(note, f"Deleted note “{note.title}”.", as_json=as_json)


def _body(text: str | None, path: str | None) -> str | None:
    """The text the options give; None where they give none."""
    if text is not None and path is not None:
        raise InvalidInputError("--text and --from exclude each other: give one.")
    if path is None:
        return text
    try:
        if path != "-":
            return read_named(path).decode("utf-8").replace("\r\n", "\n")
        piped = sys.stdin.read()
        piped.encode("utf-8")  # or Python has taken bytes that are none for halves of characters
        return piped
    except UnicodeError as error:
        raise InvalidInputError(f"{path} cannot be read: it is not a text in UTF-8.") from error


def _report(note: Note, text: str, *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"note": asdict(note)})
        return
    terminal.show(text)
    for warning in note.warnings:
        terminal.note(warning)

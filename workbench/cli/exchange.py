"""Verbs that exchange with reference managers and writers: import, export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, project_named
from workbench.cli.output import output_option, written
from workbench.errors import InvalidInputError


@click.command("import", short_help="Take what a .bib or .ris file says of your papers.")
@click.argument("file")
@as_json_option
@pass_opening
def import_(opening: Opening, file: str, as_json: bool) -> None:
    """Take titles, authors, years and DOIs from a .bib or .ris FILE.

    Its references are matched to your papers by DOI, else by the linked file's name, else by title. Those
    that match no paper are listed. To add the papers themselves use "workbench add".
    """
    with opening.workbench(must_exist=True) as wb:
        report = wb.bibliography.add(file)
    if as_json:
        terminal.show_json(asdict(report))
        return
    for match in report.matched:
        terminal.show(f"paper {match.paper_id}: {terminal.one_line(match.title or match.paper_title)}")
    for rest in report.unmatched:
        named = terminal.one_line(rest.title or rest.key or "an entry without a title")
        terminal.show(f"no paper: {named} ({terminal.one_line(rest.reason)})")
    terminal.show(f"{len(report.matched)} matched, {len(report.unmatched)} not.")
    for warning in report.warnings:
        terminal.note(warning)


@click.group()
def export() -> None:
    """Write a project's papers or a conversation to a file."""


@export.command("papers")
@click.option("--project", metavar="NAME", help="Only the papers of this project.")
@click.option("--orphans", is_flag=True, help="Only papers in no project.")
@output_option
@as_json_option
@pass_opening
def export_papers(
    opening: Opening, project: str | None, orphans: bool, output: str | None, as_json: bool
) -> None:
    """Write papers as BibTeX: a project's, or all."""
    with opening.workbench(must_exist=True) as wb:
        everything = project is None and not orphans
        text = wb.bibliography.bibtex(chosen_scope(wb, project, all_papers=everything, orphans=orphans))
    if as_json:
        terminal.show_json({"bibtex": text, "path": written(output, text)})
    elif output is None:
        terminal.show(text, end="")
    else:
        terminal.show(f"Wrote {terminal.one_line(written(output, text))}.")


@export.command("conversation")
@click.argument("conversation_id", type=int, metavar="ID", required=False)
@click.option("--project", metavar="NAME", help="The chat of this project, in place of an ID.")
@output_option
@as_json_option
@pass_opening
def export_conversation(
    opening: Opening, conversation_id: int | None, project: str | None, output: str | None, as_json: bool
) -> None:
    """Write a conversation as Markdown, with BibTeX beside it.

    Its citations are pandoc's, such as [@key, p. 7]. With --output TALK.md the BibTeX goes to TALK.bib.
    """
    if (conversation_id is None) == (project is None):
        raise InvalidInputError("Name one conversation: its ID, or --project NAME.")
    name = "references.bib" if output is None else Path(output).with_suffix(".bib").name
    if output is not None and Path(output).suffix == ".bib":
        raise InvalidInputError("The Markdown needs another name than its .bib: give --output TALK.md.")
    with opening.workbench(must_exist=True) as wb:
        found = (
            wb.project_chat(project_named(wb, project))
            if project is not None
            else wb.conversations.get(conversation_id or 0)
        )
        exported = wb.bibliography.conversation(found, name=name)
    path = written(output, exported.markdown)
    bib = written(str(Path(output).with_suffix(".bib")) if output else None, exported.bibtex)
    if as_json:
        terminal.show_json({**asdict(exported), "path": path, "bibliography_path": bib})
    elif output is None:
        terminal.show(exported.markdown, end="")
    else:
        terminal.show(f"Wrote {terminal.one_line(path)} and {terminal.one_line(bib)}.")

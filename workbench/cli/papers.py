"""Verbs on papers: add, papers, reprocess."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import asdict
from pathlib import Path

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening
from workbench.errors import InvalidInputError


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--project", metavar="NAME", help="Also put the papers into this project.")
@as_json_option
@pass_opening
def add(opening: Opening, files: tuple[str, ...], project: str | None, as_json: bool) -> None:
    """Add files or folders to the library."""
    with opening.workbench() as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        report = wb.papers.add_many([Path(f) for f in files], project=project, progress=bar)
    if as_json:
        terminal.show_json({"files": [terminal.outcome_json(f) for f in report.files]})
    else:
        for outcome in report.files:
            terminal.show(terminal.outcome_line(outcome))
    if report.failed:
        sys.exit(1)


@click.group()
def papers() -> None:
    """List or remove papers."""


@papers.command("list")
@click.option("--project", metavar="NAME", help="Only this project's papers.")
@click.option("--orphans", is_flag=True, help="Only papers in no project.")
@as_json_option
@pass_opening
def papers_list(opening: Opening, project: str | None, orphans: bool, as_json: bool) -> None:
    """List the papers of the library."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.papers.list(
            chosen_scope(wb, project, all_papers=not orphans and project is None, orphans=orphans)
        )
    if as_json:
        terminal.show_json({"papers": [asdict(p) for p in found]})
        return
    rows = [
        [p.id, p.state if p.state == "ready" else "indexing…", p.year, p.pages, p.title, p.file]
        for p in found
    ]
    terminal.show_rows(["id", "state", "year", "pages", "title", "file"], rows)


@papers.command("remove")
@click.argument("paper_id", type=int)
@pass_opening
def papers_remove(opening: Opening, paper_id: int) -> None:
    """Take a paper out of the library and out of every project."""
    with opening.workbench(must_exist=True) as wb:
        paper = wb.papers.get(paper_id)
        wb.papers.remove(paper)
    terminal.show(f"Removed “{terminal.one_line(paper.title)}”.")


@click.command()
@click.argument("paper_ids", nargs=-1, type=int, metavar="ID…")
@click.option("--all", "everything", is_flag=True, help="Every paper of the library.")
@as_json_option
@pass_opening
def reprocess(opening: Opening, paper_ids: tuple[int, ...], everything: bool, as_json: bool) -> None:
    """Read stored files again and renew their chunks and vectors."""
    if bool(paper_ids) == everything:
        raise InvalidInputError("Name the papers by id, or say --all.")
    with opening.workbench(must_exist=True) as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        wanted = [p.id for p in wb.papers.list()] if everything else list(paper_ids)
        outcomes = [wb.papers.reprocess(paper_id, progress=bar) for paper_id in wanted]
    if as_json:
        terminal.show_json({"files": [terminal.outcome_json(o) for o in outcomes]})
    else:
        for outcome in outcomes:
            terminal.show(terminal.outcome_line(outcome))
    if any(o.status == "failed" for o in outcomes):
        sys.exit(1)

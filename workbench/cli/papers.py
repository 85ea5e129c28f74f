"""Verbs on papers: add, papers, reprocess."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, project_named
from workbench.errors import InvalidInputError, NotFoundError
from workbench.records import FileOutcome, Paper

if TYPE_CHECKING:
    from workbench.api import Workbench


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--project", metavar="NAME", help="Also put the papers into this project.")
@as_json_option
@pass_opening
def add(opening: Opening, files: tuple[str, ...], project: str | None, as_json: bool) -> None:
    """Add files, or all files of folders, to the library.

    A file that cannot become a paper is reported with the reason, and the others are added.
    """
    with opening.workbench() as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        chosen = project_named(wb, project) if project is not None else None
        report = wb.papers.add_many(files, project=chosen, progress=bar)
    _report(report.files, as_json=as_json, done="added")


@click.group()
def papers() -> None:
    """List, share or remove papers."""


@papers.command("list")
@click.option("--project", metavar="NAME", help="Only the papers of this project.")
@click.option("--orphans", is_flag=True, help="Only papers in no project.")
@as_json_option
@pass_opening
def papers_list(opening: Opening, project: str | None, orphans: bool, as_json: bool) -> None:
    """List the papers of your library."""
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
@click.argument("paper_id", type=int, metavar="ID")
@as_json_option
@pass_opening
def papers_remove(opening: Opening, paper_id: int, as_json: bool) -> None:
    """Take a paper out of your library and your projects.

    ID is the paper's number, as the list shows it.
    """
    with opening.workbench(must_exist=True) as wb:
        paper = wb.papers.get(paper_id)
        wb.papers.remove(paper)
    if as_json:
        terminal.show_json({"paper": asdict(paper)})
    else:
        terminal.show(f"Removed “{terminal.one_line(paper.title)}”.")


@papers.command("share")
@click.argument("paper_id", type=int, metavar="ID")
@click.option("--undo", is_flag=True, help="Take your share back.")
@as_json_option
@pass_opening
def papers_share(opening: Opening, paper_id: int, undo: bool, as_json: bool) -> None:
    """Show a paper of yours to every user of the library.

    ID is the paper's number, as the list shows it.
    """
    with opening.workbench(must_exist=True) as wb:
        paper = wb.papers.get(paper_id)
        if undo:
            wb.papers.unshare(paper)
        else:
            wb.papers.share(paper)
    if as_json:
        terminal.show_json({"paper": asdict(replace(paper, shared=not undo))})
    else:
        done = "You no longer share" if undo else "Shared with every user of the library:"
        terminal.show(f"{done} “{terminal.one_line(paper.title)}”.")


@click.command()
@click.argument("paper_ids", nargs=-1, type=int, metavar="ID…")
@click.option("--all", "everything", is_flag=True, help="Every paper of your library.")
@as_json_option
@pass_opening
def reprocess(opening: Opening, paper_ids: tuple[int, ...], everything: bool, as_json: bool) -> None:
    """Read papers again from the stored files.

    Their chunks and vectors are replaced in one step each. With WORKBENCH_EMBEDDER set to another embedder
    than the library's, papers get new vectors, which take over when the last one has them. A paper that
    cannot be renewed keeps what it has, and the others go on.
    """
    if bool(paper_ids) == everything:
        raise InvalidInputError("Name the papers by id, or say --all.")
    outcomes: list[FileOutcome] = []
    with opening.workbench(must_exist=True) as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        try:
            if everything:
                wb.papers.reprocess_all(progress=bar, done=outcomes.append)
            for number, paper in enumerate([wb.papers.get(i) for i in dict.fromkeys(paper_ids)], start=1):
                outcomes.append(_renewed(wb, paper, bar, number, len(set(paper_ids))))
        except BaseException:
            _show(outcomes, as_json=as_json)  # what was done before the trouble
            raise
    _report(outcomes, as_json=as_json, done="renewed")


def _renewed(wb: Workbench, paper: Paper, bar: terminal.ProgressBar, number: int, files: int) -> FileOutcome:
    try:
        return wb.papers.reprocess(
            paper, progress=lambda step: bar(replace(step, number=number, files=files))
        )
    except NotFoundError:
        return FileOutcome(paper.file, "failed", paper.id, error="the paper was removed meanwhile")


def _report(outcomes: Sequence[FileOutcome], *, as_json: bool, done: str) -> None:
    """Shows the outcomes; ends with status 1 where one failed."""
    _show(outcomes, as_json=as_json)
    failed = sum(o.status == "failed" for o in outcomes)
    if failed:
        total = "1 file" if len(outcomes) == 1 else f"{len(outcomes)} files"
        terminal.fail(f"{failed} of {total} could not be {done}.")


def _show(outcomes: Sequence[FileOutcome], *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"files": [asdict(o) for o in outcomes]})
    else:
        for outcome in outcomes:
            terminal.show(terminal.outcome_line(outcome))

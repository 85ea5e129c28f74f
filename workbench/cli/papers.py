"""Verbs on papers: add, papers, reprocess."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, project_named
from workbench.cli.output import written
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
    """List, show, share or remove papers.

    ID is a paper's number, as the list shows it.
    """


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
    rows = [[p.id, _state(p), p.year, p.pages, p.title, p.file] for p in found]
    terminal.show_rows(["id", "state", "year", "pages", "title", "file"], rows)


@papers.command("show")
@click.argument("paper_id", type=int, metavar="ID")
@as_json_option
@pass_opening
def papers_show(opening: Opening, paper_id: int, as_json: bool) -> None:
    """Show what is known of a paper, and its projects."""
    with opening.workbench(must_exist=True) as wb:
        paper = wb.papers.get(paper_id)
        held = [p for p in wb.projects.list(status=None) if paper in wb.projects.papers(p)]
    if as_json:
        terminal.show_json({"paper": asdict(paper), "projects": [{"id": p.id, "name": p.name} for p in held]})
        return
    terminal.show_wrapped(terminal.one_line(paper.title))
    for name, value in (
        ("authors", ", ".join(paper.authors)),
        ("year", paper.year),
        ("doi", paper.doi),
        ("file", paper.file),
        (f"{paper.page_unit}s", paper.pages),
        ("chunks", paper.chunks),
        ("state", _state(paper)),
        ("added", f"{paper.added_at:%Y-%m-%d}"),
        ("projects", ", ".join(p.name for p in held)),
    ):
        terminal.show_wrapped(f"{name:10}  {terminal.one_line(value or 'none')}", hanging=12)


@papers.command("page")
@click.argument("paper_id", type=int, metavar="ID")
@click.argument("number", type=int, metavar="PAGE")
@click.option("--quote", metavar="TEXT", help="Mark these words on the picture.")
@click.option(
    "--output", "-o", metavar="FILE", help="Write a picture of the page (PNG); an existing file is replaced."
)
@as_json_option
@pass_opening
def papers_page(
    opening: Opening, /, paper_id: int, number: int, quote: str | None, output: str | None, as_json: bool
) -> None:
    """Print the text of a page, or write a picture of it.

    PAGE counts from 1 in file order, as citations do.
    """
    if quote is not None and output is None:
        raise InvalidInputError("--quote marks words on the picture: give --output FILE.png too.")
    with opening.workbench(must_exist=True) as wb:
        paper = wb.papers.get(paper_id)
        shown = next((page for page in wb.papers.pages(paper) if page.page == number), None)
        if shown is None:
            raise NotFoundError(f"“{paper.title}” has {paper.page_unit}s 1 to {paper.pages}, no {number}.")
        view = wb.papers.page_view(paper, number, quote=quote) if output is not None else None
    path = written(output, view.png) if view is not None else None
    marked = view is not None and view.found
    if as_json:
        terminal.show_json({"page": asdict(shown), "path": path, "quote_found": marked})
    elif path is None:
        terminal.show(shown.text)
    else:
        terminal.show(f"Wrote {terminal.one_line(path)}.")
    if quote is not None and not marked:
        terminal.note("The quote cannot be placed on the page with certainty, so nothing is marked.")


@papers.command("remove")
@click.argument("paper_ids", nargs=-1, type=int, required=True, metavar="ID…")
@yes_option
@as_json_option
@pass_opening
def papers_remove(opening: Opening, paper_ids: tuple[int, ...], yes: bool, as_json: bool) -> None:
    """Take papers out of your library and your projects.

    Where one of them is not there, none is removed.
    """
    with opening.workbench(must_exist=True) as wb:
        found = [wb.papers.get(paper_id) for paper_id in dict.fromkeys(paper_ids)]
        which = f"“{found[0].title}”" if len(found) == 1 else f"{len(found)} papers"
        confirm(f"Remove {which} from your library and your projects?", yes=yes)
        for paper in found:
            wb.papers.remove(paper)
    if as_json:
        terminal.show_json({"papers": [asdict(paper) for paper in found]})
        return
    for paper in found:
        terminal.show(f"Removed “{terminal.one_line(paper.title)}”.")


@papers.command("share")
@click.argument("paper_id", type=int, metavar="ID")
@click.option("--undo", is_flag=True, help="Take your share back.")
@as_json_option
@pass_opening
def papers_share(opening: Opening, paper_id: int, undo: bool, as_json: bool) -> None:
    """Show a paper of yours to every user of the library."""
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
        which = "The file" if len(outcomes) == 1 else f"{failed} of {len(outcomes)} files"
        terminal.fail(f"{which} could not be {done}.")


def _state(paper: Paper) -> str:
    state = "ready" if paper.state == "ready" else "indexing…"
    return f"{state}, shared" if paper.shared else state


def _show(outcomes: Sequence[FileOutcome], *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"files": [asdict(o) for o in outcomes]})
    else:
        for outcome in outcomes:
            terminal.show(terminal.outcome_line(outcome))

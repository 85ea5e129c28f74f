"""The verb that asks each paper the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from workbench.cli import terminal
from workbench.cli.flow import shorten
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, scope_options
from workbench.cli.output import written
from workbench.errors import InvalidInputError
from workbench.matrix import Matrix, MatrixInfo

_MARKS = {"supported": "✓", "partly": "◐", "unsupported": "✗", None: ""}
_LONGEST_ANSWER = 300  # characters, in a terminal


@click.command()
@click.argument("questions", nargs=-1, metavar="[QUESTION]…")
@scope_options
@click.option(
    "--provider",
    type=click.Choice(["auto", "ollama", "extractive"]),
    help="Who writes the answers; extractive is the papers' own sentences.",
)
@click.option("--top-k", type=int, metavar="N", help="How many passages of each paper at most.")
@click.option("--fresh", is_flag=True, help="Ask every paper again, also those that have answered.")
@click.option("--list", "listed", is_flag=True, help="List the matrices that are kept.")
@click.option("--open", "opened", type=int, metavar="ID", help="Show one that is kept; ask nothing.")
@click.option("--delete", "deleted", type=int, metavar="ID", help="Delete one that is kept.")
@click.option("--csv", "csv_file", metavar="FILE", help="Write the table for a spreadsheet.")
@click.option("--markdown", "markdown_file", metavar="FILE", help="Write the table as Markdown.")
@as_json_option
@pass_opening
def matrix(
    opening: Opening,
    /,
    questions: tuple[str, ...],
    project: str | None,
    all_papers: bool,
    orphans: bool,
    listed: bool,
    opened: int | None,
    deleted: int | None,
    csv_file: str | None,
    markdown_file: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Put the same question to each paper, as a table.

    Several questions make a comparison. Answers are kept: the same command again asks only papers that are
    new or have changed, and goes on where Ctrl-C stopped it.
    """
    wanted = [bool(questions), listed, opened is not None, deleted is not None]
    if sum(wanted) != 1:
        raise InvalidInputError("Give a question, or one of --list, --open and --delete.")
    with opening.workbench(must_exist=True) as wb:
        if listed:
            _show_list(wb.matrices.list(), as_json=as_json)
            return
        if deleted is not None:
            wb.matrices.delete(deleted)
            _told({"deleted": deleted}, f"Matrix {deleted} is deleted.", as_json=as_json)
            return
        if opened is not None:
            found = wb.matrices.get(opened)
        else:
            scope = chosen_scope(wb, project, all_papers=all_papers, orphans=orphans)
            bar = terminal.ProgressBar()
            try:
                found = wb.matrix(questions, scope=scope, progress=bar, **options)
            finally:
                bar.close()
    files = [
        path
        for path in (
            written(csv_file, "\ufeff" + found.to_csv()) if csv_file else None,
            written(markdown_file, found.to_markdown()) if markdown_file else None,
        )
        if path
    ]
    if as_json:
        terminal.show_json(_json(found) | {"files": files})
        return
    for warning in found.warnings:
        terminal.note(warning)
    if files:
        terminal.show(f"Written: {', '.join(map(terminal.one_line, files))}.")
    else:
        _show(found)


def _json(found: Matrix) -> dict[str, Any]:
    return {
        "id": found.id,
        "questions": list(found.questions),
        "scope": found.scope_label,
        "rows": [asdict(row) | {"place": row.place} for row in found.rows],
        "papers": found.papers,
        "asked": found.asked,
        "complete": found.complete,
        "warnings": list(found.warnings),
    }


def _show(found: Matrix) -> None:
    for question in found.questions:
        terminal.show(f"{terminal.one_line(question)} ({terminal.one_line(found.scope_label)})")
        for row in found.rows:
            if row.question != question:
                continue
            terminal.show()
            place = f", {row.place} {_MARKS[row.support]}" if row.place else ""
            terminal.show_wrapped(f"{terminal.one_line(row.title)}{terminal.one_line(place)}")
            answer = shorten(terminal.one_line(row.answer), _LONGEST_ANSWER)
            changed = " (the paper has changed since)" if row.changed else ""
            terminal.show_wrapped(f"    {answer}{changed}", hanging=4)
        terminal.show()
    state = "" if found.complete else ", not complete: the same command goes on"
    kept = "" if found.id is None else f" Kept as matrix {found.id}."
    terminal.show(f"{len(found.rows)} answers, {found.asked} of them new{state}.{kept}")


def _show_list(found: list[MatrixInfo], *, as_json: bool) -> None:
    if as_json:
        fields = [
            {name: value for name, value in asdict(info).items() if name != "scope"}
            | {"rag_project_id": info.scope.rag_project_id}
            for info in found
        ]
        terminal.show_json({"matrices": fields})
        return
    rows = [
        [m.id, f"{m.created_at:%Y-%m-%d %H:%M}", m.answers, m.scope_label, "; ".join(m.questions)]
        for m in found
    ]
    terminal.show_rows(["id", "made (UTC)", "answers", "scope", "questions"], rows)


def _told(value: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        terminal.show_json(value)
    else:
        terminal.show(text)

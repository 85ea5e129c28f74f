"""Verbs on labelled questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening, project_named
from workbench.scope import Scope
from workbench.tuning import Question

if TYPE_CHECKING:
    from workbench.api import Workbench

_project_option = click.option("--project", metavar="NAME", help="The project the questions belong to.")


@click.group(short_help="Keep questions with the pages that answer them.")
def questions() -> None:
    """Keep questions with the pages that answer them, to measure searches on.

    ID is a question's own, as the list shows it. "workbench eval" measures.
    """


@questions.command("add")
@click.argument("question")
@click.option("--paper", type=int, metavar="ID", help='The paper that answers it; "papers list" shows ids.')
@click.option("--page", type=int, metavar="N", help="The page that answers it, from 1 in file order.")
@click.option("--phrase", default="", metavar="WORDS", help="A few words of that page that answer it.")
@click.option("--answer", default="", metavar="TEXT", help="A short right answer.")
@_project_option
@as_json_option
@pass_opening
def questions_add(
    opening: Opening,
    question: str,
    paper: int | None,
    page: int | None,
    phrase: str,
    answer: str,
    project: str | None,
    as_json: bool,
) -> None:
    """Say that a page answers a question.

    The same question again, with another page, gets that page too. Without --paper it is a question that the
    papers do not answer.
    """
    with opening.workbench(must_exist=True) as wb:
        owner = None if project is None else project_named(wb, project)
        kept = wb.questions.add(question, paper, page, phrase=phrase, answer=answer, project=owner)
    if as_json:
        terminal.show_json({"question": _fields(kept)})
    else:
        places = ", ".join(f"{g.file} page {g.page}" for g in kept.gold) or "no paper"
        terminal.show(terminal.one_line(f"Question {kept.id}: answered by {places}."))


@questions.command("list")
@click.option("--project", metavar="NAME", help="Only questions of this project.")
@click.option("--orphans", is_flag=True, help="Only questions of no project.")
@as_json_option
@pass_opening
def questions_list(opening: Opening, project: str | None, orphans: bool, as_json: bool) -> None:
    """List your labelled questions."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.questions.list(_scope(wb, project, orphans))
        names = {p.id: p.name for p in wb.projects.list(status=None)}
    if as_json:
        terminal.show_json({"questions": [_fields(q) for q in found]})
        return
    rows = [[q.id, q.type, len(q.gold), names.get(q.project_id or 0, ""), q.question] for q in found]
    terminal.show_rows(["id", "type", "pages", "project", "question"], rows)


@questions.command("import")
@click.argument("file")
@_project_option
@as_json_option
@pass_opening
def questions_import(opening: Opening, file: str, project: str | None, as_json: bool) -> None:
    """Take questions from a FILE of JSON lines.

    Each line is an object with id, question and gold (a list of file, page and phrase), and where known type,
    answer and note. A question whose id is there already takes the other's place.
    """
    with opening.workbench(must_exist=True) as wb:
        owner = None if project is None else project_named(wb, project)
        kept = wb.questions.import_file(file, project=owner)
    if as_json:
        terminal.show_json({"questions": [_fields(q) for q in kept]})
    else:
        terminal.show(f"{len(kept)} questions are kept.")


@questions.command("export")
@click.option("--project", metavar="NAME", help="Only questions of this project.")
@click.option("--orphans", is_flag=True, help="Only questions of no project.")
@click.option("--output", "-o", metavar="FILE", help="Where to write them; an existing file is replaced.")
@as_json_option
@pass_opening
def questions_export(
    opening: Opening, project: str | None, orphans: bool, output: str | None, as_json: bool
) -> None:
    """Write questions as JSON lines: a project's, or all."""
    with opening.workbench(must_exist=True) as wb:
        scope = _scope(wb, project, orphans)
        text = wb.questions.lines(scope)
        if output is not None:
            wb.questions.export(output, scope)
    if as_json:
        terminal.show_json({"jsonl": text, "path": output})
    elif output is None:
        terminal.show(text, end="")
    else:
        terminal.show(f"Wrote {terminal.one_line(output)}.")


@questions.command("delete")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@_project_option
@yes_option
@as_json_option
@pass_opening
def questions_delete(
    opening: Opening, ids: tuple[str, ...], project: str | None, yes: bool, as_json: bool
) -> None:
    """Delete labelled questions of a project, or of none."""
    with opening.workbench(must_exist=True) as wb:
        chosen = None if project is None else project_named(wb, project)
        confirm(f"Delete {', '.join(ids)}?", yes=yes)
        wb.questions.delete(*ids, project=chosen)
    if as_json:
        terminal.show_json({"deleted": list(ids)})
    else:
        terminal.show(terminal.one_line(f"Deleted: {', '.join(ids)}."))


def _scope(wb: Workbench, project: str | None, orphans: bool) -> Scope:
    return chosen_scope(wb, project, all_papers=project is None and not orphans, orphans=orphans)


def _fields(question: Question) -> dict[str, Any]:
    from workbench.evaluation.question_files import question_fields

    return question_fields(question) | {"project_id": question.project_id}

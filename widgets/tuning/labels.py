"""Which page answers a question: marked from the list of its passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from widgets.wording import one_line

if TYPE_CHECKING:
    from workbench import Gold, Question, Workbench


def same_question(questions: Iterable[Question], text: str, project: int | None) -> Question | None:
    """The labelled question of this wording that is kept for the project, or for none."""
    wanted = _plain(text)
    return next((q for q in questions if q.project_id == project and _plain(q.question) == wanted), None)


def is_marked(question: Question | None, row: Mapping[str, Any]) -> bool:
    """Whether a label of the question stands on one of the passage's pages."""
    return question is not None and any(_covers(row, gold) for gold in question.gold)


def toggle(
    workbench: Workbench, text: str, row: Mapping[str, Any], known: Question | None, project: int | None
) -> str:
    """Marks the passage's first page as one that answers the question, or takes its labels back. Returns what
    was done, in one line."""
    if not is_marked(known, row):
        workbench.questions.add(known.question if known else text, row["paper"], row["page"], project=project)
        return f"Kept: {row['unit']} {row['page']} answers this question."
    assert known is not None
    left = tuple(gold for gold in known.gold if not _covers(row, gold))
    if left:
        workbench.questions.put([replace(known, gold=left, type="")], project=project)
    else:
        workbench.questions.delete(known, project=project)
    return f"Taken back: {row['unit']} {row['page']} does not answer it."


def listed(questions: Sequence[Question]) -> list[dict[str, Any]]:
    """The labelled questions for the front end, the newest first."""
    return [
        {
            "id": q.id,
            "project": q.project_id or 0,
            "text": one_line(q.question),
            "pages": [one_line(f"{gold.file}, {gold.page}", 120) for gold in q.gold],
        }
        for q in reversed(questions)
    ]


def _covers(row: Mapping[str, Any], gold: Gold) -> bool:
    first, last = int(row["page"]), max(int(row["page"]), int(row["last"]))
    same_paper = gold.paper_id == row["paper"] if gold.paper_id is not None else gold.file == row["file"]
    return bool(same_paper) and first <= gold.page <= last


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()

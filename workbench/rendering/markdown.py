"""Records as Markdown: what a saved notebook shows without a kernel, and what other programs can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.rendering.inert import as_markdown, inert
from workbench.rendering.wording import (
    EVIDENCE_COLUMNS,
    REPLAY_COLUMNS,
    evidence_rows,
    moved,
    page_range,
    plain,
    replay_rows,
    shortened,
    titled,
)

if TYPE_CHECKING:
    from workbench.records import Answer, Citation, Evidence, Message, Passage
    from workbench.tuning import Replay

CELL_LIMIT = 300


def table_markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table in whose cells nothing is Markdown or HTML, cut to ``CELL_LIMIT`` characters each."""
    lines = [_row(columns), "| " + " | ".join("---" for _ in columns) + " |", *map(_row, rows)]
    return "\n".join(lines)


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(as_markdown(shortened(plain(cell), CELL_LIMIT)) for cell in cells)} |"


def answer_markdown(answer: Answer) -> str:
    """The text, its sources, what the reader should know, and how much of the scope it rests on."""
    sources = "\n".join(f"- {citation_markdown(c)}" for c in answer.citations)
    covered = [f"*{answer.coverage}*"] if answer.coverage is not None else []
    parts = [inert(answer.text), sources, *notes_markdown(answer.warnings), *covered]
    return "\n\n".join(part for part in parts if part)


def citation_markdown(citation: Citation) -> str:
    place = f"{citation.page_unit} {citation.page_label or citation.page}"
    return inert(f"[{citation.n}] {titled(citation)}, {place}: “{citation.quote}”")


def passage_markdown(passage: Passage) -> str:
    """Where it stands, and its text as a quotation."""
    place = f"{passage.page_unit} {page_range(passage.page_start, passage.page_end)}"
    head = f"**[{passage.n}]** {as_markdown(titled(passage))}, {as_markdown(place)}"
    return f"{head}, relevance {passage.score:.2f}\n\n{quotation(passage.text)}"


def quotation(text: str) -> str:
    return f"> {as_markdown(text)}"


def evidence_markdown(evidence: Evidence) -> str:
    """The question, the scope and the numbered passages."""
    head = f"**{as_markdown(evidence.query)}** · {as_markdown(evidence.scope_label)}"
    table = table_markdown(EVIDENCE_COLUMNS, evidence_rows(evidence))
    return "\n\n".join([head, table, *notes_markdown(evidence.warnings)])


def replay_markdown(replay: Replay) -> str:
    """The question, the numbers before and after, and each passage with its old and new number."""
    head = f"**{as_markdown(replay.query)}** · {as_markdown(replay.scope_label)}"
    table = table_markdown(REPLAY_COLUMNS, replay_rows(replay))
    notes = notes_markdown((*replay.changed, *replay.warnings))
    return "\n\n".join([head, as_markdown(moved(replay)), table, *notes])


def message_markdown(message: Message) -> str:
    """A question in bold, an answer with its sources."""
    if message.answer is None:
        text = as_markdown(message.text)
        return f"**{text}**" if message.role == "user" and text else text
    return "\n\n".join([answer_markdown(message.answer), *notes_markdown(message.changed)])


def notes_markdown(lines: Sequence[str]) -> list[str]:
    return [f"*{as_markdown(line)}*" for line in lines]

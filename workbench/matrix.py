"""Matrix questions as records: the same questions put to each paper, and the answers as a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from workbench.rendering.display import Displayed
from workbench.rendering.html import table_html
from workbench.rendering.inert import as_html, as_markdown
from workbench.rendering.wording import label
from workbench.scope import Scope

if TYPE_CHECKING:
    import pandas

Support = Literal["supported", "partly", "unsupported"]

NOT_SAID = "not in this paper"
COLUMNS = ("paper", "answer", "quote", "page", "support", "refused")
_MARKS = {"supported": "✓", "partly": "◐", "unsupported": "✗"}
_FORMULA_SIGNS = tuple("=+-@＝＋－＠\t\r\n|%")


@dataclass(frozen=True, slots=True, repr=False)
class MatrixRow(Displayed):
    """What one paper says to one question.

    ``quote`` stands word for word on ``page``. ``support`` is the audit of the whole answer: supported only
    if every sentence is, unsupported if none is even partly. Where the paper does not say, ``refused`` is
    True, ``answer`` is "not in this paper", and quote, page and support are empty. ``changed``: the paper has
    got another text since it was asked.
    """

    shown = ("title", "question", "answer", "quote", "page", "support")

    question: str
    paper_id: int
    title: str
    file: str
    answer: str
    quote: str
    page: int | None
    page_label: str | None
    page_unit: str
    char_start: int | None
    char_end: int | None
    support: Support | None
    refused: bool
    provider: str
    warnings: tuple[str, ...] = ()
    changed: bool = False

    @property
    def place(self) -> str:
        """``page 7``, ``page 7 (printed 103)`` or a section's name; empty for a refusal."""
        if self.page is None:
            return ""
        if self.page_unit == "page":
            return f"page {self.page}" + (f" (printed {self.page_label})" if self.page_label else "")
        return self.page_label or f"{self.page_unit} {self.page}"


@dataclass(frozen=True, slots=True, repr=False)
class MatrixInfo(Displayed):
    """A stored matrix in a list: its questions, its scope, and how many answers it holds."""

    shown = ("id", "questions", "scope_label", "answers", "created_at")

    id: int
    questions: tuple[str, ...]
    scope: Scope
    scope_label: str
    answers: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Matrix:
    """Each paper of a scope and what it says to each question: rows by paper, then by question.

    ``asked`` counts the answers of this call, the others were stored before; ``complete`` is False where it
    was cancelled, or papers have come since: the same call goes on. ``id`` is None where the library cannot
    be written to.
    """

    id: int | None
    questions: tuple[str, ...]
    scope: Scope
    scope_label: str
    rows: tuple[MatrixRow, ...]
    papers: int
    asked: int
    complete: bool
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        state = "" if self.complete else ", not complete"
        return f"<Matrix of {len(self.questions)} × {self.papers} papers, {label(self.scope_label)}{state}>"

    def __iter__(self) -> Iterator[MatrixRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def frame(self) -> pandas.DataFrame:
        """One row per paper and question, with every field of ``MatrixRow``."""
        import pandas

        return pandas.DataFrame([asdict(row) for row in self.rows], columns=list(MatrixRow.__slots__))

    def table(self) -> pandas.DataFrame:
        """Papers as rows, questions as columns, the answers in the cells."""
        import pandas

        answers = {(r.paper_id, r.question): r.answer for r in self.rows}
        titles = {r.paper_id: r.title for r in self.rows}
        cells = [[answers.get((paper, q)) for q in self.questions] for paper in titles]
        index = pandas.Index(list(titles.values()), name="paper")
        return pandas.DataFrame(cells, index=index, columns=list(self.questions))

    def to_csv(self) -> str:
        """As comma-separated values with a header. A cell that a spreadsheet would take for a formula has an
        apostrophe before it."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([*self._leading("question"), *COLUMNS])
        for row in self.rows:
            cells = [row.title, row.answer, row.quote, row.place, row.support or "", str(row.refused).lower()]
            writer.writerow([_no_formula(text) for text in [*self._leading(row.question), *cells]])
        return out.getvalue()

    def to_markdown(self) -> str:
        """A Markdown table per question, in which nothing of a paper is Markdown or HTML."""
        parts = []
        for question in self.questions:
            lines = [f"**{as_markdown(question)}**", "", "| paper | answer | quote | page | support |"]
            lines.append("| --- | --- | --- | --- | --- |")
            for row in self.rows:
                if row.question == question:
                    texts = (row.title, row.answer, row.quote, row.place, row.support or "")
                    lines.append(f"| {' | '.join(map(as_markdown, texts))} |")
            parts.append("\n".join(lines))
        return "\n\n".join(parts) + "\n"

    def _leading(self, text: str) -> list[str]:
        return [text] if len(self.questions) > 1 else []

    def _repr_html_(self) -> str:
        head = f"<p><b>{as_html(' · '.join(self.questions))}</b> · {as_html(self.scope_label)}</p>"
        left = "" if self.complete else "<p><i>Not complete: the same call goes on.</i></p>"
        notes = "".join(f"<p><i>{as_html(text)}</i></p>" for text in self.warnings)
        return head + (self._one() if len(self.questions) == 1 else self._several()) + left + notes

    def _one(self) -> str:
        rows: list[list[object]] = [
            [r.title, _said(r), r.quote, r.place, _MARKS[r.support] if r.support else ""] for r in self.rows
        ]
        return table_html(["paper", "answer", "quote", "page", "support"], rows)

    def _several(self) -> str:
        cells = {(r.paper_id, r.question): r for r in self.rows}
        titles = {r.paper_id: r.title for r in self.rows}
        rows: list[list[object]] = [
            [title, *(_cell(cells.get((paper, question))) for question in self.questions)]
            for paper, title in titles.items()
        ]
        return table_html(["paper", *self.questions], rows)

    def _repr_markdown_(self) -> str:
        return self.to_markdown()


def _said(row: MatrixRow) -> str:
    return f"{row.answer} (the paper has changed since)" if row.changed else row.answer


def _cell(row: MatrixRow | None) -> str:
    if row is None:
        return "…"
    if row.support is None:
        return _said(row)
    short = row.answer if len(row.answer) <= 240 else row.answer[:239] + "…"
    return f"{short} ({row.place}, {_MARKS[row.support]}{', changed since' if row.changed else ''})"


def _no_formula(text: str) -> str:
    return f"'{text}" if text.lstrip(" \u00a0\ufeff").startswith(_FORMULA_SIGNS) else text

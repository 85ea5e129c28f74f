"""Records as HTML for a notebook. Everything is escaped: titles, names and texts are hostile."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.records import Answer, Citation, Evidence, Passage
    from workbench.tuning import Replay, ReplayedPassage

CELL_LIMIT = 300

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!\[")
_LINK = re.compile(r"\](?=[(:])")  # what makes a link, or the address that one refers to

_MARKS = {"supported": "✓", "partly": "◐", "unsupported": "✗"}


def inert(text: str) -> str:
    """``text`` as Markdown that runs, loads and opens nothing: no HTML, no image and no link, whoever wrote
    them. As entities, because a backslash before them may be escaped itself."""
    return _LINK.sub("&#93;", _IMAGE.sub("!&#91;", _TAG.sub("&lt;", text)))


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return escape(text if len(text) <= CELL_LIMIT else text[: CELL_LIMIT - 1] + "…")


def table_html(columns: list[str], rows: list[list[object]]) -> str:
    """An HTML table whose cells are escaped and cut to ``CELL_LIMIT`` characters."""
    head = "".join(f"<th style='text-align:left'>{escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{_cell(v)}</td>" for v in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def record_html(record: Any) -> str:
    """One record as a table of names and values; a batch report as a table of its files."""
    fields = [f.name for f in dataclasses.fields(record)]
    if fields == ["files"]:
        rows = [[f.file, f.status, f.pages, f.chunks, f.error] for f in record.files]
        return table_html(["file", "status", "pages", "chunks", "error"], rows)
    return table_html([type(record).__name__, ""], [[name, _plain(getattr(record, name))] for name in fields])


def _plain(value: object) -> object:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value


def evidence_html(evidence: Evidence) -> str:
    """The question, the scope and the numbered passages."""
    rows: list[list[object]] = [
        [f"[{p.n}]", titled(p), _pages(p.page_start, p.page_end), f"{p.score:.2f}", p.text]
        for p in evidence.passages
    ]
    head = f"<p><b>{escape(evidence.query)}</b> · {escape(evidence.scope_label)}</p>"
    return head + table_html(["n", "paper", "page", "relevance", "text"], rows)


def answer_html(answer: Answer) -> str:
    """The answer's text, then its sources with their support marks."""
    paragraphs = "".join(f"<p>{escape(p)}</p>" for p in answer.text.split("\n") if p.strip())
    rows: list[list[object]] = [
        [f"[{c.n}]", _MARKS[c.support], titled(c), c.page_label or c.page, c.quote] for c in answer.citations
    ]
    sources = table_html(["n", "support", "paper", "page", "quote"], rows) if rows else ""
    notes = "".join(f"<p><i>{escape(w)}</i></p>" for w in answer.warnings)
    return paragraphs + sources + notes + _coverage(answer)


def _coverage(answer: Answer) -> str:
    if answer.coverage is None:
        return ""
    silent = answer.coverage.silent_titles()
    line = f"{answer.coverage}; not retrieved: {silent}" if silent else str(answer.coverage)
    return f"<p><small>{escape(line)}</small></p>"


def listed_titles(titles: Sequence[str], count: int) -> str:
    """Titles in quotation marks with commas, and how many more there are of ``count``."""
    named = ", ".join(f"“{' '.join(title.split())}”" for title in titles)
    more = count - len(titles)
    return f"{named} and {more} more" if named and more > 0 else named


def replay_html(replay: Replay) -> str:
    """The question, the numbers before and after, and each passage with its old and new number."""
    rows: list[list[object]] = [
        [_CHANGES[p.change], _number(p.old_n), _number(p.new_n), p.title, _page_range(p), p.reason or p.text]
        for p in replay.passages
    ]
    head = f"<p><b>{escape(replay.query)}</b> · {escape(replay.scope_label)}<br>{escape(_moved(replay))}</p>"
    notes = "".join(f"<p><i>{escape(line)}</i></p>" for line in (*replay.changed, *replay.warnings))
    return head + table_html(["", "was", "is", "paper", "page", "why it left, or its text"], rows) + notes


_CHANGES = {"enters": "+ enters", "leaves": "− leaves", "stays": "stays"}


def _moved(replay: Replay) -> str:
    """The numbers that differ, ``top_k 15 → 8``, and how many passages came and went."""
    names = [n for n in replay.after if n in replay.before and replay.before[n] != replay.after[n]]
    moved = [f"{name} {replay.before[name]} → {replay.after[name]}" for name in names]
    counts = f"{len(replay.entered)} enter, {len(replay.left)} leave, {len(replay.stayed)} stay"
    return "; ".join([", ".join(moved) or "the same numbers", counts])


def _number(n: int | None) -> str:
    return "" if n is None else f"[{n}]"


def _page_range(passage: ReplayedPassage) -> str:
    if passage.page_start is None or passage.page_end is None:
        return ""
    return _pages(passage.page_start, passage.page_end)


def titled(source: Passage | Citation) -> str:
    """The title; of a paper that another user shares, with that word."""
    return f"{source.title} (shared)" if source.shared else source.title


def _pages(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}–{end}"

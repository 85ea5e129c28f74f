"""Words that text, Markdown and HTML share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from workbench.rendering.inert import visible

if TYPE_CHECKING:
    from workbench.records import Citation, Evidence, Passage
    from workbench.tuning import Replay, ReplayedPassage

LONGEST_VALUE = 60
LONGEST_QUESTION = 120
LONGEST_LINE = 240
MARKS = {"supported": "✓", "partly": "◐", "unsupported": "✗", "uncited": "–"}


def shortened(text: str, longest: int) -> str:
    """``text``, or its beginning with an ellipsis."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def asked(question: str) -> str:
    """A question in quotation marks for a line of text."""
    return repr(shortened(" ".join(question.split()), LONGEST_QUESTION))


def label(text: str) -> str:
    """A name for a line of text."""
    return shortened(visible(" ".join(text.split())), LONGEST_VALUE)


def names_shown(kind: type) -> tuple[str, ...]:
    """The fields that a record's line and its row in a table show."""
    shown: tuple[str, ...] = getattr(kind, "shown", ()) or tuple(f.name for f in fields(kind))
    return shown


def record_line(record: Any) -> str:
    """``Paper(id=3, title='…', pages=12)``: one line. What is empty is left out."""
    kind = type(record)
    values = [(name, getattr(record, name)) for name in names_shown(kind)]
    said = [f"{name}={_value(value)}" for name, value in values if value not in (None, "", (), {})]
    line = f"{kind.__name__}({', '.join(said)})"
    return line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 2] + "…)"


def plain(value: object) -> str:
    """A field's value in words, for a table."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, tuple):
        return ", ".join(map(plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(inner)}" for name, inner in value.items())
    if isinstance(value, float):
        return f"{value:.3g}"
    return str(value)


def _value(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, tuple) and any(map(is_dataclass, value)):
        return f"<{len(value)}>"
    if isinstance(value, str):
        return repr(shortened(" ".join(value.split()), LONGEST_VALUE))
    return shortened(" ".join(repr(value).split()), LONGEST_VALUE)


def listed_titles(titles: Sequence[str], count: int) -> str:
    """Titles in quotation marks with commas, and how many more there are of ``count``."""
    named = ", ".join(f"“{' '.join(title.split())}”" for title in titles)
    more = count - len(titles)
    return f"{named} and {more} more" if named and more > 0 else named


def titled(source: Passage | Citation) -> str:
    """The title; of a paper that another user shares, with that word."""
    return f"{source.title} (shared)" if source.shared else source.title


def page_range(start: int | None, end: int | None) -> str:
    if start is None or end is None:
        return ""
    return str(start) if start == end else f"{start}–{end}"


def number(n: int | None) -> str:
    return "" if n is None else f"[{n}]"


EVIDENCE_COLUMNS = ["n", "paper", "page", "relevance", "text"]


def evidence_rows(evidence: Evidence) -> list[list[object]]:
    return [
        [f"[{p.n}]", titled(p), page_range(p.page_start, p.page_end), f"{p.score:.2f}", p.text]
        for p in evidence.passages
    ]


REPLAY_COLUMNS = ["", "was", "is", "paper", "page", "why it left, or its text"]
_CHANGES = {"enters": "+ enters", "leaves": "− leaves", "stays": "stays"}


def replay_rows(replay: Replay) -> list[list[object]]:
    return [
        [_CHANGES[p.change], number(p.old_n), number(p.new_n), p.title, _pages(p), p.reason or p.text]
        for p in replay.passages
    ]


def _pages(passage: ReplayedPassage) -> str:
    return page_range(passage.page_start, passage.page_end)


def moved(replay: Replay) -> str:
    """The numbers that differ, ``top_k 15 → 8``, and how many passages came and went."""
    names = [n for n in replay.after if n in replay.before and replay.before[n] != replay.after[n]]
    numbers = [f"{name} {replay.before[name]} → {replay.after[name]}" for name in names]
    counts = f"{len(replay.entered)} enter, {len(replay.left)} leave, {len(replay.stayed)} stay"
    return "; ".join([", ".join(numbers) or "the same numbers", counts])

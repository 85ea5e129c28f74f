"""What was asked in a place before, and how its passages move under other numbers: plain values to show."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from widgets.tuning.numbers import AUTOMATIC, Numbers, in_words
from widgets.wording import byline, one_line

if TYPE_CHECKING:
    from workbench import Paper, Replay, ReplayedPassage, Scope, Workbench

MOST_QUESTIONS = 200
SHOWN_TEXT = 420
"""Characters of a passage in the list; the page viewer gets it whole."""

Show = Callable[[], None]


class Latest:
    """Does the newest thing asked for, one at a time: what came in between is left out, and what a newer one
    has overtaken is not shown."""

    def __init__(self, begin: Callable[[Callable[[], None]], None]) -> None:
        """``begin`` runs a job beside the main thread."""
        self._begin = begin
        self._lock = threading.RLock()
        self._asked = 0
        self._next: tuple[int, Callable[[], Show]] | None = None
        self._working = False

    def ask(self, find: Callable[[], Show]) -> None:
        """Let ``find`` work and show what it found with what it returns. It raises nothing."""
        with self._lock:
            self._asked += 1
            self._next = self._asked, find
            if self._working:
                return
            self._working = True
        self._begin(self._work)

    def drop(self) -> None:
        """Nothing that is under way is shown any more."""
        with self._lock:
            self._asked += 1
            self._next = None

    def _work(self) -> None:
        while (taken := self._taken()) is not None:
            (number, find), ended = taken, False
            try:
                show = find()
                with self._lock:
                    if number == self._asked:
                        show()
                ended = True
            finally:
                if not ended:  # a fault nobody foresaw: the next one asked for still gets its turn
                    with self._lock:
                        self._working = False

    def _taken(self) -> tuple[int, Callable[[], Show]] | None:
        with self._lock:
            taken, self._next = self._next, None
            self._working = taken is not None
            return taken


def past_questions(workbench: Workbench, scope: Scope) -> list[dict[str, Any]]:
    """The searches of one scope that chose passages, newest first: ``{"id", "text", "when"}``."""
    found = workbench.past_searches(scope, limit=MOST_QUESTIONS)
    return [{"id": p.id, "text": one_line(p.query), "when": p.searched_at.isoformat()} for p in found]


def replayed(workbench: Workbench, retrieval: int, numbers: Numbers) -> Replay:
    """What the search would choose with these numbers, all of them given."""
    weight = numbers["keyword_weight"]
    return workbench.replay(
        retrieval, **{**numbers, "keyword_weight": AUTOMATIC if weight is None else weight}
    )


def shown(replay: Replay, papers: Mapping[int, Paper], usual: Numbers) -> dict[str, Any]:
    """The replay for the front end. ``papers`` are those of the place, by id; ``asked_with`` says what
    differs from the ``usual`` numbers."""
    rows = [_row(passage, papers.get(passage.paper_id)) for passage in replay.passages]
    moved = sum(row["change"] == "stays" and row["n"] != row["was"] for row in rows)
    return {
        "query": one_line(replay.query, 1000),
        "rows": rows,
        "entered": len(replay.entered),
        "left": len(replay.left),
        "stayed": len(replay.stayed),
        "moved": moved,
        "asked_with": in_words(replay.before, usual),
        "as_asked": replay.before == replay.after,
        "changed": [one_line(line) for line in replay.changed],
        "warnings": [one_line(line) for line in replay.warnings],
        "seconds": round(replay.timing.get("total", 0.0), 3),
    }


def citations(replay: Replay) -> list[dict[str, Any]]:
    """The passages as the page viewer takes them, in the order of the rows; without a page 0."""
    return [
        {
            "n": p.new_n or p.old_n or 0,
            "paper": p.paper_id,
            "title": p.title,
            "page": p.page_start or 0,
            "quote": p.text,
            "start": p.char_start or 0,
            "end": p.char_end or 0,
            "score": p.new_score,
        }
        for p in replay.passages
    ]


def _row(passage: ReplayedPassage, paper: Paper | None) -> dict[str, Any]:
    return {
        "key": passage.chunk_id,
        "change": passage.change,
        "n": passage.new_n or 0,
        "was": passage.old_n or 0,
        "paper": passage.paper_id,
        "file": passage.file,
        "title": one_line(passage.title, 200),
        "byline": byline(paper.authors, paper.year) if paper else "",
        "page": passage.page_start or 0,
        "last": passage.page_end or 0,
        "unit": passage.page_unit,
        "score": passage.new_score,
        "was_score": passage.old_score,
        "ranks": _ranks(passage),
        "why": _why(passage),
        "text": one_line(passage.text, SHOWN_TEXT),
    }


def _ranks(passage: ReplayedPassage) -> list[dict[str, Any]]:
    """Where each half of the search has it; 0 where it does not."""
    lists = (("meaning", passage.vector_rank), ("words", passage.keyword_rank))
    return [{"by": name, "rank": rank or 0} for name, rank in lists]


def _why(passage: ReplayedPassage) -> str:
    if passage.change == "leaves":
        return passage.reason
    if passage.change == "enters":
        return f"before: {passage.held_back}" if passage.held_back else "not found by the search then"
    return ""

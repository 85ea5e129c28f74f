"""Long work on the library's papers: one piece at a time, with progress and an end at a person's wish.

Adding files, processing papers again and removing many share it, so that every panel shows the same work and
any of them can stop it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from traitlets import Dict, HasTraits, List

from workbench import NotFoundError

if TYPE_CHECKING:
    from workbench import FileOutcome, Progress, Workbench

PROGRESS_EVERY = 0.1
"""Seconds between two updates of the bar: a browser shows no more, and messages are not free."""

STAGES = ("read", "chunk", "embed", "index")
_STAGE_SHARE = {"read": (0.0, 0.25), "chunk": (0.25, 0.3), "embed": (0.3, 0.95), "index": (0.95, 1.0)}
STAGE_WORDS = {"read": "reading", "chunk": "cutting", "embed": "embedding", "index": "indexing"}


class Cancelled(Exception):
    """The person at the panel cancelled: how a progress callback leaves the work."""


class Work(HasTraits):
    """``job`` is empty or the work under way, ``{"file", "doing", "percent", "nth", "files", "stopping",
    "paper"}``, with the id of the paper it is about or 0. ``waiting`` are ids of papers whose turn comes."""

    job = Dict()
    waiting: List[int] = List()

    def __init__(self) -> None:
        super().__init__()
        self._turn = threading.Lock()
        self._listing = threading.Lock()
        self._cancelled = threading.Event()
        self._shown_at = 0.0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for the work before this one; nothing is shown of it any more at the end."""
        with self._turn:
            self._cancelled.clear()
            try:
                yield
            finally:
                self.job = {}

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stops after the piece of work in hand; what is complete stays."""
        if self.job:
            self._cancelled.set()
            self.job = {**self.job, "stopping": True}

    def show(self, step: Progress, *, paper: int = 0, always: bool = False) -> None:
        """Shows one step of putting a paper into the library, ``always`` or as often as a person can see."""
        now = time.monotonic()
        if always or step.done == step.total or now - self._shown_at >= PROGRESS_EVERY:
            self._shown_at = now
            doing, percent = STAGE_WORDS.get(step.stage, step.stage), round(100 * _share(step))
            self.tell(step.file, doing, percent, nth=step.number, files=step.files, paper=paper)

    def tell(
        self, file: str, doing: str, percent: int, *, nth: int = 1, files: int = 1, paper: int = 0
    ) -> None:
        self.job = {
            "file": file,
            "doing": doing,
            "percent": percent,
            "nth": nth,
            "files": files,
            "stopping": self.cancelled,
            "paper": paper,
        }

    @contextmanager
    def waiting_for(self, papers: Sequence[int]) -> Iterator[Callable[[int], None]]:
        """Lists the papers as waiting; what it gives is called with each whose turn has come."""

        def come(paper: int) -> None:
            with self._listing:
                self.waiting = [p for p in self.waiting if p != paper]

        with self._listing:
            self.waiting = [*self.waiting, *papers]
        try:
            yield come
        finally:
            with self._listing:
                self.waiting = [p for p in self.waiting if p not in set(papers)]


def reprocess(
    workbench: Workbench, work: Work, papers: Sequence[tuple[int, str]], *, done: Callable[[], None]
) -> tuple[list[FileOutcome], int]:
    """Processes papers, given as id and name, again. ``done`` is called after each.

    Returns the outcomes, and how many were not begun or not finished because the person cancelled. A paper
    that has been removed meanwhile has no outcome. Until a paper's new index is stored the old one answers.
    """
    outcomes: list[FileOutcome] = []
    with work.waiting_for([paper for paper, _ in papers]) as come, work.turn():
        for nth, (paper, name) in enumerate(papers, start=1):
            if work.cancelled:
                return outcomes, len(papers) - nth + 1
            come(paper)
            work.tell(name, STAGE_WORDS[STAGES[0]], 0, nth=nth, files=len(papers), paper=paper)
            try:
                outcomes.append(workbench.papers.reprocess(paper, progress=_shown(work, paper, nth, papers)))
            except Cancelled:
                return outcomes, len(papers) - nth + 1
            except NotFoundError:
                continue
            done()
    return outcomes, 0


def _shown(work: Work, paper: int, nth: int, papers: Sequence[tuple[int, str]]) -> Callable[[Progress], None]:
    """Shows a step, and leaves where the person cancelled and nothing is stored yet."""

    def step(found: Progress) -> None:
        if work.cancelled and not is_last(found):
            raise Cancelled
        work.show(replace(found, number=nth, files=len(papers)), paper=paper)

    return step


def is_last(step: Progress) -> bool:
    """Whether the paper is complete with this step."""
    return step.stage == STAGES[-1] and step.done == step.total


def _share(step: Progress) -> float:
    start, end = _STAGE_SHARE.get(step.stage, (0.0, 1.0))
    return start + (end - start) * (step.done / step.total if step.total else 1.0)

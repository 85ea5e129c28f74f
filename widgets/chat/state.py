"""The chat panel's state: threads of questions and answers, one per scope, and the answer that streams."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.chat.turns import answered, asked, provisional_citations, suggestions
from widgets.panel import PanelState, action, explained_errors
from widgets.richtext import Marker, answer_html
from widgets.wording import one_line
from workbench import AnswerDone, EvidenceFound, InvalidInputError, Notice, Scope, TextDelta

if TYPE_CHECKING:
    from workbench import Event, Workbench

SHOW_EVERY = 0.06
"""Seconds between two drawings of a streaming answer."""

ALL = -1
ORPHANS = 0

Turn = dict[str, Any]


@dataclass(slots=True)
class _Run:
    """One answer on its way. ``place`` is its thread's scope and its index there."""

    question: str
    scope: int
    place: tuple[int, int]
    text: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shown_at: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)

    def turn(self, state: str) -> Turn:
        """The turn as far as it is known."""
        markers = [Marker(c["n"], c["support"]) for c in self.citations]
        return {
            "question": self.question,
            "state": state,
            "html": answer_html(_closed_emphasis(self.text), markers=markers),
            "text": self.text,
            "citations": self.citations,
            "notes": list(self.notes),
        }


class ChatState(PanelState):
    """``turns`` are the shown thread's; ``live`` is empty or ``{"index", …}``, the turn that streams now,
    without its citations: those are ``live_citations`` and travel once.

    ``scope`` is what the next question sees: a project's id, ``ORPHANS`` or ``ALL``; ``scopes`` are the
    choices, ``{"value", "label"}``. ``active`` is the citation open in the viewer, ``{"turn", "k"}``.
    """

    turns = List(Dict()).tag(sync=True)
    live = Dict().tag(sync=True)
    live_citations = List(Dict()).tag(sync=True)
    streaming = Bool(False).tag(sync=True)
    scope = Int(ORPHANS).tag(sync=True)
    scopes = List(Dict()).tag(sync=True)
    suggestions = List(Unicode()).tag(sync=True)
    active = Dict().tag(sync=True)

    def __init__(
        self, workbench: Workbench, *, on_cite: Callable[[Sequence[Turn], int, int], None], **options: Any
    ) -> None:
        """``on_cite`` is called with an answer's citations, the chosen one's index, and the turn's."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_cite = on_cite
        self._threads: dict[int, list[Turn]] = {}
        self._shown = ORPHANS
        self._run_now: _Run | None = None
        self._lock = threading.RLock()

    def show(self, scope: int) -> None:
        """Show the thread of a project or of the orphans, and ask there from now on."""
        with self._lock:
            self._shown = scope
            self.scope = scope
            self.active = {}
            self.turns = list(self._threads.get(scope, []))
            self._show_live()

    def suggest(self, titles: Sequence[str]) -> None:
        """Offer questions about papers with these titles."""
        self.suggestions = suggestions(titles)

    def offer_scopes(self, projects: Sequence[dict[str, Any]]) -> None:
        """Let questions see one of these projects, the papers in none, or all papers."""
        self.scopes = [
            *({"value": p["id"], "label": p["name"]} for p in projects),
            {"value": ORPHANS, "label": "Papers in no project"},
            {"value": ALL, "label": "All papers"},
        ]

    @action
    def choose_scope(self, *, value: int) -> None:
        if any(choice["value"] == value for choice in self.scopes):
            self.scope = value

    @action
    def ask(self, *, question: str) -> None:
        """Stream an answer in the shown thread."""
        asking = question.strip()
        if not asking:
            return
        with self._lock:
            if self._run_now is not None:
                raise InvalidInputError("An answer is on its way. Stop it first, or wait.")
            thread = self._threads.setdefault(self._shown, [])
            run = _Run(asking, self.scope, (self._shown, len(thread)))
            thread.append(asked(asking))
            self._run_now = run
            self.streaming = True
            self.turns = list(thread)
            self._show_live()
        self.in_background("answering", lambda: self._answer(run))

    @action
    def stop(self) -> None:
        """End the answer that streams now; what has arrived stays, marked as stopped."""
        run = self._run_now
        if run is not None:
            run.stopped.set()
            self._end(run, run.turn("stopped"))

    @action
    def cite(self, *, turn: int, k: int, among: str = "citations") -> None:
        """Show the k-th citation (or passage) of a turn in the viewer."""
        citations = self._turn(turn).get("passages" if among == "passages" else "citations", [])
        if 0 <= k < len(citations):
            self.active = {"turn": turn, "k": k} if among != "passages" else {}
            self._on_cite(citations, k, turn)

    def _turn(self, index: int) -> Turn:
        if self.live.get("index") == index:
            return {"citations": self.live_citations}
        return self.turns[index] if 0 <= index < len(self.turns) else {}

    def _answer(self, run: _Run) -> None:
        """Draw events until the answer is complete, stopped or failed; every end leaves the panel ready."""
        with (
            explained_errors("answering", run.notes.append),
            _closed(self._workbench.stream(run.question, scope=Scope(run.scope or None))) as events,
        ):
            for event in events:
                if run.stopped.is_set():
                    return
                self._take(run, event)
        self._end(run, run.turn("failed"))

    def _take(self, run: _Run, event: Event) -> None:
        if isinstance(event, AnswerDone):
            self._end(run, answered(event.answer))
            return
        if isinstance(event, EvidenceFound):
            run.citations = provisional_citations(event.evidence)
        elif isinstance(event, Notice):
            run.notes.append(one_line(event.text))
        elif isinstance(event, TextDelta):
            run.text += event.text
            if time.monotonic() - run.shown_at < SHOW_EVERY:
                return
        run.shown_at = time.monotonic()
        with self._lock:
            if run is self._run_now:
                self._show_live()

    def _show_live(self) -> None:
        """Draw the answer that streams now, where its thread is the one shown."""
        run = self._run_now
        if run is None or run.place[0] != self._shown:
            self.live, self.live_citations = {}, []
            return
        turn = run.turn("answering" if run.text else "searching")
        self.live_citations = run.citations
        self.live = {
            "index": run.place[1],
            "state": turn["state"],
            "html": turn["html"],
            "notes": list(run.notes),
        }

    def _end(self, run: _Run, turn: Turn) -> None:
        """Put the finished turn in its thread; only the first end of a run counts."""
        with self._lock:
            if run is not self._run_now:
                return
            self._run_now = None
            scope, index = run.place
            self._threads[scope][index] = turn
            if scope == self._shown:
                self.turns = list(self._threads[scope])
            self._show_live()
            self.streaming = False


def _closed_emphasis(text: str) -> str:
    """``text`` with bold that is still open at its end closed, so that no stars flicker while it streams."""
    if text.rpartition("\n\n")[2].count("**") % 2 == 0:
        return text
    return text[:-2] if text.endswith("**") else text.rstrip() + "**"


@contextmanager
def _closed(events: Iterator[Event]) -> Iterator[Iterator[Event]]:
    """Close the stream at the end, which stops the server's work where it still goes on."""
    try:
        yield events
    finally:
        close = getattr(events, "close", None)
        if close is not None:
            close()

"""The chat panel's state: a stored thread of questions and answers per scope, and the answer that streams."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.chat.threads import ALL, ORPHANS, Thread, latest, place_of, scope_of, stored_turns
from widgets.chat.turns import Turn, answered, asked, listed, provisional_citations, suggestions
from widgets.panel import PanelState, action, explained_errors
from widgets.richtext import Marker, answer_html
from widgets.wording import ALL_NAME, ORPHANS_NAME, one_line
from workbench import AnswerDone, EvidenceFound, InvalidInputError, Notice, TextDelta, asked_line

if TYPE_CHECKING:
    from workbench import Event, Workbench
    from workbench.conversing import Conversation

SHOW_EVERY = 0.06
"""Seconds between two drawings of a streaming answer."""


@dataclass(slots=True)
class _Run:
    """One answer on its way, the ``index``-th of its thread; with ``silent_of``, a stored answer's message,
    from the papers that gave it no passage."""

    question: str
    thread: Thread
    index: int
    silent_of: int = 0
    text: str = ""
    asked: str = ""
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
            "asked": self.asked,
            "notes": list(self.notes),
        }


class ChatState(PanelState):
    """``turns`` are the shown thread's; ``live`` is empty or ``{"index", …}``, the turn that streams now,
    without its citations: those are ``live_citations`` and travel once.

    ``scope`` is what the next question sees: a project's id, ``ORPHANS`` or ``ALL``; ``scopes`` are the
    choices, ``{"value", "label"}``, and ``fixed`` where there is none: in a project's own chat.
    ``thread`` counts the threads shown; ``reading`` while a stored one is fetched. ``active`` is the
    citation open in the viewer, ``{"turn", "k"}``. ``known`` are notices that the header tells already.
    """

    turns = List(Dict()).tag(sync=True)
    live = Dict().tag(sync=True)
    live_citations = List(Dict()).tag(sync=True)
    streaming = Bool(False).tag(sync=True)
    reading = Bool(False).tag(sync=True)
    thread = Int(0).tag(sync=True)
    scope = Int(ORPHANS).tag(sync=True)
    fixed = Bool(False).tag(sync=True)
    scopes = List(Dict()).tag(sync=True)
    suggestions = List(Unicode()).tag(sync=True)
    known = List(Unicode()).tag(sync=True)
    active = Dict().tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_cite: Callable[[Sequence[Turn], int, int], None],
        on_scope: Callable[[int], None] = lambda _: None,
        **options: Any,
    ) -> None:
        """``on_cite`` is called with an answer's citations, the chosen one's index, and the turn's;
        ``on_scope`` with a scope that a person or a tool chose here."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_cite = on_cite
        self._on_scope = on_scope
        self._threads: dict[int, Thread] = {}
        self._shown = Thread(ORPHANS)
        self._run_now: _Run | None = None
        self._lock = threading.RLock()

    def show(self, scope: int) -> None:
        """Show the thread of a project, of the orphans or of all papers, and ask there from now on."""
        with self._lock:
            if self._shown.scope == scope and self.thread:
                return
            thread = self._threads.get(scope)
            known = thread is not None and thread.scope == scope
            shown = self._shown = thread if thread is not None and known else Thread(scope, own=scope > 0)
            self._threads[scope] = shown
            self.scope, self.fixed = scope, shown.own
            self.active = {}
            self._draw_thread()
            self.thread += 1
            self.reading = not shown.loaded
        if not known:
            self.in_background("reading the conversation", lambda: self._read(shown))

    def forget(self, scope: int) -> None:
        """Drop the thread of a project that has gone."""
        with self._lock:
            self._threads.pop(scope, None)

    def _read(self, thread: Thread) -> None:
        try:
            thread.conversation = latest(self._workbench, thread.scope)
            if thread.conversation is not None:
                thread.turns[:0] = stored_turns(thread.conversation.messages)
        finally:
            with self._lock:
                thread.loaded = True
                if thread is self._shown:
                    self._draw_thread()
                    self.reading = False

    def _draw_thread(self) -> None:
        self.turns = list(self._shown.turns)
        self._show_live()

    def suggest(self, titles: Sequence[str]) -> None:
        """Offer questions about papers with these titles."""
        self.suggestions = suggestions(titles)

    def offer_scopes(self, projects: Sequence[dict[str, Any]]) -> None:
        """Let questions see one of these projects, the papers in none, or all papers."""
        self.scopes = [
            {"value": ORPHANS, "label": ORPHANS_NAME},
            *({"value": p["id"], "label": p["name"]} for p in projects),
            {"value": ALL, "label": ALL_NAME},
        ]

    @action
    def choose_scope(self, *, value: int) -> None:
        """Ask elsewhere: there the thread is another one too."""
        if value != self.scope and any(choice["value"] == value for choice in self.scopes):
            self._on_scope(value)

    @action
    def ask(self, *, question: str) -> None:
        """Stream an answer in the shown thread."""
        if question.strip():
            self._begin(question.strip())

    @action
    def ask_silent(self, *, turn: int) -> None:
        """Put a turn's question to the papers of its scope that gave no passage."""
        before = self._turn(turn)
        if before.get("message") and before.get("coverage", {}).get("silent"):
            self._begin(before["question"], silent_of=before["message"])

    def _begin(self, asking: str, *, silent_of: int = 0) -> None:
        with self._lock:
            if self._run_now is not None:
                raise InvalidInputError("An answer is on its way. Stop it first, or wait.")
            if self.reading:
                raise InvalidInputError("The conversation is still being read. Ask again in a moment.")
            thread = self._shown
            run = _Run(asking, thread, len(thread.turns), silent_of)
            thread.turns.append(asked(asking))
            self._run_now = run
            self.streaming = True
            self._draw_thread()
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
        """Show the k-th citation of a turn in the viewer, or what else of it ``among`` names."""
        citations = listed(self._turn(turn), among)
        if 0 <= k < len(citations):
            self.active = {"turn": turn, "k": k} if among == "citations" else {}
            self._on_cite(citations, k, turn)

    def _turn(self, index: int) -> Turn:
        if self.live.get("index") == index:
            return {"citations": self.live_citations}
        return self.turns[index] if 0 <= index < len(self.turns) else {}

    def _answer(self, run: _Run) -> None:
        """Draw events until the answer is complete, stopped or failed; every end leaves the panel ready."""
        with (
            explained_errors("answering", run.notes.append),
            _closed(self._stream(run)) as events,
        ):
            for event in events:
                if run.stopped.is_set():
                    return
                self._take(run, event)
        self._end(run, run.turn("failed"))

    def _stream(self, run: _Run) -> Iterator[Event]:
        conversation = self._conversation(run.thread)
        return (
            conversation.stream_silent(run.silent_of) if run.silent_of else conversation.stream(run.question)
        )

    def _conversation(self, thread: Thread) -> Conversation:
        """The thread's conversation, begun with its first question."""
        if thread.conversation is None:
            found = latest(self._workbench, thread.scope) if thread.scope > 0 else None
            thread.conversation = found or self._workbench.conversations.create(scope_of(thread.scope))
        return thread.conversation

    def _take(self, run: _Run, event: Event) -> None:
        if isinstance(event, AnswerDone):
            self._end(run, answered(event.answer, message_id=event.message_id))
            if event.scope_change is not None:
                self._follow(run.thread, place_of(event.scope_change.rag_project_id))
            return
        if isinstance(event, EvidenceFound):
            run.citations = provisional_citations(event.evidence)
            run.asked = one_line(asked_line(event.evidence))
        elif isinstance(event, Notice):
            run.notes += [line for line in [one_line(event.text)] if line != run.asked]
        elif isinstance(event, TextDelta):
            run.text += event.text
            if time.monotonic() - run.shown_at < SHOW_EVERY:
                return
        run.shown_at = time.monotonic()
        with self._lock:
            if run is self._run_now:
                self._show_live()

    def _follow(self, thread: Thread, scope: int) -> None:
        """A tool gave the conversation another scope: the thread stays in sight, and the panels follow."""
        with self._lock:
            thread.scope = scope
            if thread is not self._shown:
                return
            self.scope = scope
        self._on_scope(scope)

    def _show_live(self) -> None:
        """Draw the answer that streams now, where its thread is the one shown."""
        run = self._run_now
        if run is None or run.thread is not self._shown:
            self.live, self.live_citations = {}, []
            return
        turn = run.turn("answering" if run.text else "searching")
        self.live_citations = run.citations
        self.live = {
            "index": run.index,
            "state": turn["state"],
            "html": turn["html"],
            "asked": run.asked,
            "notes": list(run.notes),
        }

    def _end(self, run: _Run, turn: Turn) -> None:
        """Put the finished turn in its thread; only the first end of a run counts."""
        with self._lock:
            if run is not self._run_now:
                return
            self._run_now = None
            run.thread.turns[run.index] = turn
            self._draw_thread()
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

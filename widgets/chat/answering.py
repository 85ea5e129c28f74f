"""Asking and answering in the chat panel: one answer at a time streams, in its thread, shown or not."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List

from widgets.chat.running import Run, close_of, closed
from widgets.chat.threads import DELETED, NEW, Thread, conversation_of, is_there, with_repeats
from widgets.chat.turns import Turn, answered, asked
from widgets.panel import PanelState, action, explained_errors
from widgets.places import ORPHANS
from widgets.wording import one_line
from workbench import AnswerDone, EvidenceFound, InvalidInputError, NotFoundError, TextDelta

if TYPE_CHECKING:
    from workbench import Conversation, Event, Workbench

SHOW_EVERY = 0.06
"""Seconds between two drawings of a streaming answer."""
MOST_WAITING = 10.0
"""Seconds in which an answer that was stopped should have stored what there was of it."""


class AnsweringState(PanelState):
    """``turns`` are the shown thread's; ``live`` is empty or ``{"index", …}``, the turn that streams now,
    without its citations: those are ``live_citations`` and travel once. ``answering`` is the id of its
    conversation, 0 for none. ``reading`` while a stored thread is fetched."""

    turns = List(Dict()).tag(sync=True)
    live = Dict().tag(sync=True)
    live_citations = List(Dict()).tag(sync=True)
    streaming = Bool(False).tag(sync=True)
    answering = Int(0).tag(sync=True)
    reading = Bool(False).tag(sync=True)

    def __init__(self, workbench: Workbench, **options: Any) -> None:
        super().__init__(**options)
        self._workbench = workbench
        self._shown = Thread(ORPHANS)
        self._run_now: Run | None = None
        self._last_run: Run | None = None
        self._lock = threading.RLock()

    # --- what a panel of threads adds ------------------------------------------------------------

    def _begun(self, thread: Thread) -> None:
        """The thread's conversation has its first question."""

    def _settle(self, thread: Thread) -> None:
        """An answer of the thread has come to its end."""

    def _lost(self, thread: Thread, question: str) -> None:
        """The thread's conversation has gone, so this question could not be asked there."""

    # --- asking ------------------------------------------------------------------------------------

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

    @action
    def ask_again(self) -> None:
        """Ask the shown thread's last question once more; the answer that it got stays above."""
        last = self._turn(len(self.turns) - 1)
        if not last.get("question"):
            return
        if not last.get("narrowed"):
            self._begin(last["question"], again=True)
            return
        same = [t for t in self.turns[:-1] if t["question"] == last["question"] and t.get("message")]
        if same:
            self._begin(last["question"], silent_of=same[-1]["message"])

    def _begin(self, question: str, *, silent_of: int = 0, again: bool = False) -> None:
        with self._lock:
            if self._run_now is not None:
                raise InvalidInputError("An answer is on its way. Stop it first, or wait.")
            if self.reading:
                raise InvalidInputError("The conversation is still being read. Ask again in a moment.")
            thread = self._shown
            run = Run(question, thread, len(thread.turns), silent_of, again, before=self._last_run)
            thread.turns.append(asked(question))
            self._run_now = self._last_run = run
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
            self.in_background("stopping", lambda: run.close())

    def end(self, conversation: int) -> None:
        """End the answer that streams in this conversation, if one does, and wait until it is over: what is
        removed after that stays removed."""
        run = self._run_now
        if run is not None and run.thread.id == conversation:
            self.stop()
            run.over.wait(MOST_WAITING)

    def _turn(self, index: int) -> Turn:
        if self.live.get("index") == index:
            return {"citations": self.live_citations}
        return self.turns[index] if 0 <= index < len(self.turns) else {}

    # --- answering ---------------------------------------------------------------------------------

    def _answer(self, run: Run) -> None:
        """Draw events until the answer is complete, stopped or failed; every end leaves the panel ready."""
        if run.before is not None:
            run.before.over.wait(MOST_WAITING)
            run.before = None
        try:
            with (
                explained_errors("answering", run.notes.append),
                closed(self._stream(run)) as events,
            ):
                run.close = close_of(events)
                for event in events:
                    if run.stopped.is_set():
                        break
                    self._take(run, event)
        finally:
            run.over.set()
        self._end(run, run.turn("failed"))
        self._settle(run.thread)

    def _stream(self, run: Run) -> Iterator[Event]:
        try:
            conversation, told = conversation_of(self._workbench, run.thread)
            events = self._events(run, conversation)
        except NotFoundError as error:
            if is_there(run.thread):
                raise  # it is an answer that has gone
            self._lost(run.thread, run.question)
            if run.thread.kind != "thread":
                raise
            raise NotFoundError(DELETED) from error
        run.told += [told] if told else []
        return events

    def _events(self, run: Run, conversation: Conversation) -> Iterator[Event]:
        if run.silent_of:
            return conversation.stream_silent(run.silent_of)
        if run.again:
            same = [m for m in conversation.messages if m.role == "user" and m.text == run.question]
            if same:
                return conversation.stream_again(same[-1])
        return conversation.stream(run.question)

    def _take(self, run: Run, event: Event) -> None:
        if isinstance(event, AnswerDone):
            turn = answered(event.answer, message_id=event.message_id)
            self._end(run, {**turn, "notes": [*run.told, *turn["notes"]]})
            return
        run.take(event)
        if isinstance(event, EvidenceFound):
            self._begun(run.thread)  # the question is stored by now, and gives the title
        if isinstance(event, TextDelta) and time.monotonic() - run.shown_at < SHOW_EVERY:
            return
        run.shown_at = time.monotonic()
        with self._lock:
            if run is self._run_now:
                self.answering = run.thread.id
                self._show_live()

    def _end(self, run: Run, turn: Turn) -> None:
        """Put the finished turn in its thread; only the first end of a run counts."""
        with self._lock:
            if run is not self._run_now:
                return
            self._run_now = None
            if run.index < len(run.thread.turns):
                run.thread.turns[run.index] = turn
            run.thread.notice = ""
            if run.thread.title == NEW:
                run.thread.title = one_line(run.question, 80)
            self._draw_thread()
            self.streaming, self.answering = False, 0

    # --- drawing -----------------------------------------------------------------------------------

    def _draw_thread(self) -> None:
        self.turns = with_repeats(self._shown.turns)
        self._show_live()

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
            "notes": turn["notes"],
        }

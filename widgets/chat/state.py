"""The chat panel's state: which conversation is shown, and what its next question sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from traitlets import Dict, Int, List, Unicode

from widgets.chat.scoping import ScopedState
from widgets.chat.threads import (
    NEW,
    Thread,
    has_more_answers,
    has_other_answers,
    latest,
    stored_turns,
)
from widgets.chat.turns import Turn, listed, suggestions
from widgets.conversations.exports import ExportsState
from widgets.panel import action
from widgets.places import ORPHANS
from widgets.wording import one_line
from workbench import NotFoundError

if TYPE_CHECKING:
    from workbench import Conversation, ConversationInfo, Workbench


class ChatState(ScopedState, ExportsState):
    """What is shown of one thread; see ``AnsweringState`` for its turns, ``ScopedState`` for its scope.

    ``thread`` counts the threads shown, ``begun`` those that a person began; ``conversation`` is the shown
    one's id, 0 before its first question, ``title`` its title and ``kind`` "thread", "project" or "paper".
    ``told`` is a line to know before the next question. ``active`` is the citation open in the viewer,
    ``{"turn", "k"}``. ``known`` are notices that the header tells already.
    """

    thread = Int(0).tag(sync=True)
    begun = Int(0).tag(sync=True)
    conversation = Int(0).tag(sync=True)
    title = Unicode(NEW).tag(sync=True)
    kind = Unicode("thread").tag(sync=True)
    told = Unicode("").tag(sync=True)
    suggestions = List(Unicode()).tag(sync=True)
    known = List(Unicode()).tag(sync=True)
    active = Dict().tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_cite: Callable[[Sequence[Turn], int, int], None],
        on_scope: Callable[[int], None] = lambda _: None,
        on_change: Callable[[], None] = lambda: None,
        on_missing: Callable[[], None] = lambda: None,
        **options: Any,
    ) -> None:
        """``on_cite`` is called with an answer's citations, the chosen one's index, and the turn's;
        ``on_scope`` with the scope that a shown thread has now; ``on_change`` when a conversation began or
        was used; ``on_missing`` when a project turned out to be gone."""
        super().__init__(workbench, **options)
        self._on_cite, self._on_scope = on_cite, on_scope
        self._on_change, self._on_missing = on_change, on_missing
        self._titles: Sequence[str] = ()

    @property
    def paper(self) -> int:
        """The paper whose chat is shown, or 0."""
        return self._shown.paper

    # --- which thread is shown -----------------------------------------------------------------------

    def show(self, place: int) -> None:
        """Show the thread of a project, of the orphans or of all papers, unless the shown one asks there
        already."""
        if not self.thread or self._shown.scope != place or self._shown.kind == "paper":
            self.go_to(place)

    def go_to(self, place: int) -> None:
        """Show what belongs to a place: a project's own chat, else the thread used last there."""
        with self._lock:
            if self.thread and self._shown.at_home(place):
                return
            known = self._threads.at(place)
            thread = known or Thread(place, kind="project" if place > 0 else "thread")
            if known is None and place > 0:
                thread.title = next((p["name"] for p in self._projects if p["id"] == place), "")
            self._put(thread)
        if known is None:
            self.in_background("reading the conversation", lambda: self._find(thread))
        else:
            self._read_soon(thread)

    def open_conversation(self, conversation: Conversation, info: ConversationInfo) -> None:
        """Show this conversation, and its scope in all panels."""
        with self._lock:
            thread = self._threads.of(info, conversation)
            if thread is not self._shown:
                self._put(thread)
        if thread.kind != "paper":
            self._on_scope(thread.scope)
        self._read_soon(thread)

    def look(self) -> None:
        """Show what another window has added to the thread, if it has. One that has gone stays in sight: its
        next question tells."""
        thread = self._shown
        if thread.conversation is None or not thread.loaded or self._asks_in(thread):
            return
        with suppress(NotFoundError):
            if thread.conversation.info != thread.known:
                self._read(thread)

    def open_paper(self, paper: int) -> None:
        """Show the chat of this paper."""

        def find() -> None:
            chat = self._workbench.paper_chat(paper)
            self.open_conversation(chat, chat.info)

        self.in_background("opening the paper's chat", find)

    @action
    def new(self) -> None:
        """Show an empty thread, which its first question begins; it sees what the shown one sees."""
        with self._lock:
            place = ORPHANS if self._shown.kind == "paper" else self._shown.scope
            thread = self._threads.unsaved(place)
            if thread is not self._shown:
                self._put(thread)
            self.begun += 1

    def cleared(self, conversation: int) -> None:
        """This conversation has lost its messages."""
        thread = self._threads.find(conversation)
        with self._lock:
            if thread is not None:
                thread.turns = []
                if thread is self._shown:
                    self.active = {}
                    self._draw_thread()

    def gone(self, conversation: int) -> None:
        """This conversation has been deleted."""
        thread = self._threads.find(conversation)
        if thread is not None:
            self._leave(thread)

    def forget(self, project: int) -> None:
        """This project has been deleted: threads that saw it see orphans, as the library has it."""
        with self._lock:
            for thread in self._threads.asking_in(project):
                if thread.kind == "project":
                    self._threads.forget(thread)
                    continue
                thread.scope = ORPHANS
                if thread is self._shown:
                    self._move(thread)
                    self._read_soon(thread)

    def _leave(self, thread: Thread) -> None:
        """Show something else than this thread, whose conversation has gone."""
        with self._lock:
            self._threads.forget(thread)
            if thread is not self._shown:
                return
            if thread.kind == "project":
                self._put(Thread(thread.scope, kind="project", title=thread.title, loaded=True))
            else:
                self._put(self._threads.unsaved(ORPHANS if thread.kind == "paper" else thread.scope))

    def _put(self, thread: Thread) -> None:
        self._shown = thread
        self._threads.shown(thread)
        self.reading = not thread.loaded
        self.active = {}
        self._draw_thread()
        self._draw_head()
        self.thread += 1

    def _find(self, thread: Thread) -> None:
        """Find the conversation of a thread that was only a place so far. Where that fails, the thread's
        next question finds it."""
        found = None
        try:
            conversation = latest(self._workbench, thread.scope)
            with self._lock:
                thread.conversation = conversation
                found = (
                    self._threads.keep(thread)
                    if conversation
                    else self._threads.unsaved(thread.scope, thread)
                )
                if self._shown is thread and found is not thread:
                    self._put(found)
        except NotFoundError:
            self._on_missing()
        finally:
            with self._lock:
                if found is None and thread is self._shown:
                    self.reading = False
        if found is not None:
            self._read(found)

    def _read_soon(self, thread: Thread) -> None:
        self.in_background("reading the conversation", lambda: self._read(thread))

    def _read(self, thread: Thread) -> None:
        """Fetch the stored turns; another window may have added some, or changed the scope."""
        seen = list(thread.turns)
        try:
            if thread.conversation is not None:
                info, notice = thread.conversation.info, thread.conversation.notice
                messages = thread.conversation.messages
                other = not thread.loaded or has_other_answers(messages, seen)
                stored = stored_turns(messages) if other else []
                with self._lock:
                    if other and (not thread.loaded or (thread.turns == seen and not self._asks_in(thread))):
                        thread.turns = stored
                    thread.notice, thread.known = one_line(notice or ""), info
                    self._take_info(thread, info)
        except NotFoundError:
            self._leave(thread)
            self._on_change()
        finally:
            with self._lock:
                thread.loaded = True
                if thread is self._shown:
                    self._draw_head()
                    self._draw_thread()
                    self.reading = False

    def _asks_in(self, thread: Thread) -> bool:
        return self._run_now is not None and self._run_now.thread is thread

    # --- what an answer brings -----------------------------------------------------------------------

    def _begun(self, thread: Thread) -> None:
        with self._lock:
            self._threads.keep(thread)
            self._threads.shown(thread)
            if thread is self._shown:
                self._draw_head()
        self._on_change()

    def _settle(self, thread: Thread) -> None:
        """Title, scope and turns as the library has them now: a tool, another window or a deleted project may
        have changed the scope, and another window may have asked here meanwhile."""
        # A conversation that has gone is told at its answer; so it must not reach what shows errors.
        with self.shown_errors("reading the conversation"), suppress(NotFoundError):
            if thread.conversation is not None:
                info = thread.conversation.info
                messages = thread.conversation.messages
                with self._lock:
                    self._take_info(thread, info)
                    if not self._asks_in(thread) and has_more_answers(messages, thread.turns):
                        thread.turns = stored_turns(messages)
                        if thread is self._shown:
                            self.active = {}
                            self._draw_thread()
        if thread is self._shown:
            self._draw_head()
        self._on_change()

    def _lost(self, thread: Thread, question: str) -> None:
        with self._lock:
            self._threads.forget(thread)
            thread.conversation = None
        if thread.kind == "project":
            self._on_missing()  # after which another thread is shown
            self.error = f"This project has been deleted, so “{one_line(question)}” was not asked."

    def _draw_head(self) -> None:
        thread = self._shown
        self.conversation, self.title, self.kind = thread.id, thread.title, thread.kind
        self.told = thread.notice
        self._draw_scope()
        self._suggest()

    # --- beside the thread ---------------------------------------------------------------------------

    def suggest(self, titles: Sequence[str]) -> None:
        """Offer questions about papers with these titles."""
        self._titles = titles
        self._suggest()

    def _suggest(self) -> None:
        paper = self._shown.kind == "paper"
        self.suggestions = suggestions([self._shown.title] if paper else self._titles)

    @action
    def cite(self, *, turn: int, k: int, among: str = "citations") -> None:
        """Show the k-th citation of a turn in the viewer, or what else of it ``among`` names."""
        citations = listed(self._turn(turn), among)
        if 0 <= k < len(citations):
            self.active = {"turn": turn, "k": k} if among == "citations" else {}
            self._on_cite(citations, k, turn)

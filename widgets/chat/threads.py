"""Conversations as the chat panel's threads: one for each that is open here, and those not begun yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from widgets.chat.turns import Turn, answered, unanswered
from widgets.places import ORPHANS, place_of, scope_of
from widgets.wording import one_line
from workbench import NotFoundError, Scope

if TYPE_CHECKING:
    from workbench import Conversation, ConversationInfo, Message, Workbench

NEW = "New conversation"
AGAIN = "The same question, asked again."
PROJECT_GONE = (
    "This project has been deleted, so this conversation looks in papers of no project only. "
    "Choose another scope if you want more."
)
DELETED = "This conversation has been deleted in another window. Ask again to begin a new one."


@dataclass(slots=True, eq=False)
class Thread:
    """What is shown of one conversation, or of one that its first question begins.

    ``conversation`` is None until there is one to speak of. ``scope`` is what the next question sees;
    ``kind`` is "thread", or "project" or "paper" for the chat of one, whose scope is fixed; ``paper`` is that
    paper's id. ``loaded``: the stored turns are here, as they were when the library said ``known`` of it.
    ``notice`` is what to know before the next question.
    """

    scope: int
    kind: str = "thread"
    paper: int = 0
    title: str = NEW
    scope_label: str = ""
    turns: list[Turn] = field(default_factory=list)
    conversation: Conversation | None = None
    loaded: bool = False
    known: ConversationInfo | None = None
    notice: str = ""

    @property
    def id(self) -> int:
        """The conversation's id, or 0."""
        return self.conversation.id if self.conversation is not None else 0

    def at_home(self, place: int) -> bool:
        """Whether this is what a person at this place expects: a project's own chat, else an ordinary
        thread."""
        return self.scope == place and self.kind == ("project" if place > 0 else "thread")

    def take(self, info: ConversationInfo) -> None:
        """What the library says of the conversation now."""
        self.kind, self.paper, self.title = info.kind, info.paper_id or 0, one_line(info.title)
        self.scope, self.scope_label = place_of(info.scope), one_line(info.scope_label)


class Threads:
    """The threads that were open here: by conversation, and at each place the one shown there last."""

    def __init__(self) -> None:
        self._begun: dict[int, Thread] = {}
        self._last: dict[int, Thread] = {}
        self._unsaved: list[Thread] = []

    def at(self, place: int) -> Thread | None:
        """The thread last shown at a place, if that is still where it belongs."""
        thread = self._last.get(place)
        return thread if thread is not None and thread.at_home(place) else None

    def of(self, info: ConversationInfo, conversation: Conversation) -> Thread:
        """The conversation's thread."""
        thread = self._begun.get(info.id)
        if thread is None:
            thread = self._begun[info.id] = Thread(ORPHANS, conversation=conversation)
        thread.take(info)
        return thread

    def unsaved(self, place: int, otherwise: Thread | None = None) -> Thread:
        """The thread at this place that its first question will make a conversation; where there is none yet,
        ``otherwise`` is it from now on, or a new one."""
        found = next((t for t in self._unsaved if t.scope == place), None)
        if found is None:
            found = otherwise or Thread(place, loaded=True)
            self._unsaved.append(found)
        return found

    def keep(self, thread: Thread) -> Thread:
        """Remember a thread by its conversation; returns the one that stands for it, perhaps another."""
        if thread in self._unsaved and thread.id:
            self._unsaved.remove(thread)
        return self._begun.setdefault(thread.id, thread) if thread.id else thread

    def shown(self, thread: Thread) -> None:
        """Remember a thread as the last one at its place."""
        if thread.at_home(thread.scope):
            self._last[thread.scope] = thread

    def forget(self, thread: Thread) -> None:
        """The thread's conversation has gone."""
        self._begun = {id: other for id, other in self._begun.items() if other is not thread}
        self._last = {place: other for place, other in self._last.items() if other is not thread}

    def find(self, conversation: int) -> Thread | None:
        """The thread of this conversation, if it was open here."""
        return self._begun.get(conversation)

    def asking_in(self, project: int) -> list[Thread]:
        """The threads whose next question would see this project."""
        return [t for t in (*self._begun.values(), *self._unsaved) if t.scope == project]


def latest(workbench: Workbench, place: int) -> Conversation | None:
    """A project's own chat, else the thread with this scope that was used last; None where there is none."""
    if place > 0:
        return workbench.project_chat(place)
    wanted = scope_of(place)
    found = next((info for info in workbench.conversations.list() if info.scope == wanted), None)
    return workbench.conversations.get(found) if found else None


def conversation_of(workbench: Workbench, thread: Thread) -> tuple[Conversation, str]:
    """The conversation that the thread's next question goes to, begun where there is none, and what to tell.

    The question sees what the thread shows, whatever another window chose since; where that project has gone,
    the papers in no project. Raises NotFoundError where the conversation itself has gone.
    """
    told = ""
    if thread.conversation is None and thread.kind == "project":
        thread.conversation = workbench.project_chat(thread.scope)
    elif thread.conversation is None:
        try:
            thread.conversation = workbench.conversations.create(scope_of(thread.scope))
        except NotFoundError:
            thread.scope, told = ORPHANS, PROJECT_GONE
            thread.conversation = workbench.conversations.create(Scope.ORPHANS)
    elif thread.kind == "paper":
        thread.conversation = workbench.paper_chat(thread.paper)  # another one, where that has expired
    elif thread.kind == "thread":
        stored = thread.conversation.scope
        if stored != scope_of(thread.scope):
            try:
                workbench.conversations.update(thread.conversation, scope=scope_of(thread.scope))
            except NotFoundError:
                thread.scope = place_of(thread.conversation.scope)  # the answer says why
    return thread.conversation, told


def is_there(thread: Thread) -> bool:
    """Whether the library still holds the thread's conversation."""
    try:
        return thread.conversation is not None and thread.conversation.info.id > 0
    except NotFoundError:
        return False


def stored_turns(messages: Sequence[Message]) -> list[Turn]:
    """Turns of a conversation's messages; a question that was never answered says so."""
    turns: list[Turn] = []
    question = ""
    for message in messages:
        if message.role == "user":
            if question:
                turns.append(unanswered(question))
            question = message.text
        elif message.answer is not None:
            turns.append(answered(message.answer, message_id=message.id, changed=message.changed))
            question = ""
    return with_repeats([*turns, unanswered(question)] if question else turns)


def with_repeats(turns: Sequence[Turn]) -> list[Turn]:
    """The turns, each that asks what the one before it asked saying so."""
    before = [None, *(turn["question"] for turn in turns)]
    return [
        {**turn, "asked": AGAIN} if turn["question"] == asked and not turn["asked"] else turn
        for turn, asked in zip(turns, before, strict=False)
    ]


def has_other_answers(messages: Sequence[Message], shown: Sequence[Turn]) -> bool:
    """Whether another window has added answers or removed some. A turn that failed or was stopped here says
    more than its record, so it is no difference by itself."""
    gone = _answers(shown) - {message.id for message in messages if message.answer is not None}
    return bool(gone) or has_more_answers(messages, shown)


def has_more_answers(messages: Sequence[Message], shown: Sequence[Turn]) -> bool:
    """Whether another window has added answers: known without making a turn of each, which takes long."""
    complete = {m.id for m in messages if m.answer is not None and (m.answer.refused or not m.answer.stopped)}
    return bool(complete - _answers(shown))


def _answers(turns: Sequence[Turn]) -> set[int]:
    """The ids of the stored answers that the turns show."""
    return {turn["message"] for turn in turns if turn.get("message")}

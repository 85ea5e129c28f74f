"""``wb.conversations``: persistent threads, each project's chat, each paper's chat, as one user sees them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Unpack

from workbench.asking import AskOptions, check_options
from workbench.chat.suggestions import suggestions
from workbench.errors import InvalidInputError, NotFoundError
from workbench.pooling import Mode
from workbench.records import (
    Answer,
    ConversationInfo,
    ConversationKind,
    Event,
    Message,
)
from workbench.rendering import Listing, inert
from workbench.retrieval.markers import as_prose
from workbench.scope import Scope
from workbench.searching import checked_query
from workbench.storage import conversations as store
from workbench.storage import messages, papers, scopes
from workbench.storage.cleaning import clean_text
from workbench.storage.projects import NOT_GIVEN
from workbench.streaming import EventStream, StoppableModel, events_async, last_answer, last_answer_async
from workbench.turns import Desk, Request, turn_events

_NOT_GIVEN: Any = NOT_GIVEN
KINDS: tuple[ConversationKind, ...] = ("thread", "project", "paper")
MOST_WORDS = 20  # of a search in conversations


class Conversation:
    """One conversation. What it says of itself is read from the library each time, so it is never stale."""

    def __init__(self, desk: Desk, conversation_id: int) -> None:
        self._desk = desk
        self.id = conversation_id

    def __repr__(self) -> str:
        return f"Conversation({self.id})"

    def _repr_markdown_(self) -> str:
        """The conversation as a notebook shows it: questions in bold, answers with their sources."""
        parts = [f"### {inert(as_prose(self.title))}"]
        for message in self.messages:
            if message.answer is None:
                parts.append(f"**{inert(as_prose(message.text))}**")
            else:
                parts.append("\n\n".join([message.answer._repr_markdown_(), *map(inert, message.changed)]))
        return "\n\n".join(parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Conversation) and (self.id, self._desk.database.path) == (
            other.id,
            other._desk.database.path,
        )

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def info(self) -> ConversationInfo:
        """Kind, title, scope and times, as one record. Raises NotFoundError once it is deleted."""
        with self._desk.database.read() as cursor:
            return store.get(cursor, self._desk.user, self.id)

    @property
    def kind(self) -> ConversationKind:
        """``"thread"``, or ``"project"`` or ``"paper"`` for the chat of one."""
        return self.info.kind

    @property
    def title(self) -> str:
        """The title given, else the first question that is more than a greeting; a project's or paper's chat
        goes by its name."""
        return self.info.title

    @property
    def scope(self) -> Scope:
        """What the next question sees."""
        return self.info.scope

    @property
    def scope_label(self) -> str:
        """The scope in words: "Orphan notes only", "All notes", or the project's or paper's name."""
        return self.info.scope_label

    @property
    def notice(self) -> str | None:
        """What the user should know before the next question, which says it once and for the last time."""
        with self._desk.database.read() as cursor:
            return store.notice(cursor, self._desk.user, self.id)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Every message: questions oldest first, each answer behind its question with all that it showed."""
        with self._desk.database.read() as cursor:
            return tuple(messages.list_messages(cursor, self._desk.user, self.id))

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Questions to begin with; none once something was asked, or where there is no paper to ask."""
        desk = self._desk
        with desk.database.read() as cursor:
            info = store.get(cursor, desk.user, self.id)
            if info.messages:
                return ()
            ids = (
                scopes.paper_ids(cursor, desk.user, info.scope) if info.paper_id is None else (info.paper_id,)
            )
            found = papers.list_papers(cursor, desk.user, ids)
        return suggestions(info.kind, [paper.title for paper in found])

    # --- asking --------------------------------------------------------------------------------

    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """The answer, stored with all that it showed. Options are those of ``stream``."""
        check_options("ask", options)
        return last_answer(self.stream(question, **options))

    def stream(
        self,
        question: str,
        *,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        mode: Mode = "hybrid",
        provider: str | None = None,
    ) -> EventStream:
        """Events of the answer as it is made, like ``Workbench.stream``; AnswerDone has the message's id.

        A follow-up ("and in 2023?") is searched as a question that stands alone; ``Answer.evidence.query`` is
        what was searched. Closing the stream, from any thread, stops the chat model and stores what was
        there. Raises InvalidInputError, NotFoundError once the conversation is deleted.
        """
        given = self._desk.asking.given(top_k, max_per_paper, min_relevance)
        return self._stream(question, given=given, mode=mode, provider=provider)

    def _stream(
        self,
        question: str,
        *,
        given: Mapping[str, int | float],
        mode: Mode,
        provider: str | None,
        before: Answer | None = None,
        again: bool = False,
    ) -> EventStream:
        desk = self._desk
        checked_query(question, mode)
        scope = self.info.scope if before is None else before.evidence.scope
        model, warnings = desk.asking.chat_model(provider, scope)
        stoppable = StoppableModel(model) if model is not None else None
        request = Request(
            conversation_id=self.id,
            question=clean_text(question).strip(),
            given=given,
            mode=mode,
            model=stoppable,
            warnings=warnings,
            before=before,
            again=again,
        )
        return EventStream(turn_events(desk, request), stop=stoppable.stop if stoppable else None)

    def ask_silent(self, message: Message | int | None = None, **options: Unpack[AskOptions]) -> Answer:
        """The question of an answer here (default: of the last one) again, to the papers of its scope that
        gave no passage; stored like every turn. See ``Workbench.ask_silent``."""
        check_options("ask_silent", options)
        return last_answer(self.stream_silent(message, **options))

    def stream_silent(
        self,
        message: Message | int | None = None,
        *,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        mode: Mode = "hybrid",
        provider: str | None = None,
    ) -> EventStream:
        """``ask_silent`` as events. Raises NotFoundError where there is no such answer in this conversation,
        or it asked nothing of the papers."""
        wanted = message.id if isinstance(message, Message) else message
        answers = [m.answer for m in self.messages if wanted in (None, m.id)]
        before = next((a for a in reversed(answers) if a is not None and a.coverage is not None), None)
        if before is None:
            raise NotFoundError("This conversation has no such answer from papers: ask a question first.")
        given = self._desk.asking.given(top_k, max_per_paper, min_relevance)
        return self._stream(before.question, given=given, mode=mode, provider=provider, before=before)

    def ask_again(self, message: Message | int | None = None, **options: Unpack[AskOptions]) -> Answer:
        """Another answer to a question asked here (default: the last one), as if it had none yet: a chat
        model does not see what it said of it before. The answers so far stay, and this one is a turn of its
        own, in the scope that the conversation has now."""
        check_options("ask_again", options)
        return last_answer(self.stream_again(message, **options))

    def stream_again(
        self,
        message: Message | int | None = None,
        *,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        mode: Mode = "hybrid",
        provider: str | None = None,
    ) -> EventStream:
        """``ask_again`` as events. ``message`` is the question or an answer to it. Raises NotFoundError where
        this conversation has no such message, or none at all."""
        wanted = message.id if isinstance(message, Message) else message
        asked = [m.answer.question if m.answer else m.text for m in self.messages if wanted in (None, m.id)]
        if not asked:
            raise NotFoundError("This conversation has no such question: ask one first.")
        given = self._desk.asking.given(top_k, max_per_paper, min_relevance)
        return self._stream(asked[-1], given=given, mode=mode, provider=provider, again=True)

    async def aask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """``ask`` for a running event loop. Cancelling it stops the chat model."""
        check_options("aask", options)
        return await last_answer_async(self.astream(question, **options))

    def astream(self, question: str, **options: Unpack[AskOptions]) -> AsyncGenerator[Event, None]:
        """``stream`` for ``async for``. Leaving the loop stops the chat model."""
        check_options("astream", options)
        return events_async(lambda: self.stream(question, **options))


ConversationLike = Conversation | ConversationInfo | int


class Conversations:
    """``wb.conversations``: this user's conversations. Another user's do not exist here."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create(self, scope: Scope = Scope.ORPHANS, title: str | None = None) -> Conversation:
        """A new thread. It sees papers of no project unless a scope is given, and goes by its first question
        unless a title is. Raises NotFoundError for an unknown project."""
        with self._desk.database.write() as cursor:
            made = store.create(cursor, self._desk.user, scope=scope, title=title)
        return Conversation(self._desk, made.id)

    def get(self, conversation: ConversationLike) -> Conversation:
        """The conversation with this id. Raises NotFoundError."""
        with self._desk.database.read() as cursor:
            found = store.get(cursor, self._desk.user, _id(conversation))
        return Conversation(self._desk, found.id)

    def list(self, kind: ConversationKind | None = "thread") -> Listing[ConversationInfo]:
        """Conversations of one kind, or all of them for None, the one used last first. ``get`` opens one."""
        kinds = _kinds(kind)
        with self._desk.database.read() as cursor:
            found = store.list_conversations(cursor, self._desk.user, kinds=kinds)
            return Listing(ConversationInfo, found)

    def find(self, words: str, kind: ConversationKind | None = "thread") -> Listing[ConversationInfo]:
        """Conversations in which every one of the words stands, in the title, the project's or paper's name,
        a question or an answer, whatever its case and accents; the one used last first. No words find all."""
        if not isinstance(words, str):
            raise InvalidInputError(f"{words!r} is not what conversations can be searched for: give a text.")
        kinds = _kinds(kind)
        with self._desk.database.read() as cursor:
            asked = clean_text(words).split()[:MOST_WORDS]
            return Listing(ConversationInfo, store.find(cursor, self._desk.user, asked, kinds=kinds))

    def update(
        self,
        conversation: ConversationLike,
        *,
        scope: Scope | None = _NOT_GIVEN,
        title: str | None = _NOT_GIVEN,
    ) -> Conversation:
        """Changes what is given. ``scope=None`` is the stored NULL, orphans; ``title=None`` gives the title
        back to the first question.

        Raises ConflictError for the scope of a project's or paper's chat, NotFoundError for an unknown
        project.
        """
        with self._desk.database.write() as cursor:
            made = store.update(cursor, self._desk.user, _id(conversation), scope=scope, title=title)
        return Conversation(self._desk, made.id)

    def clear(self, conversation: ConversationLike) -> None:
        """Removes all its messages; the conversation stays."""
        with self._desk.database.write() as cursor:
            store.clear(cursor, self._desk.user, _id(conversation))

    def delete(self, conversation: ConversationLike) -> None:
        """Removes it with all its messages."""
        with self._desk.database.write() as cursor:
            store.delete(cursor, self._desk.user, _id(conversation))

    def of_project(self, project_id: int) -> Conversation:
        """The one rolling chat of a project, begun where there is none. Raises NotFoundError."""
        with self._desk.database.read() as cursor:
            chat = store.existing_project_chat(cursor, self._desk.user, project_id)
        if chat is None:
            with self._desk.database.write() as cursor:
                chat = store.project_chat(cursor, self._desk.user, project_id)
        return Conversation(self._desk, chat.id)

    def of_paper(self, paper_id: int) -> Conversation:
        """The chat of a paper, begun where there is none or it has expired. Raises NotFoundError."""
        with self._desk.database.write() as cursor:
            chat = store.paper_chat(cursor, self._desk.user, paper_id)
        return Conversation(self._desk, chat.id)


def _kinds(kind: ConversationKind | None) -> tuple[ConversationKind, ...]:
    if kind is not None and kind not in KINDS:
        raise InvalidInputError(f"kind={kind!r}: allowed are {', '.join(KINDS)}, and None for all.")
    return KINDS if kind is None else (kind,)


def _id(conversation: ConversationLike) -> int:
    return conversation.id if isinstance(conversation, Conversation | ConversationInfo) else conversation

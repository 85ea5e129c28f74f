"""One turn of a conversation: a question stored, made to stand alone, answered, and its answer stored."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

from workbench.asking import Asking
from workbench.chat.citing import cite
from workbench.chat.coverage import coverage_of, heard
from workbench.chat.engine import answer_events
from workbench.chat.followups import standalone
from workbench.chat.history import MOST_MESSAGES, history_messages
from workbench.chat.prompts import answer_prompt
from workbench.chat.small_talk import SMALL_TALK, SmallTalk, small_talk_reply
from workbench.chat.task import EXTRACTIVE, AnswerTask
from workbench.chat.tools import Tools
from workbench.errors import LibraryError, NotFoundError
from workbench.gathering import Found
from workbench.interfaces import ChatMessage, ChatModel, ToolBox
from workbench.memory import Memories
from workbench.pooling import Mode
from workbench.records import (
    Answer,
    AnswerDone,
    Citation,
    ConversationInfo,
    Event,
    Evidence,
    EvidenceFound,
    Notice,
    SentenceVerdict,
    TextDelta,
)
from workbench.scope import Scope
from workbench.searching import LONGEST_QUERY
from workbench.storage import conversations, messages, revisions
from workbench.storage.database import Database
from workbench.whole_paper import whole_paper

_log = logging.getLogger(__name__)

STOPPED = "You stopped this answer before it was complete."


@dataclass(frozen=True)
class Desk:
    """What a conversation needs of the workbench. ``memory`` is asked before an answer and told after it."""

    asking: Asking
    tools: Tools
    memory: Memories

    @property
    def database(self) -> Database:
        return self.asking.database

    @property
    def user(self) -> str:
        return self.asking.user


@dataclass(frozen=True)
class Request:
    """A question to one conversation, and how to answer it: ``given`` are the parameters of the call itself,
    ``model`` writes, or nobody does. With ``before``, an earlier answer, its question goes to the papers of
    its scope that were silent then. ``again``: as if the question had not been answered here before."""

    conversation_id: int
    question: str
    given: Mapping[str, int | float]
    mode: Mode
    model: ChatModel | None
    warnings: tuple[str, ...] = ()
    before: Answer | None = None
    again: bool = False
    started: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True)
class _Opened:
    """The conversation as the question found it, and the stored question's id. ``revision`` is the library's
    at that moment."""

    info: ConversationInfo
    question_id: int
    earlier: list[Answer]
    notice: str | None
    revision: int


@dataclass
class _Shown:
    """How far an answer has come, for one that is stopped."""

    text: str = ""
    evidence: Evidence | None = None
    found: Found | None = None
    recalled: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    stored: bool = False

    def take(self, event: Event) -> None:
        if isinstance(event, EvidenceFound):
            self.evidence = event.evidence
        elif isinstance(event, TextDelta):
            self.text += event.text
        elif isinstance(event, Notice):
            self.warnings.append(event.text)


def turn_events(desk: Desk, request: Request) -> Generator[Event, None, None]:
    """Events of one turn, last ``AnswerDone`` with the stored message's id.

    An answer that is stopped is stored as far as it came, marked as stopped.
    """
    opened = _open(desk, request)
    shown = _Shown()
    try:
        with closing(_answer(desk, request, opened, shown)) as events:
            for event in events:
                if isinstance(event, AnswerDone):
                    yield from _finish(desk, request, opened, shown, event)
                else:
                    shown.take(event)
                    yield event
    except (GeneratorExit, KeyboardInterrupt):
        if not shown.stored:
            _store(desk, request, opened, _partial(request, opened, shown))
        raise


def _open(desk: Desk, request: Request) -> _Opened:
    """Stores the question, and says what was said before it."""
    with desk.database.write() as cursor:
        info = conversations.get(cursor, desk.user, request.conversation_id)
        earlier = messages.latest_answers(cursor, desk.user, info.id, limit=MOST_MESSAGES)
        if request.again:
            earlier = [answer for answer in earlier if answer.question != request.question]
        notice = conversations.notice(cursor, desk.user, info.id)
        conversations.forget_notice(cursor, desk.user, info.id)
        scope = _scope(request, info)
        asked = messages.add_question(cursor, desk.user, info.id, request.question, scope=scope)
        return _Opened(info, asked, earlier, notice, revisions.latest(cursor))


def _scope(request: Request, info: ConversationInfo) -> Scope:
    """Where this question is asked: the silent papers are those of the scope of that time."""
    return info.scope if request.before is None else request.before.evidence.scope


# --- answering -------------------------------------------------------------------------------


def _answer(desk: Desk, request: Request, opened: _Opened, shown: _Shown) -> Generator[Event, None, None]:
    info, model = opened.info, request.model
    told = (opened.notice,) if opened.notice else ()
    reply = small_talk_reply(request.question)
    if reply and request.before is None:
        talk = SmallTalk(request.question, reply, info.scope, info.scope_label, told, request.started)
        yield from talk.events()
        return
    history = history_messages(opened.earlier, window=model.context_window) if model else ()
    searched = _standalone(request, opened, history)

    def retrieve(scope: Scope) -> Found:
        """What is found in the scope; where its project was deleted meanwhile (making the question stand
        alone, or a tool, took long), in the scope that the conversation has instead."""
        nonlocal info
        try:
            found = _find(desk, request, info, scope, searched)
        except NotFoundError:
            if request.before is not None:
                raise
            info, notice = _now(desk, request)
            if info.scope == scope:
                raise
            found = _find(desk, request, info, info.scope, searched)
            warnings = (*filter(None, [notice]), *found.evidence.warnings)
            found = replace(found, evidence=replace(found.evidence, warnings=warnings))
        shown.found = found
        return found

    found = retrieve(_scope(request, info))
    scope = found.evidence.scope
    recalled = shown.recalled = _recalled(desk, searched, scope)
    task = AnswerTask(
        question=found.evidence.query,
        typed=request.question,
        evidence=found.evidence,
        pages_of=found.pages_of,
        chat_model=model,
        answerable=found.answerable,
        warnings=told + request.warnings,
        similarity=desk.asking.similarity(found.evidence.query),
        history=history,
        memory=recalled,
        toolbox=_toolbox(desk, info) if request.before is None else None,
        retrieve=retrieve,
        started=request.started,
    )
    yield from answer_events(task)


def _now(desk: Desk, request: Request) -> tuple[ConversationInfo, str | None]:
    """The conversation as it is now, and what the user should be told of it. Raises NotFoundError."""
    with desk.database.write() as cursor:
        info = conversations.get(cursor, desk.user, request.conversation_id)
        notice = conversations.notice(cursor, desk.user, info.id)
        conversations.forget_notice(cursor, desk.user, info.id)
        return info, notice


def _toolbox(desk: Desk, info: ConversationInfo) -> ToolBox | None:
    """None in a paper's chat, which has no scope to set."""
    if info.kind == "paper":
        return None
    return desk.tools.box(
        info.id, workspace_project=info.scope.project_id if info.kind == "project" else None
    )


def _standalone(request: Request, opened: _Opened, history: Sequence[ChatMessage]) -> str:
    if request.before is not None:
        return request.before.evidence.query
    asked = [answer for answer in opened.earlier if answer.provider != SMALL_TALK]
    earlier = asked[-1].evidence.query if asked else None
    searched = standalone(request.question, earlier=earlier, history=history, model=request.model)
    return searched if len(searched) <= LONGEST_QUERY else request.question


def _find(desk: Desk, request: Request, info: ConversationInfo, scope: Scope, searched: str) -> Found:
    find = partial(desk.asking.find, searched, scope=scope, given=request.given, mode=request.mode)
    if request.before is not None:
        return find(paper=info.paper_id, without=heard(request.before.evidence))
    if info.paper_id is None:
        return find()
    if request.model is not None:
        with desk.database.read() as cursor:
            whole = whole_paper(cursor, desk.user, info.paper_id, query=searched)
        prompt = answer_prompt(searched, whole.evidence.passages, window=request.model.context_window)
        if prompt.fits and not prompt.left_out:
            return whole
    return desk.asking.find(
        searched, scope=scope, given=request.given, mode=request.mode, paper=info.paper_id
    )


# --- keeping ---------------------------------------------------------------------------------


def _finish(
    desk: Desk, request: Request, opened: _Opened, shown: _Shown, done: AnswerDone
) -> Iterator[Event]:
    answer = replace(done.answer, question=request.question)
    message_id, trouble = _store(desk, request, opened, answer)
    shown.stored = True
    if trouble:
        yield Notice(trouble)
        answer = replace(answer, warnings=(*answer.warnings, trouble))
    elif message_id is not None and answer.provider != SMALL_TALK:
        _remember(desk, answer, shown, message_id)
    yield replace(done, answer=answer, message_id=message_id)


def _store(desk: Desk, request: Request, opened: _Opened, answer: Answer) -> tuple[int | None, str]:
    """The stored message's id; or None and why it is not kept: an answer is worth more than its record."""
    try:
        with desk.database.write() as cursor:
            message_id = messages.add_answer(
                cursor,
                desk.user,
                request.conversation_id,
                answer,
                revision=opened.revision,
                question_id=opened.question_id,
            )
            return message_id, ""
    except NotFoundError as error:
        happened = "cleared" if str(error) == messages.QUESTION_GONE else "deleted"
        return None, f"This conversation was {happened} meanwhile, so the answer is not kept."
    except LibraryError as error:
        return None, f"The answer is not kept: {error}"


def _recalled(desk: Desk, searched: str, scope: Scope) -> tuple[str, ...]:
    """What the user said before; nothing where the project was deleted since its papers were searched."""
    try:
        return tuple(memory.text for memory in desk.memory.recall(searched, scope=scope))
    except NotFoundError:
        return ()


def _remember(desk: Desk, answer: Answer, shown: _Shown, message_id: int) -> None:
    """Keeps what the user stated in this turn; nothing that a paper or an earlier memory said."""
    before = (*(p.text for p in answer.evidence.passages), *shown.recalled)
    try:
        desk.memory.remember(
            answer.question, scope=answer.evidence.scope, shown=before, message_id=message_id
        )
    except (LibraryError, NotFoundError):  # the answer is what was asked for
        _log.debug("a turn could not be remembered", exc_info=True)


def _partial(request: Request, opened: _Opened, shown: _Shown) -> Answer:
    """What was there when the answer was stopped, cited and audited as far as it goes."""
    info, text = opened.info, shown.text.rstrip()
    evidence = shown.evidence or Evidence(request.question, info.scope, info.scope_label, ())
    citations: tuple[Citation, ...] = ()
    audit: tuple[SentenceVerdict, ...] = ()
    if text and shown.found is not None and evidence.passages:
        citations, audit = cite(text, evidence, shown.found.pages_of)
    return Answer(
        question=request.question,
        text=text,
        citations=citations,
        evidence=evidence,
        refused=False,
        provider=EXTRACTIVE if request.model is None else request.model.name,
        scope_label=evidence.scope_label,
        audit=audit,
        warnings=(*dict.fromkeys(shown.warnings), STOPPED),
        timing={**evidence.timing, "total": time.perf_counter() - request.started},
        stopped=True,
        coverage=coverage_of(evidence, citations, refused=False),
    )

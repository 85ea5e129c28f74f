"""One question outside any conversation, as events: found, then answered."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from workbench.asking import Asking
from workbench.chat.engine import answer_events
from workbench.chat.small_talk import SmallTalk, small_talk_reply
from workbench.chat.task import AnswerTask
from workbench.pooling import Mode
from workbench.scope import Scope
from workbench.searching import checked_query
from workbench.storage import scopes
from workbench.streaming import EventStream, StoppableModel


def answer_stream(
    asking: Asking,
    question: str,
    *,
    scope: Scope,
    given: Mapping[str, int | float],
    mode: Mode = "hybrid",
    provider: str | None = None,
    paper: int | None = None,
    without: Collection[int] = (),
) -> EventStream:
    """Events of the answer. With ``paper`` this paper alone is asked; papers ``without`` are left out of the
    scope. Closing the stream stops the chat model. Raises what ``Searcher.find`` and ``Asking.chat_model``
    raise."""
    started = time.perf_counter()
    if reply := small_talk_reply(checked_query(question, mode)):
        with asking.database.read() as cursor:
            label = scopes.label(cursor, asking.user, scope)
        return EventStream(SmallTalk(question, reply, scope, label, (), started).events())
    model, warnings = asking.chat_model(provider, scope)
    stoppable = StoppableModel(model) if model is not None else None
    found = asking.find(question, scope=scope, given=given, mode=mode, paper=paper, without=without)
    task = AnswerTask(
        question=found.evidence.query,
        evidence=found.evidence,
        pages_of=found.pages_of,
        chat_model=stoppable,
        answerable=found.answerable,
        warnings=warnings,
        similarity=asking.similarity(found.evidence.query),
        started=started,
    )
    return EventStream(answer_events(task), stop=stoppable.stop if stoppable else None)

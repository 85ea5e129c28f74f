"""All that one answer needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from workbench.chat.citing import PagesOf
from workbench.chat.likelihood import Similarity
from workbench.interfaces import ChatMessage, ChatModel, ToolBox
from workbench.records import Evidence, Page, Passage
from workbench.retrieval.answerability import Answerability
from workbench.scope import Scope

EXTRACTIVE = "extractive"  # the provider of an answer in the papers' own sentences


class Retrieved(Protocol):
    """What a search gives to an answer."""

    @property
    def evidence(self) -> Evidence: ...
    @property
    def answerable(self) -> Answerability: ...
    def pages_of(self, passage: Passage, /) -> Sequence[Page]: ...


@dataclass(frozen=True)
class AnswerTask:
    """All that one answer needs. ``pages_of`` gives the pages a passage stands on; ``similarity`` helps to
    choose sentences where no chat model writes.

    ``question`` stands alone; ``typed`` is what the user typed, where that is something else. ``history`` is
    earlier turns, oldest first, and ``memory`` what the user said in other threads: both help to understand
    the question and are never evidence. Where ``toolbox`` is given, a chat model that can call tools may do
    so before it reads any passage; if that changes the scope, ``retrieve`` searches the new one, or, where
    that has gone meanwhile, the one that its evidence names.
    ``preface`` is what the tools did, for an answer that has nothing else to say. ``unread`` counts the last
    passages that the chat model's window has no room for.
    """

    question: str
    evidence: Evidence
    pages_of: PagesOf
    chat_model: ChatModel | None
    answerable: Answerability
    warnings: tuple[str, ...] = ()
    similarity: Similarity | None = None
    history: tuple[ChatMessage, ...] = ()
    memory: tuple[str, ...] = ()
    typed: str | None = None
    toolbox: ToolBox | None = None
    retrieve: Callable[[Scope], Retrieved] | None = None
    preface: str = ""
    unread: int = 0
    started: float = field(default_factory=time.perf_counter)

"""Conversations, their messages, and what is remembered of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench.records.answers import Answer
from workbench.records.display import Displayed
from workbench.scope import Scope

ConversationKind = Literal["thread", "project", "paper"]


@dataclass(frozen=True, slots=True)
class ConversationInfo(Displayed):
    """A persistent thread. ``title`` is its first question until it is given one; a paper's chat expires
    24 hours after ``used_at``."""

    id: int
    kind: ConversationKind
    title: str
    scope: Scope
    scope_label: str
    paper_id: int | None
    messages: int
    created_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True)
class Message(Displayed):
    """One turn. ``answer`` is the whole record behind an assistant's text; ``changed`` says, a line each,
    which papers that it cites have changed or left since."""

    id: int
    conversation_id: int
    role: Literal["user", "assistant"]
    text: str
    scope: Scope
    answer: Answer | None
    created_at: datetime
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory(Displayed):
    """Something the user said that is worth remembering, when it was said and last seen, and the message of
    the turn that it came from."""

    id: int
    text: str
    project_id: int | None
    created_at: datetime
    seen_at: datetime
    message_id: int | None = None

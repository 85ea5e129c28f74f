"""Conversations, their messages, and what is remembered of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench.records.answers import Answer
from workbench.rendering.display import Displayed
from workbench.rendering.html import answer_html, prose_html
from workbench.rendering.markdown import message_markdown
from workbench.scope import Scope

ConversationKind = Literal["thread", "project", "paper"]


@dataclass(frozen=True, slots=True, repr=False)
class ConversationInfo(Displayed):
    """A persistent thread. ``title`` is its first question until it is given one; a paper's chat expires
    24 hours after ``used_at``."""

    shown = ("id", "kind", "title", "scope_label", "messages", "used_at")

    id: int
    kind: ConversationKind
    title: str
    scope: Scope
    scope_label: str
    paper_id: int | None
    messages: int
    created_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True, repr=False)
class Message(Displayed):
    """One turn. ``answer`` is the whole record behind an assistant's text; ``changed`` says, a line each,
    which papers that it cites have changed or left since."""

    shown = ("id", "role", "text", "created_at", "changed")

    id: int
    conversation_id: int
    role: Literal["user", "assistant"]
    text: str
    scope: Scope
    answer: Answer | None
    created_at: datetime
    changed: tuple[str, ...] = ()

    def _repr_markdown_(self) -> str:
        return message_markdown(self)

    def _repr_html_(self) -> str:
        return prose_html(message_markdown(self)) if self.answer is None else answer_html(self.answer)


@dataclass(frozen=True, slots=True, repr=False)
class Memory(Displayed):
    """Something the user said that is worth remembering, when it was said and last seen, and the message of
    the turn that it came from."""

    shown = ("id", "text", "project_id", "seen_at")

    id: int
    text: str
    project_id: int | None
    created_at: datetime
    seen_at: datetime
    message_id: int | None = None

"""Stored conversations as the chat panel's threads: one for each place a person can ask in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from widgets.chat.turns import Turn, answered, unanswered
from workbench import Scope

if TYPE_CHECKING:
    from workbench import Workbench
    from workbench.conversing import Conversation
    from workbench.records import Message

ALL = -1
ORPHANS = 0


@dataclass(slots=True)
class Thread:
    """What is shown of one conversation. ``conversation`` is None until there is one to speak of;
    ``scope`` is what its next question sees; ``own`` is a project's own chat, which always sees that project;
    ``loaded`` once the stored turns are here."""

    scope: int
    own: bool = False
    turns: list[Turn] = field(default_factory=list)
    conversation: Conversation | None = None
    loaded: bool = False


def scope_of(place: int) -> Scope:
    """The scope that ``ALL``, ``ORPHANS`` or a project's id stands for."""
    return Scope(place or None)


def place_of(scope_id: int | None) -> int:
    """The place whose scope is stored as ``scope_id``."""
    return scope_id or ORPHANS


def latest(workbench: Workbench, place: int) -> Conversation | None:
    """A project's own chat, else the thread with this scope that was used last; None where there is none."""
    if place > 0:
        return workbench.project_chat(place)
    wanted = scope_of(place)
    found = next((info for info in workbench.conversations.list() if info.scope == wanted), None)
    return workbench.conversations.get(found) if found else None


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
    return [*turns, unanswered(question)] if question else turns

"""What one may ask where nothing has been asked yet."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.records import ConversationKind

_LONGEST_TITLE = 70  # characters

_OF_MANY = (
    "What are the main findings, and on what data do they rest?",
    "Where do these papers agree, and where do they contradict each other?",
    "What limitations do the authors name?",
)
_OF_ONE = (
    "What does this paper show, and how?",
    "On what data do its results rest?",
    "What limitations do the authors name?",
)


def suggestions(kind: ConversationKind, titles: Sequence[str]) -> tuple[str, ...]:
    """Questions to begin with, for a conversation that sees papers with these titles; none without papers."""
    if not titles:
        return ()
    if kind == "paper" or len(titles) == 1:
        return _OF_ONE
    title = " ".join(titles[0].split())
    short = title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"
    return (*_OF_MANY, f"What does “{short}” propose, and how is it evaluated?")

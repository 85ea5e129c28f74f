"""What one may ask where nothing has been asked yet."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.records import ConversationKind

_LONGEST_TITLE = 90  # characters; a longer one would have to be cut

_OF_ANY = ("What are the main findings?", "What limitations do the authors name?")
_OF_ONE = ("What does this paper propose?", *_OF_ANY)


def suggestions(kind: ConversationKind, titles: Sequence[str]) -> tuple[str, ...]:
    """Questions to begin with, for a conversation that sees papers with these titles; none without papers.

    They ask for what papers say under a heading of its own, so that they are answered without a chat model
    too.
    """
    if not titles:
        return ()
    if kind == "paper" or len(titles) == 1:
        return _OF_ONE
    whole = (" ".join(title.split()) for title in titles)
    about = [title for title in whole if len(title) <= _LONGEST_TITLE and not title.endswith("…")]
    return (*_OF_ANY, *(f"What does the abstract of “{title}” propose?" for title in about[:1]))

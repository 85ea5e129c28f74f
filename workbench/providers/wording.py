"""Texts made fit to be shown on one line, or to be sent."""

from __future__ import annotations


def one_line(error: object, limit: int = 200) -> str:
    """An error's text on one line of at most ``limit`` characters."""
    text = " ".join(str(error).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def encodable(text: str) -> str:
    """The text with each lone surrogate replaced by a question mark; offsets stay the same.

    Damaged files have such characters, and neither a tokenizer nor a server accepts them.
    """
    return text.encode("utf-8", "replace").decode("utf-8")

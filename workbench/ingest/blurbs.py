"""The contextual blurb: a line that says where a chunk stands, embedded before its text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]

_ELLIPSIS = "…"


def blurb(title: str, heading: str | None, position: str) -> str:
    """``Title · Section heading · page 4 of 13``; what repeats another part is left out."""
    parts = [" ".join(part.split()) for part in (title, heading or "", position)]
    if parts[1].casefold() == parts[0].casefold():
        parts[1] = ""
    return " · ".join(part for part in parts if part)


def fitted_blurb(
    title: str, heading: str | None, position: str, *, token_spans: TokenSpans, max_tokens: int
) -> str:
    """A blurb of at most ``max_tokens``: the heading and then the title are cut at a word."""
    whole = blurb(title, heading, position)
    excess = len(token_spans(whole)) - max_tokens
    if excess <= 0:
        return whole
    heading = cut_at_word(heading or "", token_spans=token_spans, max_tokens=max_tokens // 3)
    used = len(token_spans(blurb("", heading, position))) + 2  # the sign between two parts, and the ellipsis
    short_title = cut_at_word(title, token_spans=token_spans, max_tokens=max(max_tokens - used, 0))
    fitted = blurb(short_title, heading, position)
    if len(token_spans(fitted)) <= max_tokens:
        return fitted
    return position if len(token_spans(position)) <= max_tokens else ""


def cut_at_word(text: str, *, token_spans: TokenSpans, max_tokens: int) -> str:
    """``text``, or its first words with an ellipsis where it has more than ``max_tokens`` tokens."""
    spans = token_spans(text)
    if len(spans) <= max_tokens:
        return text
    if max_tokens < 2:
        return ""
    end = spans[max_tokens - 2][1]
    space = text.rfind(" ", 0, end + 1)
    return text[: space if space > end // 2 else end].rstrip(" ,;:") + _ELLIPSIS

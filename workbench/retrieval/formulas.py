"""Formulas in an answer: brackets in them are no markers."""

from __future__ import annotations

import re

LONGEST_INLINE, LONGEST_DISPLAY = 400, 2000  # characters; a sign that is not closed within them opens nothing

_CLOSING = {"$$": ("$$", LONGEST_DISPLAY), r"\[": (r"\]", LONGEST_DISPLAY), r"\(": (r"\)", LONGEST_INLINE)}
_NUMBER = re.compile(r"\[(\d{1,4})\]")


def formula_end(text: str, start: int, *, complete: bool) -> int | None:
    r"""Where the formula that opens at ``start`` with ``$``, ``$$``, ``\(`` or ``\[`` ends; ``start`` where
    none does; None where more of the text must come."""
    if len(text) < start + 2:
        return start if complete else None
    opening = text[start : start + 2]
    if opening in _CLOSING:
        closing, longest = _CLOSING[opening]
        end = text.find(closing, start + 2, start + longest)
        if end >= 0:
            return end + 2
        return start if complete or len(text) >= start + longest else None
    return _between_dollars(text, start, complete) if text[start] == "$" else start


def without_numbers_in_brackets(formula: str) -> str:
    """The formula with ``[1]`` as ``{[}1{]}``, which looks the same once it is set."""
    return _NUMBER.sub(r"{[}\1{]}", formula)


def _between_dollars(text: str, start: int, complete: bool) -> int | None:
    """By pandoc's rule, so that prices stay prices: no space within, no digit behind, all on one line. A
    digit behind the first sign is a price too."""
    if text[start + 1].isspace() or text[start + 1].isdigit():
        return start
    stop = start + LONGEST_INLINE
    line_end = text.find("\n", start, stop)
    end = line_end if line_end >= 0 else min(stop, len(text))
    for match in re.compile(r"(?<!\s)\$").finditer(text, start + 2, end):
        if match.end() == len(text) and not complete:
            return None
        if not text[match.end() : match.end() + 1].isdigit():
            return match.end()
    return start if complete or line_end >= 0 or len(text) >= stop else None

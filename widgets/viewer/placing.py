"""Where a quote stands in a page's text. Pure."""

from __future__ import annotations

import re

SHORTEST_PART = 12  # characters of a quote that goes on to another page: less is no mark worth showing


def place_quote(text: str, quote: str, expected: tuple[int, int]) -> tuple[int, int] | None:
    """Where ``quote`` stands in ``text``: at the expected place, or at its only one; else None.

    White space may differ between the two.
    """
    words = quote.split()
    if not words:
        return None
    start, end = expected
    if 0 <= start < end and text[start:end].split() == words:
        return start, end
    found = list(re.finditer(r"\s+".join(map(re.escape, words)), text))
    return (found[0].start(), found[0].end()) if len(found) == 1 else None


def part_on_page(text: str, quote: str, expected: tuple[int, int]) -> str | None:
    """The part of ``quote`` that stands in ``text`` where its place, counted from the text's start, goes over
    the text's end or begins before it; the whole quote where it does neither, None where it is elsewhere."""
    start, end = max(expected[0], 0), min(expected[1], len(text))
    if end - start <= 0:
        return None
    if (start, end) == expected:
        return quote
    part = " ".join(text[start:end].split())
    return part if len(part) >= SHORTEST_PART and part in " ".join(quote.split()) else None

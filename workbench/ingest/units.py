"""The pieces chunks are made of: sentences, and parts of sentences that are too long. Pure."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from workbench.retrieval.sentences import sentence_spans

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]

MAX_CHARS_PER_TOKEN = 12  # a "word" of thousands of letters is one token to some tokenisers
_WINDOW = 40_000  # characters tokenised at once
_BREAKS = ("\n", "; ", ", ", ": ", "。", "，", "、", " ")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or a part of one that is too long: the smallest piece that chunks are made of."""

    start: int
    end: int
    tokens: int
    section: int  # index of the heading in force, -1 before the first
    opens_section: bool
    opens_paragraph: bool


def units_of(
    text: str, sections: Sequence[tuple[int, str]], token_spans: TokenSpans, budget: int
) -> list[Unit]:
    """Sentences with their tokens, the long ones in parts of at most ``budget`` tokens."""
    positions = [position for position, _ in sections]
    units: list[Unit] = []
    previous_end = 0
    for start, end, spans in _measured(text, _whole_spans(text, positions), token_spans):
        section = bisect_right(positions, start) - 1
        opens_section = section >= 0 and positions[section] == start
        opens_paragraph = opens_section or start == 0 or "\n\n" in text[previous_end:start]
        if len(spans) <= budget and end - start <= budget * MAX_CHARS_PER_TOKEN:
            units.append(Unit(start, end, len(spans), section, opens_section, opens_paragraph))
        else:
            for part_start, part_end, tokens in _parts(text, start, end, token_spans, spans, budget):
                first = part_start == start
                units.append(
                    Unit(
                        part_start,
                        part_end,
                        tokens,
                        section,
                        opens_section and first,
                        opens_paragraph and first,
                    )
                )
        previous_end = end
    return units


def _whole_spans(text: str, headings: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Sentence spans cut where a heading starts inside one."""
    for start, end in sentence_spans(text):
        low, high = bisect_right(headings, start), bisect_left(headings, end)
        cuts = [start, *headings[low:high], end]
        for first, last in pairwise(cuts):
            trimmed = text[first:last].rstrip()
            lead = len(trimmed) - len(trimmed.lstrip())
            if lead < len(trimmed):
                yield first + lead, first + len(trimmed)


def _measured(
    text: str, spans: Iterator[tuple[int, int]], token_spans: TokenSpans
) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Each span with its tokens, whose places count in the whole text."""
    window: list[tuple[int, int]] = []
    for span in spans:
        if window and span[1] - window[0][0] > _WINDOW:
            yield from _measured_window(text, window, token_spans)
            window = []
        window.append(span)
    if window:
        yield from _measured_window(text, window, token_spans)


def _measured_window(
    text: str, window: Sequence[tuple[int, int]], token_spans: TokenSpans
) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    offset = window[0][0]
    tokens = [(a + offset, b + offset) for a, b in token_spans(text[offset : window[-1][1]])]
    starts = [a for a, _ in tokens]
    for start, end in window:
        yield start, end, tokens[bisect_left(starts, start) : bisect_left(starts, end)]


def _parts(
    text: str, start: int, end: int, token_spans: TokenSpans, spans: Sequence[tuple[int, int]], budget: int
) -> Iterator[tuple[int, int, int]]:
    """Parts of one long sentence, each of at most ``budget`` tokens, with their token counts.

    Cut behind a line end, a sign or a space where one lies in the last third, else anywhere between two
    characters that do not belong together.
    """
    longest = budget * MAX_CHARS_PER_TOKEN
    token_starts = [a for a, _ in spans]
    while start < end:
        while start < end and text[start].isspace():
            start += 1
        if start >= end:
            return
        first = bisect_left(token_starts, start)
        limit = min(end, start + longest)
        if first + budget < len(spans):
            limit = min(limit, max(spans[first + budget][0], start + 1))
        while True:
            cut = limit if limit >= end else _cut(text, start, limit)
            piece = text[start:cut].rstrip()
            # Tokens of a part can differ from those of the whole where a word is cut.
            tokens = len(token_spans(piece))
            if tokens <= budget or cut - start <= 1:
                break
            limit = start + max(int((cut - start) * min(budget / tokens, 0.95)), 1)
        if piece:
            yield start, start + len(piece), tokens
        start = cut


def _cut(text: str, start: int, limit: int) -> int:
    lowest = start + 2 * (limit - start) // 3
    for sign in _BREAKS:
        found = text.rfind(sign, lowest, limit)
        if found > start:
            return found + len(sign)
    cut = limit
    while cut > start + 1 and _joins(text, cut):
        cut -= 1
    return cut if cut > start + 1 else limit


def _joins(text: str, position: int) -> bool:
    """Whether the character at ``position`` belongs to the one before: marks, joiners, variants."""
    here, before = text[position], text[position - 1]
    joiner = "\u200d"
    return (
        unicodedata.combining(here) != 0
        or joiner in (here, before)
        or "\ufe00" <= here <= "\ufe0f"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
    )

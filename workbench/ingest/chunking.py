"""A paper's text cut into chunks: whole sentences, measured in the embedder's tokens. Pure.

A chunk is an exact substring of the paper's text. Together the chunks hold every character that is not
white space. No step recurses, so a text without a single space takes no longer than prose.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.errors import InvalidInputError
from workbench.ingest.blurbs import fitted_blurb
from workbench.ingest.document import Document
from workbench.retrieval.sentences import sentence_spans
from workbench.storage.drafts import ChunkDraft

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]

SPECIAL_TOKENS = 2  # what an embedder adds at the ends
_WINDOW = 40_000  # characters tokenised at once
_MAX_CHARS_PER_TOKEN = 12  # a "word" of thousands of letters is one token to some tokenisers
_ROWS = frozenset({"csv", "log", "bib", "ris"})  # kinds whose entries stand for themselves: no overlap
_REFERENCES = re.compile(
    r"(?:\W*(?:\d+|[IVX]+)\W+)?(?:references(?: and notes)?|bibliography|literature cited|works cited|literatur"
    r"(?:verzeichnis)?|références|bibliographie|referencias|bibliografía|参考文献)\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ChunkingParameters:
    """How large chunks are; all in tokens of the embedder, so that they can be compared in a sweep.

    ``max_tokens`` bounds blurb, text and special tokens together. ``overlap`` is the share of a chunk's
    text that the next one repeats, in whole sentences. A heading begins a new chunk when the current one
    holds ``heading_break`` of what it may; a chunk that is full ends at a paragraph's end if one lies in its
    last ``paragraph_reach``.
    """

    max_tokens: int = 240
    blurb_tokens: int = 40
    overlap: float = 0.15
    heading_break: float = 0.35
    paragraph_reach: float = 0.25

    def __post_init__(self) -> None:
        if self.max_tokens < 16 or not 0 <= self.blurb_tokens <= self.max_tokens // 2:
            raise InvalidInputError(
                f"Chunks of {self.max_tokens} tokens with blurbs of {self.blurb_tokens} cannot be made: "
                "a chunk needs at least 16 tokens, and its blurb at most half of them."
            )
        if not 0.0 <= self.overlap <= 0.5:
            raise InvalidInputError(f"An overlap of {self.overlap} is outside 0 to 0.5.")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a part of one that is too long: the smallest piece that chunks are made of."""

    start: int
    end: int
    tokens: int
    section: int  # index of the heading in force, -1 before the first
    opens_section: bool
    opens_paragraph: bool


def chunk_document(
    document: Document,
    *,
    token_spans: TokenSpans,
    max_tokens: int = 240,
    overlap: float = 0.15,
    parameters: ChunkingParameters | None = None,
) -> list[ChunkDraft]:
    """The chunks of a document, in order, with blurb, section heading and page range.

    ``token_spans`` is the embedder's. ``parameters`` replaces ``max_tokens`` and ``overlap`` and sets the
    rest. The pages of a chunk are those its own characters stand on.
    """
    chosen = parameters or ChunkingParameters(
        max_tokens=max_tokens, blurb_tokens=min(40, max_tokens // 4), overlap=overlap
    )
    text = document.text
    starts = document.page_starts()
    sections = [(starts[h.page - 1] + h.char_in_page, h.text) for h in document.headings]
    sections.sort()
    blurb_tokens = chosen.blurb_tokens
    budget = chosen.max_tokens - blurb_tokens - SPECIAL_TOKENS
    units = _units(text, sections, token_spans, budget)
    share = 0.0 if document.kind in _ROWS else chosen.overlap
    references = {i for i, (_, heading) in enumerate(sections) if _REFERENCES.fullmatch(heading)}
    drafts: list[ChunkDraft] = []
    for first_new, group in _groups(units, budget, share, references, chosen):
        start, end = group[0].start, group[-1].end
        pages = _page_at(starts, start), _page_at(starts, end - 1)
        section = group[first_new].section
        heading = sections[section][1] if section >= 0 else None
        drafts.append(
            ChunkDraft(
                ordinal=len(drafts),
                heading=heading,
                blurb=fitted_blurb(
                    document.title or "",
                    heading,
                    f"{document.page_unit} {pages[0]} of {len(starts)}" if len(starts) > 1 else "",
                    token_spans=token_spans,
                    max_tokens=blurb_tokens,
                ),
                text=text[start:end],
                page_start=pages[0],
                page_end=pages[1],
                char_start=start,
                char_end=end,
            )
        )
    return drafts


def _page_at(starts: Sequence[int], position: int) -> int:
    return bisect_right(starts, position)


# --- units ---------------------------------------------------------------------------------------


def _units(
    text: str, sections: Sequence[tuple[int, str]], token_spans: TokenSpans, budget: int
) -> list[_Unit]:
    """Sentences with their tokens, the long ones in parts of at most ``budget`` tokens."""
    positions = [position for position, _ in sections]
    units: list[_Unit] = []
    previous_end = 0
    for start, end, spans in _measured(text, _whole_spans(text, positions), token_spans):
        section = bisect_right(positions, start) - 1
        opens_section = section >= 0 and positions[section] == start
        opens_paragraph = opens_section or start == 0 or "\n\n" in text[previous_end:start]
        if len(spans) <= budget and end - start <= budget * _MAX_CHARS_PER_TOKEN:
            units.append(_Unit(start, end, len(spans), section, opens_section, opens_paragraph))
        else:
            for part_start, part_end, tokens in _parts(text, start, end, token_spans, spans, budget):
                first = part_start == start
                units.append(
                    _Unit(
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
        for first, last in zip(cuts, cuts[1:], strict=False):
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
    longest = budget * _MAX_CHARS_PER_TOKEN
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


_BREAKS = ("\n", "; ", ", ", ": ", "。", "，", "、", " ")


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


# --- chunks --------------------------------------------------------------------------------------


def _groups(
    units: Sequence[_Unit],
    budget: int,
    overlap: float,
    references: set[int],
    parameters: ChunkingParameters,
) -> Iterator[tuple[int, Sequence[_Unit]]]:
    """Runs of units that make a chunk, each with the index of its first unit that the last one lacked."""
    first_new = start = 0
    while first_new < len(units):
        end = _end_of_chunk(units, start, first_new, budget, references, parameters)
        yield first_new - start, units[start:end]
        if end >= len(units):
            return
        start = first_new = end
        if not units[end].opens_section:
            start = _overlap_start(units, end, first_new_limit=budget, share=overlap, budget=budget)


def _end_of_chunk(
    units: Sequence[_Unit],
    start: int,
    first_new: int,
    budget: int,
    references: set[int],
    parameters: ChunkingParameters,
) -> int:
    """Index behind the chunk's last unit; always beyond ``first_new``."""
    used = sum(unit.tokens for unit in units[start:first_new]) + units[first_new].tokens
    end = first_new + 1
    while end < len(units):
        unit = units[end]
        if unit.opens_section and _section_breaks(
            units, first_new, end, used, budget, references, parameters
        ):
            return end
        if used + unit.tokens > budget or unit.end - units[start].start > budget * _MAX_CHARS_PER_TOKEN:
            return _back_to_paragraph(units, first_new, end, used, budget, parameters)
        used += unit.tokens
        end += 1
    return end


def _section_breaks(
    units: Sequence[_Unit],
    first_new: int,
    end: int,
    used: int,
    budget: int,
    references: set[int],
    parameters: ChunkingParameters,
) -> bool:
    """Whether a heading ends the chunk: always at the edges of the references, else when it holds enough."""
    section, before = units[end].section, units[end - 1].section
    if section in references or before in references:
        return True
    if all(unit.opens_section for unit in units[first_new:end]):  # a heading goes with what follows it
        return False
    return used >= parameters.heading_break * budget


def _back_to_paragraph(
    units: Sequence[_Unit],
    first_new: int,
    end: int,
    used: int,
    budget: int,
    parameters: ChunkingParameters,
) -> int:
    """The last paragraph's end within reach of a full chunk, else the chunk's end as it is.

    A heading is never left alone at a chunk's end.
    """
    least = used - parameters.paragraph_reach * budget
    position, remaining = end, used
    while position > first_new + 1:
        if units[position].opens_paragraph and not units[position - 1].opens_section:
            return position
        remaining -= units[position - 1].tokens
        if remaining < least:
            break
        position -= 1
    while end > first_new + 1 and units[end - 1].opens_section:
        end -= 1
    return end


def _overlap_start(
    units: Sequence[_Unit], end: int, *, first_new_limit: int, share: float, budget: int
) -> int:
    """Index of the first unit that the next chunk repeats: whole sentences, about ``share`` of the budget.

    One sentence of up to twice that is repeated too, because sentences are often that long; the next new
    unit must still fit.
    """
    allowed = share * budget
    room = min(first_new_limit - units[end].tokens, 2 * allowed)
    start, repeated = end, 0
    while start > 0:
        unit = units[start - 1]
        if repeated + unit.tokens > (allowed if repeated else room) or unit.section != units[end].section:
            break
        if repeated + unit.tokens > first_new_limit - units[end].tokens:
            break
        repeated += unit.tokens
        start -= 1
        if unit.opens_section:
            break
    return start

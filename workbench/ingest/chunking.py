"""A paper's text cut into chunks: whole sentences, measured in the embedder's tokens. Pure.

A chunk is an exact substring of the paper's text. Together the chunks hold every character that is not
white space. No step recurses, so a text without a single space takes no longer than prose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.errors import InvalidInputError
from workbench.ingest.blurbs import fitted_blurb
from workbench.ingest.document import Document
from workbench.ingest.units import MAX_CHARS_PER_TOKEN, TokenSpans, Unit, units_of
from workbench.retrieval.sections import is_references
from workbench.storage.drafts import ChunkDraft

SPECIAL_TOKENS = 2  # what an embedder adds at the ends
_ROWS = frozenset({"csv", "log", "bib", "ris"})  # kinds whose entries stand for themselves: no overlap


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
    units = units_of(text, sections, token_spans, budget)
    share = 0.0 if document.kind in _ROWS else chosen.overlap
    references = {i for i, (_, heading) in enumerate(sections) if is_references(heading)}
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


def _groups(
    units: Sequence[Unit],
    budget: int,
    overlap: float,
    references: set[int],
    parameters: ChunkingParameters,
) -> Iterator[tuple[int, Sequence[Unit]]]:
    """Runs of units that make a chunk, each with the index of its first unit that the last one lacked."""
    first_new = start = 0
    while first_new < len(units):
        end = _end_of_chunk(units, start, first_new, budget, references, parameters)
        yield first_new - start, units[start:end]
        if end >= len(units):
            return
        start = first_new = end
        if not units[end].opens_section:
            start = _overlap_start(units, end, share=overlap, budget=budget)


def _end_of_chunk(
    units: Sequence[Unit],
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
        if used + unit.tokens > budget or unit.end - units[start].start > budget * MAX_CHARS_PER_TOKEN:
            return _back_to_paragraph(units, first_new, end, used, budget, parameters)
        used += unit.tokens
        end += 1
    return end


def _section_breaks(
    units: Sequence[Unit],
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
    units: Sequence[Unit],
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


def _overlap_start(units: Sequence[Unit], end: int, *, share: float, budget: int) -> int:
    """Index of the first unit that the next chunk repeats: whole sentences, about ``share`` of the budget.

    One sentence of up to twice that is repeated too, because sentences are often that long; the next new
    unit must still fit.
    """
    allowed = share * budget
    room = budget - units[end].tokens
    start, repeated = end, 0
    while start > 0:
        unit = units[start - 1]
        most = allowed if repeated else 2 * allowed
        long = units[end].start - unit.start > most * MAX_CHARS_PER_TOKEN
        repeated += unit.tokens
        if long or repeated > min(most, room) or unit.section != units[end].section:
            break
        start -= 1
        if unit.opens_section:
            break
    return start

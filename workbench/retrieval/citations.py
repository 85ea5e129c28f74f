"""From a claim and its passage to the page and the verbatim quote that support it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.records import Page, Passage
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

LONGEST_QUOTE = 480  # characters; longer sentences (tables, lists) are cut to a window round the match
LENGTH_COST = 0.05  # of a quote of that length: of two that cover a claim alike, the shorter says it
_NUMBER = re.compile(r"\d")
_NUMBER_WEIGHT = 2.0  # a figure identifies its sentence better than a word does
_WORDS_APART = 8  # … between the windows tried in running text; in a table, one opens at each line
_UNSPACED_APART = 120  # characters between them where there are no spaces


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim piece of one page. ``coverage`` is the weighted share of the claim's terms in it."""

    text: str
    page: int
    page_label: str | None
    char_start: int
    char_end: int
    coverage: float


def find_quote(claim: str, passage: Passage, pages: Sequence[Page]) -> Quote | None:
    """The sentence of ``passage`` that covers ``claim`` best, as it stands on its page.

    ``pages`` are the passage's pages. Of a sentence that crosses a page break the part that covers the
    claim best is quoted. Ties go to the earlier sentence. None only where the passage has no text, or
    stands on none of the pages.
    """
    wanted = claim_weights(claim)
    best: tuple[float, int, int] | None = None
    for start, end in _windows(passage.text):
        score = coverage(wanted, passage.text[start:end])
        worth = score - LENGTH_COST * (end - start) / LONGEST_QUOTE
        if best is None or worth > best[0]:
            best = (worth, start, end)
    if best is None:
        return None
    _, start, end = best
    parts = _on_pages(passage.char_start + start, passage.char_start + end, pages)
    if not parts:
        return None
    return max(
        (replace(part, coverage=coverage(wanted, part.text)) for part in parts),
        key=lambda part: (part.coverage, len(part.text), -part.page),
    )


def quote_at(char_start: int, char_end: int, pages: Sequence[Page]) -> Quote | None:
    """The quote of a known stretch of the paper's text, cut to the page that holds most of it."""
    parts = _on_pages(char_start, char_end, pages)
    return max(parts, key=lambda part: (len(part.text), -part.page), default=None)


def claim_weights(claim: str) -> dict[str, float]:
    """The terms of a claim that its source should hold, with their weights."""
    return {term: _NUMBER_WEIGHT if _NUMBER.search(term) else 1.0 for term in query_terms(claim)}


def coverage(wanted: dict[str, float], text: str) -> float:
    """Weighted share (0 to 1) of the wanted terms that stand in ``text``; 0 where none is wanted."""
    total = sum(wanted.values())
    if not total:
        return 0.0
    present = term_set(text)
    return sum(weight for term, weight in wanted.items() if term in present) / total


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Each sentence; of one longer than ``LONGEST_QUOTE``, stretches of that length, cut between words."""
    for start, end in sentence_spans(text):
        if end - start <= LONGEST_QUOTE:
            yield start, end
            continue
        for opening in _openings(text, start, end):
            closing = _closing(text, opening, end)
            yield opening, closing
            if closing == end:
                break


def _openings(text: str, start: int, end: int) -> list[int]:
    words = [m.start() + start for m in re.finditer(r"(?<!\S)\S", text[start:end])]
    lines = [word for word in words if word == start or "\n" in text[word - 1 : word]]
    if len(lines) > 3:
        return lines
    spaced = words[::_WORDS_APART]
    return sorted({*spaced, *(range(start, end, _UNSPACED_APART) if len(spaced) < 3 else ())})


def _closing(text: str, opening: int, end: int) -> int:
    if end - opening <= LONGEST_QUOTE:
        return end
    latest = opening + LONGEST_QUOTE
    if text[latest].isspace():
        return latest
    spaces = [m.start() for m in re.finditer(r"\s+\S*$", text[opening:latest])]
    return opening + spaces[0] if spaces and spaces[0] > 0 else latest


def _on_pages(start: int, end: int, pages: Sequence[Page]) -> list[Quote]:
    """The parts of a stretch of the paper's text, one for each page it stands on."""
    parts = []
    for page in pages:
        first, last = max(start, page.char_start), min(end, page.char_end)
        raw = page.text[first - page.char_start : last - page.char_start] if first < last else ""
        text = raw.strip()
        if text:
            first += len(raw) - len(raw.lstrip())
            parts.append(Quote(text, page.page, page.label, first, first + len(text), 1.0))
    return parts

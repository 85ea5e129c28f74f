"""From a claim and its passage to the page and the verbatim quote that support it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.records import Page, Passage
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.terms import query_terms, terms

LONGEST_QUOTE = 480  # characters; longer sentences (tables, lists) are cut to a window round the match
_NUMBER = re.compile(r"\d")
_NUMBER_WEIGHT = 2.0  # a figure identifies its sentence better than a word does


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

    ``pages`` are the passage's pages. A sentence that crosses a page break is quoted from the page that
    holds most of it. Ties go to the earlier sentence. None only where the passage has no text.
    """
    wanted = claim_weights(claim)
    best: tuple[float, int, int] | None = None
    for start, end in sentence_spans(passage.text):
        score = coverage(wanted, passage.text[start:end])
        if best is None or score > best[0]:
            best = (score, start, end)
    if best is None:
        return None
    score, start, end = best
    start, end = _window(passage.text, start, end, wanted)
    return _on_page(passage.char_start + start, passage.char_start + end, pages, score)


def quote_at(char_start: int, char_end: int, pages: Sequence[Page]) -> Quote | None:
    """The quote of a known stretch of the paper's text, cut to the page that holds most of it."""
    return _on_page(char_start, char_end, pages, 1.0)


def claim_weights(claim: str) -> dict[str, float]:
    """The terms of a claim that its source should hold, with their weights."""
    return {term: _NUMBER_WEIGHT if _NUMBER.search(term) else 1.0 for term in query_terms(claim)}


def coverage(wanted: dict[str, float], text: str) -> float:
    """Weighted share (0 to 1) of the wanted terms that stand in ``text``; 0 where none is wanted."""
    total = sum(wanted.values())
    if not total:
        return 0.0
    present = set(terms(text))
    return sum(weight for term, weight in wanted.items() if term in present) / total


def _window(text: str, start: int, end: int, wanted: dict[str, float]) -> tuple[int, int]:
    """Cuts a long sentence at word boundaries, round the stretch that covers the claim best."""
    if end - start <= LONGEST_QUOTE:
        return start, end
    words = [(m.start(), m.end()) for m in re.finditer(r"\S+", text[start:end])]
    best, best_score = (0, 0), -1.0
    for first in range(0, len(words), 8):
        last = first
        while last + 1 < len(words) and words[last + 1][1] - words[first][0] <= LONGEST_QUOTE:
            last += 1
        score = coverage(wanted, text[start + words[first][0] : start + words[last][1]])
        if score > best_score:
            best, best_score = (first, last), score
    first, last = best
    return start + words[first][0], min(start + words[last][1], start + words[first][0] + LONGEST_QUOTE)


def _on_page(start: int, end: int, pages: Sequence[Page], score: float) -> Quote | None:
    def overlap(page: Page) -> int:
        return min(end, page.char_end) - max(start, page.char_start)

    page = max(pages, key=lambda p: (overlap(p), -p.page), default=None)
    if page is None or overlap(page) <= 0:
        return None
    start, end = max(start, page.char_start), min(end, page.char_end)
    raw = page.text[start - page.char_start : end - page.char_start]
    text = raw.strip()
    start += len(raw) - len(raw.lstrip())
    return Quote(text, page.page, page.label, start, start + len(text), score) if text else None

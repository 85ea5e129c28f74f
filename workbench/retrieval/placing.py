"""What a passage's place in its paper says about its worth.

Three facts that scores do not know. A paper's first page says what the paper found, in few words, so its
passages answer questions more often than their wording alone suggests. A list of references is full of the
field's words and says nothing. And a second passage of the same page tells less that is new than one from
elsewhere, so seats are better spread over pages (the idea of maximal marginal relevance, Carbonell and
Goldstein 1998, with the page as the measure of likeness).

The three weights lie in the middle of the range where evidence recall hardly changes:
``tests/benchmarks/RETRIEVAL.md`` has the figures.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.records import Candidate

FRONT_BONUS = 0.15  # of the scale, for a passage that begins on the first page
REFERENCES_DISCOUNT = 0.7  # factor for a passage of the list of references
REPEAT_DISCOUNT = 0.9  # factor for each better passage that stands on the same page


@dataclass(frozen=True, slots=True)
class Place:
    """The pages a passage stands on, from 1; its place in its paper's text, where that is known; whether it
    begins on the first page, and whether it is of the list of references.

    Only a printed page is a front: the first section of a text or a table promises nothing.
    """

    page_start: int
    page_end: int
    ordinal: int | None = None
    front: bool = False
    references: bool = False


def weigh_places(
    candidates: Sequence[Candidate],
    places: Mapping[int, Place],
    *,
    front_bonus: float = FRONT_BONUS,
    repeat_discount: float = REPEAT_DISCOUNT,
) -> list[Candidate]:
    """The candidates with their places weighed in, best first, ties by chunk id; the scale stays 0 to 1.

    ``places`` maps chunk ids; a candidate without a place keeps its share and follows the same scale. A
    relevance of 0 stays 0.
    """
    taken: Counter[tuple[int, int]] = Counter()
    # Relevance only ever falls, so a heap whose top is brought up to date before it is taken gives the exact
    # greedy order.
    heap = [
        (-_with_bonus(c, places.get(c.chunk_id), front_bonus), c.chunk_id, index, 0)
        for index, c in enumerate(candidates)
    ]
    heapq.heapify(heap)
    ordered: list[Candidate] = []
    while heap:
        value, chunk_id, index, repeats = heapq.heappop(heap)
        candidate = candidates[index]
        pages = _pages(candidate, places.get(chunk_id))
        now = min((taken[page] for page in pages), default=0)
        if now > repeats:
            heapq.heappush(heap, (value * repeat_discount ** (now - repeats), chunk_id, index, now))
            continue
        taken.update(pages)
        ordered.append(_with_relevance(candidate, -value))
    return ordered


def _with_bonus(candidate: Candidate, place: Place | None, bonus: float) -> float:
    if candidate.relevance <= 0:
        return 0.0
    if place is None:
        return candidate.relevance / (1 + bonus)
    if place.references:
        return candidate.relevance * REFERENCES_DISCOUNT / (1 + bonus)
    return (candidate.relevance + (bonus if place.front else 0.0)) / (1 + bonus)


def _pages(candidate: Candidate, place: Place | None) -> list[tuple[int, int]]:
    if place is None:
        return []
    return [(candidate.paper_id, page) for page in range(place.page_start, place.page_end + 1)]


def _with_relevance(candidate: Candidate, relevance: float) -> Candidate:
    # Written out, because ``dataclasses.replace`` takes ten times as long and there are thousands.
    return Candidate(
        candidate.chunk_id,
        candidate.paper_id,
        relevance,
        candidate.vector_score,
        candidate.vector_rank,
        candidate.keyword_score,
        candidate.keyword_rank,
    )

"""What a passage's place in its paper says about its worth.

Two facts that scores do not know. A paper's first page says what the paper found, in few words, so its
passages answer questions more often than their wording alone suggests. And a second passage of the same
page tells less that is new than one from elsewhere, so seats are better spread over pages (the idea of
maximal marginal relevance, Carbonell and Goldstein 1998, with the page as the measure of likeness).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.records import Candidate

FRONT_BONUS = 0.1  # of the scale, for a passage that begins on the first page
REPEAT_DISCOUNT = 0.9  # factor for each better passage that stands on the same page


@dataclass(frozen=True, slots=True)
class Place:
    """The pages a passage stands on, from 1."""

    page_start: int
    page_end: int


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
    weighed = [replace(c, relevance=_with_bonus(c, places.get(c.chunk_id), front_bonus)) for c in candidates]
    return _spread(weighed, places, repeat_discount)


def _with_bonus(candidate: Candidate, place: Place | None, bonus: float) -> float:
    if candidate.relevance <= 0:
        return 0.0
    front = bonus if place is not None and place.page_start == 1 else 0.0
    return (candidate.relevance + front) / (1 + bonus)


def _spread(candidates: Sequence[Candidate], places: Mapping[int, Place], discount: float) -> list[Candidate]:
    """Takes the best, discounts what shares its pages, and goes on. Relevance only ever falls, so a heap
    whose top is brought up to date before it is taken gives the exact greedy order."""
    taken: Counter[tuple[int, int]] = Counter()
    heap = [(-c.relevance, c.chunk_id, c) for c in candidates]
    heapq.heapify(heap)
    ordered: list[Candidate] = []
    while heap:
        value, chunk_id, candidate = heapq.heappop(heap)
        place = places.get(chunk_id)
        now = candidate.relevance
        if place is not None:
            pages = [(candidate.paper_id, page) for page in range(place.page_start, place.page_end + 1)]
            now *= discount ** min(taken[page] for page in pages)
        if -value > now:
            heapq.heappush(heap, (-now, chunk_id, candidate))
            continue
        if place is not None:
            taken.update(pages)
        ordered.append(replace(candidate, relevance=now))
    return ordered

"""Two ranked lists into one relevance.

Weighted linear fusion of scores scaled to 0..1 (Bruch, Gai and Ingber 2023, "An Analysis of Fusion
Functions for Hybrid Retrieval": a convex combination beats reciprocal rank fusion and needs one weight).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import InvalidInputError
from workbench.records import Candidate, Hit


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """How much each list counts; both at least 0 and not both 0."""

    keyword: float = 0.5
    vector: float = 0.5

    def __post_init__(self) -> None:
        if not (self.keyword >= 0 and self.vector >= 0 and self.keyword + self.vector > 0):
            raise InvalidInputError("Fusion weights must be at least 0, and one of them above 0.")

    @property
    def keyword_share(self) -> float:
        """The keyword list's part of the whole, 0 to 1."""
        return self.keyword / (self.keyword + self.vector)


HYBRID = FusionWeights()
VECTOR_ONLY = FusionWeights(keyword=0.0, vector=1.0)
KEYWORD_ONLY = FusionWeights(keyword=1.0, vector=0.0)


def fuse(
    vector_hits: Sequence[Hit], keyword_hits: Sequence[Hit], *, weights: FusionWeights = HYBRID
) -> list[Candidate]:
    """One candidate per chunk of either list, by relevance (best first), ties by chunk id.

    Relevance runs from 0 to 1 and compares passages of one question, not of two: a keyword score counts
    as its share of the question's best keyword score, a cosine as its share of the best cosine (negative
    ones as 0), and the two are averaged by ``weights``. A chunk missing from a list has 0 there. Where a
    list is empty the other one decides alone.
    """
    cosines = {hit.chunk_id: hit for hit in vector_hits}
    words = {hit.chunk_id: hit for hit in keyword_hits}
    vector_part, vector_rank = _scaled(vector_hits), _ranks(vector_hits)
    keyword_part, keyword_rank = _scaled(keyword_hits), _ranks(keyword_hits)
    share = _keyword_share(weights, bool(vector_part), bool(keyword_part))
    candidates = [
        Candidate(
            chunk_id=chunk_id,
            paper_id=(cosines.get(chunk_id) or words[chunk_id]).paper_id,
            relevance=share * keyword_part.get(chunk_id, 0.0) + (1 - share) * vector_part.get(chunk_id, 0.0),
            vector_score=cosines[chunk_id].score if chunk_id in cosines else None,
            vector_rank=vector_rank.get(chunk_id),
            keyword_score=words[chunk_id].score if chunk_id in words else None,
            keyword_rank=keyword_rank.get(chunk_id),
        )
        for chunk_id in cosines.keys() | words.keys()
    ]
    return sorted(candidates, key=lambda c: (-c.relevance, c.chunk_id))


def _keyword_share(weights: FusionWeights, has_vectors: bool, has_keywords: bool) -> float:
    if not has_vectors:
        return 1.0
    if not has_keywords:
        return 0.0
    return weights.keyword_share


def _scaled(hits: Sequence[Hit]) -> dict[int, float]:
    best = max((hit.score for hit in hits), default=0.0)
    if best <= 0:
        return {}
    return {hit.chunk_id: min(1.0, max(0.0, hit.score / best)) for hit in hits}


def _ranks(hits: Sequence[Hit]) -> dict[int, int]:
    ordered = sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))
    return {hit.chunk_id: rank for rank, hit in enumerate(ordered, start=1)}

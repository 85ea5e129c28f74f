"""Everything one question found, before the choice: choosing again with other numbers needs no new search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from workbench.records import Candidate, Hit
from workbench.retrieval.blending import select_blended
from workbench.retrieval.fusion import HYBRID, KEYWORD_ONLY, VECTOR_ONLY, FusionWeights, fuse
from workbench.retrieval.placing import Place, weigh_places
from workbench.retrieval.questions import asks_about_papers
from workbench.retrieval.selection import Selection, SelectionLimits
from workbench.scoping import View

Mode = Literal["hybrid", "vector", "keyword"]
MODES: dict[str, FusionWeights] = {"hybrid": HYBRID, "vector": VECTOR_ONLY, "keyword": KEYWORD_ONLY}


@dataclass(frozen=True)
class Chosen:
    """One choice from a pool, and all that could be chosen from, best first."""

    selection: Selection
    ranked: list[Candidate]

    @property
    def near(self) -> list[Candidate]:
        """The candidates that were not chosen, best first."""
        there = {c.chunk_id for c in self.selection.chosen} | set(self.selection.joined.values())
        return [c for c in self.ranked if c.chunk_id not in there]


@dataclass(frozen=True)
class Pool:
    """The hits of both indexes for ``query`` in ``view``, and where each passage stands.

    ``paper`` is the one that alone was searched, if any. ``exhausted``: no index has more. ``complete``:
    found by everything that was asked for, no part of the search being away. ``share`` is that of the
    seats which papers beside the scope may take.
    """

    query: str
    view: View
    mode: Mode
    paper: int | None
    vector_hits: list[Hit]
    keyword_hits: list[Hit]
    places: Mapping[int, Place]
    share: float
    exhausted: bool
    complete: bool
    _ranked: dict[FusionWeights, list[Candidate]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def best_cosine(self) -> float | None:
        """The best cosine with the question, None where no vector was compared."""
        return max((h.score for h in self.vector_hits), default=None)

    def ranked(self, weights: FusionWeights | None = None) -> list[Candidate]:
        """Every candidate, best first; ``weights`` replace those of the mode. Kept for the next choice."""
        weights = weights or MODES[self.mode]
        if weights not in self._ranked:
            fused = fuse(self.vector_hits, self.keyword_hits, weights=weights)
            # a chunk without a place has left the library since the index was read
            known = [c for c in fused if c.chunk_id in self.places and c.paper_id in self.view.papers]
            self._ranked[weights] = weigh_places(known, self.places)
        return self._ranked[weights]

    def choose(self, limits: SelectionLimits, *, weights: FusionWeights | None = None) -> Chosen:
        """The passages that these numbers choose. The same numbers always choose the same."""
        ranked = self.ranked(weights)
        selection = select_blended(
            ranked,
            limits,
            blended=self.view.blended,
            share=self.share,
            places=self.places,
            every_paper=asks_about_papers(self.query),
        )
        return Chosen(selection, ranked)

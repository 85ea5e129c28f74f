"""Shared knowledge beside a scope's own papers: a bounded share of the seats, for what is as good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from workbench.records import Candidate, Dropped
from workbench.retrieval.placing import Place
from workbench.retrieval.selection import Selection, SelectionLimits, select_evidence


def select_blended(
    candidates: Sequence[Candidate],
    limits: SelectionLimits,
    *,
    blended: Set[int],
    share: float,
    places: Mapping[int, Place] | None = None,
    every_paper: bool = False,
) -> Selection:
    """``select_evidence`` where the papers ``blended`` may take at most ``share`` (0 to 1) of the seats.

    A blended passage needs the relevance that qualifies beside the best of all. The rules on papers hold
    inside each group. Seats that blended papers may not take stay empty where the scope's own papers do not
    fill them, and one seat is always the scope's own. ``places`` and ``every_paper`` (of the scope's own) are
    those of ``select_evidence``.
    """
    if not blended:
        return select_evidence(candidates, limits, places=places, every_paper=every_paper)
    own = [c for c in candidates if c.paper_id not in blended]
    guests = [c for c in candidates if c.paper_id in blended]
    best = max((c.relevance for c in candidates), default=0.0)
    bar = max(limits.min_relevance, limits.qualify_fraction * best)
    seats = blended_seats(limits.top_k, share)
    good = [c for c in guests if c.relevance >= bar]
    second = (
        select_evidence(good, replace(limits, top_k=seats), places=places) if seats else Selection((), ())
    )
    rest = replace(limits, top_k=limits.top_k - len(second.chosen))
    first = select_evidence(own, rest, places=places, every_paper=every_paper)
    chosen = sorted((*first.chosen, *second.chosen), key=lambda c: (-c.relevance, c.chunk_id))
    there = {c.chunk_id for c in second.chosen} | set(second.joined.values())
    left_out = [
        Dropped(
            c.chunk_id,
            c.paper_id,
            c.relevance,
            _reason(c, bar=bar, seats=seats),
            c.vector_rank,
            c.keyword_rank,
        )
        for c in guests
        if c.chunk_id not in there
    ]
    dropped = sorted((*first.dropped, *left_out), key=lambda d: (-d.relevance, d.chunk_id))
    return Selection(tuple(chosen), tuple(dropped), {**first.joined, **second.joined})


def blended_seats(top_k: int, share: float) -> int:
    """How many of ``top_k`` seats a share is: rounded down, but one at least where there is any share, and
    never all of them."""
    return min(top_k - 1, max(1, int(top_k * share + 1e-9))) if share > 0 else 0


def _reason(candidate: Candidate, *, bar: float, seats: int) -> str:
    if candidate.relevance < bar:
        return f"shared, and below the relevance {bar:.3g} that qualifies beside the best passage"
    if seats == 1:
        return "the only seat of shared papers is taken"
    return f"all {seats} seats of shared papers are taken"

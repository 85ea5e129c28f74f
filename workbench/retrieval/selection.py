"""From candidates to evidence: minimum relevance, diversity across papers, a fixed budget.

The accuracy-critical rules of cross-paper questions, as pure functions. In short: a passage *qualifies*
when its relevance clears the minimum and a fraction of the best one's. Every paper with a qualifying
passage gets a seat while seats last; then seats go by relevance, at most ``max_per_paper`` to one paper
while another paper still has a qualifying passage it may seat; what is left goes by relevance alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real

from workbench.errors import InvalidInputError
from workbench.records import Candidate, Dropped


@dataclass(frozen=True, slots=True)
class SelectionLimits:
    """``top_k`` passages in all; ``max_per_paper`` from one paper while others have some to offer;
    ``min_relevance`` (0 to 1) below which a passage never counts; ``qualify_fraction`` (0 to 1) of the
    best relevance from which a passage speaks for its paper."""

    top_k: int = 15
    max_per_paper: int = 5
    min_relevance: float = 0.05
    qualify_fraction: float = 0.6

    def __post_init__(self) -> None:
        for name in ("top_k", "max_per_paper"):
            _require(getattr(self, name), Integral, f"{name} must be a whole number")
        for name in ("min_relevance", "qualify_fraction"):
            _require(getattr(self, name), Real, f"{name} must be a number from 0 to 1")
        if self.top_k < 1 or self.max_per_paper < 1:
            raise InvalidInputError("top_k and max_per_paper must be at least 1.")
        if not (0 <= self.min_relevance <= 1 and 0 <= self.qualify_fraction <= 1):
            raise InvalidInputError("min_relevance and qualify_fraction must lie between 0 and 1.")


def _require(value: object, kind: type, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise InvalidInputError(f"{what}, not {value!r}.")


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen candidates, best first (their place is their number), and the rest with reasons."""

    chosen: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]


def select_evidence(candidates: Sequence[Candidate], limits: SelectionLimits) -> Selection:
    """Chooses at most ``limits.top_k`` candidates. The same candidates give the same result in any order."""
    ranked = sorted(candidates, key=lambda c: (-c.relevance, c.chunk_id))
    eligible = [c for c in ranked if c.relevance >= limits.min_relevance and c.relevance > 0]
    bar = _bar(eligible, limits)
    qualifying = [c for c in eligible if c.relevance >= bar]
    chosen = _one_seat_per_paper(qualifying, limits.top_k)
    _fill(chosen, qualifying, limits.top_k, cap=limits.max_per_paper)
    _fill(chosen, eligible, limits.top_k, cap=None)
    seated = {c.chunk_id for c in chosen}
    per_paper = Counter(c.paper_id for c in chosen)
    dropped = tuple(
        Dropped(c.chunk_id, c.paper_id, c.relevance, _reason(c, limits, per_paper[c.paper_id]))
        for c in ranked
        if c.chunk_id not in seated
    )
    return Selection(tuple(sorted(chosen, key=lambda c: (-c.relevance, c.chunk_id))), dropped)


def _bar(eligible: Sequence[Candidate], limits: SelectionLimits) -> float:
    best = eligible[0].relevance if eligible else 0.0
    return max(limits.min_relevance, limits.qualify_fraction * best)


def _one_seat_per_paper(qualifying: Sequence[Candidate], seats: int) -> list[Candidate]:
    first: dict[int, Candidate] = {}
    for candidate in qualifying:
        first.setdefault(candidate.paper_id, candidate)
    return list(first.values())[:seats]


def _fill(chosen: list[Candidate], pool: Sequence[Candidate], seats: int, *, cap: int | None) -> None:
    taken = {c.chunk_id for c in chosen}
    per_paper = Counter(c.paper_id for c in chosen)
    for candidate in pool:
        if len(chosen) >= seats:
            return
        if candidate.chunk_id in taken or (cap is not None and per_paper[candidate.paper_id] >= cap):
            continue
        chosen.append(candidate)
        taken.add(candidate.chunk_id)
        per_paper[candidate.paper_id] += 1


def _reason(candidate: Candidate, limits: SelectionLimits, paper_seats: int) -> str:
    if candidate.relevance < limits.min_relevance:
        return f"below the minimum relevance {limits.min_relevance:g}"
    if candidate.relevance <= 0:
        return "nothing in it matches"
    share = f", {paper_seats} of them by its paper" if paper_seats else ""
    return f"all {limits.top_k} seats are taken{share}"

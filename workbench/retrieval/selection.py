"""From candidates to evidence: minimum relevance, diversity across papers, a fixed budget.

The accuracy-critical rules of cross-paper questions, as pure functions. In short: a passage *qualifies*
when its relevance clears the minimum and a fraction of the best one's. Every paper with a qualifying
passage gets a seat while seats last; then seats go by relevance, at most ``max_per_paper`` to one paper
while another paper still has a qualifying passage it may seat; what is left goes by relevance alone.

A passage that continues one which has a seat stands there with it, as one longer passage, and takes no seat
of its own: what a page says is not cut in two, and the seat goes to another page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real

from workbench.errors import InvalidInputError
from workbench.records import Candidate, Dropped
from workbench.retrieval.placing import Place

JOIN_FRACTION = 0.5  # of the best relevance, from which a passage may join the one it continues
JOINED_SHARE = 1 / 3  # as many as this share of the seats may join, so that a chat model's window holds them
EVERY_PAPER_SHARE = 2 / 3  # of the seats, for a question about the papers as such


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
    """Chosen candidates, best first (their place is their number), and the rest with reasons.

    ``joined`` maps the chunk id of a chosen candidate to the one beside it that stands with it.
    """

    chosen: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    joined: Mapping[int, int] = field(default_factory=dict)


def select_evidence(
    candidates: Sequence[Candidate],
    limits: SelectionLimits,
    *,
    places: Mapping[int, Place] | None = None,
    every_paper: bool = False,
) -> Selection:
    """Chooses at most ``limits.top_k`` candidates. The same candidates give the same result in any order.

    ``places``, by chunk id, tell which passages continue each other; without them none is joined.
    ``every_paper``: the question is about the papers as such, so that one needs no qualifying passage for its
    seat.
    """
    ranked = sorted(candidates, key=lambda c: (-c.relevance, c.chunk_id))
    eligible = [c for c in ranked if c.relevance >= limits.min_relevance and c.relevance > 0]
    best = eligible[0].relevance if eligible else 0.0
    bar = max(limits.min_relevance, limits.qualify_fraction * best)
    qualifying = [c for c in eligible if c.relevance >= bar]
    seating = _Seating(limits.top_k, JOIN_FRACTION * best, places or {})
    seating.one_per_paper(qualifying, limits.top_k)
    if every_paper:
        seating.one_per_paper(eligible, int(EVERY_PAPER_SHARE * limits.top_k))
    seating.fill(qualifying, cap=limits.max_per_paper)
    seating.fill(eligible, cap=None)
    there = {c.chunk_id for c in seating.chosen} | set(seating.joined.values())
    weakest = min((c.relevance for c in seating.chosen), default=0.0)
    dropped = tuple(
        _dropped(c, limits, seating.per_paper[c.paper_id], weakest) for c in ranked if c.chunk_id not in there
    )
    chosen = tuple(sorted(seating.chosen, key=lambda c: (-c.relevance, c.chunk_id)))
    return Selection(chosen, dropped, seating.joined)


class _Seating:
    """The seats, and who sits there; ``join_bar`` is the relevance from which a passage may join another."""

    def __init__(self, seats: int, join_bar: float, places: Mapping[int, Place]) -> None:
        self.chosen: list[Candidate] = []
        self.joined: dict[int, int] = {}
        self.per_paper: Counter[int] = Counter()
        self._seats, self._join_bar, self._places = seats, join_bar, places
        self._may_join = int(JOINED_SHARE * seats)
        self._taken: set[int] = set()
        self._standing: dict[tuple[int, int], int] = {}  # (paper, place in its text) -> the seat's chunk id

    def one_per_paper(self, pool: Sequence[Candidate], seats: int) -> None:
        """The best of each paper that has no seat, while fewer than ``seats`` are taken."""
        for candidate in pool:
            if len(self.chosen) >= seats:
                return
            if not self.per_paper[candidate.paper_id]:
                self._seat(candidate)

    def fill(self, pool: Sequence[Candidate], *, cap: int | None) -> None:
        """Seats or joins, best first; at most ``cap`` seats to a paper."""
        for candidate in pool:
            full = len(self.chosen) >= self._seats
            if full and not self._may_join:
                return
            if candidate.chunk_id in self._taken or self._join(candidate) or full:
                continue
            if cap is None or self.per_paper[candidate.paper_id] < cap:
                self._seat(candidate)

    def _seat(self, candidate: Candidate) -> None:
        self.chosen.append(candidate)
        self.per_paper[candidate.paper_id] += 1
        self._place(candidate, candidate.chunk_id)

    def _join(self, candidate: Candidate) -> bool:
        place = self._places.get(candidate.chunk_id)
        if (
            place is None
            or place.ordinal is None
            or not self._may_join
            or candidate.relevance < self._join_bar
        ):
            return False
        for beside in (place.ordinal - 1, place.ordinal + 1):
            seat = self._standing.get((candidate.paper_id, beside))
            if seat is not None and seat not in self.joined:
                self.joined[seat] = candidate.chunk_id
                self._may_join -= 1
                self._place(candidate, seat)
                return True
        return False

    def _place(self, candidate: Candidate, seat: int) -> None:
        self._taken.add(candidate.chunk_id)
        place = self._places.get(candidate.chunk_id)
        if place is not None and place.ordinal is not None:
            self._standing[candidate.paper_id, place.ordinal] = seat


def _dropped(candidate: Candidate, limits: SelectionLimits, paper_seats: int, weakest: float) -> Dropped:
    kind, of_paper = _reason(candidate, limits, paper_seats, weakest)
    c = candidate
    return Dropped(
        c.chunk_id,
        c.paper_id,
        c.relevance,
        of_paper or kind,
        c.vector_rank,
        c.keyword_rank,
        kind=kind if of_paper else "",
    )


def _reason(
    candidate: Candidate, limits: SelectionLimits, paper_seats: int, weakest: float
) -> tuple[str, str]:
    """Why it has no seat, as it holds for any paper; and the same of its own, where there is more to say."""
    if candidate.relevance < limits.min_relevance:
        return f"below the minimum relevance {limits.min_relevance:g}", ""
    if candidate.relevance <= 0:
        return "nothing in it matches", ""
    if candidate.relevance > weakest and paper_seats >= limits.max_per_paper:
        cap = f"at most {limits.max_per_paper} while other papers have passages to offer"
        return "its paper has the seats it may have", f"its paper has {paper_seats} seats, {cap}"
    if limits.top_k == 1:
        return "the only seat is taken", ""
    taken = f"all {limits.top_k} seats are taken"
    return taken, f"{taken}, {paper_seats} of them by its paper" if paper_seats else ""

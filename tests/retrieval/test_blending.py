from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.records import Candidate
from workbench.retrieval.blending import blended_seats, select_blended
from workbench.retrieval.selection import SelectionLimits, select_evidence

LIMITS = SelectionLimits(top_k=5, max_per_paper=5)
OWN = [Candidate(i, 1, 1.0 - i / 100) for i in range(1, 11)]
SHARED = [Candidate(100 + i, 9, 0.99 - i / 100) for i in range(1, 11)]

candidates = st.lists(st.tuples(st.integers(1, 8), st.floats(0, 1)), max_size=60).map(
    lambda pairs: [Candidate(i, paper, relevance) for i, (paper, relevance) in enumerate(pairs, 1)]
)


def test_shared_papers_take_their_share_of_the_seats_and_no_more() -> None:
    selection = select_blended([*OWN, *SHARED], LIMITS, blended={9}, share=0.4)
    assert [c.chunk_id for c in selection.chosen] == [1, 2, 101, 3, 102]
    reasons = {d.chunk_id: d.reason for d in selection.dropped}
    assert reasons[103] == "all 2 seats of shared papers are taken"
    assert set(reasons) == {*range(4, 11), *range(103, 111)}


def test_a_shared_passage_that_does_not_qualify_beside_the_best_takes_no_seat() -> None:
    weak = [Candidate(100, 9, 0.5)]
    selection = select_blended([*OWN[:2], *weak], LIMITS, blended={9}, share=0.4)
    assert [c.chunk_id for c in selection.chosen] == [1, 2]
    assert [(d.chunk_id, d.reason) for d in selection.dropped] == [
        (100, "shared, and below the relevance 0.594 that qualifies beside the best passage")
    ]


def test_where_the_scope_has_nothing_the_shared_papers_still_have_only_their_share() -> None:
    assert len(select_blended(SHARED, LIMITS, blended={9}, share=0.4).chosen) == 2


def test_a_share_is_one_seat_at_least_and_never_all() -> None:
    assert [blended_seats(15, s) for s in (0.0, 0.01, 0.2, 0.5, 1.0)] == [0, 1, 3, 7, 14]
    assert blended_seats(1, 1.0) == 0


@given(candidates, st.integers(1, 20), st.floats(0, 1), st.sets(st.integers(1, 8)))
def test_the_budget_the_share_and_the_account_of_everything_hold(
    found: list[Candidate], top_k: int, share: float, blended: set[int]
) -> None:
    limits = SelectionLimits(top_k=top_k)
    selection = select_blended(found, limits, blended=blended, share=share)
    assert len(selection.chosen) <= top_k
    if blended:
        assert sum(c.paper_id in blended for c in selection.chosen) <= blended_seats(top_k, share)
    told = [c.chunk_id for c in selection.chosen] + [d.chunk_id for d in selection.dropped]
    assert sorted(told) == [c.chunk_id for c in found]
    assert select_blended(found, limits, blended=set(), share=share) == select_evidence(found, limits)

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InvalidInputError
from workbench.records import Candidate, Dropped
from workbench.retrieval.placing import Place
from workbench.retrieval.selection import Selection, SelectionLimits, select_evidence

RELEVANCES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.05, 0.3, 0.6, 0.6000001, 1.0]))


@st.composite
def candidate_lists(draw: st.DrawFn) -> list[Candidate]:
    papers = draw(st.lists(st.tuples(st.integers(1, 8), RELEVANCES), max_size=60))
    return [
        Candidate(chunk_id, paper_id, relevance) for chunk_id, (paper_id, relevance) in enumerate(papers, 1)
    ]


limits_in_use = st.builds(
    SelectionLimits,
    top_k=st.integers(1, 20),
    max_per_paper=st.integers(1, 6),
    min_relevance=st.sampled_from([0.0, 0.05, 0.4, 1.0]),
    qualify_fraction=st.sampled_from([0.0, 0.6, 1.0]),
)


def qualifying(candidates: Sequence[Candidate], limits: SelectionLimits) -> list[Candidate]:
    """The candidates that speak for their paper, from the words of the rule."""
    eligible = [c for c in candidates if c.relevance > 0 and c.relevance >= limits.min_relevance]
    best = max((c.relevance for c in eligible), default=0.0)
    return [c for c in eligible if c.relevance >= limits.qualify_fraction * best]


@given(candidate_lists(), limits_in_use)
def test_never_more_than_top_k_and_never_below_the_minimum(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    chosen = select_evidence(candidates, limits).chosen
    assert len(chosen) <= limits.top_k
    assert all(c.relevance >= limits.min_relevance and c.relevance > 0 for c in chosen)


@given(candidate_lists(), limits_in_use)
def test_a_paper_passes_the_cap_only_when_no_other_has_a_qualifying_passage_left(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    chosen = select_evidence(candidates, limits).chosen
    seats = Counter(c.paper_id for c in chosen)
    over = {paper for paper, count in seats.items() if count > limits.max_per_paper}
    waiting = {
        c.paper_id
        for c in qualifying(candidates, limits)
        if c not in chosen and seats[c.paper_id] < limits.max_per_paper
    }
    assert not over or not waiting


@given(candidate_lists(), limits_in_use)
def test_every_paper_with_a_qualifying_passage_is_seated_while_seats_last(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    chosen = select_evidence(candidates, limits).chosen
    best = {}
    for c in sorted(qualifying(candidates, limits), key=lambda c: (-c.relevance, c.chunk_id)):
        best.setdefault(c.paper_id, c)
    first = sorted(best.values(), key=lambda c: (-c.relevance, c.chunk_id))[: limits.top_k]
    assert set(first) <= set(chosen)


@given(candidate_lists(), limits_in_use)
def test_seats_fill_while_candidates_above_the_minimum_remain(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    eligible = [c for c in candidates if c.relevance > 0 and c.relevance >= limits.min_relevance]
    assert len(select_evidence(candidates, limits).chosen) == min(limits.top_k, len(eligible))


@given(candidate_lists(), limits_in_use, st.randoms(use_true_random=False))
def test_the_same_candidates_give_the_same_evidence_in_any_order(
    candidates: list[Candidate], limits: SelectionLimits, random: object
) -> None:
    shuffled = list(candidates)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert select_evidence(shuffled, limits) == select_evidence(candidates, limits)


@given(candidate_lists(), limits_in_use)
def test_a_number_names_one_passage_and_numbers_follow_relevance(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    chosen = select_evidence(candidates, limits).chosen
    by_number = dict(enumerate(chosen, start=1))
    by_chunk = {c.chunk_id: n for n, c in by_number.items()}
    assert {n: by_chunk[c.chunk_id] for n, c in by_number.items()} == {n: n for n in by_number}
    assert list(chosen) == sorted(chosen, key=lambda c: (-c.relevance, c.chunk_id))


@given(candidate_lists(), limits_in_use)
def test_chosen_and_dropped_are_all_candidates_and_each_dropped_one_has_a_reason(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    selection = select_evidence(candidates, limits)
    told = [(c.chunk_id, c.paper_id, c.relevance) for c in selection.chosen]
    told += [(d.chunk_id, d.paper_id, d.relevance) for d in selection.dropped]
    assert sorted(told) == [(c.chunk_id, c.paper_id, c.relevance) for c in candidates]
    assert all(d.reason for d in selection.dropped)


# --- worked examples -------------------------------------------------------------------------


def chunk_ids(selection: Selection) -> list[int]:
    return [c.chunk_id for c in selection.chosen]


def test_one_dominant_paper_leaves_a_seat_for_each_of_nine_others() -> None:
    dominant = [Candidate(i, 1, 1.0 - i / 1000) for i in range(1, 21)]
    others = [Candidate(100 + p, p, 0.7 - p / 100) for p in range(2, 11)]
    selection = select_evidence([*dominant, *others], SelectionLimits(top_k=15, max_per_paper=5))
    assert chunk_ids(selection) == [1, 2, 3, 4, 5, 6, *range(102, 111)]
    reasons = {d.chunk_id: d.reason for d in selection.dropped}
    cap = "its paper has 6 seats, at most 5 while other papers have passages to offer"
    assert reasons == dict.fromkeys(range(7, 21), cap)


def test_a_cap_of_one_takes_the_best_of_each_paper_before_any_second() -> None:
    candidates = [Candidate(1, 1, 1.0), Candidate(2, 1, 0.9), Candidate(3, 2, 0.8), Candidate(4, 3, 0.7)]
    assert chunk_ids(select_evidence(candidates, SelectionLimits(top_k=3, max_per_paper=1))) == [1, 3, 4]
    assert chunk_ids(select_evidence(candidates, SelectionLimits(top_k=4, max_per_paper=1))) == [1, 2, 3, 4]


def test_fewer_seats_than_papers_go_to_the_papers_with_the_best_passages() -> None:
    candidates = [Candidate(10 * p, p, 1 - p / 20) for p in range(1, 8)] + [Candidate(11, 1, 0.99)]
    assert chunk_ids(select_evidence(candidates, SelectionLimits(top_k=3))) == [11, 20, 30]


def test_equals_are_taken_by_chunk_id() -> None:
    candidates = [Candidate(i, i % 2, 0.5) for i in (4, 2, 5, 1, 3)]
    taken = "all 3 seats are taken"
    selection = select_evidence(candidates, SelectionLimits(top_k=3, max_per_paper=5))
    assert selection == Selection(
        (Candidate(1, 1, 0.5), Candidate(2, 0, 0.5), Candidate(3, 1, 0.5)),
        (
            Dropped(4, 0, 0.5, f"{taken}, 1 of them by its paper", kind=taken),
            Dropped(5, 1, 0.5, f"{taken}, 2 of them by its paper", kind=taken),
        ),
    )


def test_nothing_gives_nothing() -> None:
    assert select_evidence([], SelectionLimits()) == Selection((), ())


def test_the_only_paper_may_take_every_seat() -> None:
    candidates = [Candidate(i, 1, 1 - i / 100) for i in range(1, 31)]
    assert chunk_ids(select_evidence(candidates, SelectionLimits())) == list(range(1, 16))


def test_a_passage_that_does_not_qualify_never_displaces_one_that_does() -> None:
    strong = [Candidate(i, 1, 0.9) for i in range(1, 5)]
    weak = [Candidate(9, 2, 0.2)]
    assert chunk_ids(select_evidence([*strong, *weak], SelectionLimits(top_k=4, max_per_paper=4))) == [
        1,
        2,
        3,
        4,
    ]
    assert chunk_ids(select_evidence([*strong, *weak], SelectionLimits(top_k=5, max_per_paper=1))) == [
        1,
        2,
        3,
        4,
        9,
    ]


def test_what_is_below_the_minimum_or_worth_nothing_says_so() -> None:
    candidates = [Candidate(1, 1, 0.5), Candidate(2, 1, 0.29), Candidate(3, 2, 0.0)]
    assert select_evidence(candidates, SelectionLimits(min_relevance=0.3)) == Selection(
        (Candidate(1, 1, 0.5),),
        (
            Dropped(2, 1, 0.29, "below the minimum relevance 0.3"),
            Dropped(3, 2, 0.0, "below the minimum relevance 0.3"),
        ),
    )
    nothing = select_evidence([Candidate(3, 2, 0.0)], SelectionLimits(min_relevance=0))
    assert nothing == Selection((), (Dropped(3, 2, 0.0, "nothing in it matches"),))


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_k": 0},
        {"max_per_paper": 0},
        {"min_relevance": -0.1},
        {"min_relevance": 1.1},
        {"qualify_fraction": 2},
    ],
)
def test_limits_that_cannot_work_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        SelectionLimits(**wrong)  # type: ignore[arg-type]


# --- passages that continue each other -------------------------------------------------------


def in_order(count: int, *, paper: int = 1) -> dict[int, Place]:
    """Places of chunks 1 to ``count`` of one paper, in the order of the text, one to a page."""
    return {n: Place(n, n, ordinal=n - 1) for n in range(1, count + 1)}


def test_a_passage_that_continues_a_seated_one_joins_it_and_leaves_its_seat_to_another() -> None:
    found = [Candidate(2, 1, 0.9), Candidate(3, 1, 0.8), Candidate(7, 1, 0.7), Candidate(9, 1, 0.6)]
    selection = select_evidence(found, SelectionLimits(top_k=3), places=in_order(9))
    assert chunk_ids(selection) == [2, 7, 9]
    assert selection.joined == {2: 3}
    assert selection.dropped == ()


def test_two_chunks_make_a_passage_and_a_third_takes_a_seat() -> None:
    found = [Candidate(n, 1, 1 - n / 100) for n in (4, 5, 6)]
    selection = select_evidence(found, SelectionLimits(top_k=6), places=in_order(6))
    assert (chunk_ids(selection), selection.joined) == ([4, 6], {4: 5})


def test_no_more_than_a_third_of_the_seats_gets_a_second_chunk() -> None:
    found = [Candidate(n, 1, 1 - n / 1000) for n in range(1, 41)]
    selection = select_evidence(found, SelectionLimits(top_k=9), places=in_order(40))
    assert (len(selection.chosen), len(selection.joined)) == (9, 3)


def test_what_is_far_less_relevant_than_the_best_joins_nothing() -> None:
    found = [Candidate(1, 1, 1.0), Candidate(2, 1, 0.49)]
    assert select_evidence(found, SelectionLimits(top_k=3), places=in_order(2)).joined == {}


def test_neighbours_by_number_in_two_papers_do_not_join() -> None:
    places = {1: Place(1, 1, ordinal=0), 2: Place(1, 1, ordinal=1)}
    found = [Candidate(1, 1, 1.0), Candidate(2, 2, 0.9)]
    assert select_evidence(found, SelectionLimits(top_k=3), places=places).joined == {}


@given(candidate_lists(), limits_in_use)
def test_with_places_the_budget_the_reasons_and_the_account_of_everything_hold(
    candidates: list[Candidate], limits: SelectionLimits
) -> None:
    places = {c.chunk_id: Place(1, 1, ordinal=c.chunk_id) for c in candidates}
    selection = select_evidence(candidates, limits, places=places)
    assert len(selection.chosen) <= limits.top_k
    assert set(selection.joined) <= {c.chunk_id for c in selection.chosen}
    told = chunk_ids(selection) + list(selection.joined.values()) + [d.chunk_id for d in selection.dropped]
    assert sorted(told) == [c.chunk_id for c in candidates]


# --- questions about the papers as such ------------------------------------------------------


def test_a_question_about_every_paper_seats_those_that_would_not_qualify() -> None:
    found = [Candidate(n, 1, 1.0 - n / 100) for n in range(1, 11)] + [Candidate(50, 2, 0.2)]
    limits = SelectionLimits(top_k=6, max_per_paper=5)
    assert 50 not in chunk_ids(select_evidence(found, limits))
    assert chunk_ids(select_evidence(found, limits, every_paper=True)) == [1, 2, 3, 4, 5, 50]


def test_a_question_about_every_paper_of_many_keeps_a_third_of_the_seats_for_depth() -> None:
    deep = [Candidate(n, 1, 1.0 - n / 100) for n in range(1, 6)]
    shallow = [Candidate(100 + n, 10 + n, 0.3 - n / 100) for n in range(8)]
    chosen = select_evidence([*deep, *shallow], SelectionLimits(top_k=6), every_paper=True).chosen
    assert [c.chunk_id for c in chosen] == [1, 2, 3, 100, 101, 102]

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.records import Candidate
from workbench.retrieval.placing import Place, weigh_places


def candidate(chunk_id: int, relevance: float, paper_id: int = 1) -> Candidate:
    return Candidate(chunk_id, paper_id, relevance, 0.5, chunk_id, 2.0, chunk_id)


def test_a_first_page_is_worth_a_part_of_the_scale_and_the_scale_stays() -> None:
    given_candidates = [candidate(1, 1.0), candidate(2, 0.95)]
    places = {1: Place(4, 4), 2: Place(1, 2, front=True)}
    weighed = weigh_places(given_candidates, places)
    assert [(c.chunk_id, pytest.approx(c.relevance)) for c in weighed] == [(2, 1.1 / 1.15), (1, 1 / 1.15)]
    assert weighed[1] == replace(given_candidates[0], relevance=1 / 1.15)


def test_the_first_section_of_a_text_is_no_front() -> None:
    weighed = weigh_places([candidate(1, 1.0), candidate(2, 0.95)], {1: Place(4, 4), 2: Place(1, 1)})
    assert [c.chunk_id for c in weighed] == [1, 2]


def test_a_list_of_references_yields_to_text_that_matches_less() -> None:
    places = {1: Place(9, 9, references=True), 2: Place(4, 4)}
    weighed = weigh_places([candidate(1, 0.9), candidate(2, 0.7)], places, front_bonus=0.0)
    assert [(c.chunk_id, pytest.approx(c.relevance)) for c in weighed] == [(2, 0.7), (1, 0.63)]


def test_each_better_passage_of_the_same_page_costs_a_tenth() -> None:
    page_three = [candidate(n, 0.9) for n in (1, 2, 3)]
    elsewhere = candidate(4, 0.85)
    places = {1: Place(3, 3), 2: Place(3, 3), 3: Place(3, 3), 4: Place(7, 7)}
    weighed = weigh_places([*page_three, elsewhere], places, front_bonus=0.0)
    assert [(c.chunk_id, pytest.approx(c.relevance)) for c in weighed] == [
        (1, 0.9),
        (4, 0.85),
        (2, 0.81),
        (3, 0.729),
    ]


def test_a_passage_that_brings_a_new_page_is_not_a_repeat() -> None:
    places = {1: Place(3, 3), 2: Place(3, 4)}
    weighed = weigh_places([candidate(1, 0.9), candidate(2, 0.9)], places, front_bonus=0.0)
    assert [c.relevance for c in weighed] == [0.9, 0.9]


def test_the_same_page_number_of_two_papers_is_two_pages() -> None:
    places = {1: Place(3, 3), 2: Place(3, 3)}
    weighed = weigh_places([candidate(1, 0.9, 1), candidate(2, 0.9, 2)], places, front_bonus=0.0)
    assert [c.relevance for c in weighed] == [0.9, 0.9]


def test_nothing_relevant_becomes_relevant_by_its_place() -> None:
    assert [c.relevance for c in weigh_places([candidate(1, 0.0)], {1: Place(1, 1, front=True)})] == [0.0]


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2)), max_size=30
    ),
    st.randoms(),
)
def test_it_is_the_plain_greedy_order_whatever_order_they_come_in(
    rows: list[tuple[float, int, int, int]], shuffler: object
) -> None:
    candidates = [candidate(n, relevance, paper) for n, (relevance, paper, _, _) in enumerate(rows)]
    places = {n: Place(at, at + more, front=at == 1) for n, (_, _, at, more) in enumerate(rows)}
    mixed = list(candidates)
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]  # hypothesis types its randoms as object
    weighed = weigh_places(mixed, places)
    assert weighed == weigh_places(candidates, places)
    assert sorted(c.chunk_id for c in weighed) == [c.chunk_id for c in candidates]
    assert all(0 <= c.relevance <= 1 for c in weighed)
    assert [c.relevance for c in weighed] == sorted((c.relevance for c in weighed), reverse=True)

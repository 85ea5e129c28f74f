from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InvalidInputError
from workbench.records import Candidate, Hit
from workbench.retrieval.fusion import KEYWORD_ONLY, VECTOR_ONLY, FusionWeights, fuse


def hits(low: float, high: float) -> st.SearchStrategy[list[Hit]]:
    scores = st.dictionaries(st.integers(1, 40), st.floats(low, high), max_size=30)
    return scores.map(lambda found: [Hit(chunk, chunk % 5, score) for chunk, score in found.items()])


def test_a_chunk_of_both_lists_gets_the_mean_of_its_shares_of_the_best() -> None:
    vector = [Hit(1, 10, 0.8), Hit(2, 10, 0.4), Hit(3, 20, -0.2)]
    keyword = [Hit(2, 10, 12.0), Hit(4, 30, 3.0)]
    assert fuse(vector, keyword) == [
        Candidate(2, 10, 0.75, 0.4, 2, 12.0, 1),
        Candidate(1, 10, 0.5, 0.8, 1, None, None),
        Candidate(4, 30, 0.125, None, None, 3.0, 2),
        Candidate(3, 20, 0.0, -0.2, 3, None, None),
    ]


def test_an_empty_list_lets_the_other_decide_alone() -> None:
    found = [Hit(1, 1, 2.0), Hit(2, 1, 1.0)]
    assert [c.relevance for c in fuse([], found)] == [1.0, 0.5]
    assert [c.relevance for c in fuse(found, [])] == [1.0, 0.5]
    assert fuse([], []) == []


def test_weights_of_one_list_leave_the_other_without_a_say() -> None:
    vector, keyword = [Hit(1, 1, 0.5)], [Hit(2, 1, 7.0)]
    assert [(c.chunk_id, c.relevance) for c in fuse(vector, keyword, weights=VECTOR_ONLY)] == [
        (1, 1.0),
        (2, 0.0),
    ]
    assert [(c.chunk_id, c.relevance) for c in fuse(vector, keyword, weights=KEYWORD_ONLY)] == [
        (2, 1.0),
        (1, 0.0),
    ]


@pytest.mark.parametrize("pair", [(-1, 1), (0, 0), (float("nan"), 1)])
def test_weights_that_cannot_work_are_refused(pair: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError):
        FusionWeights(*pair)


@given(hits(-1, 1), hits(0, 50), st.floats(0, 1))
def test_every_chunk_comes_once_with_a_relevance_from_0_to_1_best_first(
    vector: list[Hit], keyword: list[Hit], share: float
) -> None:
    candidates = fuse(vector, keyword, weights=FusionWeights(share, 1 - share))
    assert sorted(c.chunk_id for c in candidates) == sorted({h.chunk_id for h in [*vector, *keyword]})
    assert all(0 <= c.relevance <= 1 for c in candidates)
    assert candidates == sorted(candidates, key=lambda c: (-c.relevance, c.chunk_id))
    assert fuse(vector[::-1], keyword[::-1], weights=FusionWeights(share, 1 - share)) == candidates


@given(hits(-1, 1), hits(0, 50))
def test_ranks_count_from_one_in_each_list_without_gaps(vector: list[Hit], keyword: list[Hit]) -> None:
    candidates = fuse(vector, keyword)
    for found, ranks in (
        (vector, [c.vector_rank for c in candidates]),
        (keyword, [c.keyword_rank for c in candidates]),
    ):
        assert sorted(r for r in ranks if r is not None) == list(range(1, len(found) + 1))


@given(hits(0.01, 1), hits(0.01, 50))
def test_a_higher_score_in_one_list_never_lowers_a_relevance(vector: list[Hit], keyword: list[Hit]) -> None:
    candidates = fuse(vector, keyword)
    for better in candidates:
        for worse in candidates:
            if (better.vector_score or 0) >= (worse.vector_score or 0) and (better.keyword_score or 0) >= (
                worse.keyword_score or 0
            ):
                assert better.relevance >= worse.relevance

"""Intervals and paired tests: hand-made cases, and what must hold of any figures."""

from __future__ import annotations

import math
from itertools import product

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import InvalidInputError
from workbench.evaluation.intervals import estimates, paired_p, ratios


def table(*rows: list[float]) -> numpy.ndarray:
    return numpy.array(rows, dtype=numpy.float64)


SHARES = st.integers(1, 12).flatmap(
    lambda questions: st.integers(1, 4).flatmap(
        lambda sets: st.tuples(
            *[
                st.lists(
                    st.lists(st.integers(0, 5), min_size=questions, max_size=questions),
                    min_size=sets,
                    max_size=sets,
                )
                for _ in range(2)
            ]
        )
    )
)


@settings(max_examples=60, deadline=None)
@given(SHARES)
def test_an_interval_holds_its_figure_and_lies_where_figures_can_lie(
    shares: tuple[list[list[int]], list[list[int]]],
) -> None:
    extra = table(*shares[1])
    parts = numpy.minimum(table(*shares[0]), extra)
    found = estimates(parts, extra, resamples=200)
    again = estimates(parts, extra, resamples=200)
    assert str(found) == str(again)
    for index, estimate in enumerate(found):
        whole = extra[index].sum()
        if whole == 0:
            assert estimate.questions == 0
            assert math.isnan(estimate.mean)
            continue
        assert estimate.mean == pytest.approx(parts[index].sum() / whole)
        assert 0 <= estimate.low <= estimate.mean <= estimate.high <= 1
        assert estimate.questions == int((extra[index] > 0).sum())
        if not math.isnan(estimate.difference):
            assert -1 <= estimate.difference_low <= estimate.difference <= estimate.difference_high <= 1
        assert 0 < estimate.p <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8))
def test_with_few_questions_p_is_the_share_of_all_assignments_that_differ_as_much(
    pairs: list[tuple[int, int]],
) -> None:
    a, b = (numpy.array(side, dtype=numpy.float64) for side in zip(*pairs, strict=True))
    wholes = numpy.full(len(a), 3.0)
    observed = abs(b.sum() - a.sum())
    assignments = list(product((1, -1), repeat=len(a)))
    extreme = sum(
        abs(sum(s * (y - x) for s, x, y in zip(signs, a, b, strict=True))) >= observed - 1e-9
        for signs in assignments
    )
    assert paired_p((a, wholes), (b, wholes)) == pytest.approx(extreme / len(assignments))


def test_the_difference_is_that_of_the_same_questions_and_has_its_p() -> None:
    # the second is better in each of six questions by the same amount
    first, second = [0.1, 0.9, 0.2, 0.6, 0.4, 0.3], [0.2, 1.0, 0.3, 0.7, 0.5, 0.4]
    one, two = estimates(table(first, second), numpy.ones((2, 6)))
    assert (one.difference, one.difference_low, one.difference_high, one.p) == (0.0, 0.0, 0.0, 1.0)
    assert two.difference == pytest.approx(0.1)
    assert (two.difference_low, two.difference_high) == (pytest.approx(0.1), pytest.approx(0.1))
    assert two.p == pytest.approx(2 / 2**6)
    assert two.low < one.high, "the intervals of the figures overlap, and the difference is sure all the same"


def test_a_question_with_three_pages_counts_three_times() -> None:
    [estimate] = estimates(table([3.0, 0.0]), table([3.0, 1.0]))
    assert (estimate.mean, estimate.questions) == (0.75, 2)


def test_a_normal_sample_has_about_the_textbook_interval() -> None:
    values = numpy.random.default_rng(7).normal(0.5, 0.1, size=(1, 400))
    [estimate] = estimates(values, numpy.ones((1, 400)), resamples=4000)
    half = 1.96 * values.std(ddof=1) / math.sqrt(400)
    assert (estimate.low, estimate.high) == (
        pytest.approx(values.mean() - half, abs=0.0015),
        pytest.approx(values.mean() + half, abs=0.0015),
    )
    [narrow] = estimates(values, numpy.ones((1, 400)), confidence=0.5)
    assert estimate.low < narrow.low < narrow.high < estimate.high


def test_many_questions_are_drawn_and_the_drawn_p_is_near_the_true_one() -> None:
    random = numpy.random.default_rng(3)
    a, b = random.integers(0, 2, (2, 60)).astype(float)
    ones = numpy.ones(60)
    drawn = [paired_p((a, ones), (b, ones), resamples=4000, seed=seed) for seed in (1, 2)]
    assert drawn[0] == pytest.approx(drawn[1], abs=0.04)
    assert min(drawn) >= 1 / 4001
    best = numpy.ones(60)
    assert paired_p((best * 0, ones), (best, ones), resamples=1000) == pytest.approx(1 / 1001)


def test_what_no_question_speaks_of_is_no_figure() -> None:
    [estimate] = estimates(table([0.0, 0.0]), table([0.0, 0.0]))
    assert estimate.questions == 0
    assert math.isnan(estimate.mean)
    assert numpy.isnan(ratios(table([1.0]), table([0.0]))).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "confidence=1.0: allowed"),
        ({"confidence": "much"}, "confidence='much'"),
        ({"resamples": 99}, "from 100 to 100,000"),
        ({"resamples": True}, "from 100 to 100,000"),
    ],
)
def test_options_that_cannot_be_are_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        estimates(table([1.0]), table([1.0]), **options)  # type: ignore[arg-type]  # that is the point


def test_shapes_that_do_not_fit_are_errors() -> None:
    with pytest.raises(InvalidInputError, match="one shape"):
        estimates(table([1.0]), table([1.0, 1.0]))

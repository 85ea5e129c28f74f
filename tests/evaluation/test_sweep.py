"""Grids of parameters and the rows they give."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from workbench.errors import InvalidInputError
from workbench.evaluation.metrics import NOTHING, Share
from workbench.evaluation.sweep import COLUMNS, parameter_sets, results
from workbench.retrieval.fusion import FusionWeights
from workbench.retrieval.parameters import SearchParameters
from workbench.retrieval.selection import SelectionLimits


def test_what_is_in_effect_comes_first_and_each_combination_once() -> None:
    current = SearchParameters()
    sets = parameter_sets(current, {"top_k": [15, 8, 8], "max_per_paper": numpy.array([5, 3])})
    assert sets == [
        current,
        SearchParameters(max_per_paper=3),
        SearchParameters(top_k=8),
        SearchParameters(top_k=8, max_per_paper=3),
    ]
    assert {type(s.max_per_paper) for s in sets} == {int}
    assert parameter_sets(current, None) == parameter_sets(current, {}) == [current]
    assert parameter_sets(current, {"keyword_weight": 0.75})[1].weights == FusionWeights(0.75, 0.25)


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"topk": [1]}, "No such search parameter: topk. Known: top_k, max_per_paper"),
        ({"top_k": []}, "The grid has no value for top_k"),
        ({"top_k": [True]}, "top_k must be a whole number"),
        ({"top_k": "15"}, "top_k must be a whole number"),
        ({"top_k": [0]}, "at least 1"),
        ({"min_relevance": [2]}, "between 0 and 1"),
        ({"min_relevance": [float("nan")]}, "between 0 and 1"),
        ({"keyword_weight": [1.1]}, "keyword_weight must be a number from 0 to 1"),
        ({"keyword_weight": ["much"]}, "keyword_weight must be a number from 0 to 1"),
        ({"top_k": range(1, 502)}, "501 sets; at most 500 work"),
        ([("top_k", 1)], "A grid maps names to lists of values"),
    ],
)
def test_a_grid_that_cannot_be_is_an_error_before_anything_is_searched(grid: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        parameter_sets(SearchParameters(), grid)


def test_parameters_are_limits_and_weights() -> None:
    assert SearchParameters(8, 3, 0.1, 0.5).limits == SelectionLimits(8, 3, 0.1, 0.5)
    assert (SearchParameters().weights, SearchParameters(keyword_weight=1.0).weights) == (
        None,
        FusionWeights(1.0, 0.0),
    )
    assert SearchParameters(keyword_weight=0.5).values() == {
        "top_k": 15,
        "max_per_paper": 5,
        "min_relevance": 0.05,
        "qualify_fraction": 0.6,
        "keyword_weight": 0.5,
    }


def test_results_have_a_row_per_set_and_metric_that_some_question_speaks_of() -> None:
    sets = [SearchParameters(), SearchParameters(top_k=8)]
    scores = [
        [{"recall": Share(2, 2), "never": NOTHING}, {"recall": Share(0, 1)}, {}],
        [{"recall": Share(1, 2)}, {"recall": Share(1, 1), "late": Share(1, 1)}, {}],
    ]
    found = results(sets, scores, resamples=200)
    assert [(r.set, r.metric) for r in found] == [(0, "recall"), (0, "late"), (1, "recall"), (1, "late")]
    first, late, second, _ = found
    assert (first.estimate.mean, second.estimate.mean, second.estimate.difference) == (
        pytest.approx(2 / 3),
        pytest.approx(2 / 3),
        0.0,
    )
    assert (late.estimate.questions, second.estimate.questions) == (0, 2)
    assert tuple(second.row()) == COLUMNS
    assert second.row()["top_k"] == 8

"""Figures drawn over a parameter."""

from __future__ import annotations

from typing import Any

import pandas
import pytest

from workbench import InvalidInputError, plot_figures
from workbench.evaluation.metrics import Share
from workbench.evaluation.sweep import COLUMNS, parameter_sets, results
from workbench.retrieval.parameters import SearchParameters


def figures(grid: dict[str, Any]) -> pandas.DataFrame:
    sets = parameter_sets(SearchParameters(), grid)
    scores = [
        [{"evidence_recall": Share(i % 3, 3), "ndcg@10": Share(0.5, 1)} for i in range(s.top_k)] for s in sets
    ]
    longest = max(map(len, scores))
    padded = [row + [{}] * (longest - len(row)) for row in scores]
    rows = [r.row() for r in results(sets, padded, resamples=100)]
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def test_each_metric_is_a_plot_of_its_figures_in_the_order_of_the_parameter() -> None:
    frame = figures({"top_k": [20, 5, 10]})
    drawn = plot_figures(frame, "top_k", metrics=("ndcg@10", "evidence_recall", "never measured"))
    assert [place.get_title() for place in drawn.axes] == ["ndcg@10", "evidence_recall"]
    [line] = drawn.axes[1].lines
    expected = frame[frame["metric"] == "evidence_recall"].sort_values("top_k")
    assert list(line.get_xdata()) == [5, 10, 15, 20]
    assert list(line.get_ydata()) == expected["mean"].tolist()
    assert drawn.legends == []
    assert [place.get_ylim()[1] for place in drawn.axes] == [1.02, 1.02]


def test_other_parameters_that_vary_are_lines_with_their_names() -> None:
    frame = figures({"top_k": [5, 10], "keyword_weight": [0.3], "max_per_paper": [2]})
    drawn = plot_figures(frame, "top_k")
    labels = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert labels == ["max_per_paper 2, keyword_weight 0.3", "max_per_paper 5, keyword_weight usual"]
    assert len(drawn.axes[0].lines) == 2


@pytest.mark.parametrize(
    ("x", "metrics", "message"),
    [
        ("colour", ("ndcg@10",), "There is no parameter 'colour' to draw over: top_k, max_per_paper"),
        ("top_k", ("never",), "Name 1 to 12 metrics that were measured: evidence_recall, ndcg@10"),
        ("max_per_paper", ("ndcg@10",), "at most 8 can be told apart"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(x: str, metrics: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        plot_figures(figures({"top_k": list(range(1, 12)), "max_per_paper": [2, 3]}), x, metrics=metrics)


def test_a_frame_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no figures of an evaluation"):
        plot_figures(pandas.DataFrame({"a": [1]}), "a")

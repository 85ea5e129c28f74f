"""Figures of an evaluation drawn over one parameter, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METRICS = ("evidence_recall", "evidence_phrase", "all_papers", "ndcg@10")
MOST_PANELS = 12
MOST_LINES = 8


def plot_figures(figures: pandas.DataFrame, x: str, *, metrics: Sequence[str] = METRICS) -> Figure:
    """One small plot per metric: the figure over the parameter ``x``, with its confidence interval.

    ``figures`` is what ``Workbench.evaluate`` returns. Where other parameters vary too, each combination of
    them is a line of its own. A metric that was not measured is left out. The result is a matplotlib figure,
    which a notebook shows. Raises InvalidInputError for a parameter or metrics that are not there, and for
    more than eight lines or twelve metrics.
    """
    import matplotlib.pyplot as pyplot

    others = _checked(figures, x)
    shown = [m for m in dict.fromkeys(metrics) if (figures["metric"] == m).any()]
    if not 1 <= len(shown) <= MOST_PANELS:
        known = ", ".join(figures["metric"].unique())
        raise InvalidInputError(f"Name 1 to {MOST_PANELS} metrics that were measured: {known}.")
    size = (3.2 * len(shown), 3.0) if len(shown) <= 4 else (12.8, 3.0 * -(-len(shown) // 4))
    rows, columns = -(-len(shown) // 4), min(len(shown), 4)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    pyplot.close(figure)  # the caller shows it, once
    for place, metric in zip(axes.flat, shown, strict=False):
        _draw(place, figures[figures["metric"] == metric], x, others)
        place.set_title(metric, fontsize=10)
        place.set_xlabel(x)
    for place in axes.flat[len(shown) :]:
        place.set_visible(False)
    if others:
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _draw(place: Axes, rows: pandas.DataFrame, x: str, others: Sequence[str]) -> None:
    groups = rows.groupby(list(others), sort=True, dropna=False) if others else [((), rows)]
    width = 1.4 + 0.9 * (len(groups) - 1)  # thinner line by line, so that lines on each other are all seen
    for key, group in groups:
        line = group.dropna(subset=[x]).sort_values(x)
        label = ", ".join(f"{name} {_short(value)}" for name, value in zip(others, key, strict=True))
        [drawn] = place.plot(line[x], line["mean"], marker="o", markersize=width + 2, lw=width, label=label)
        width -= 0.9
        place.fill_between(line[x], line["low"], line["high"], alpha=0.12, color=drawn.get_color(), lw=0)
    if rows["high"].max() <= 1:  # a share: there is nothing above 1 to show
        place.set_ylim(min(place.get_ylim()[0], 0.9), 1.02)
    place.grid(alpha=0.3)
    place.spines[["top", "right"]].set_visible(False)


def _checked(figures: pandas.DataFrame, x: str) -> list[str]:
    """The parameters beside ``x`` that vary."""
    columns = list(figures.columns)
    if "metric" not in columns or "mean" not in columns:
        raise InvalidInputError("These are no figures of an evaluation: give what wb.evaluate returns.")
    parameters = [c for c in columns[: columns.index("metric")] if c != "set"]
    if x not in parameters:
        raise InvalidInputError(f"There is no parameter {x!r} to draw over: {', '.join(parameters)}.")
    others = [c for c in parameters if c != x and figures[c].nunique(dropna=False) > 1]
    lines = len(figures[others].drop_duplicates()) if others else 1
    if lines > MOST_LINES:
        raise InvalidInputError(
            f"That would be {lines} lines in a plot; at most {MOST_LINES} can be told apart: "
            f"choose rows of the figures first, such as figures[figures.{others[0]} == …]."
        )
    return others


def _short(value: Any) -> str:
    return "usual" if value is None or value != value else f"{value:g}"

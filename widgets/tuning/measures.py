"""Numbers measured on labelled questions: what to try, and what came out as points to draw and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from widgets.tuning.numbers import LABELS, Numbers
from widgets.wording import counted, one_line
from workbench import Scope, SearchParameters

if TYPE_CHECKING:
    import pandas

    from workbench import Evaluation, Workbench

TRIED: dict[str, tuple[float, ...]] = {
    "top_k": (3, 5, 8, 10, 15, 20, 30),
    "max_per_paper": (1, 2, 3, 5, 8, 15),
    "min_relevance": (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "qualify_fraction": (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "keyword_weight": (0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 1.0),
}
"""Values that a measurement tries for one number, beside the one that its control has."""

METRICS = {
    "evidence_recall": ("Pages found", "labelled pages of which a passage was chosen"),
    "all_papers": ("Every paper found", "questions on several papers that got a passage of each"),
    "ndcg@10": ("High in the list", "how near the top the labelled pages stand (nDCG@10)"),
    "passages": ("Passages chosen", "how many passages a question got, on average"),
}
"""What is shown of a measurement: each metric's title, and what it counts."""

MOST_LISTED = 20
FEW = 20
"""Questions below which the figures come with a word of caution."""
SURE = 0.05
"""The p of a paired test below which a difference is called more than chance."""


def grid(numbers: Numbers, vary: str) -> dict[str, list[Any]]:
    """The sets to measure: ``numbers``, and where ``vary`` names one of them also other values of it."""
    sets = {name: [value] for name, value in numbers.items()}
    if vary:
        known = [] if numbers[vary] is None else [numbers[vary]]
        sets[vary] = sorted({*TRIED[vary], *known})
    return sets


def earlier(workbench: Workbench, scope: Scope) -> list[dict[str, Any]]:
    """What was measured in the scope before, the latest first: ``{"id", "when", "questions"}``."""
    found = [e for e in workbench.evaluations.list() if e.scope == scope and _of_searches(e)]
    return [
        {"id": e.id, "when": e.created_at.isoformat(), "questions": e.questions} for e in found[:MOST_LISTED]
    ]


def _of_searches(evaluation: Evaluation) -> bool:
    return evaluation.questions > 0 and "chunk_tokens" not in evaluation.options


def shown(figures: pandas.DataFrame) -> dict[str, Any]:
    """The figures for the front end. The first set is what was in force; ``vary`` is the number that the
    others differ in, empty where there is one other set or none, and ``words`` says what it all means."""
    names = list(SearchParameters.RANGES)
    sets = figures.drop_duplicates("set").set_index("set")[names]
    tried = sets.drop(index=0, errors="ignore")
    varied = [name for name in names if tried[name].nunique(dropna=False) > 1]
    if len(varied) > 1:
        many = "Several numbers were varied at once: workbench.plot_figures draws such figures in a notebook."
        return _result(figures, vary="", metrics=[], words=[many])
    vary = varied[0] if varied else ""
    alike = _alike(sets, tried, vary)
    metrics = [
        _metric(figures[figures["metric"] == name], name, vary, alike)
        for name in METRICS
        if (figures["metric"] == name).any()
    ]
    asked = int(figures["questions"].max()) if len(figures) else 0
    return _result(figures, vary=vary, metrics=metrics, words=_words(metrics, vary, asked))


def _result(figures: pandas.DataFrame, **parts: Any) -> dict[str, Any]:
    return {
        **parts,
        "id": figures.attrs["evaluation"] or 0,
        "label": LABELS.get(parts["vary"], ""),
        "questions": int(figures["questions"].max()) if len(figures) else 0,
        "warnings": [one_line(line) for line in figures.attrs["warnings"]],
    }


def _alike(sets: pandas.DataFrame, tried: pandas.DataFrame, vary: str) -> list[int]:
    """The sets that belong on one line: those that differ from what was tried in the varied number alone."""
    if not len(tried):
        return []
    others = [name for name in sets.columns if name != vary]
    first = tried.iloc[0][others]
    same = [
        number
        for number, row in sets[others].iterrows()
        if all(_equal(row[name], first[name]) for name in others)
    ]
    return [int(number) for number in same if not vary or not math.isnan(sets.loc[number, vary])]


def _equal(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _metric(rows: pandas.DataFrame, name: str, vary: str, alike: Sequence[int]) -> dict[str, Any]:
    title, explained = METRICS[name]
    by_set = rows.set_index("set")
    base = _point(by_set.loc[0], None)
    there = [number for number in alike if number in by_set.index]
    points = [_point(by_set.loc[n], float(by_set.loc[n, vary]) if vary else None) for n in there]
    return {
        "name": name,
        "title": title,
        "explained": explained,
        "share": name != "passages",
        "base": base,
        "points": sorted(points, key=lambda point: point["x"] or 0.0),
    }


def _point(row: pandas.Series, x: float | None) -> dict[str, Any]:
    fields = {"mean": "mean", "low": "low", "high": "high"}
    fields |= {"gain": "difference", "gain_low": "difference_low", "gain_high": "difference_high", "p": "p"}
    return {"x": x, **{name: _number(row[column]) for name, column in fields.items()}}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)


# --- in words ----------------------------------------------------------------------------------


def _words(metrics: Sequence[dict[str, Any]], vary: str, asked: int) -> list[str]:
    lines = [line for metric in metrics if metric["share"] for line in [_line(metric, vary)] if line]
    tried = max((len(metric["points"]) for metric in metrics), default=0)
    if vary and tried > 2 and any((p["gain"] or 0) > 0 for m in metrics if m["share"] for p in m["points"]):
        lines.append(
            f"{tried} values were tried, and the best of several always looks a little better than it is: "
            "measure it again on other questions."
        )
    if asked < FEW:
        few = f"{counted(asked, 'question')} with a labelled page"
        lines.append(f"{few} can say little: {FEW} or more make the intervals narrow.")
    return lines


def _line(metric: dict[str, Any], vary: str) -> str:
    points = [p for p in metric["points"] if p["mean"] is not None]
    base = metric["base"]
    if base["mean"] is None:
        return ""
    now = f"{metric['title']}: {_interval(base)} with the numbers in force"
    if not points:
        return f"{now}. The numbers set here are the same."
    best = max(points, key=lambda p: (p["mean"], -(p["x"] or 0)))
    at = f"at best, with {LABELS[vary].lower()} {best['x']:g}" if vary else "with the numbers set here"
    if best["gain"] == 0:
        return f"{now}; {'no value tried does better' if vary else 'those set here do as well'}."
    gain = f"{_signed(best['gain'])} points ({_signed(best['gain_low'])} to {_signed(best['gain_high'])})"
    return f"{now}, {_interval(best)} {at}. Difference: {gain}. {_verdict(best)}"


def _interval(point: dict[str, Any]) -> str:
    return f"{point['mean']:.0%} ({point['low']:.0%} to {point['high']:.0%})"


def _signed(share: float | None) -> str:
    whole = round(100 * (share or 0.0))
    return f"{'+' if whole > 0 else '−' if whole < 0 else ''}{abs(whole)}"


def _verdict(point: dict[str, Any]) -> str:
    if point["p"] is None or point["p"] >= SURE:
        return "That may be chance."
    return f"That is {'better' if point['gain'] > 0 else 'worse'} by more than chance explains."

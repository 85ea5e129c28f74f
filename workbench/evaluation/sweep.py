"""Which sets of parameters a sweep tries, and what it says of them. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy

from workbench.errors import InvalidInputError
from workbench.evaluation.intervals import CONFIDENCE, RESAMPLES, Estimate, estimates
from workbench.evaluation.metrics import NOTHING, Share
from workbench.retrieval.parameters import NAMES, SearchParameters

MOST_SETS = 500

Scores = Sequence[Sequence[Mapping[str, Share]]]  # by set, then by question: metric to share


@dataclass(frozen=True, slots=True)
class Result:
    """One figure of one set: a row of an evaluation. ``set`` counts from 0, which is the set that the others
    are compared with."""

    set: int
    parameters: SearchParameters
    metric: str
    estimate: Estimate

    def row(self) -> dict[str, Any]:
        return {"set": self.set, **asdict(self.parameters), "metric": self.metric, **asdict(self.estimate)}


COLUMNS = ("set", *NAMES, "metric", *Estimate.__dataclass_fields__)


def parameter_sets(
    current: SearchParameters, grid: Mapping[str, Iterable[Any]] | None
) -> list[SearchParameters]:
    """``current`` first, then every combination of the grid's values, each set once.

    The grid maps names of ``SearchParameters`` to values. Raises InvalidInputError for unknown names, values
    that cannot be, and more than ``MOST_SETS`` sets.
    """
    if grid is not None and not isinstance(grid, Mapping):
        raise InvalidInputError(
            f"A grid maps names to lists of values, such as {{'top_k': [10, 15]}}: {grid!r} does not."
        )
    axes = {name: _values(name, values) for name, values in (grid or {}).items()}
    total = 1
    for values in axes.values():
        total *= len(values)
    if total > MOST_SETS:
        raise InvalidInputError(f"This grid has {total:,} sets; at most {MOST_SETS} work: try fewer values.")
    combined = (dict(zip(axes, chosen, strict=True)) for chosen in itertools.product(*axes.values()))
    return list(dict.fromkeys([current, *(current.with_values(values) for values in combined)]))


def _values(name: str, values: Any) -> list[Any]:
    listed = (
        [values]
        if isinstance(values, str | int | float) or not isinstance(values, Iterable)
        else list(values)
    )
    if not listed:
        raise InvalidInputError(f"The grid has no value for {name}: give at least one.")
    return listed


def results(
    sets: Sequence[SearchParameters],
    scores: Scores,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Result]:
    """One result per set and metric, set by set; each compared with the first set, question by question.

    A metric that no question speaks of is left out.
    """
    names = list(dict.fromkeys(name for per_set in scores for shares in per_set for name in shares))
    by_set: list[list[Result]] = [[] for _ in sets]
    for name in names:
        shares = [[question.get(name, NOTHING) for question in per_set] for per_set in scores]
        parts, wholes = (
            numpy.array([[getattr(s, side) for s in row] for row in shares], dtype=numpy.float64)
            for side in ("part", "whole")
        )
        if not (wholes > 0).any():
            continue
        found = estimates(parts, wholes, confidence=confidence, resamples=resamples, seed=seed)
        for index, estimate in enumerate(found):
            by_set[index].append(Result(index, sets[index], name, estimate))
    return [result for of_set in by_set for result in of_set]

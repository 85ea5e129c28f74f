"""How sure a figure is: bootstrap intervals and paired tests over questions. Seeded, so repeatable.

Everything works on two arrays, ``parts`` and ``wholes``, of shape (sets, questions): a metric's figure for
one set of parameters is the sum of its parts over the sum of its wholes (see ``metrics``).

Sources: the percentile bootstrap of Efron and Tibshirani, "An Introduction to the Bootstrap" (1993),
chapter 13, with questions as what is drawn; the paired randomization test as in Smucker, Allan and
Carterette, "A comparison of statistical significance tests for information retrieval evaluation" (2007),
with p counted as in Phipson and Smyth, "Permutation p-values should never be zero" (2010). Nothing is
corrected for the number of sets that are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy
from numpy.typing import NDArray

from workbench.errors import InvalidInputError

Floats = NDArray[numpy.float64]

RESAMPLES = 2000
CONFIDENCE = 0.95
_EXACT = 11  # questions that differ, up to which every assignment is tried


@dataclass(frozen=True, slots=True)
class Estimate:
    """One figure with its interval, and how it differs from that of the first set: the difference, its
    interval, and the probability ``p`` of one as large where the two sets are equally good.

    ``questions`` is how many it speaks of. Where it speaks of none, the numbers are NaN.
    """

    mean: float
    low: float
    high: float
    questions: int
    difference: float
    difference_low: float
    difference_high: float
    p: float


_NAN = float("nan")
_NOTHING = Estimate(_NAN, _NAN, _NAN, 0, _NAN, _NAN, _NAN, _NAN)


def ratios(parts: Floats, wholes: Floats) -> Floats:
    """Parts over wholes, NaN where there is nothing to divide by."""
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return numpy.where(wholes > 0, parts / wholes, numpy.nan)


def estimates(
    parts: Floats,
    wholes: Floats,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Estimate]:
    """One estimate per set; differences are those to the first set, on the same draws of questions.

    ``parts`` and ``wholes`` have shape (sets, questions). An interval always holds its figure. It has no
    width where all questions agree, which says little where they are few. Raises InvalidInputError for
    shapes, a confidence or a number of resamples that cannot be.
    """
    check_options(confidence, resamples)
    if parts.ndim != 2 or parts.shape != wholes.shape or not len(parts):
        raise InvalidInputError("Parts and wholes need one shape, (sets, questions), with a set at least.")
    counted = (wholes > 0).any(axis=0)
    if not counted.any():
        return [_NOTHING] * len(parts)
    counts = (wholes > 0).sum(axis=1)
    parts, wholes = parts[:, counted], wholes[:, counted]
    draws = _draws(parts.shape[1], resamples, seed)
    means = ratios(parts.sum(axis=1), wholes.sum(axis=1))
    drawn = ratios(parts @ draws.T, wholes @ draws.T)  # (sets, resamples)
    found = []
    for index, mean in enumerate(means):
        low, high = _interval(drawn[index], mean, confidence)
        difference = mean - means[0]
        below, above = _interval(drawn[index] - drawn[0], difference, confidence)
        p = paired_p((parts[0], wholes[0]), (parts[index], wholes[index]), resamples=resamples, seed=seed)
        values = [float(v) for v in (difference, below, above, p)]
        found.append(Estimate(float(mean), low, high, int(counts[index]), *values))
    return found


def paired_p(
    first: tuple[Floats, Floats], second: tuple[Floats, Floats], *, resamples: int = RESAMPLES, seed: int = 0
) -> float:
    """The two-sided p of the paired randomization test: how often two sets differ at least as much, when for
    each question it is left to chance which of the two results is whose.

    Each is (parts, wholes), of shape (questions,). With few questions that differ every assignment is tried;
    else ``resamples`` are drawn and the observed one is counted among them.
    """
    differ = (first[0] != second[0]) | (first[1] != second[1])
    observed = abs(_difference(first, second))
    count = int(differ.sum())
    if count == 0 or numpy.isnan(observed):
        return 1.0
    same = tuple(float(side[~differ].sum()) for side in (*first, *second))
    if count <= _EXACT:
        swaps = (numpy.arange(2**count)[:, None] >> numpy.arange(count)) & 1
    else:
        swaps = numpy.random.default_rng(seed).integers(0, 2, size=(resamples, count))
    a, b = (numpy.stack([side[differ] for side in pair]) for pair in (first, second))  # (2, count)
    taken = swaps @ (b - a).T  # what swapping moves from one to the other
    first_sum, second_sum = a.sum(axis=1) + same[:2], b.sum(axis=1) + same[2:]
    moved_first, moved_second = first_sum + taken, second_sum - taken
    differences = numpy.abs(
        ratios(moved_second[:, 0], moved_second[:, 1]) - ratios(moved_first[:, 0], moved_first[:, 1])
    )
    extreme = int((differences >= observed - 1e-12).sum())
    return extreme / len(swaps) if count <= _EXACT else (extreme + 1) / (len(swaps) + 1)


def _difference(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> float:
    a, b = (
        ratios(parts.sum(keepdims=True), wholes.sum(keepdims=True))[0] for parts, wholes in (first, second)
    )
    return float(b - a)


@lru_cache(maxsize=16)
def _draws(questions: int, resamples: int, seed: int) -> Floats:
    """How often each question is drawn, of shape (resamples, questions)."""
    shares = numpy.full(questions, 1 / questions)
    drawn = (
        numpy.random.default_rng(seed).multinomial(questions, shares, size=resamples).astype(numpy.float64)
    )
    drawn.flags.writeable = False
    return drawn


def _interval(drawn: Floats, figure: float, confidence: float) -> tuple[float, float]:
    known = drawn[~numpy.isnan(drawn)]
    if numpy.isnan(figure) or not len(known):
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = numpy.quantile(known, [tail, 1 - tail])
    return float(min(low, figure)), float(max(high, figure))


def check_options(confidence: float, resamples: int) -> None:
    """Raises InvalidInputError for a confidence or a number of resamples that cannot be."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InvalidInputError(f"confidence={confidence!r}: allowed is a number between 0 and 1.")
    if isinstance(resamples, bool) or not isinstance(resamples, int) or not 100 <= resamples <= 100_000:
        raise InvalidInputError(f"resamples={resamples!r}: allowed is a whole number from 100 to 100,000.")

"""Do the figures and names of a claim stand where its source says what the claim says?

The sentence that holds most of a claim's words is where its source says it. A figure or a name of the claim
that stands only in other sentences of the source, while this one has another of its kind that the claim
leaves out, was taken from somewhere else. A claim may be drawn from several sentences, so what stands beside
it, in a table, or in a sentence that holds much of the claim too, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.records import Support
from workbench.retrieval.citations import claim_weights, coverage
from workbench.retrieval.closeness import best_sentence, sentences
from workbench.retrieval.figures import Figure, agree, figure_spans, stated_figures, without_figures
from workbench.retrieval.names import mentioned, names, proper_nouns, spelled_out
from workbench.retrieval.term_sets import term_set

LEAST_SHARE = 0.5  # of the claim's words in the sentence that says it
FAR_BELOW = 0.5  # of that share, in a sentence that says something else
MOST_FIGURES = 8  # in a sentence; a run of more is a table

_YEAR = re.compile(r"(?:19|20)\d\d")


def taken_from_elsewhere(claim: str, source: str) -> Iterator[tuple[Support, str]]:
    """What speaks against the claim, each with the reason in words."""
    words = without_figures(claim)
    wanted = claim_weights(words)
    here = best_sentence(words, source)
    if not wanted or coverage(wanted, here) < LEAST_SHARE:
        return
    yield from _figures(claim, wanted, here, source)
    yield from _names(claim, here, source)


def _figures(claim: str, wanted: dict[str, float], here: str, source: str) -> Iterator[tuple[Support, str]]:
    stated, beside = stated_figures(claim), _figures_of(here)
    if len(beside) > MOST_FIGURES:
        return
    left_out = [figure for figure in beside if not any(agree(own, figure) for own in stated)]
    enough = FAR_BELOW * coverage(wanted, here)
    for figure in stated:
        if any(agree(figure, other) for other in beside):
            continue
        rivals = [other for other in left_out if _one_kind(figure, other)]
        holding = [text for text in _with_one_before(source) if _holds(text, figure)]
        in_table = any(len(_figures_of(text)) > MOST_FIGURES for text in holding)
        if rivals and not in_table and all(coverage(wanted, text) <= enough for text in holding):
            yield "unsupported", f"{figure.text} belongs to something else in what it cites"


def _names(claim: str, here: str, source: str) -> Iterator[tuple[Support, str]]:
    said = sentences(source)
    at = said.index(here)
    around = " ".join((said[0], *said[max(0, at - 1) : at + 2]))
    bag = term_set(claim)
    left_out = [name for name in _all_names(here) if not mentioned(name, bag)]
    if not left_out:
        return
    for name in _all_names(claim):
        elsewhere = mentioned(name, term_set(source)) and not mentioned(name, term_set(around))
        if elsewhere and not spelled_out(name, around):
            yield "partly", f"{name} is not named where its source says this"


def _all_names(text: str) -> list[str]:
    return list(dict.fromkeys((*names(text), *proper_nouns(text))))


def _with_one_before(source: str) -> list[str]:
    """Each sentence with the one before it, which may say what its figures are of."""
    said = sentences(source)
    return [" ".join(said[max(0, i - 1) : i + 1]) for i in range(len(said))]


def _figures_of(text: str) -> list[Figure]:
    return [figure for _, _, figure in figure_spans(text)]


def _holds(text: str, figure: Figure) -> bool:
    return any(agree(figure, other) for other in _figures_of(text))


def _one_kind(one: Figure, other: Figure) -> bool:
    if _is_year(one) or _is_year(other):
        return _is_year(one) and _is_year(other)
    return one.unit == other.unit and (one.unit is not None or one.scale == other.scale)


def _is_year(figure: Figure) -> bool:
    return figure.unit is None and any(_YEAR.fullmatch(value) for value in figure.values)

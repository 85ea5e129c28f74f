"""How likely each sentence is to answer a question: a conditional logit over eight features.

A sentence's log odds are a weighted sum of its features, so a difference of 1 between two sentences says that
the one is e times as likely as the other to be the one that holds the answer. The weights were fitted by
maximum likelihood to 134 labelled answer phrases of 84 questions on 37 papers, and rounded; fitted without
one of the seven folders, most move by less than a fifth (``tests/benchmarks/ANSWERS.md`` has the figures, and
the features that did not pay).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence, Set
from dataclasses import astuple, dataclass

from workbench.chat.quotable import Stretch
from workbench.retrieval.asked_terms import asks_for_everything
from workbench.retrieval.names import mentioned, names
from workbench.retrieval.sections import asks_for_proposal, section_asked_for
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

COMPARED = 64  # sentences whose likeness is computed, about two thirds of a second of work
NOTHING = -math.inf  # the log odds of a sentence that has nothing to do with the question

Similarity = Callable[[Sequence[str]], Sequence[float]]
"""Cosine of each text with the question."""

_WANTS_FIGURE = re.compile(
    r"\b(how (many|much|large|fast|long|old|often|big|high|far)|what \w*\s?(share|scores?|rates?|percentage|"
    r"accuracy|recall|size|number|cost|speed|revenue|price|dose|value)|when|which year|"
    r"wie ?(viele?|hoch|groß|lange|schnell|oft|weit)|wann|combien|quand)\b|多少|几|いくつ|何[人個回年件]",
    re.IGNORECASE,
)
# Openers that mean something said before.
_OPENER = re.compile(
    r"(?:For (?:this|that|these) (?:reason|purpose)s?|For (?:example|instance)|That(?! is\b)|Such|"
    r"Th(?:is|ese|ose)(?! (?:paper|work|study|article|report|survey|thesis|section)\b)|They|Its|Their|Both|"
    r"It(?! is\b)|Neither|Hence|Thus|"
    r"Therefore|So|But|Instead|Consequently|As a result|In contrast|By contrast|To this end|"
    r"The (?:reason|difference|others?|latter|former))\b"
)
_PROPOSES = re.compile(
    r"\b(?:we|paper|work|study|article) (?:\w+ )?(?:propose|present|introduce|show|describe|develop|measure|"
    r"compare|find|found|explore|study|review)\w*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Features:
    """Of one sentence. Shares are of the weight of the question's terms, rare ones counting more as in BM25's
    inverse document frequency."""

    inside: float  # share of the terms in the sentence
    beside: float  # share of those that stand only beside it: neighbours, title, heading
    likeness: float  # cosine with the question
    passage: float  # its passage's relevance, as a share of the best one's
    figure: float  # it holds a figure, and the question asks for one
    caption: float  # it is a caption, which names a result more often than it states one
    opener: float  # it opens with a word that means something said before; 2 where that cannot come along
    first_page: float  # where abstracts say in plain words what was found
    headed: float = 0.0  # it stands under the heading that the question asks for
    proposes: float = 0.0  # it says what is proposed, under that heading or on the first page


# The last two are not fitted, as too few questions ask for a section: they outweigh all else together but for
# a sentence that shares nothing with the question.
WEIGHTS = Features(
    inside=5.0,
    beside=2.0,
    likeness=5.0,
    passage=5.0,
    figure=2.0,
    caption=-2.0,
    opener=-1.5,
    first_page=1.25,
    headed=6.0,
    proposes=2.0,
)


def log_odds(
    question: str, stretches: Sequence[Stretch], similarity: Similarity | None = None
) -> list[float]:
    """For each stretch, up to a constant; ``NOTHING`` where it has no term of the question in or beside it
    and is not like it either."""
    features = features_of(question, stretches)
    likeness = _likeness(stretches, features, similarity)
    everything = asks_for_everything(question)
    return [_odds(found, like, related=everything) for found, like in zip(features, likeness, strict=True)]


def features_of(question: str, stretches: Sequence[Stretch]) -> list[Features]:
    """The features of each stretch but for its likeness, which is dear to compute and left at 0."""
    bags = [term_set(f"{s.header or ''}\n{s.text}") for s in stretches]  # a row is shown with its head
    weights = _rarity(query_terms(question), bags)
    best = max((s.passage.score for s in stretches), default=0.0) or 1.0
    wants_figure = _WANTS_FIGURE.search(question) is not None
    proposal = asks_for_proposal(question)
    named = names(question) if proposal else []
    found = []
    before: Stretch | None = None
    for stretch, bag in zip(stretches, bags, strict=True):
        follows = before is not None and before.passage.n == stretch.passage.n
        before = stretch
        near = term_set(f"{stretch.passage.title} {stretch.around} {stretch.heading}") - bag
        headed = section_asked_for(question, stretch.heading) and all(
            mentioned(name, term_set(stretch.passage.title)) for name in named
        )
        from_start = headed or stretch.passage.page_start == 1
        found.append(
            Features(
                inside=_share(weights, bag),
                beside=_share(weights, near),
                likeness=0.0,
                passage=stretch.passage.score / best,
                figure=float(wants_figure and re.search(r"\d", stretch.text) is not None),
                caption=float(stretch.caption),
                opener=opens_midway(stretch) * (1.0 if follows else 2.0),
                first_page=float(stretch.passage.page_start == 1),
                headed=float(headed),
                proposes=float(proposal and from_start and _PROPOSES.search(stretch.text) is not None),
            )
        )
    return found


def opens_midway(stretch: Stretch) -> bool:
    """Whether its first words mean something said before."""
    return _OPENER.match(stretch.text) is not None


def _odds(found: Features, likeness: float | None, *, related: bool) -> float:
    """``related``: whatever the terms, as of a question about the papers as such."""
    related = related or bool(found.inside or found.beside or found.headed)
    if likeness is None or not (related or likeness > 0):
        return NOTHING
    known: float = sum(w * f for w, f in zip(astuple(WEIGHTS), astuple(found), strict=True))
    return known + WEIGHTS.likeness * likeness


def _likeness(
    stretches: Sequence[Stretch], features: Sequence[Features], similarity: Similarity | None
) -> list[float | None]:
    """The cosine of each stretch with the question: 0 where none can be had, None for those beyond the
    ``COMPARED`` that come nearest without it."""
    if similarity is None or not stretches:
        return [0.0] * len(stretches)
    known = [_odds(found, 0.0, related=False) for found in features]
    compared = sorted(range(len(known)), key=lambda i: -known[i])[:COMPARED]
    cosines = dict(zip(compared, similarity([stretches[i].text for i in compared]), strict=True))
    return [cosines.get(index) for index in range(len(stretches))]


def _rarity(wanted: Sequence[str], bags: Sequence[Set[str]]) -> dict[str, float]:
    n = len(bags)
    return {
        term: math.log(1 + (n - count + 0.5) / (count + 0.5))
        for term in dict.fromkeys(wanted)
        if (count := sum(term in bag for bag in bags))
    }


def _share(weights: dict[str, float], bag: Set[str]) -> float:
    return sum(w for t, w in weights.items() if t in bag) / (sum(weights.values()) or 1.0)

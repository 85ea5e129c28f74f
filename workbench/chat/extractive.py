"""An answer without a chat model: the papers' own sentences, grouped by paper, each with its number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

from workbench.chat.quotable import Stretch, quotable
from workbench.chat.shown import shown_text
from workbench.records import Evidence, Passage
from workbench.retrieval.markers import as_prose
from workbench.retrieval.names import mentioned, names
from workbench.retrieval.sections import asks_for_proposal, section_asked_for
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

MOST_SENTENCES = 8
MOST_PER_PAPER = 3  # stretches; a stretch is a sentence, or two that follow each other
WORTH_SAYING = 0.55  # of the best score: below it a paper's best sentence adds noise …
WORTH_ADDING = 0.65  # … and a further one below this
WORTH_READING_ON = 0.6  # for the sentence that follows
LONGEST_PAIR = 480  # characters
MUCH_BETTER = 1.2  # a sentence that is so much better than the others of its paper comes first
ALIKE = 0.85  # share of the shorter sentence's terms that another one holds
HEADED = 1.0  # of the best score: what the right heading adds to a sentence …
PROPOSES = 0.25  # … and the words of a proposal, where one is asked for
UNRESOLVED, ALONE = 0.9, 0.5  # for an opener that means the sentence before; where that cannot come along
BESIDE = 0.35  # weight of terms that stand beside the sentence rather than in it
PASSAGE_SHARE = 0.6  # how much of a sentence's score depends on its passage's relevance
CAPTIONS = 0.7  # a caption names a result more often than it states one
FIGURES = 1.3  # where the question asks for one
COMPARED = 30  # sentences whose likeness to the question is computed, a third of a second of work …
LIKENESS = 0.5  # … and its share in their score

Similarity = Callable[[Sequence[str]], Sequence[float]]
"""Cosine of each text with the question."""

_WANTS_FIGURE = re.compile(
    r"\b(how (many|much|large|fast|long|old|often|big|high|far)|what \w*\s?(share|scores?|rates?|percentage|"
    r"accuracy|recall|size|number|cost|speed|revenue|price|dose|value)|when|which year)\b",
    re.IGNORECASE,
)
_READS_ON = re.compile(
    r"(?:This|These|Those|That|It|Its|They|Their|Neither|Both|Such|There|Here|However|But|Instead|Thus|Hence|"
    r"Therefore|So|In contrast|By contrast|Another|The (?:reason|difference|others?|same|result))\b"
)
# Openers that mean something said before.
_UNRESOLVED = re.compile(
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
_QUOTED = re.compile('[“"]([^”"]{3,})[”"]')


@dataclass(frozen=True, slots=True)
class ChosenSentence:
    """One or two sentences, or a row of a table with its ``header``; offsets count characters of the
    paper's text."""

    passage: Passage
    text: str
    char_start: int
    char_end: int
    score: float
    header: str | None = None


def choose_sentences(
    question: str, evidence: Evidence, *, similarity: Similarity | None = None
) -> list[ChosenSentence]:
    """The sentences that answer best: at most ``MOST_SENTENCES``, best paper first.

    A sentence scores by the question's terms in it and, for less, beside it (rare ones count more, as in
    BM25's inverse document frequency), by its passage's relevance, by its likeness to the question where
    ``similarity`` can tell, and by holding a figure where the question asks for one. Every paper whose best
    sentence is worth saying gets one before any paper gets a second. The sentence that follows comes along
    where it goes on with the thought or brings the figure.
    """
    passages = _of_quoted_title(question, evidence.passages)
    stretches = _without_repeats([s for p in passages for s in quotable(p)])
    scores = _scores(question, stretches, similarity)
    if not any(scores):
        return []
    following = dict(_followed(stretches))
    leading = {then: index for index, then in following.items()}
    worth_saying = _worth_saying(stretches, scores)
    chosen: list[ChosenSentence] = []
    taken: set[int] = set()
    for places in [places for _ in range(MOST_PER_PAPER) for places in worth_saying]:
        index = next((place for place in places if not _said(stretches, place, taken)), None)
        if index is None or len(taken) >= MOST_SENTENCES:
            continue
        first, then = index, following.get(index, index)
        room = len(taken) + 1 < MOST_SENTENCES
        if room and _UNRESOLVED.match(stretches[index].text) and leading.get(index, index) not in taken:
            first = leading.get(index, index)
        goes_on = room and first == index and then not in taken and not _said(stretches, then, taken)
        last = then if goes_on and _reads_on(stretches, scores, index, then) else index
        taken |= {first, index, last}
        chosen.append(_chosen(stretches[first], stretches[last], scores[index]))
    return chosen


def grouped(chosen: Sequence[ChosenSentence]) -> list[list[ChosenSentence]]:
    """By paper, the paper of the best sentence first; within a paper in reading order, but for a sentence
    that is much better than the others, which comes first."""
    papers: dict[int, list[ChosenSentence]] = {}
    for sentence in chosen:
        papers.setdefault(sentence.passage.paper_id, []).append(sentence)
    return [_in_order(group) for group in papers.values()]


def _in_order(group: Sequence[ChosenSentence]) -> list[ChosenSentence]:
    best = max(group, key=lambda s: (s.score, -s.char_start))
    leads = all(best.score >= MUCH_BETTER * s.score for s in group if s is not best)
    return sorted(group, key=lambda s: (leads and s is not best, s.char_start))


def paper_headings(groups: Sequence[Sequence[ChosenSentence]]) -> list[str]:
    """The bold line above each group: title and year, and the file's name where two share a title."""
    passages = [group[0].passage for group in groups]
    titles = [as_prose(passage.title).replace("*", "∗") for passage in passages]
    headings = []
    for passage, title in zip(passages, titles, strict=True):
        details = [passage.file] if titles.count(title) > 1 else []
        details += [str(passage.year)] if passage.year else []
        headings.append(f"**{title}**" + (f" ({as_prose(', '.join(details))})" if details else ""))
    return headings


def shown_sentence(sentence: ChosenSentence) -> str:
    """The sentence on one line; the paper's own reference numbers can no longer be taken for ours."""
    text = shown_text(sentence.text, beside=sentence.passage.text)
    if sentence.header is None:
        return text
    head = shown_text(sentence.header)
    return f"In a table ({head}): {text}" if head else f"In a table: {text}"


def telling_stretch(question: str, passage: Passage) -> Stretch | None:
    """The sentence of a passage that comes nearest to a question; None where it has none to quote."""
    stretches = [s for s in quotable(passage) if s.header is None]
    scores = _scores(question, stretches, None)
    best = max(range(len(scores)), key=lambda i: (scores[i], -i), default=None)
    return None if best is None else stretches[best]


# --- which ones ------------------------------------------------------------------------------


def _of_quoted_title(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Of a question with a paper's title in quotation marks, that paper's passages."""
    quoted = _QUOTED.search(question)
    named = [p for p in passages if quoted and _folded(quoted[1]) in _folded(p.title)]
    return named or passages


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def _said(stretches: Sequence[Stretch], place: int, taken: Set[int]) -> bool:
    """Whether a sentence was taken, or says hardly more than one that was."""
    here = stretches[place]
    bag = term_set(here.text)
    others = [term_set(s.text) for s in map(stretches.__getitem__, taken) if _one_paper(s, here)]
    return place in taken or any(
        len(bag & other) >= ALIKE * min(len(bag), len(other)) > 0 for other in others
    )


def _one_paper(one: Stretch, other: Stretch) -> bool:
    return one.passage.paper_id == other.passage.paper_id


def _worth_saying(stretches: Sequence[Stretch], scores: Sequence[float]) -> list[list[int]]:
    """For each paper, best paper first, the places of its stretches that are worth saying, best first."""
    bar = max(scores)
    ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], stretches[i].passage.n, i))
    by_paper: dict[int, list[int]] = {}
    for index in ranked:
        others = by_paper.setdefault(stretches[index].passage.paper_id, [])
        if scores[index] >= (WORTH_ADDING if others else WORTH_SAYING) * bar:
            others.append(index)
    return list(by_paper.values())


def _followed(stretches: Sequence[Stretch]) -> Iterator[tuple[int, int]]:
    """Places of sentences that follow each other in one paragraph, and make a pair that reads well."""
    for (i, one), (j, two) in pairwise(enumerate(stretches)):
        same = one.passage.n == two.passage.n and one.header is None and two.header is None
        between = one.passage.text[
            one.char_end - one.passage.char_start : two.char_start - two.passage.char_start
        ]
        if (
            same
            and len(between) < 3
            and between.count("\n") < 2
            and two.char_end - one.char_start <= LONGEST_PAIR
        ):
            yield i, j


def _reads_on(stretches: Sequence[Stretch], scores: Sequence[float], index: int, then: int) -> bool:
    one, two = stretches[index].text, stretches[then].text
    brings_figure = _has_figure(two) and not _has_figure(one)
    return (
        then != index
        and scores[then] > 0
        and (
            brings_figure
            or _READS_ON.match(two) is not None
            or scores[then] >= WORTH_READING_ON * max(scores)
        )
    )


def _chosen(first: Stretch, last: Stretch, score: float) -> ChosenSentence:
    start, end = first.char_start, last.char_end
    text = first.passage.text[start - first.passage.char_start : end - first.passage.char_start]
    return ChosenSentence(first.passage, text, start, end, score, first.header)


# --- scores ----------------------------------------------------------------------------------


def _scores(question: str, stretches: Sequence[Stretch], similarity: Similarity | None) -> list[float]:
    """A score from 0 to about 1 for each stretch; 0 for one that has nothing to do with the question."""
    bags = [term_set(s.text) for s in stretches]
    weights = _weights(query_terms(question), bags)
    total = sum(weights.values()) or 1.0
    scores = []
    for stretch, bag in zip(stretches, bags, strict=True):
        near = term_set(f"{stretch.passage.title} {stretch.around}") - bag
        share = sum(w for t, w in weights.items() if t in bag)
        share += BESIDE * sum(w for t, w in weights.items() if t in near)
        scores.append(share / total * (1 - PASSAGE_SHARE + PASSAGE_SHARE * stretch.passage.score))
    if similarity is not None and any(scores):
        scores = _with_likeness(scores, stretches, similarity)
    scores = _with_headings(scores, question, stretches)
    wants_figure = _WANTS_FIGURE.search(question) is not None
    led = {then for _, then in _followed(stretches)}
    return [
        score
        * (CAPTIONS if stretch.caption else 1.0)
        * (FIGURES if wants_figure and _has_figure(stretch.text) else 1.0)
        * ((UNRESOLVED if index in led else ALONE) if _UNRESOLVED.match(stretch.text) else 1.0)
        for index, (score, stretch) in enumerate(zip(scores, stretches, strict=True))
    ]


def _with_headings(scores: Sequence[float], question: str, stretches: Sequence[Stretch]) -> list[float]:
    """More for sentences of the section that the question asks for. A question with a paper's name asks for
    that paper's."""
    named = names(question) if asks_for_proposal(question) else []
    best = max(scores, default=0.0) or 1.0
    raised = []
    for score, stretch in zip(scores, stretches, strict=True):
        asked = section_asked_for(question, stretch.heading)
        if asked and all(mentioned(name, term_set(stretch.passage.title)) for name in named):
            proposes = asks_for_proposal(question) and _PROPOSES.search(stretch.text) is not None
            score += best * (HEADED + (PROPOSES if proposes else 0.0))
        raised.append(score)
    return raised


def _with_likeness(
    scores: Sequence[float], stretches: Sequence[Stretch], similarity: Similarity
) -> list[float]:
    """Scores as shares of the best one, mixed with likeness to the question; those not compared lose it."""
    best = max(scores)
    compared = sorted(range(len(scores)), key=lambda i: -scores[i])[:COMPARED]
    cosines = dict(zip(compared, similarity([stretches[i].text for i in compared]), strict=True))
    closest = max(cosines.values())
    if closest <= 0:
        return list(scores)
    return [
        (1 - LIKENESS) * score / best + LIKENESS * max(0.0, cosines.get(index, 0.0)) / closest
        for index, score in enumerate(scores)
    ]


def _weights(wanted: Sequence[str], bags: Sequence[Set[str]]) -> dict[str, float]:
    n = len(bags)
    return {
        term: math.log(1 + (n - count + 0.5) / (count + 0.5))
        for term in dict.fromkeys(wanted)
        if (count := sum(term in bag for bag in bags))
    }


def _has_figure(text: str) -> bool:
    return re.search(r"\d", text) is not None


def _without_repeats(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Overlapping chunks hold the same sentence twice, and papers repeat themselves."""
    seen: set[tuple[int, str]] = set()
    kept = []
    for stretch in stretches:
        key = (stretch.passage.paper_id, re.sub(r"\W+", "", stretch.text.casefold()))
        if key not in seen:
            seen.add(key)
            kept.append(stretch)
    return kept

"""An answer without a chat model: the papers' own sentences, grouped by paper, each with its number."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from workbench.chat.likelihood import NOTHING, WEIGHTS, Similarity, log_odds, opens_midway
from workbench.chat.quotable import LONGEST, Stretch, quotable
from workbench.chat.shown import shown_text
from workbench.records import Evidence, Passage
from workbench.retrieval.asked_terms import asked_terms
from workbench.retrieval.markers import as_prose
from workbench.retrieval.sections import asks_for_proposal, section_asked_for
from workbench.retrieval.term_sets import term_set

MOST_POINTS = 8  # a point is a sentence with those beside it that it is read with, and has one citation

# Differences of log odds to the likeliest sentence: how much less likely one may be and still be said. Set on
# the labelled phrases that the weights are fitted to: a wider bar adds text, and hardly an answer.
NEXT_PAPER = 2.0  # the best one of another paper, before any paper gets a second: e² or 7 times less likely
WORTH_SAYING = 4.0  # any other: 55 times
READS_ON = 2.5  # one beside a sentence that is said: 12 times
MUCH_BETTER = 1.0  # between sentences of one paper: the better one comes first, else they keep their order

ALIKE = 0.85  # share of the shorter sentence's terms that another one holds: both say the same

_QUOTED = re.compile('[“"]([^”"]{3,})[”"]')


@dataclass(frozen=True, slots=True)
class ChosenSentence:
    """A sentence, neighbouring sentences, or rows of a table with their ``header``; offsets count characters
    of the paper's text. ``score`` are the log odds of the likeliest of them."""

    passage: Passage
    text: str
    char_start: int
    char_end: int
    score: float
    header: str | None = None


def choose_sentences(
    question: str, evidence: Evidence, *, similarity: Similarity | None = None
) -> list[ChosenSentence]:
    """The points that answer best, at most ``MOST_POINTS``, likeliest first.

    Every paper whose best sentence is nearly as likely as the best of all gets one before any paper gets a
    second. A sentence is read with its neighbours where they are likely too, or where its first words mean
    what stands before. None where all of them speak of something else than what is asked, as where only a
    figure or a piece of code speaks of it, which cannot be quoted.
    """
    passages = _of_quoted_title(question, evidence.passages)
    stretches = _without_repeats([s for p in passages for s in quotable(p)])
    odds = log_odds(question, stretches, similarity)
    best = max(odds, default=NOTHING)
    if best == NOTHING:
        return []
    chosen: list[ChosenSentence] = []
    taken: set[int] = set()
    for place in _in_turn(stretches, odds):
        if len(chosen) == MOST_POINTS:
            break
        if not _said(stretches, place, taken):
            first, last = _read_with(stretches, odds, place, taken)
            taken.update(range(first, last + 1))
            chosen.append(_chosen(stretches[first], stretches[last], odds[place]))
    beside_the_point = _beside_the_point(question, passages, [stretches[i] for i in sorted(taken)])
    return [] if beside_the_point else chosen


def grouped(chosen: Sequence[ChosenSentence]) -> list[list[ChosenSentence]]:
    """By paper, the paper of the best sentence first; within a paper in reading order, but for a sentence
    that is much better than the others, which comes first."""
    papers: dict[int, list[ChosenSentence]] = {}
    for sentence in chosen:
        papers.setdefault(sentence.passage.paper_id, []).append(sentence)
    return [_in_order(group) for group in papers.values()]


def _in_order(group: Sequence[ChosenSentence]) -> list[ChosenSentence]:
    best = max(group, key=lambda s: (s.score, -s.char_start))
    leads = all(best.score >= s.score + MUCH_BETTER for s in group if s is not best)
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
    scores = log_odds(question, stretches)
    best = max(range(len(scores)), key=lambda i: (scores[i], -i), default=None)
    return None if best is None else stretches[best]


def _beside_the_point(question: str, passages: Sequence[Passage], said: Sequence[Stretch]) -> bool:
    """Whether all the stretches are of passages without a word of the question, though others have most of
    them. Where no passage has, they may be in another language, and the words tell nothing."""
    asked = asked_terms(question)
    bags = [term_set(passage.text) for passage in passages]
    there = {term for term in asked if any(term in bag for bag in bags)}
    if len(there) < 2 or 2 * len(there) < len(asked) or asks_for_proposal(question):
        return False
    return not any(
        section_asked_for(question, s.heading)
        or there & term_set(f"{s.passage.title} {s.heading}\n{s.passage.text}")
        for s in said
    )


# --- which ones ------------------------------------------------------------------------------


def _of_quoted_title(question: str, passages: Sequence[Passage]) -> Sequence[Passage]:
    """Of a question with a paper's title in quotation marks, that paper's passages."""
    quoted = _QUOTED.search(question)
    named = [p for p in passages if quoted and _folded(quoted[1]) in _folded(p.title)]
    return named or passages


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def _in_turn(stretches: Sequence[Stretch], odds: Sequence[float]) -> list[int]:
    """Places of the stretches worth saying, in the order in which they get their turn."""
    bar = max(odds)
    ranked = sorted(range(len(odds)), key=lambda i: (-odds[i], stretches[i].passage.n, i))
    leading: dict[int, int] = {}
    for place in ranked:
        if odds[place] >= bar - NEXT_PAPER:
            leading.setdefault(stretches[place].passage.paper_id, place)
    first = list(leading.values())
    return first + [i for i in ranked if i not in first and odds[i] >= bar - WORTH_SAYING]


def _read_with(
    stretches: Sequence[Stretch], odds: Sequence[float], place: int, taken: Set[int]
) -> tuple[int, int]:
    """The first and the last place of the stretches that are read together with the one at ``place``."""
    first = last = place
    bar = max(odds) - READS_ON
    while True:
        wider = []
        if _joins(stretches, first - 1, first, last, taken):
            # what an opener means is not worth less for being unlikely itself
            meant = odds[first - 1] > bar or opens_midway(stretches[first])
            wider += [(odds[first - 1], first - 1, last)] if meant else []
        if _joins(stretches, last + 1, first, last, taken):
            # behind what it means an opener needs no pardon
            likely = odds[last + 1] - WEIGHTS.opener * opens_midway(stretches[last + 1])
            wider += [(likely, first, last + 1)] if likely > bar else []
        if not wider:
            return first, last
        _, first, last = max(wider)


def _joins(stretches: Sequence[Stretch], new: int, first: int, last: int, taken: Set[int]) -> bool:
    """Whether a stretch stands right beside others in one paragraph or table, is not said yet, and all
    together are no longer than a quote."""
    if not 0 <= new < len(stretches) or _said(stretches, new, taken):
        return False
    one, two = sorted((stretches[new], stretches[first if new < first else last]), key=lambda s: s.char_start)
    between = one.passage.text[
        one.char_end - one.passage.char_start : two.char_start - one.passage.char_start
    ]
    start, end = min(one.char_start, stretches[first].char_start), max(two.char_end, stretches[last].char_end)
    return (
        one.passage.n == two.passage.n
        and one.header == two.header
        and len(between) < 3
        and between.count("\n") < 2
        and end - start <= LONGEST
    )


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


def _chosen(first: Stretch, last: Stretch, score: float) -> ChosenSentence:
    start, end = first.char_start, last.char_end
    text = first.passage.text[start - first.passage.char_start : end - first.passage.char_start]
    return ChosenSentence(first.passage, text, start, end, score, first.header)


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

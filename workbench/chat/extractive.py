"""An answer without a chat model: the papers' own sentences, grouped by paper, each with its number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.records import Evidence, Passage
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.terms import query_terms, terms

MOST_SENTENCES = 8
MOST_PER_PAPER = 3
WORTH_SAYING = 0.5  # of the best sentence's score: below it a sentence adds noise
_SHORTEST, _LONGEST = 30, 420  # characters of a sentence that reads well on its own
_OWN_MARKER = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]")


@dataclass(frozen=True, slots=True)
class ChosenSentence:
    """A sentence of one passage; offsets count characters of the paper's text."""

    passage: Passage
    text: str
    char_start: int
    char_end: int
    score: float


def choose_sentences(question: str, evidence: Evidence) -> list[ChosenSentence]:
    """The sentences that answer best: at most ``MOST_SENTENCES``, at most ``MOST_PER_PAPER`` of one paper.

    A sentence scores by the question's terms it holds (rare ones count more, as in BM25's inverse
    document frequency), by its passage's relevance, and by holding a figure where the question asks for
    one. Every paper whose best sentence is worth saying gets one before any paper gets a second.
    """
    scored = _score_all(question, evidence.passages)
    if not scored:
        return []
    bar = WORTH_SAYING * scored[0].score
    by_paper: dict[int, list[ChosenSentence]] = {}
    for sentence in scored:
        if sentence.score >= bar:
            by_paper.setdefault(sentence.passage.paper_id, []).append(sentence)
    chosen: list[ChosenSentence] = []
    for turn in range(MOST_PER_PAPER):
        for sentences in by_paper.values():
            if turn < len(sentences) and len(chosen) < MOST_SENTENCES:
                chosen.append(sentences[turn])
    return chosen


def grouped(chosen: Sequence[ChosenSentence]) -> list[list[ChosenSentence]]:
    """By paper, the paper of the best sentence first; within a paper in reading order."""
    papers: dict[int, list[ChosenSentence]] = {}
    for sentence in chosen:
        papers.setdefault(sentence.passage.paper_id, []).append(sentence)
    return [sorted(group, key=lambda s: s.char_start) for group in papers.values()]


def paper_heading(passage: Passage) -> str:
    """The bold line above a paper's sentences."""
    title = " ".join(passage.title.split()).replace("*", "∗")
    return f"**{title}**" + (f" ({passage.year})" if passage.year else "")


def shown_sentence(sentence: ChosenSentence) -> str:
    """The sentence on one line; the paper's own reference numbers can no longer be taken for ours."""
    return _OWN_MARKER.sub(r"(ref. \1)", " ".join(sentence.text.split()))


def _score_all(question: str, passages: Sequence[Passage]) -> list[ChosenSentence]:
    sentences = [
        ChosenSentence(p, p.text[a:b], p.char_start + a, p.char_start + b, 0.0)
        for p in passages
        for a, b in sentence_spans(p.text)
        if _reads_well(p.text[a:b])
    ]
    bags = [set(terms(s.text)) for s in sentences]
    weights = _weights(query_terms(question), bags)
    total = sum(weights.values()) or 1.0
    wants_figure = re.search(r"\b(how (many|much|large|fast|long|old|often)|what (share|score|rate|percentage|accuracy))\b", question, re.I)
    scored = []
    for sentence, bag in zip(sentences, bags, strict=True):
        share = sum(w for term, w in weights.items() if term in bag) / total
        figure = 0.1 if wants_figure and re.search(r"\d", sentence.text) else 0.0
        score = share * (1 + figure) + 0.3 * sentence.passage.score if share else 0.0
        scored.append(ChosenSentence(sentence.passage, sentence.text, sentence.char_start, sentence.char_end, score))
    scored.sort(key=lambda s: (-s.score, s.passage.n, s.char_start))
    return _without_repeats([s for s in scored if s.score > 0])


def _weights(wanted: Sequence[str], bags: Sequence[set[str]]) -> dict[str, float]:
    n = len(bags)
    return {
        term: math.log(1 + (n - count + 0.5) / (count + 0.5))
        for term in dict.fromkeys(wanted)
        if (count := sum(term in bag for bag in bags))
    }


def _reads_well(text: str) -> bool:
    letters = sum(c.isalpha() for c in text)
    return _SHORTEST <= len(text) <= _LONGEST and letters >= 0.5 * len(text)


def _without_repeats(sentences: Sequence[ChosenSentence]) -> list[ChosenSentence]:
    """Overlapping chunks hold the same sentence twice, and papers repeat themselves."""
    seen: set[tuple[int, str]] = set()
    kept = []
    for sentence in sentences:
        key = (sentence.passage.paper_id, re.sub(r"\W+", "", sentence.text.casefold()))
        if key not in seen:
            seen.add(key)
            kept.append(sentence)
    return kept

"""Do the figures of a sentence stand beside the same words in its source?

A sentence may hold only figures and words of its source and still give one thing's figure to another: 41.8
for German and 28.4 for French, where it was the other way round. Three signs are looked for, and each tells
only where the texts share words that tell the figures apart:

- of the words beside the sentence's figures, more stand nearer to another of these figures in the source;
- the words that qualify a figure ("on a quiet machine") qualify another figure of its kind there;
- the source's sentences with this figure speak of something else, while another one speaks of this.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.retrieval.closeness import sentences
from workbench.retrieval.figures import Figure, figure_spans
from workbench.retrieval.names import names
from workbench.retrieval.terms import query_terms

CLAUSE = 8  # words that a comma or an "and" counts for, in a distance …
SENTENCE = 60  # … and the end of a sentence
QUALIFIER = 6  # words behind a figure
FEWEST_CROSSED = 2
LEAST_SHARE = 0.25  # of the sentence's words, in a sentence with its figure …
ANOTHER_SHARE = 0.6  # … while one without it has this much
MOST_STATED = 4
MOST_FIGURES = 8  # in a sentence; a run of more is a table, whose columns are not known

_TOKEN = re.compile(r"[^\W\d_]+|[,;:()—]")
_BARRIERS = frozenset({"and", "but", "while", "whereas", "against", "or", "versus", "vs", "than"})
_MONTHS = frozenset(
    query_terms("January February March April May June July August September October November December")
)
_READS_ON = re.compile(r"(?:This|These|That|Those|It|They|Its|Their|Here|Both|Then|Of)\b")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A word (``term``) or a figure at a place that counts words, with what the signs between count for."""

    place: int
    term: str
    figure: Figure | None
    clause: int
    named: bool = False


def misplaced(claim: str, source: str) -> str:
    """Which figure of ``claim`` stands beside other words in ``source``, in a few words; empty if none.

    Years and days of months are left alone, and so are figures that stand in a table.
    """
    if re.search(r"\brespectively\b", f"{claim} {source}"):
        return ""
    marks = _marks(claim)
    stated = [m for m in marks if m.figure is not None and not _dates(m, marks)]
    if not stated or len(stated) > MOST_STATED:
        return ""
    said = sentences(source)
    told = [_marks(sentence) for sentence in said]
    tables = [sentence for sentence in told if _figures(sentence) > MOST_FIGURES]
    if any(_holds(table, m) for table in tables for m in stated):
        return ""
    found = _crossed(marks, stated, told) or _other_qualifier(marks, stated, told)
    return found or _elsewhere(marks, stated, said, told)


def _dates(mark: _Mark, marks: Sequence[_Mark]) -> bool:
    """Whether a figure is a year, or stands beside the name of a month."""
    beside = {m.term for m in marks if abs(m.place - mark.place) <= 2}
    return _is_year(mark) or bool(beside & _MONTHS)


def _is_year(mark: _Mark) -> bool:
    return mark.figure is not None and any(re.fullmatch(r"(?:19|20)\d\d", v) for v in mark.figure.values)


@lru_cache(maxsize=1024)
def _marks(text: str) -> tuple[_Mark, ...]:
    """The words and figures of a text in order."""
    spans = [(start, end, figure) for start, end, figure in figure_spans(text)]
    taken = {place for start, end, _ in spans for place in range(start, end)}
    found: list[tuple[int, str, Figure | None]] = [(start, "", figure) for start, _, figure in spans]
    found += [(m.start(), m.group(), None) for m in _TOKEN.finditer(text) if m.start() not in taken]
    telling = set(query_terms(text))
    named = set(names(text))
    marks, place, clause = [], 0, 0
    for _, word, figure in sorted(found, key=lambda each: each[0]):
        if figure is None and (not word[0].isalpha() or word.lower() in _BARRIERS):
            clause, place = clause + 1, place + CLAUSE
            continue
        terms = [term for term in query_terms(word) if term in telling] if word else []
        if figure is not None or terms:
            place += 1
            marks.append(_Mark(place, terms[0] if terms else "", figure, clause, word in named))
    return tuple(marks)


def _same(one: Figure, other: Figure) -> bool:
    return bool(one.values & other.values)


def _crossed(marks: Sequence[_Mark], stated: Sequence[_Mark], told: Sequence[Sequence[_Mark]]) -> str:
    """Two of the claim's figures have changed places: words beside the one stand beside the other in the
    source, and the other way round."""
    words = [mark for mark in marks if mark.figure is None]
    named = [mark for mark in words if mark.named]
    return _swapped(named, stated, told) or _swapped(words, stated, told)


def _swapped(words: Sequence[_Mark], stated: Sequence[_Mark], told: Sequence[Sequence[_Mark]]) -> str:
    source = _joined(told)
    crossing: set[tuple[int, int]] = set()
    crossed = agreeing = 0
    for mark in words:
        if len(stated) < 2:
            break
        own = min(stated, key=lambda figure: abs(figure.place - mark.place))
        gaps = {m.place: _gap(source, mark.term, m) for m in stated if m is own or not _agrees(own, m)}
        known = {place: gap for place, gap in gaps.items() if gap is not None}
        if len(known) < len(gaps) or len(gaps) < 2 or min(known.values()) >= SENTENCE:
            continue
        nearest = min(known, key=lambda place: (known[place], place != own.place))
        crossed, agreeing = crossed + (nearest != own.place), agreeing + (nearest == own.place)
        crossing.add((own.place, nearest))
    swapped = next((one for one, other in crossing if one < other and (other, one) in crossing), None)
    if swapped is None or crossed < FEWEST_CROSSED or crossed <= agreeing:
        return ""
    return _belongs_elsewhere(next(m for m in stated if m.place == swapped))


def _agrees(one: _Mark, other: _Mark) -> bool:
    return one.figure is not None and other.figure is not None and _same(one.figure, other.figure)


def _figures(marks: Sequence[_Mark]) -> int:
    return sum(mark.figure is not None for mark in marks)


def _joined(told: Sequence[Sequence[_Mark]]) -> list[_Mark]:
    joined, offset = [], 0
    for sentence in told:
        joined += [_Mark(m.place + offset, m.term, m.figure, m.clause) for m in sentence]
        offset = (joined[-1].place if joined else 0) + SENTENCE
    return joined


def _gap(source: Sequence[_Mark], term: str, figure: _Mark) -> int | None:
    """The least distance between a word and a figure in the source; None where one of them is not there."""
    words = [m.place for m in source if m.figure is None and m.term == term]
    figures = [m.place for m in source if _agrees(m, figure)]
    return min((abs(word - place) for word in words for place in figures), default=None)


def _other_qualifier(marks: Sequence[_Mark], stated: Sequence[_Mark], told: Sequence[Sequence[_Mark]]) -> str:
    """The words behind a figure stand behind another figure of its kind in the source, and nowhere beside
    this one; where the two are in different sentences, these must be built alike."""
    for figure in stated:
        wanted = _qualifiers(marks, figure)
        own: set[str] = set()
        around: set[str] = set()
        beside: set[str] = set()
        others: set[str] = set()
        for sentence in told:
            here = [m for m in sentence if _agrees(m, figure)]
            rivals = [m for m in sentence if not _agrees(m, figure) and _one_kind(m, figure)]
            behind = {term for m in rivals for term in _qualifiers(sentence, m)}
            others |= behind
            if here:
                own |= {m.term for m in sentence for f in here if m.figure is None and m.clause == f.clause}
                around |= _words(sentence)
                beside |= behind
        apart = wanted & others - around and wanted & others & around and len(wanted & own - others) == 0
        if (wanted & beside and not wanted & own) or apart:
            return _belongs_elsewhere(figure)
    return ""


def _belongs_elsewhere(figure: _Mark) -> str:
    assert figure.figure is not None
    return f"{figure.figure.text.strip()} belongs to something else in what it cites"


def _words(marks: Sequence[_Mark]) -> set[str]:
    return {m.term for m in marks if m.figure is None}


def _qualifiers(marks: Sequence[_Mark], figure: _Mark) -> set[str]:
    """The words behind a figure in its clause."""
    return {
        m.term
        for m in marks
        if m.figure is None and m.clause == figure.clause and 0 < m.place - figure.place <= QUALIFIER
    }


def _one_kind(one: _Mark, other: _Mark) -> bool:
    """Whether two figures could be taken for each other: of one unit, both whole or both not, and no year."""
    if one.figure is None or other.figure is None or _is_year(one) or _is_year(other):
        return False
    whole = [all("." not in value for value in mark.figure.values) for mark in (one, other) if mark.figure]
    return one.figure.unit == other.figure.unit and (one.figure.unit is not None or whole[0] == whole[1])


def _elsewhere(
    marks: Sequence[_Mark],
    stated: Sequence[_Mark],
    said: Sequence[str],
    told: Sequence[Sequence[_Mark]],
) -> str:
    """The figure's sentences hold hardly a word of the claim, and another sentence holds most of them."""
    words = _words(marks)
    bags = [_words(sentence) for sentence in told]
    if len(words) < 2 or len(stated) != 1:
        return ""
    figure = stated[0]
    beside = [_with_context(i, said, told, bags) for i, s in enumerate(told) if _holds(s, figure)]
    apart = [bags[i] for i, s in enumerate(told) if not _holds(s, figure) and _rival(s, figure)]
    if not beside or not apart:
        return ""
    near, far = (max(len(words & bag) / len(words) for bag in some) for some in (beside, apart))
    return _belongs_elsewhere(figure) if near <= LEAST_SHARE and far >= ANOTHER_SHARE else ""


def _holds(sentence: Sequence[_Mark], figure: _Mark) -> bool:
    return any(_agrees(m, figure) for m in sentence)


def _rival(sentence: Sequence[_Mark], figure: _Mark) -> bool:
    return any(_one_kind(m, figure) for m in sentence)


def _with_context(
    index: int, said: Sequence[str], told: Sequence[Sequence[_Mark]], bags: Sequence[set[str]]
) -> set[str]:
    """The words of a sentence, with those of the one before where that leads to it."""
    leads = index > 0 and (not _figures(told[index - 1]) or _READS_ON.match(said[index]) is not None)
    return bags[index] | bags[index - 1] if leads else bags[index]

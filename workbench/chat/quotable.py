"""Which stretches of a passage can stand alone in an answer: whole sentences, and rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.records import Passage
from workbench.retrieval.bibliographies import reads_like_references
from workbench.retrieval.sentences import sentence_spans

SHORTEST, LONGEST = 30, 420  # characters of a sentence that reads well on its own
SHORTEST_LINE = 8  # of a slide
LONGEST_ROW = 200
LONGEST_HEADER = 100
FEWEST_CODE_SIGNS = 3

_WHOLE = re.compile(r"[.!。！．｡।][\"'”’)\]»」』]*(?:\[[\d,;\s–-]+\]|(?<=[^\W\d_].)\d{1,3}(?:,\d{1,3})*)?$")
_REFERENCE = re.compile(
    r"^\[\d+\]\s+[A-Z]|arXiv|doi\.org|\bdoi:|https?://|\bIn Proc|\bpp\. ?\d|\bpages \d+[-–]\d+|\bet al\.$"
    r"|\d+\(\d+\) ?: ?\d|\bPMID\b|\(\d{4}\), [A-Z]|^(?:[A-Z][\w'-]+,? (?:[A-Z]\. ?)+,? (?:and |& )?){2}"
)
_CAPTION = re.compile(
    r"^(?:supplementary )?(?:table|figure|fig\.|box|scheme|algorithm)\s*[A-Z]?\d", re.IGNORECASE
)
_FRAGMENT = re.compile(r"^[a-zà-ÿ]{2,}[ ,;.)]")
_CODE_SIGN = re.compile(
    r"[{};]\s*$|<-|->|[=!<>]=|\w\(\)|\w\[\w*[\],]|\w=\S|//|\breturn\b|^\s*#\w", re.MULTILINE
)
_ROW = re.compile(r"(?=.*\d)(?=.*[^\W\d_]{2}).{8,}")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence or a row of ``passage``; offsets count characters of the paper's text.

    ``around`` is the text beside it that helps to understand it: the sentences before and after, or the
    caption and head of its table. ``header`` is the head of a row's table, empty for a sentence.
    """

    passage: Passage
    text: str
    char_start: int
    char_end: int
    around: str
    header: str | None = None
    caption: bool = False


def quotable(passage: Passage) -> list[Stretch]:
    """The stretches of a passage that read well; all its lines where none is a sentence (slides).

    A passage of a list of references holds none.
    """
    if reads_like_references(passage.text):
        return []
    spans = sentence_spans(passage.text)
    found = [
        stretch
        for index, (start, end) in enumerate(spans)
        for stretch in _stretches(passage, spans, index, passage.text[start:end])
    ]
    if found or any(_WHOLE.search(passage.text[start:end]) for start, end in spans):
        return found
    lines = [i for i, (start, end) in enumerate(spans) if _is_line(passage.text[start:end])]
    return [_sentence(passage, spans, i) for i in lines]


def _is_line(text: str) -> bool:
    return SHORTEST_LINE <= len(text) <= LONGEST_ROW and _is_words(text)


def _is_words(text: str) -> bool:
    """Whether most characters are letters, and few are the signs of code."""
    letters = sum(c.isalpha() for c in text)
    return 2 * letters >= len(text) and len(_CODE_SIGN.findall(text)) < FEWEST_CODE_SIGNS


def _stretches(passage: Passage, spans: list[tuple[int, int]], index: int, text: str) -> Iterator[Stretch]:
    if text.count("\n") >= 2 and not _WHOLE.search(text):
        yield from _rows(passage, spans, index)
    elif _is_sentence(text) and not (index == 0 and _FRAGMENT.match(text)):
        yield _sentence(passage, spans, index)


def _is_sentence(text: str) -> bool:
    return (
        SHORTEST <= len(text) <= LONGEST
        and _is_words(text)
        and _WHOLE.search(text) is not None
        and _REFERENCE.search(text) is None
    )


def _sentence(passage: Passage, spans: list[tuple[int, int]], index: int) -> Stretch:
    start, end = spans[index]
    near = [spans[i] for i in (index - 1, index + 1) if 0 <= i < len(spans)]
    text = passage.text[start:end]
    return Stretch(
        passage,
        text,
        passage.char_start + start,
        passage.char_start + end,
        around=" ".join(passage.text[a:b][:LONGEST] for a, b in near),
        caption=_CAPTION.match(text) is not None,
    )


def _rows(passage: Passage, spans: list[tuple[int, int]], index: int) -> Iterator[Stretch]:
    """The lines of a table that hold a figure and a word, each with the table's caption and head."""
    start, end = spans[index]
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", passage.text[start:end])]
    head = passage.text[start + lines[0][0] : start + lines[0][1]].strip()
    before = passage.text[slice(*spans[index - 1])] if index else ""
    caption = before if _CAPTION.match(before) else ""
    for first, last in lines[1:]:
        row = passage.text[start + first : start + last]
        text = row.strip()
        if len(text) <= LONGEST_ROW and _ROW.fullmatch(text) and not _CODE_SIGN.search(text):
            first += len(row) - len(row.lstrip())
            begin = passage.char_start + start + first
            header = head if len(head) <= LONGEST_HEADER else ""
            yield Stretch(passage, text, begin, begin + len(text), f"{caption} {head}", header)

"""Which stretches of a passage can stand alone in an answer: sentences, rows of tables, lines of logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.chat.shown import shortened
from workbench.records import Passage
from workbench.retrieval.bibliographies import reads_like_references
from workbench.retrieval.sections import is_heading
from workbench.retrieval.sentences import sentence_spans

SHORTEST, LONGEST = 30, 480  # characters of a sentence that reads well on its own; of the longest quote
SHORTEST_UNFINISHED = 60  # of one that a formula, a list or the end of its page cuts off
SHORTEST_LINE = 8  # of a slide
LONGEST_ROW = 200
LONGEST_HEADER = 100
FEWEST_LETTERS = 0.55  # of what is no space; a sentence that gives three settings with their values has 0.58
FEWEST_CODE_SIGNS = 3
WORDS_PER_FIGURE = 4  # fewer words than this for each figure make a table
MOST_BETWEEN = 3  # spans that a caption and the parts of its table are cut into

_WHOLE = re.compile(r"[.!。！．｡।][\"'”’)\]»」』]*(?:\[[\d,;\s–-]+\]|(?<=[^\W\d_].)\d{1,3}(?:,\d{1,3})*)?$")
_REFERENCE = re.compile(
    r"^\[\d+\]\s+[A-Z]|arXiv|doi\.org|\bdoi:|^.{0,30}https?://|\bIn Proc|\bpp\. ?\d|\bpages \d+[-–]\d+"
    r"|\bet al\.$|\d+\(\d+\) ?: ?\d|\bPMID\b|\(\d{4}\), [A-Z]"
    r"|^(?:[A-Z][\w'-]+,? (?:[A-Z]\. ?)+,? (?:and |& )?){2}"
)
_CAPTION = re.compile(
    r"^(?:supplementary )?(?:table|figure|fig\.|box|scheme|algorithm)\s*[A-Z]?\d", re.IGNORECASE
)
_FRAGMENT = re.compile(r"^(?:[a-zà-ÿ]{2,}|a)[ ,;.)]|^[,;)]")
_BOILERPLATE = re.compile(
    r"\b(?:acknowledge?ments?|funded by|supported (?:in part )?by|grants? (?:no|number|[A-Z]{2,})|copyright|"
    r"©|all rights reserved|licensed under|creative commons|reprints?|permission to (?:make|copy|reproduce)|"
    r"author contributions?|contributed equally|equal contribution|listing order|corresponding author|"
    r"competing interests?|conflicts? of interest|do not necessarily reflect|we (?:would like to )?thank|"
    r"are grateful to|official policies|work (?:done|performed) (?:while|during)|"
    r"published (?:as|by|in|at)|proceedings of|under review|preprint)\b|^Correspondence|\S@\S+\.\w",
    re.IGNORECASE,
)
# Lists of keywords, and the head of an algorithm: words of the question without a statement.
_LISTED = re.compile(
    r"^(?:key ?words|index terms)(?: and phrases)?\s*[:.—–-]|^(?:input|require)s?:.*\b(?:output|ensure)s?:",
    re.IGNORECASE | re.DOTALL,
)
_BOILERPLATE_HEADING = re.compile(
    r"\b(?:acknowledge?ments?|contributions? of authors|authors?['’]? contributions?|contributors|funding|"
    r"competing interests?|references|bibliography)\b",
    re.IGNORECASE,
)
_CODE_SIGN = re.compile(
    r"[{};]\s*$|<-|->|←|[=!<>]=|\w\(\)|\w\[\w*[\],]|\w=\S|//|\breturn\b|^\s*#\w", re.MULTILINE
)
_VALUE = re.compile(r"\d|\b[A-Z]{1,3}[+-](?!\w)|[✓✗✔✘×]|\b(?:yes|no)\b", re.IGNORECASE)
_ROW = re.compile(r"(?=.*[^\W\d_]{2}).{8,}")
_CELLS = re.compile(r"(?=.*[^\W\d_]{2})(?=.*\d).* \| .*")  # a row of a Word table: its cells are known
_NAMED = r"[^\s:;][^:;\n]{0,60}: [^\n]*?"
_NAMED_VALUES = re.compile(
    rf"{_NAMED}(?:; {_NAMED})+"
)  # a row of a CSV file: each cell with its column's name
_NAMED_LINE = re.compile(r"[^\s:]{1,80}: \S.*")  # a value of a JSON file, with the names that lead to it
_LOG_LINE = re.compile(
    r"(?:\[?\d{4}-\d\d-\d\d[T ]\S+|\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b).* \w.*"
)
_DATE = re.compile(r"\b(?:[A-Z][a-z]{2,8}\.? \d{1,2},? )?(?:19|20)\d\d\b")
# Opens like a sentence, and stops in its middle.
_UNFINISHED = re.compile(r"[\"“(]?[A-ZÀ-ÞΑ-Ω].*(?:[a-zà-ÿ]{2}[,:;]?|[)\]][,:])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence or a row of ``passage``; offsets count characters of the paper's text.

    ``around`` is the text beside it that helps to understand it: the sentences before and after, or the
    caption and head of its table. ``header`` is the head of a row's table. ``heading`` is its section's.
    """

    passage: Passage
    text: str
    char_start: int
    char_end: int
    around: str
    header: str | None = None
    caption: bool = False
    heading: str = ""


def quotable(passage: Passage) -> list[Stretch]:
    """The stretches of a passage that read well; all its lines where none is a sentence (slides).

    A passage of a list of references holds none.
    """
    if reads_like_references(passage.text):
        return []
    spans = sentence_spans(passage.text)
    found = []
    heading = passage.heading or ""
    for index, (start, end) in enumerate(spans):
        text = passage.text[start:end]
        if is_heading(text):
            heading = text
        elif not _BOILERPLATE_HEADING.search(heading):
            found += [replace(s, heading=heading) for s in _stretches(passage, spans, index, text)]
    if found or any(_WHOLE.search(passage.text[start:end]) for start, end in spans):
        return found
    lines = [i for i, (start, end) in enumerate(spans) if _is_line(passage.text[start:end], passage.title)]
    return [_sentence(passage, spans, i) for i in lines]


def _is_line(text: str, title: str) -> bool:
    """A line that says something: not the paper's title, an address or a notice."""
    says = _REFERENCE.search(text) is None and _BOILERPLATE.search(text) is None
    return (
        says
        and not _is_title(text, title)
        and SHORTEST_LINE <= len(text) <= LONGEST_ROW
        and _is_words(text)
        and not _is_tabular(text)
    )


def _is_title(text: str, title: str) -> bool:
    return text.casefold().split() == title.casefold().split()


def _is_words(text: str) -> bool:
    """Whether most characters are letters, and few are the signs of code."""
    letters = sum(c.isalpha() for c in text)
    signs = sum(not c.isspace() for c in text)
    return letters >= FEWEST_LETTERS * signs and len(_CODE_SIGN.findall(text)) < FEWEST_CODE_SIGNS


def _stretches(passage: Passage, spans: list[tuple[int, int]], index: int, text: str) -> Iterator[Stretch]:
    caption = _caption_before(passage, spans, index)
    if len(text) <= LONGEST and (_NAMED_VALUES.fullmatch(text) or _LOG_LINE.fullmatch(text)):
        yield _sentence(passage, spans, index)
    elif "\n" in text and all(_NAMED_LINE.fullmatch(line) for line in text.splitlines()):
        yield from _lines(passage, spans[index])
    elif _WHOLE.search(text) and not (caption and _is_tabular(text)):
        if _is_sentence(text) and not _FRAGMENT.match(text) and not _is_title(text, passage.title):
            yield _sentence(passage, spans, index)
    elif _is_unfinished(text):
        if not _is_title(text, passage.title):
            yield _sentence(passage, spans, index)
    elif "\n" in text or caption:
        yield from _rows(passage, spans, index, caption)


def _is_sentence(text: str) -> bool:
    return (
        SHORTEST <= len(text) <= LONGEST
        and _is_words(text)
        and _REFERENCE.search(text) is None
        and _BOILERPLATE.search(text) is None
        and _LISTED.search(text) is None
    )


def _is_unfinished(text: str) -> bool:
    """Running text whose end is cut off."""
    running = len(text) >= SHORTEST_UNFINISHED and not _is_tabular(text)
    return running and _UNFINISHED.fullmatch(text) is not None and _is_sentence(text)


def _is_tabular(text: str) -> bool:
    """Running text has fewer figures, and lines that end in one or open with a capital only by chance."""
    lines = [line.strip() for line in text.splitlines()]
    ends = sum(line[-1:].isdigit() for line in lines)
    opens = len(lines) > 2 and all(line[:1].isupper() for line in lines)
    dense = WORDS_PER_FIGURE * len(re.findall(r"\d+", text)) > len(text.split())
    return dense or opens or ends > len(lines) / 2


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


def _lines(passage: Passage, span: tuple[int, int]) -> Iterator[Stretch]:
    """Each line by itself, with all of them around it."""
    whole = passage.text[slice(*span)]
    for match in re.finditer(r"[^\n]+", whole):
        begin = passage.char_start + span[0] + match.start()
        if len(match.group()) <= LONGEST:
            yield Stretch(passage, match.group(), begin, begin + len(match.group()), whole[:LONGEST])


def _rows(passage: Passage, spans: list[tuple[int, int]], index: int, caption: str) -> Iterator[Stretch]:
    """The lines of a table that hold a value and a word, each with the table's caption and head.

    A head has words and no values but dates; where there is none, the caption says what the values are. A row
    with neither would be read wrongly, so it is left out.
    """
    start, end = spans[index]
    lines = [(m.start(), m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", passage.text[start:end])]
    head = ""
    for first, last in lines:
        row = passage.text[start + first : start + last]
        text = row.strip()
        header = head or shortened(caption)
        if _is_head(text):
            head = text
        elif header and len(text) <= LONGEST_ROW and _is_row(text):
            first += len(row) - len(row.lstrip())
            begin = passage.char_start + start + first
            yield Stretch(passage, text, begin, begin + len(text), f"{caption} {head}", header)


def _caption_before(passage: Passage, spans: list[tuple[int, int]], index: int) -> str:
    """The caption that ends right before a span, or a span or two earlier in the same table."""
    for back in range(index - 1, max(-1, index - 1 - MOST_BETWEEN), -1):
        if _CAPTION.match(passage.text[slice(*spans[back])]):
            return passage.text[spans[back][0] : spans[index - 1][1]][:LONGEST]
    return ""


def _is_row(text: str) -> bool:
    words = _ROW.fullmatch(text) or _CELLS.fullmatch(text)
    return _VALUE.search(text) is not None and words is not None and not _CODE_SIGN.search(text)


def _is_head(text: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", text)
    return len(words) >= 2 and len(text) <= LONGEST_HEADER and not _VALUE.search(_DATE.sub("", text))

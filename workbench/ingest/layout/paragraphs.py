"""Lines joined to text: wrapped lines run on, paragraphs are parted by a blank line, rows stay rows.

Letters and digits keep the order of the lines; only what stands between two lines is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from workbench.ingest.layout.headings import HeadingStyle
from workbench.ingest.layout.hyphens import Vocabulary, hyphen_between
from workbench.ingest.layout.lines import Line

BLANK_LINE, NEW_LINE, SPACE, NOTHING = "\n\n", "\n", " ", ""

_ENDS_SENTENCE = re.compile(r"[.!?:。！？…][\"'”’)\]»]*$")
_REFERENCE = re.compile(r"\[\d{1,3}\]\s|\[[A-Z][\w+]{1,12}\]\s")
_ITEM = re.compile(r"(?:[•◦▪■●▶–—\-*]|\(?\d{1,2}[.)]|\(?[a-z][.)]|\([ivx]+\))\s")
_NUMERIC = re.compile(r"[($€£~<>±+\-–−]*\d[\d.,%/()*]*[%)*]*|[-–—]")
_WORD = re.compile(r"\S+")
_ROW_GAP = 4.0  # times the font's size
_LINE_HYPHEN = re.compile(r"[^\W_][-‐]$")


@dataclass(frozen=True, slots=True)
class PageText:
    """One page's text and its headings as (start, end) in it."""

    text: str
    headings: tuple[tuple[int, int], ...]


def page_text(
    lines: Sequence[Line], *, page_index: int, style: HeadingStyle, vocabulary: Vocabulary
) -> PageText:
    """The lines of one page, in reading order, joined."""
    if not lines:
        return PageText("", ())
    is_heading = _headings(lines, page_index, style)
    breaks = _breaks(lines, is_heading)
    parts: list[str] = []
    length = 0
    spans: list[tuple[int, int]] = []
    for index, line in enumerate(lines):
        before = breaks[index - 1] if index else ""
        text = line.text
        if index and before == SPACE:
            before, cut = _joint(lines[index - 1], text, vocabulary)
            if cut and parts:
                parts[-1] = parts[-1][:-1]
                length -= 1
        elif index and lines[index - 1].hyphen:
            before = "-" + before
        parts += [before, text]
        start = length + len(before)
        length = start + len(text)
        if is_heading[index]:
            if spans and is_heading[index - 1] and breaks[index - 1] == SPACE:
                spans[-1] = (spans[-1][0], length)
            else:
                spans.append((start, length))
    if lines[-1].hyphen:
        parts.append("-")
    return PageText("".join(parts), tuple(spans))


def _joint(line: Line, following: str, vocabulary: Vocabulary) -> tuple[str, bool]:
    """What stands between two lines of one paragraph, and whether the first one's last character goes."""
    if line.hyphen:
        return hyphen_between(line.text, following, vocabulary), False
    if _LINE_HYPHEN.search(line.text) and following[:1].isalnum():
        return hyphen_between(line.text[:-1], following, vocabulary), True
    return SPACE, False


def _headings(lines: Sequence[Line], page_index: int, style: HeadingStyle) -> list[bool]:
    """Which lines are headings; one in the middle of a sentence is not, whatever it looks like."""
    found = [style.is_heading(line, page_index) for line in lines]
    for index in range(1, len(lines)):
        line, above = lines[index], lines[index - 1]
        if found[index] and not found[index - 1] and not _ENDS_SENTENCE.search(above.text):
            gap = above.base - line.base
            if above.hyphen or (0 < gap < 1.25 * line.size and abs(line.size - above.size) < 0.1 * line.size):
                found[index] = False
    return found


def _breaks(lines: Sequence[Line], is_heading: Sequence[bool]) -> list[str]:
    """What stands between each line and the next one."""
    leading = _leading(lines)
    rough = [
        _rough_break(a, b, (is_heading[i], is_heading[i + 1]), leading)
        for i, (a, b) in enumerate(pairwise(lines))
    ]
    start = 0
    for index in range(len(lines)):
        if index == len(rough) or rough[index] == BLANK_LINE:
            block = lines[start : index + 1]
            left, right = min(line.left for line in block), max(line.right for line in block)
            for inner in range(start, index):
                if rough[inner] is None:
                    rough[inner] = _break_in_block(lines[inner], lines[inner + 1], left, right)
            start = index + 1
    return [SPACE if found is None else found for found in rough]


def _leading(lines: Sequence[Line]) -> float:
    """Usual distance from one baseline to the next, in points."""
    steps = [a.base - b.base for a, b in pairwise(lines) if 0.6 * a.size < a.base - b.base < 4 * a.size]
    return median(steps) if steps else 0.0


def _rough_break(a: Line, b: Line, headings: tuple[bool, bool], leading: float) -> str | None:
    """The break that places on the page decide; ``None`` where the block's edges must decide."""
    if a.sideways or b.sideways:
        return NEW_LINE if a.sideways and b.sideways else BLANK_LINE
    size = max(a.size, b.size)
    if abs(a.base - b.base) < 0.6 * size and b.left >= a.right - 0.3 * size:
        return _beside(a, b, size)
    if headings == (True, True):
        same = abs(a.size - b.size) < 0.1 * size and 0 < a.base - b.base < 1.8 * size
        return SPACE if same and a.bold == b.bold and not _starts_numbered(b.text) else BLANK_LINE
    if headings[0] or headings[1]:
        return BLANK_LINE
    if abs(a.size - b.size) > 0.2 * size and len(b.text) > 3 and len(a.text) > 3:
        return BLANK_LINE
    down = a.base - b.base
    if down < 0:  # the next column, or a float above
        return SPACE if a.hyphen or _runs_on(a, b) else BLANK_LINE
    if down > 1.5 * max(leading, size):
        return SPACE if a.hyphen else BLANK_LINE
    if a.hyphen:
        return SPACE
    if b.left > a.right or b.right < a.left:
        return NEW_LINE
    return None


def _beside(a: Line, b: Line, size: float) -> str:
    """A superscript, or more of the same row."""
    gap = b.left - a.right
    if gap > 2 * size:
        return NEW_LINE
    return NOTHING if gap < 0.15 * size and a.size >= 0.8 * b.size else SPACE


def _starts_numbered(text: str) -> bool:
    return re.match(r"\d{1,2}(\.\d{1,2})*\.?\s", text) is not None


def _runs_on(a: Line, b: Line) -> bool:
    return not _ENDS_SENTENCE.search(a.text) and b.text[:1].islower()


def _break_in_block(a: Line, b: Line, left: float, right: float) -> str:
    if _REFERENCE.match(b.text):
        return BLANK_LINE
    if _ITEM.match(b.text):
        return NEW_LINE
    if _is_row(a) or _is_row(b):
        return NEW_LINE
    ended = _ENDS_SENTENCE.search(a.text) is not None
    if ended and abs(b.left - a.left) > 0.8 * b.size and (b.left - left > 0.8 * b.size or b.left < a.left):
        return BLANK_LINE
    match = _WORD.match(b.text)
    first_word = len(match.group()) if match else 1
    room = right - a.right
    needed = (first_word + 1) * b.width / max(len(b.text), 1)
    if room > needed + 0.5 * a.size:
        return BLANK_LINE if ended else NEW_LINE
    return SPACE


def _is_row(line: Line) -> bool:
    """Whether the line reads as a row of a table: many gaps, a very wide one, or mostly numbers."""
    if len(line.cells) > 2 or any(b.left - a.right > _ROW_GAP * line.size for a, b in pairwise(line.cells)):
        return True
    tokens = line.text.split()
    numbers = sum(_NUMERIC.fullmatch(token) is not None for token in tokens)
    return len(tokens) >= 2 and 2 * numbers >= len(tokens)

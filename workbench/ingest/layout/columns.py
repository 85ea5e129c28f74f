"""Two columns read one after the other, where the file draws them row by row.

Most files store their text in reading order already and are left alone. A page is put in order only when
its own order jumps between a left and a right column again and again, and both sides are prose: the cells
of a table must stay in their rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from workbench.ingest.layout.lines import Line, PageLines

_CENTRE = (0.3, 0.7)  # where a gutter can be, as a share of the width of the page's text
_MIN_ROWS = 3
_STEP = 3.0  # points between the places tried for a gutter
_MIN_JUMPS = 0.4  # jumps from right to left, per line of the shorter column
_MIN_WORDS = 2.0  # per line, on average, on both sides
_MIN_BALANCE = 0.5  # lines of the shorter column over those of the longer: terms with definitions have less
_MIN_LETTERS = 0.6  # share of the characters that are not spaces
_MIN_FILL = 0.6  # median width of a column's lines over the widest
_WORD = re.compile(r"\w+")
_UNEVEN = 0.3  # of the usual distance between two lines
_MIN_EVEN = 0.6  # share of the lines
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def in_reading_order(page: PageLines) -> tuple[Line, ...]:
    """The page's lines, the left column before the right one within each block that both share."""
    upright = [line for line in page.lines if not line.sideways]
    if len(upright) < 2 * _MIN_ROWS and not any(line.cells for line in upright):
        return page.lines
    left, right = min((line.left for line in upright), default=0.0), _right_edge(upright)
    gutter = _gutter(upright, left, right)
    if gutter is None:
        return page.lines
    pieces = [piece for line in page.lines for piece in _split(line, gutter)]
    sides = [_side(piece, gutter) for piece in pieces]
    lefts = [piece for piece, side in zip(pieces, sides, strict=True) if side == "left"]
    rights = [piece for piece, side in zip(pieces, sides, strict=True) if side == "right"]
    fewer, more = sorted((len(lefts), len(rights)))
    if fewer < max(_MIN_ROWS, _MIN_BALANCE * more):
        return page.lines
    jumps = sum(a == "right" and b == "left" for a, b in pairwise(sides))
    if jumps < max(2, _MIN_JUMPS * fewer):
        return page.lines
    if not (_is_prose(lefts) and _is_prose(rights) and _evenly_set(lefts, rights)):
        return page.lines
    return tuple(_by_column(pieces, sides))


def _right_edge(lines: Sequence[Line]) -> float:
    return max((line.right for line in lines), default=0.0)


def _gutter(lines: Sequence[Line], left: float, right: float) -> float | None:
    """The x that most lines leave free, near the middle; ``None`` where more lines cross than avoid it."""
    low, high = (left + share * (right - left) for share in _CENTRE)
    gaps = [(a.right, b.left) for line in lines if 2 <= len(line.cells) <= 3 for a, b in pairwise(line.cells)]
    candidates = [(a + b) / 2 for a, b in gaps if low < (a + b) / 2 < high]
    candidates += [line.right + 0.5 for line in lines if low < line.right < high]
    best, fewest = None, len(lines) / 2
    for x in sorted({_STEP * round(candidate / _STEP) for candidate in candidates}):
        crossing = sum(_crosses(line, x) for line in lines)
        if crossing < fewest:
            best, fewest = x, crossing
    return best


def _crosses(line: Line, x: float) -> bool:
    if not line.left < x < line.right:
        return False
    return not any(a.right <= x <= b.left for a, b in pairwise(line.cells))


def _side(line: Line, x: float) -> str:
    if line.sideways or _crosses(line, x):
        return "across"
    return "left" if line.right <= x else "right"


def _split(line: Line, x: float) -> Iterable[Line]:
    """The line's parts left and right of ``x``, or the line itself where ``x`` is in no gap of it."""
    for a, b in pairwise(line.cells):
        if a.right <= x <= b.left:
            first = tuple(cell for cell in line.cells if cell.right <= x)
            second = tuple(cell for cell in line.cells if cell.left >= x)
            moved = tuple(replace(cell, start=cell.start - b.start) for cell in second)
            return (
                replace(
                    line,
                    text=line.text[: b.start].rstrip(),
                    right=a.right,
                    hyphen=False,
                    cells=first if len(first) > 1 else (),
                ),
                replace(
                    line,
                    text=line.text[b.start :].lstrip(),
                    left=b.left,
                    cells=moved if len(moved) > 1 else (),
                ),
            )
    return (line,)


def _is_prose(lines: Sequence[Line]) -> bool:
    text = " ".join(line.text for line in lines)
    solid = len(text) - text.count(" ")
    words = len(_WORD.findall(text)) + len(_CJK.findall(text)) / 2
    widest = max(line.width for line in lines)
    return (
        words >= _MIN_WORDS * len(lines)
        and sum(c.isalpha() for c in text) >= _MIN_LETTERS * solid
        and median(line.width for line in lines) >= _MIN_FILL * widest
        and sum(len(line.cells) > 1 for line in lines) <= 0.3 * len(lines)
    )


def _evenly_set(lefts: Sequence[Line], rights: Sequence[Line]) -> bool:
    """Whether the lines of both columns follow each other at about one distance.

    Cells of a table that hold several lines on one side leave gaps on the other.
    """
    steps = [[a.base - b.base for a, b in pairwise(side)] for side in (lefts, rights)]
    usual = min(median(side) for side in steps)
    even = [sum(abs(step - usual) <= _UNEVEN * abs(usual) for step in side) for side in steps]
    return all(count >= _MIN_EVEN * len(side) for count, side in zip(even, steps, strict=True))


def _by_column(pieces: Sequence[Line], sides: Sequence[str]) -> Iterable[Line]:
    """Within each run between lines that cross the gutter: first the left pieces, then the right ones."""
    lefts: list[Line] = []
    rights: list[Line] = []
    for piece, side in zip(pieces, sides, strict=True):
        if side == "left":
            lefts.append(piece)
        elif side == "right":
            rights.append(piece)
        else:
            yield from (*lefts, *rights, piece)
            lefts, rights = [], []
    yield from (*lefts, *rights)

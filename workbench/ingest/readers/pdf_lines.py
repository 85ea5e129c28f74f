"""Lines of a PDF page from PDFium's text page.

PDFium gives the characters in the file's order with line breaks where the baseline changes. Asking it for
every character's box costs more than the text itself, so boxes are asked for per line: its ends, one
character in the middle for the font, and its gaps only where it is drawn in several pieces.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pypdfium2.raw as pdfium

from workbench.ingest.characters import accents_joined, repaired
from workbench.ingest.layout.lines import Cell, Line, PageLines

_LINE = re.compile(r"[^\r\n\x02\ufffe]+")
_SPACES = re.compile(r"[ \t]+")
_HYPHEN_MARKS = "\x02\ufffe"
_BOLD = re.compile(rb"bold|medi|black|heavy|demi|cmbx|sfbx|-bd|,b", re.IGNORECASE)
_WIDE_GAP = 1.2  # times the font's height: wider than any space between words
_MIN_CELL_LINE = 0.25  # of the page's width: shorter lines are not asked for gaps


def characters(text_page: Any) -> str:
    """The page's characters, one per character index of PDFium's; halves of pairs stay apart."""
    count = max(pdfium.FPDFText_CountChars(text_page), 0)
    buffer = (ctypes.c_ushort * (2 * count + 2))()
    units = pdfium.FPDFText_GetText(text_page, 0, count, buffer) - 1
    text = bytes(buffer)[: 2 * max(units, 0)].decode("utf-16-le", "surrogatepass")
    if len(text) == count:
        return text
    # The text leaves out or joins characters that the character list counts.
    return "".join(chr(pdfium.FPDFText_GetUnicode(text_page, index)) for index in range(count))


def line_spans(text_page: Any, text: str, *, turned: int) -> list[tuple[int, int]]:
    """Start and end of each line of a page's characters, in reading order.

    PDFium gives the lines of some pages that are turned by 90 degrees from the last to the first.
    """
    spans = [match.span() for match in _LINE.finditer(text)]
    if turned != 90 or len(spans) < 2:
        return spans
    x, y = ctypes.c_double(), ctypes.c_double()
    bases = []
    for start, _ in spans:
        pdfium.FPDFText_GetCharOrigin(text_page, start, x, y)
        bases.append(y.value)
    rising = sum(later > earlier for earlier, later in pairwise(bases))
    return spans[::-1] if rising > 0.7 * (len(spans) - 1) else spans


def page_lines(page: Any, text_page: Any) -> PageLines:
    """The lines of one page that lie on its visible area, in the file's order."""
    left, bottom, right, top = page.get_bbox()
    width, height = right - left, top - bottom
    reader = _LineReader(text_page.raw, width, (left, bottom), page.get_rotation())
    visible = tuple(
        line
        for line in reader.lines()
        if -1 <= (line.left + line.right) / 2 <= width + 1 and -1 <= line.base <= height + 1
    )
    return PageLines(width, height, visible)


class _LineReader:
    """Reads lines and reuses its C values, which would cost more than the calls."""

    def __init__(self, text_page: Any, page_width: float, origin: tuple[float, float], turned: int) -> None:
        self._page = text_page
        self._page_width = page_width
        self._x, self._y = origin
        self._turned = turned
        self._text = characters(text_page)
        self._left, self._right = ctypes.c_double(), ctypes.c_double()
        self._bottom, self._top = ctypes.c_double(), ctypes.c_double()
        self._matrix = pdfium.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)

    def lines(self) -> Iterator[Line]:
        for start, stop in line_spans(self._page, self._text, turned=self._turned):
            end = stop
            while start < end and self._text[start].isspace():
                start += 1
            while end > start and self._text[end - 1].isspace():
                end -= 1
            if start < end and (line := self._line(start, end, self._is_hyphen(stop))):
                yield line

    def _is_hyphen(self, index: int) -> bool:
        if index >= len(self._text) or self._text[index] not in _HYPHEN_MARKS:
            return False
        return bool(pdfium.FPDFText_IsHyphen(self._page, index) == 1)

    def _line(self, start: int, end: int, hyphen: bool) -> Line | None:
        text = _clean(self._text[start:end])
        if not text:
            return None
        first, last = self._char_box(start), self._char_box(end - 1)
        middle = (start + end - 1) // 2
        while middle > start and self._text[middle].isspace():
            middle -= 1
        size, sideways = self._font_size(middle)
        left, right = min(first[0], last[0]), max(first[1], last[1])
        height = max(first[3], last[3]) - min(first[2], last[2])
        sideways = sideways or (end - start >= 4 and height > 2 * (right - left) and height > 2 * size)
        cells: tuple[Cell, ...] = ()
        if not sideways and right - left > _MIN_CELL_LINE * self._page_width:
            cells = self._cells(start, end, left, right, size)
        bold = self._is_bold(middle)
        return Line(text, left, right, self._base(middle), size, bold, hyphen, cells, sideways)

    def _char_box(self, index: int) -> tuple[float, float, float, float]:
        pdfium.FPDFText_GetCharBox(self._page, index, self._left, self._right, self._bottom, self._top)
        left, right = self._left.value - self._x, self._right.value - self._x
        return left, right, self._bottom.value - self._y, self._top.value - self._y

    def _font_size(self, index: int) -> tuple[float, bool]:
        """Size of a character's font on the page, and whether the character lies on its side.

        The library's own font boxes are no measure: fonts without an ascent get the character's outline.
        """
        size = float(pdfium.FPDFText_GetFontSize(self._page, index))
        if not pdfium.FPDFText_GetMatrix(self._page, index, self._matrix):
            return size, False
        matrix = self._matrix
        return size * math.hypot(matrix.c, matrix.d), abs(matrix.b) > abs(matrix.a)

    def _base(self, index: int) -> float:
        pdfium.FPDFText_GetCharOrigin(self._page, index, self._left, self._top)
        return self._top.value - self._y

    def _is_bold(self, index: int) -> bool:
        length = pdfium.FPDFText_GetFontInfo(self._page, index, self._name, 128, None)
        return 0 < length <= 128 and _BOLD.search(self._name.raw[: length - 1]) is not None

    def _cells(self, start: int, end: int, left: float, right: float, size: float) -> tuple[Cell, ...]:
        pieces = pdfium.FPDFText_CountRects(self._page, start, end - start)
        if pieces < 2:
            return ()
        spaces = self._text.count(" ", start, end)
        gaps = self._gaps_at_spaces if 2 * spaces < pieces else self._gaps_between_pieces
        cells: list[Cell] = []
        cell_start, cell_left = start, left
        for reach, following, index in gaps(start, end, pieces, _WIDE_GAP * size):
            cells.append(Cell(cell_start, cell_left, reach))
            cell_start, cell_left = index, following
        if not cells:
            return ()
        cells.append(Cell(cell_start, cell_left, right))
        return tuple(self._in_line(cell, start) for cell in cells)

    def _gaps_at_spaces(
        self, start: int, end: int, _: int, wide: float
    ) -> Iterator[tuple[float, float, int]]:
        """Ends of the wide gaps of a line, and the first character behind each."""
        for match in _SPACES.finditer(self._text, start, end):
            reach = self._char_box(match.start() - 1)[1]
            following = self._char_box(match.end())[0]
            if following - reach > wide:
                yield reach, following, match.end()

    def _gaps_between_pieces(
        self, start: int, end: int, count: int, wide: float
    ) -> Iterator[tuple[float, float, int]]:
        """The same, from the rectangles of the pieces that the line is drawn in."""
        reach: float | None = None  # right end of what has been seen
        first = start
        for index in range(count):
            pdfium.FPDFText_GetRect(self._page, index, self._left, self._top, self._right, self._bottom)
            left, right = self._left.value - self._x, self._right.value - self._x
            if reach is not None and left - reach > wide:
                first = self._first_char_right_of(left, first, end)
                yield reach, left, first
            reach = right if reach is None else max(reach, right)

    def _first_char_right_of(self, position: float, start: int, end: int) -> int:
        """Index of the first character of the line that starts at or right of ``position``."""
        low, high = start, end - 1
        while low < high:
            middle = (low + high) // 2
            probe = middle
            while probe > low and self._text[probe].isspace():
                probe -= 1
            if self._char_box(probe)[0] >= position - 0.5:
                high = probe
            else:
                low = middle + 1
        return low

    def _in_line(self, cell: Cell, start: int) -> Cell:
        """The cell with its start counted in the line's repaired text."""
        before = _clean(self._text[start : cell.start] + "|")
        return Cell(len(before) - 1, cell.left, cell.right)


def _clean(text: str) -> str:
    """One line's text, characters repaired and spaces single."""
    if not (text.isascii() and text.isprintable()):
        text = accents_joined(_SPACES.sub(" ", repaired(text)))
    return text.strip()

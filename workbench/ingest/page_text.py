"""A page's text where it stands on its image: what a reader selects. Runs in the reading process only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as pdfium

from workbench.ingest.characters import repaired
from workbench.ingest.readers.pdf_lines import characters, line_spans
from workbench.records import TextRun

MAX_RUNS = 3000  # on one page; a page of more is a drawing, and its text is no reading matter
_WIDE_GAP = 1.5  # times the height of a character: wider than a space, so another column or cell begins
_HYPHEN_MARKS = "\x02\ufffe"

Box = tuple[float, float, float, float]  # left, bottom, right, top in points


def text_runs(page: Any, text_page: Any, converter: Any, size: tuple[int, int]) -> tuple[TextRun, ...]:
    """The page's text in the order of the file, in runs that stand together on one line.

    ``converter`` turns points into pixels of an image of ``size``. What lies outside the image (it was
    cropped away) is left out, and so is what has no place.
    """
    text = characters(text_page.raw)
    boxes = _CharBoxes(text_page.raw)
    runs: list[TextRun] = []
    for start, end in line_spans(text_page.raw, text, turned=page.get_rotation()):
        broken = end < len(text) and text[end] in _HYPHEN_MARKS
        pieces = list(_pieces(text, start, end, boxes))
        for first, last, shape in pieces:
            words = " ".join(repaired(text[first:last]).split())
            placed = _on_image(shape, converter, size)
            if not words or placed is None:
                continue
            glued = broken and last == pieces[-1][1]
            turn = _turn(boxes, first, last, converter)
            runs.append(TextRun(words, placed, turn, glued))
            if len(runs) == MAX_RUNS:
                return tuple(runs)
    return tuple(runs)


class _CharBoxes:
    """The boxes of a page's characters. Reuses its C values, which would cost more than the calls."""

    def __init__(self, text_page: Any) -> None:
        self._page = text_page
        self._loose = pdfium.FS_RECTF()

    def __call__(self, index: int) -> Box | None:
        if not pdfium.FPDFText_GetLooseCharBox(self._page, index, self._loose):
            return None
        rect = self._loose
        return (rect.left, rect.bottom, rect.right, rect.top) if rect.right > rect.left else None


def _pieces(text: str, start: int, end: int, boxes: _CharBoxes) -> Iterator[tuple[int, int, Box]]:
    """Stretches of one line that stand together: first character, end, and the box around them."""
    first, around, last_box, last = start, None, None, start
    for index in range(start, end):
        box = None if text[index].isspace() else boxes(index)
        if box is None:
            continue
        if around is None:
            first, around = index, box
        elif last_box is not None and _apart(last_box, box):
            yield first, last + 1, around
            first, around = index, box
        else:
            around = (
                min(around[0], box[0]),
                min(around[1], box[1]),
                max(around[2], box[2]),
                max(around[3], box[3]),
            )
        last_box, last = box, index
    if around is not None:
        yield first, last + 1, around


def _apart(one: Box, other: Box) -> bool:
    """Whether two neighbours on a line stand further apart than words do, along it or across."""
    height = max(one[3] - one[1], other[3] - other[1], 1.0)
    gap_x = max(other[0] - one[2], one[0] - other[2])
    gap_y = max(other[1] - one[3], one[1] - other[3])
    return gap_x > _WIDE_GAP * height or gap_y > _WIDE_GAP * height


def _on_image(box: Box, converter: Any, size: tuple[int, int]) -> Box | None:
    """The box as fractions of the image from its top left, None where its middle is not on it."""
    corners = [converter.to_bitmap(box[i], box[j]) for i, j in ((0, 1), (2, 3))]
    left, right = sorted(x / size[0] for x, _ in corners)
    top, bottom = sorted(y / size[1] for _, y in corners)
    if not (0 <= (left + right) / 2 <= 1 and 0 <= (top + bottom) / 2 <= 1):
        return None
    return left, top, right, bottom


def _turn(boxes: _CharBoxes, first: int, last: int, converter: Any) -> int:
    """How far the run is turned on the image, clockwise: 0, 90, 180 or 270 degrees.

    From where its first and its last character stand; a run of one character is taken as upright.
    """
    end = last - 1
    begin_box, end_box = boxes(first), boxes(end)
    if end == first or begin_box is None or end_box is None:
        return 0
    x0, y0 = converter.to_bitmap((begin_box[0] + begin_box[2]) / 2, (begin_box[1] + begin_box[3]) / 2)
    x1, y1 = converter.to_bitmap((end_box[0] + end_box[2]) / 2, (end_box[1] + end_box[3]) / 2)
    if abs(x1 - x0) >= abs(y1 - y0):
        return 0 if x1 >= x0 else 180
    return 90 if y1 > y0 else 270

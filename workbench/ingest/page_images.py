"""Page images, and where a quote stands on them. Runs in the reading process only."""

from __future__ import annotations

import ctypes
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image, ImageChops, ImageDraw

from workbench.errors import DocumentError, InvalidInputError
from workbench.ingest.characters import repaired
from workbench.ingest.page_text import text_runs
from workbench.ingest.readers.pdf import open_pdf
from workbench.ingest.readers.pdf_lines import characters, line_spans
from workbench.ingest.squeeze import only_place, place_between, squeezed, squeezed_with_offsets
from workbench.records import PageView, TextRun

MAX_SIDE = 4800  # pixels: three times a wide column on a dense screen
MIN_SIDE = 16
MARK_COLOUR = (255, 229, 138)  # #ffe58a
MIN_QUOTE = 3  # letters and digits: a shorter quote stands in too many places to be certain

Rectangle = tuple[float, float, float, float]  # left, bottom, right, top in points, or x0, y0, x1, y1


# What readers of a file drew over its pages. Beside our mark nobody could tell theirs, so none is shown; what
# belongs to the page (form fields, stamps, links, text boxes) stays.
READERS_MARKS = frozenset(
    {
        pdfium.FPDF_ANNOT_TEXT,
        pdfium.FPDF_ANNOT_POPUP,
        pdfium.FPDF_ANNOT_HIGHLIGHT,
        pdfium.FPDF_ANNOT_UNDERLINE,
        pdfium.FPDF_ANNOT_SQUIGGLY,
        pdfium.FPDF_ANNOT_STRIKEOUT,
        pdfium.FPDF_ANNOT_INK,
        pdfium.FPDF_ANNOT_CARET,
        pdfium.FPDF_ANNOT_SQUARE,
        pdfium.FPDF_ANNOT_CIRCLE,
        pdfium.FPDF_ANNOT_LINE,
        pdfium.FPDF_ANNOT_POLYGON,
        pdfium.FPDF_ANNOT_POLYLINE,
    }
)


def page_view(
    path: Path,
    page: int,
    *,
    width: int,
    quote: str | None,
    between: tuple[str, str] | None = None,
    paint: bool = True,
    with_text: bool = False,
) -> PageView:
    """Page ``page`` (from 1) of a PDF, ``width`` pixels wide, with ``quote`` marked where it is certain.

    No side exceeds ``MAX_SIDE`` pixels. The quote is looked for by its letters and digits, so hyphens,
    ligatures, line ends and spaces do not matter; it is certain when it stands on the page exactly once, or
    where ``between``, the page's text before and after the quote, leaves one place of several.
    Without ``paint`` its boxes are told and nothing is drawn over the page. ``with_text``: the page's text
    with its places too. Highlights and notes that readers left in the file are not drawn.
    Raises DocumentError for a page that cannot be drawn, InvalidInputError for one that is not there.
    """
    pdf = open_pdf(path)
    try:
        if not 1 <= page <= len(pdf):
            raise InvalidInputError(f"There is no page {page}: the file has {len(pdf)}.")
        opened = pdf[page - 1]
        try:
            return _view(opened, width, quote, between, paint=paint, with_text=with_text)
        finally:
            opened.close()
    except pypdfium2.PdfiumError as error:
        raise DocumentError(f"page {page} cannot be drawn: it is damaged") from error
    finally:
        pdf.close()


def _view(
    page: Any,
    width: int,
    quote: str | None,
    between: tuple[str, str] | None,
    *,
    paint: bool,
    with_text: bool,
) -> PageView:
    scale = _scale(page, width)
    _drop_readers_marks(page)
    bitmap = page.render(scale=scale, may_draw_forms=False, rev_byteorder=True)
    runs: tuple[TextRun, ...] = ()
    boxes: list[Rectangle] = []
    try:
        image = bitmap.to_pil().convert("RGB")
        converter = bitmap.get_posconv(page)
        if quote or with_text:
            text_page = page.get_textpage()
            try:
                rectangles = _quote_rectangles(page, text_page, quote, between) if quote else []
                boxes = [_on_image(rectangle, converter, image.size) for rectangle in rectangles]
                runs = text_runs(page, text_page, converter, image.size) if with_text else ()
            finally:
                text_page.close()
    finally:
        bitmap.close()
    return PageView(
        _png(_marked(image, boxes) if paint else image),
        image.width,
        image.height,
        tuple(boxes),
        bool(boxes),
        runs,
    )


def _drop_readers_marks(page: Any) -> None:
    """Takes them out of the opened page; the file stays as it is."""
    for index in reversed(range(pdfium.FPDFPage_GetAnnotCount(page))):
        mark = pdfium.FPDFPage_GetAnnot(page, index)
        if not mark:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(mark)
        pdfium.FPDFPage_CloseAnnot(mark)
        if kind in READERS_MARKS:
            pdfium.FPDFPage_RemoveAnnot(page, index)


def _png(image: Image.Image) -> bytes:
    """The image's file; of a page without colour one channel, which takes half the time and room."""
    red, green, blue = (channel.tobytes() for channel in image.split())
    plain = image.getchannel(0) if red == green == blue else image
    buffer = io.BytesIO()
    plain.save(buffer, "PNG", compress_level=3)
    return buffer.getvalue()


def _scale(page: Any, width: int) -> float:
    """Pixels per point for ``width``, or less where a side would grow beyond ``MAX_SIDE``."""
    page_width, page_height = page.get_size()
    if not (page_width > 0 and page_height > 0):
        raise DocumentError("the page has no size")
    wanted = min(max(width, MIN_SIDE), MAX_SIDE)
    # A hair less, because the drawing rounds each side up.
    return float(min(wanted / page_width, MAX_SIDE / page_height) * (1 - 1e-6))


def _quote_rectangles(
    page: Any, text_page: Any, quote: str, between: tuple[str, str] | None
) -> list[Rectangle]:
    """One rectangle per line of the quote, in points; empty where its place is not certain."""
    text = characters(text_page.raw)
    spans = line_spans(text_page.raw, text, turned=page.get_rotation())
    places = _places_of(quote, between, text, spans)
    return _by_line([box for index in places if (box := _char_box(text_page, index, text[index]))])


def _places_of(
    quote: str, between: tuple[str, str] | None, text: str, spans: Sequence[tuple[int, int]]
) -> list[int]:
    """Character indexes of the only place where the quote stands in the page's text; else none."""
    needle = squeezed(repaired(quote))
    if len(needle) < MIN_QUOTE:
        return []
    order = [index for start, end in spans for index in range(start, end)]
    haystack, offsets = squeezed_with_offsets("".join(text[index] for index in order))
    if between is None:
        start = only_place(needle, haystack)
    else:
        before, after = (squeezed(repaired(side)) for side in between)
        start = place_between(needle, haystack, before, after)
    if start is None:
        return []
    return order[offsets[start] : offsets[start + len(needle) - 1] + 1]


def _char_box(text_page: Any, index: int, char: str) -> Rectangle | None:
    if char.isspace() or ord(char) < 0x20:
        return None
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    if not pdfium.FPDFText_GetCharBox(text_page, index, left, right, bottom, top):
        return None
    loose = pdfium.FS_RECTF()
    low, high = bottom.value, top.value
    if pdfium.FPDFText_GetLooseCharBox(text_page, index, loose):
        low, high = min(low, loose.bottom), max(high, loose.top)
    if right.value <= left.value or high <= low:
        return None
    return left.value, low, right.value, high


def _by_line(boxes: Sequence[Rectangle]) -> list[Rectangle]:
    """Character boxes joined while they follow each other on one line, upright or sideways."""
    lines: list[Rectangle] = []
    for box in boxes:
        if lines and _continues(lines[-1], box):
            last = lines[-1]
            lines[-1] = (
                min(last[0], box[0]),
                min(last[1], box[1]),
                max(last[2], box[2]),
                max(last[3], box[3]),
            )
        else:
            lines.append(box)
    return lines


def _continues(line: Rectangle, box: Rectangle) -> bool:
    """Whether ``box`` overlaps the line across and is near its end along it."""
    height, width = box[3] - box[1], box[2] - box[0]
    across = min(line[3], box[3]) - max(line[1], box[1])
    gap = max(box[0] - line[2], line[0] - box[2])
    if across > 0.3 * min(height, line[3] - line[1]) and gap < 3 * height:
        return True
    across = min(line[2], box[2]) - max(line[0], box[0])
    gap = max(box[1] - line[3], line[1] - box[3])
    sideways = line[3] - line[1] > 2 * (line[2] - line[0])
    return sideways and across > 0.3 * width and gap < 3 * width


def _on_image(rectangle: Rectangle, converter: Any, size: tuple[int, int]) -> Rectangle:
    """The rectangle as fractions of the image from its top left; the page may be turned."""
    corners = [converter.to_bitmap(rectangle[i], rectangle[j]) for i, j in ((0, 1), (2, 3))]
    xs = sorted(min(max(x / size[0], 0.0), 1.0) for x, _ in corners)
    ys = sorted(min(max(y / size[1], 0.0), 1.0) for _, y in corners)
    return xs[0], ys[0], xs[1], ys[1]


def _marked(image: Image.Image, boxes: Sequence[Rectangle]) -> Image.Image:
    """The image as if a highlighter had been drawn over the boxes: print stays as dark as it was."""
    if not boxes:
        return image
    layer = Image.new("RGB", image.size, (255, 255, 255))
    pen = ImageDraw.Draw(layer)
    for left, top, right, bottom in boxes:
        corners = (
            left * image.width - 1,
            top * image.height - 1,
            right * image.width + 1,
            bottom * image.height + 1,
        )
        pen.rectangle(corners, fill=MARK_COLOUR)
    return ImageChops.multiply(image, layer)

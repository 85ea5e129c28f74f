"""PDF files, through PDFium: one page at a time, each released before the next."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from workbench.errors import DocumentError
from workbench.ingest import metadata
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document, Heading, ReadPage
from workbench.ingest.layout.columns import in_reading_order
from workbench.ingest.layout.headings import HeadingStyle, body_size
from workbench.ingest.layout.hyphens import Vocabulary
from workbench.ingest.layout.lines import PageLines
from workbench.ingest.layout.paragraphs import page_text
from workbench.ingest.layout.running_heads import without_running_heads
from workbench.ingest.readers.pdf_lines import page_lines
from workbench.ingest.squeeze import squeezed

MAX_PAGES = 20_000
MAX_OUTLINE = 5_000
MIN_LETTERS = 3  # a whole file with fewer has no text

_OPEN_ERRORS = {
    pdfium.FPDF_ERR_PASSWORD: "needs a password: save a copy without one and add that",
    pdfium.FPDF_ERR_SECURITY: "is locked by a protection that cannot be read",
    pdfium.FPDF_ERR_FORMAT: "is damaged or incomplete: it does not open as a PDF",
    pdfium.FPDF_ERR_FILE: "cannot be opened",
}


@dataclass(slots=True)
class _Pages:
    """What came of each page."""

    lines: list[PageLines] = field(default_factory=list)
    labels: list[str | None] = field(default_factory=list)
    images: list[int] = field(default_factory=list)  # pages without text that hold an image
    failed: list[int] = field(default_factory=list)


def open_pdf(path: Path) -> Any:
    """The opened file. Raises DocumentError with the reason when PDFium refuses it."""
    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        reason = _OPEN_ERRORS.get(getattr(error, "err_code", None), _OPEN_ERRORS[pdfium.FPDF_ERR_FORMAT])
        raise DocumentError(f"this PDF {reason}") from error


def read_pdf(
    path: Path, *, skip: Collection[int] = (), at_page: Callable[[int], None] | None = None
) -> Document:
    """The text of a PDF, its headings and what it says about itself.

    ``skip`` holds page numbers (from 1) that are left empty because reading them failed before;
    ``at_page`` is told each page's number before it is read. Raises DocumentError when the file cannot be
    opened, has no page or no text.
    """
    pdf = open_pdf(path)
    try:
        if not 0 < len(pdf) <= MAX_PAGES:
            raise DocumentError(f"this PDF has {len(pdf)} pages")
        pages = _read_pages(pdf, skip, at_page)
        info = pdf.get_metadata_dict()
        outline = _outline(pdf)
    finally:
        pdf.close()
    _refuse_without_text(pages)
    return _document(pages, info, outline)


def _read_pages(pdf: Any, skip: Collection[int], at_page: Callable[[int], None] | None) -> _Pages:
    pages = _Pages()
    for index in range(len(pdf)):
        number = index + 1
        if at_page is not None:
            at_page(number)
        label = repaired(pdf.get_page_label(index)).strip()
        pages.labels.append(label if label and label != str(number) else None)
        lines, has_image = PageLines(0.0, 0.0, ()), False
        if number in skip:
            pages.failed.append(number)
        else:
            try:
                lines, has_image = _read_page(pdf, index)
            except pypdfium2.PdfiumError:
                pages.failed.append(number)
        pages.lines.append(lines)
        if has_image:
            pages.images.append(number)
    return pages


def _read_page(pdf: Any, index: int) -> tuple[PageLines, bool]:
    """One page's lines, and whether it holds an image but no text."""
    page = pdf[index]
    try:
        text_page = page.get_textpage()
        try:
            lines = page_lines(page, text_page)
        finally:
            text_page.close()
        has_text = any(c.isalnum() for line in lines.lines for c in line.text)
        return lines, not has_text and _has_image(page)
    finally:
        page.close()


def _has_image(page: Any) -> bool:
    kinds = [pdfium.FPDF_PAGEOBJ_IMAGE]
    return next(iter(page.get_objects(filter=kinds, max_depth=3)), None) is not None


def _outline(pdf: Any) -> dict[int, frozenset[str]]:
    """Squeezed titles of the file's outline, by the index of the page they point at."""
    titles: dict[int, set[str]] = {}
    for count, item in enumerate(pdf.get_toc(max_depth=6)):
        if count >= MAX_OUTLINE:
            break
        destination = item.get_dest()
        page_index = destination.get_index() if destination else None
        if page_index is not None and (title := squeezed(repaired(item.get_title()))):
            titles.setdefault(page_index, set()).add(title)
    return {index: frozenset(names) for index, names in titles.items()}


def _refuse_without_text(pages: _Pages) -> None:
    letters = (c for page in pages.lines for line in page.lines for c in line.text if c.isalpha())
    if len(list(islice(letters, MIN_LETTERS))) == MIN_LETTERS:
        return
    if len(pages.failed) == len(pages.lines):
        raise DocumentError("none of this PDF's pages can be read: the file is damaged")
    if pages.images:
        raise DocumentError("scanned pages: no text layer, needs OCR")
    raise DocumentError("this PDF has no readable text: its pages are empty, or need OCR")


def _document(pages: _Pages, info: dict[str, str], outline: dict[int, frozenset[str]]) -> Document:
    size = body_size(pages.lines)
    first = pages.lines[0]
    cleaned = without_running_heads(pages.lines, body_size=size)
    vocabulary = Vocabulary(line for page in cleaned for line in page.lines)
    style = HeadingStyle(size, outline)
    read_pages: list[ReadPage] = []
    headings: list[Heading] = []
    for index, page in enumerate(cleaned):
        joined = page_text(in_reading_order(page), page_index=index, style=style, vocabulary=vocabulary)
        read_pages.append(ReadPage(joined.text, pages.labels[index]))
        headings += [Heading(index + 1, start, joined.text[start:end]) for start, end in joined.headings]
    first_text = "\n".join(line.text for line in first.lines)
    found_title = metadata.title(info, first.lines, first_text)
    found_doi = metadata.doi(info, first_text)
    return Document(
        kind="pdf",
        pages=tuple(read_pages),
        title=found_title,
        authors=metadata.authors(info, first.lines, first_text, found_title),
        year=metadata.year(info, first_text, found_doi),
        doi=found_doi,
        headings=tuple(headings),
        warnings=tuple(_warnings(pages)),
    )


def _warnings(pages: _Pages) -> list[str]:
    found = []
    if pages.images:
        found.append(f"No text layer on {numbers(pages.images)}: scanned, needs OCR to be searchable.")
    if pages.failed:
        found.append(f"Could not read {numbers(pages.failed)}: damaged; the rest of the paper was kept.")
    return found


def numbers(pages: Collection[int]) -> str:
    """``"page 3"`` or ``"pages 1, 4-6"``."""
    runs: list[list[int]] = []
    for page in sorted(pages):
        if runs and page == runs[-1][1] + 1:
            runs[-1][1] = page
        else:
            runs.append([page, page])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs]
    listed = ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")
    return f"page {listed}" if len(pages) == 1 else f"pages {listed}"

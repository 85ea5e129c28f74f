"""Small PDFs with known sentences on known pages, made where a test needs them."""

from __future__ import annotations

import os
from pathlib import Path

import pypdfium2
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

HOSTILE_TITLE = '<img src=x onerror="alert(1)">'
CLAIM = "The portrait of Jacquard was woven in silk from 24,000 punched cards."
FILLER = [
    "Looms of this kind lift each warp thread by a hook of its own.",
    "A chain of cards tells the hooks which threads to lift for each passage of the shuttle.",
    "Weavers punched the cards by hand and laced them together in the order of the pattern.",
]


def write_pdf(path: Path, *, title: str, pages: list[list[str]], noise_bytes: int = 0) -> Path:
    """A PDF of one sentence a line; ``noise_bytes`` of an image that cannot be compressed go on page 1."""
    canvas = Canvas(str(path), pagesize=A4)
    canvas.setTitle(title)
    for number, sentences in enumerate(pages):
        text = canvas.beginText(72, 760)
        text.setFont("Helvetica", 11)
        for sentence in sentences:
            text.textLine(sentence)
        canvas.drawText(text)
        if noise_bytes and number == 0:
            side = int((noise_bytes / 3) ** 0.5) + 1
            noise = Image.frombytes("RGB", (side, side), os.urandom(side * side * 3))
            canvas.drawImage(ImageReader(noise), 72, 80, 300, 300)
        canvas.showPage()
    canvas.save()
    return path


def loom_paper(path: Path) -> Path:
    """Three pages; ``CLAIM`` stands on page 2."""
    return write_pdf(
        path, title="Weaving by punched card", pages=[FILLER, [*FILLER[:2], CLAIM, FILLER[2]], FILLER]
    )


def hostile_paper(path: Path) -> Path:
    """One page under a title that would run a script if it were taken for HTML."""
    return write_pdf(path, title=HOSTILE_TITLE, pages=[["Dobby looms lift at most 24 shafts.", *FILLER]])


def large_paper(path: Path) -> Path:
    """Something over twelve megabytes, most of it one picture."""
    return write_pdf(path, title="A large scan of a small pattern", pages=[FILLER], noise_bytes=12_500_000)


def places(path: Path, page: int, text: str) -> list[tuple[float, float, float, float]]:
    """Where ``text`` stands on a page, as the PDF says itself: left, top, right and bottom of each of its
    lines in shares of the page's width and height, from the top left."""
    document = pypdfium2.PdfDocument(path)
    try:
        sheet = document[page - 1]
        width, height = sheet.get_size()
        words = sheet.get_textpage()
        found = words.search(text).get_next()
        assert found, f"{text!r} is not on page {page}"
        rects = [words.get_rect(k) for k in range(words.count_rects(*found))]
    finally:
        document.close()
    return [
        (left / width, 1 - top / height, right / width, 1 - bottom / height)
        for left, bottom, right, top in rects
    ]

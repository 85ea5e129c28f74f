"""Small real files for the ingest tests, made when a test needs them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
LOREM = (
    "Searching papers by their meaning needs vectors of every passage. A vector is made by a model that "
    "reads a few hundred words at a time. Longer passages lose their end without a warning. "
    "That is why passages are measured in the model's own tokens before they are stored."
)

Placed = tuple[float, float, str]  # x, y from the bottom, text


def pdf(
    path: Path,
    pages: Sequence[Sequence[Placed]],
    *,
    size: float = 10,
    font: str = "Times-Roman",
    title: str | None = None,
    author: str | None = None,
    password: str | None = None,
    turned: int = 0,
) -> Path:
    """A PDF with one drawing of text per placed line, in the order given."""
    lock = StandardEncryption(password, ownerPassword="owner", canPrint=0) if password is not None else None
    canvas = Canvas(str(path), pagesize=A4, encrypt=lock)
    if title is not None:
        canvas.setTitle(title)
    if author is not None:
        canvas.setAuthor(author)
    for page in pages:
        canvas.setPageRotation(turned)
        canvas.setFont(font, size)
        for x, y, text in page:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return path


def lines_down(lines: Sequence[str], *, x: float = 72, top: float = 760, leading: float = 12) -> list[Placed]:
    """Lines one below the other."""
    return [(x, top - leading * index, line) for index, line in enumerate(lines)]


def image_pdf(path: Path, *, pages: int = 1) -> Path:
    """A PDF whose pages are pictures: a scan without a text layer."""
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    picture = io.BytesIO()
    Image.new("L", (200, 300), 200).save(picture, "PNG")
    canvas = Canvas(str(path), pagesize=A4)
    for _ in range(pages):
        picture.seek(0)
        canvas.drawImage(ImageReader(picture), 50, 50, 400, 600)
        canvas.showPage()
    canvas.save()
    return path


def text_pdf(path: Path, *paragraphs: str, pages: int = 1) -> Path:
    """A PDF of prose, wrapped at about 90 letters, the same on every page but for its number."""
    import textwrap

    content = []
    for number in range(1, pages + 1):
        lines = [f"Page {number} says something of its own, number {number * 7919}."]
        for paragraph in paragraphs or (LOREM,):
            lines += textwrap.wrap(paragraph, 90)
        content.append(lines_down(lines))
    return pdf(path, content)


def pdf_with_a_broken_page(path: Path, *, instead: bytes) -> Path:
    """A PDF of three pages, written by hand, with another object in the place of its second page."""
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800]"
        b" /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R 6 0 R 8 0 R] /Count 3 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
    ]
    for number in (1, 2, 3):
        drawn = b"BT /F1 12 Tf 72 700 Td (Page %d says something of its own in words.) Tj ET" % number
        objects.append(instead if number == 2 else page % (3 + 2 * number))
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
    whole, table = b"%PDF-1.4\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(whole)
        whole += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size = len(objects) + 1
    whole += b"xref\n0 %d\n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        table,
        size,
        len(whole),
    )
    path.write_bytes(whole)
    return path

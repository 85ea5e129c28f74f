"""Small files that ask for too much, or for what is not theirs: made here, named by what they try."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterable

PROSE = "One fine sentence stands here."
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pdf(
    pages: int, *, lines: int = 30, box: str = "0 0 612 792", count: int | None = None, before: bytes = b""
) -> bytes:
    """A PDF whose pages share one stream of ``lines`` lines; it may claim another ``count`` of pages."""
    shown = b"".join(b"(%s Number %d.) Tj T* " % (PROSE.encode(), line) for line in range(lines))
    stream = zlib.compress(before + b"BT /F1 8 Tf 9 TL 30 780 Td " + shown + b"ET")
    kids = b" ".join(b"%d 0 R" % (5 + page) for page in range(pages))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 3 0 R/Resources<</Font<</F1 4 0 R>>>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages if count is None else count, kids),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *[page % box.encode()] * pages,
    ]
    file, offsets = io.BytesIO(b"%PDF-1.4\n"), []
    file.seek(0, io.SEEK_END)
    for number, text in enumerate(objects, start=1):
        offsets.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, text))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    file.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    file.write(b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))
    return file.getvalue()


def cyclic_pdf() -> bytes:
    """Page trees that hold themselves."""
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 5/Kids[2 0 R 2 0 R]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
    )


def archive(members: Iterable[tuple[str, str | bytes]]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members:
            file.writestr(name, data)
    return packed.getvalue()


def word_file(body: str, *more: tuple[str, str | bytes]) -> bytes:
    """A Word file with this body, and whatever else is to be in the archive."""
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>'
    )
    return archive(
        [
            ("[Content_Types].xml", types),
            ("_rels/.rels", relations(("officeDocument", "word/document.xml", ""))),
            ("word/document.xml", f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'),
            *more,
        ]
    )


def relations(*targets: tuple[str, str, str]) -> str:
    """An Open Packaging relationships part: kind, target, and ``External`` or nothing."""
    listed = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"'
        + (f' TargetMode="{mode}"' if mode else "")
        + "/>"
        for n, (kind, target, mode) in enumerate(targets)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def word_paragraph(text: str = PROSE) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def book(*outside: str) -> bytes:
    """An EPUB whose reading order names ``outside`` before its only chapter."""
    items = [*outside, "chapter.xhtml"]
    listed = "".join(
        f'<item id="i{n}" href="{href}" media-type="application/xhtml+xml"/>' for n, href in enumerate(items)
    )
    order = "".join(f'<itemref idref="i{n}"/>' for n in range(len(items)))
    return archive(
        [
            ("mimetype", "application/epub+zip"),
            (
                "META-INF/container.xml",
                '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
                '<rootfile full-path="c.opf"/></rootfiles></container>',
            ),
            (
                "c.opf",
                '<package xmlns="http://www.idpf.org/2007/opf">'
                f"<manifest>{listed}</manifest><spine>{order}</spine></package>",
            ),
            ("chapter.xhtml", f"<html><body><p>{PROSE}</p></body></html>"),
            *((name, "escaped") for name in outside),
        ]
    )


def laughing_xml(levels: int = 9) -> bytes:
    """Entities that stand for ten of the one before: a billion words from one line."""
    entities = "".join(
        f'<!ENTITY l{n} "{(f"&l{n - 1};" if n > 1 else "lol ") * 10}">' for n in range(1, levels + 1)
    )
    return (
        f'<?xml version="1.0"?><!DOCTYPE article [{entities}]>'
        f"<article><body><p>{PROSE}</p><p>&l{levels};</p></body></article>"
    ).encode()


def outside_entity(path: str, *, html: bool = False) -> bytes:
    """XML or HTML that would have a file of the machine put into its text."""
    head = f'[<!ENTITY x SYSTEM "file://{path}">]>'
    if html:
        return f"<!DOCTYPE html {head}<html><body><p>{PROSE} &x;</p></body></html>".encode()
    return (
        f'<?xml version="1.0"?><!DOCTYPE a {head}<article><body><p>{PROSE} &x;</p></body></article>'.encode()
    )


def calling_html(address: str, path: str) -> bytes:
    """A page that would load parts from ``address`` and from a file of the machine."""
    return (
        f'<html><head><base href="{address}/"><link rel="stylesheet" href="{address}/style.css">'
        f'<script src="{address}/script.js"></script></head><body><p>{PROSE}</p>'
        f'<img src="{address}/image.png"><iframe src="file://{path}"></iframe>'
        f'<object data="{address}/object"></object></body></html>'
    ).encode()


def notebook_with_outputs() -> bytes:
    outputs = [
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"text/html": "<script>steal()</script>", "text/plain": "plain words of an output"},
        },
        {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * 3_000_000}},
    ]
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": f"# A notebook\n\n{PROSE}"},
        {"cell_type": "code", "metadata": {}, "source": "1", "execution_count": 1, "outputs": outputs},
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()

"""Any file to a Document, in this process. ``sandbox.Reader`` does the same in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired
from workbench.ingest.decoding import decode
from workbench.ingest.document import Document
from workbench.ingest.sniffing import kind_of_bytes, kind_of_text, refuse_binary

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SNIFFED = 200_000  # characters a kind of text is told by


def read_document(
    path: Path,
    *,
    name: str,
    skip_pages: Collection[int] = (),
    at_page: Callable[[int], None] | None = None,
) -> Document:
    """The document in ``path``, known to the user as ``name``. Its kind is told by its content.

    ``skip_pages`` and ``at_page`` are those of ``readers.pdf.read_pdf``. Raises DocumentError with the
    reason, one line without the file's name, where the file cannot become a paper.
    """
    kind = kind_of_bytes(path)
    if kind == "pdf":
        from workbench.ingest.readers.pdf import read_pdf

        return read_pdf(path, skip=skip_pages, at_page=at_page)
    if kind == "docx":
        from workbench.ingest.readers.docx import read_docx

        document = read_docx(path)
    elif kind == "epub":
        from workbench.ingest.readers.epub import read_epub

        document = read_epub(path)
    else:
        document = _read_text_file(path, name)
    if not any(c.isalnum() for page in document.pages for c in page.text):
        raise DocumentError("there is no text in the file")
    return document


def read_text_document(text: str, *, kind: str = "txt") -> Document:
    """A text that is at hand already, read like a file of ``kind`` (``"txt"`` or ``"md"``)."""
    from workbench.ingest.readers import text as reader

    clean = repaired(text)
    return reader.read_markdown(clean) if kind == "md" else reader.read_text(clean)


def _read_text_file(path: Path, name: str) -> Document:
    decoded = decode(path.read_bytes())
    refuse_binary(decoded.text)
    kind = kind_of_text(decoded.text[:_SNIFFED], name)
    document = _read_text(decoded.text, kind, name)
    if not decoded.warnings:
        return document
    from dataclasses import replace

    return replace(document, warnings=(*document.warnings, *decoded.warnings))


def _read_text(raw: str, kind: str, name: str) -> Document:
    from workbench.ingest.readers import text as reader

    if kind == "html":
        from workbench.ingest.readers.html import read_html

        return read_html(raw)
    if kind == "ipynb":
        from workbench.ingest.readers.notebook import read_notebook

        return read_notebook(raw)
    if kind == "json":
        from workbench.ingest.readers.json_tree import read_json

        return read_json(raw)
    if kind == "xml":
        from workbench.ingest.readers.xml_text import read_xml

        return read_xml(raw)
    text = repaired(_ANSI.sub("", raw) if kind == "log" else raw)
    if kind == "csv":
        from workbench.ingest.readers.csv_table import read_csv

        return read_csv(text, name)
    if kind == "md":
        return reader.read_markdown(text)
    if kind == "log":
        return reader.read_log(text)
    return reader.read_bibliography(text, kind) if kind in {"bib", "ris"} else reader.read_text(text)

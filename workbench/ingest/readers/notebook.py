"""Jupyter notebooks: markdown, code and the text of outputs, cell by cell. Nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import nbformat

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired, tidy
from workbench.ingest.document import Document, Heading, ReadPage
from workbench.ingest.readers.text import markdown_blocks
from workbench.ingest.sections import LONGEST, pieces

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_SHORTEST = 400  # characters: shorter cells are read together with the next ones
_MAX_OUTPUT = 20_000  # characters of one output; more is a dump, and the cell's code makes it again


def read_notebook(text: str) -> Document:
    """Cells in order, in sections labelled ``cells 3-5``; the first heading is the title."""
    try:
        notebook = nbformat.reads(text, as_version=4)
    except (
        nbformat.reader.NotJSONError,
        nbformat.ValidationError,
        AttributeError,
        KeyError,
        TypeError,
    ) as error:
        raise DocumentError("this notebook is damaged: it does not open") from error
    pages: list[ReadPage] = []
    headings: list[Heading] = []
    group: list[tuple[str, bool]] = []
    first, cut = 1, False
    cells = notebook.get("cells", [])
    for number, cell in enumerate(cells, start=1):
        for part, is_heading, was_cut in _cell_parts(cell):
            group.append((part, is_heading))
            cut = cut or was_cut
        size = sum(len(part) for part, _ in group)
        if size >= _SHORTEST or number == len(cells):
            _append(pages, headings, group, first, number)
            group, first = [], number + 1
    warnings = (f"Outputs longer than {_MAX_OUTPUT:,} characters were cut.",) if cut else ()
    title = headings[0].text if headings else None
    return Document(
        kind="ipynb",
        pages=tuple(pages),
        page_unit="section",
        title=title,
        headings=tuple(headings),
        warnings=warnings,
    )


def _append(
    pages: list[ReadPage], headings: list[Heading], group: list[tuple[str, bool]], first: int, last: int
) -> None:
    label = f"cell {first}" if first == last else f"cells {first}-{last}"
    texts: list[str] = []
    length = 0
    for part, is_heading in group:
        if texts and length + len(part) > LONGEST:
            pages.append(ReadPage("\n\n".join(texts), label))
            texts, length = [], 0
        if is_heading:
            headings.append(Heading(len(pages) + 1, length, part))
        texts.append(part)
        length += len(part) + 2
    if texts:
        pages.append(ReadPage("\n\n".join(texts), label))


def _cell_parts(cell: Any) -> Iterator[tuple[str, bool, bool]]:
    """Texts of one cell: each with whether it is a heading and whether it was cut."""
    source = tidy(repaired(_joined(cell.get("source", ""))))
    if cell.get("cell_type") == "markdown":
        for block in markdown_blocks(source):
            if block.text.strip():
                yield block.text, block.heading, False
        return
    for part in pieces(source):
        yield part, False, False
    for output in cell.get("outputs", ()):
        text = tidy(repaired(_ANSI.sub("", _output_text(output))))
        for part in pieces(text[:_MAX_OUTPUT]):
            yield part, False, len(text) > _MAX_OUTPUT


def _output_text(output: Any) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _joined(output.get("text", ""))
    if kind == "error":
        return f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    data = output.get("data", {})
    return _joined(data.get("text/markdown") or data.get("text/plain") or "")


def _joined(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)

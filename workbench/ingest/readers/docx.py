"""Word files: paragraphs and tables in document order, then footnotes, headers and footers.

python-docx opens the file and finds its parts. The text is read from the XML directly: asking its objects
for the text of every cell takes minutes on a long table.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
from docx.opc.exceptions import PackageNotFoundError
from lxml import etree

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document
from workbench.ingest.sections import Block, pieces, sections_of_blocks

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED = frozenset(
    {f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", _FALLBACK, f"{_W}pPr", f"{_W}rPr"}
)
_SIGNS = {f"{_W}tab": " ", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-", f"{_W}ptab": " "}
_HEADING_STYLE = re.compile(r"heading [1-9]|title", re.IGNORECASE)
_PLACEHOLDER_TITLE = re.compile(
    r"^(?:untitled|word document|document\d*|microsoft word.*|title|.*\.docx?)$", re.I
)
_NOTES = (("footnotes", "Footnotes"), ("endnotes", "Endnotes"))


def read_docx(path: Path) -> Document:
    """The document's text in sections named after its headings; cells of a row are parted by ``|``."""
    try:
        opened = docx.Document(str(path))
    except (PackageNotFoundError, KeyError, ValueError, zipfile.BadZipFile, etree.XMLSyntaxError) as error:
        raise DocumentError("this Word file is damaged or incomplete: it does not open") from error
    _refuse_entities(opened.element)
    heading_styles = _heading_styles(opened)
    blocks = list(_body_blocks(opened.element.body, heading_styles))
    title = _title(opened, blocks)
    found = sections_of_blocks([*blocks, *_note_blocks(opened)])
    return Document(
        kind="docx",
        pages=found.pages,
        page_unit="section",
        title=title,
        authors=_authors(opened),
        headings=found.headings,
    )


def _refuse_entities(root: Any) -> None:
    """Raises DocumentError for a part with a document type: Word writes none, and text could hide in it."""
    if root.getroottree().docinfo.internalDTD is not None:
        raise DocumentError(
            "this Word file declares a document type, which may hide text: save it again in Word and add that"
        )


def _heading_styles(opened: Any) -> frozenset[str]:
    """Ids of the styles that make headings: ids are in the author's language, names are not."""
    return frozenset(
        style.get(f"{_W}styleId")
        for style in opened.styles.element.iterfind(f"{_W}style")
        if (name := style.find(f"{_W}name")) is not None
        and _HEADING_STYLE.fullmatch(name.get(f"{_W}val") or "")
    )


def _body_blocks(body: Any, heading_styles: frozenset[str]) -> Iterator[Block]:
    """Paragraphs and tables, those inside content controls and tracked insertions too."""
    stack = list(reversed(body))
    while stack:
        element = stack.pop()
        if element.tag == f"{_W}p":
            text = _paragraph_text(element)
            if text:
                yield from _paragraph_blocks(element, text, heading_styles)
        elif element.tag == f"{_W}tbl":
            yield from (Block(part) for part in pieces("\n".join(_rows(element))))
        elif element.tag not in _SKIPPED:
            stack.extend(reversed(element))


def _paragraph_blocks(paragraph: Any, text: str, heading_styles: frozenset[str]) -> Iterator[Block]:
    properties = paragraph.find(f"{_W}pPr")
    if properties is not None:
        style = properties.find(f"{_W}pStyle")
        level = properties.find(f"{_W}outlineLvl")
        is_heading = (style is not None and style.get(f"{_W}val") in heading_styles) or (
            level is not None and (level.get(f"{_W}val") or "9") < "9"
        )
        if is_heading and len(text) <= 300:
            yield Block(" ".join(text.split()), heading=True)
            return
        if properties.find(f"{_W}numPr") is not None:
            text = f"• {text}"
    yield from (Block(part) for part in pieces(text))


def _paragraph_text(paragraph: Any) -> str:
    """The words of one paragraph, formulas included, deleted and alternative text left out."""
    words: list[str] = []
    stack = [paragraph]
    while stack:
        element = stack.pop()
        tag = element.tag
        if tag in (f"{_W}t", f"{_M}t"):
            words += [element.text or "", *(child.tail or "" for child in element)]
        elif tag in _SIGNS:
            words.append(_SIGNS[tag])
        elif tag not in _SKIPPED:
            if tag == f"{_M}oMath":
                words.append(" ")
            if tag == f"{_W}p" and element is not paragraph:  # a text box inside the paragraph
                words.append("\n")
            stack.extend(reversed(element))
    return "\n".join(" ".join(line.split()) for line in repaired("".join(words)).split("\n")).strip()


def _rows(table: Any) -> Iterator[str]:
    """One line per row; a table inside a cell becomes part of the cell."""
    for row in table.iterchildren(f"{_W}tr", f"{_W}sdt"):
        cells = [
            _cell_text(cell) for cell in row.iter(f"{_W}tc") if _row_of(cell) is row or row.tag != f"{_W}tr"
        ]
        if any(cells):
            yield " | ".join(cells)


def _row_of(cell: Any) -> Any:
    parent = cell.getparent()
    while parent is not None and parent.tag != f"{_W}tr":
        parent = parent.getparent()
    return parent


def _cell_text(cell: Any) -> str:
    texts = [_paragraph_text(paragraph) for paragraph in cell.iter(f"{_W}p")]
    return " ".join(text.replace("\n", " ") for text in texts if text)


def _note_blocks(opened: Any) -> Iterator[Block]:
    """Footnotes, endnotes, and each distinct header and footer, under headings of their own."""
    for kind, name in _NOTES:
        texts = [text for part in _parts(opened, kind) for text in _part_paragraphs(part)]
        if texts:
            yield Block(name, heading=True)
            yield from (Block(text) for text in texts)
    edges = [
        text
        for kind in ("header", "footer")
        for part in _parts(opened, kind)
        for text in _part_paragraphs(part)
    ]
    distinct = [text for text in dict.fromkeys(edges) if any(map(str.isalpha, text))]
    if distinct:
        yield Block("Headers and footers", heading=True)
        yield Block("\n".join(distinct))


def _parts(opened: Any, kind: str) -> list[Any]:
    """Parsed parts of one kind that the document refers to, in the order of their names."""
    relations = opened.part.rels.values()
    parts = {
        str(relation.target_part.partname): relation.target_part.blob
        for relation in relations
        if not relation.is_external and relation.reltype.endswith(f"/{kind}")
    }
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True)
    roots = [etree.fromstring(parts[name], parser) for name in sorted(parts)]
    for root in roots:
        if root is not None:
            _refuse_entities(root)
    return [root for root in roots if root is not None]


def _part_paragraphs(root: Any) -> list[str]:
    return [text for paragraph in root.iter(f"{_W}p") if (text := _paragraph_text(paragraph))]


def _title(opened: Any, blocks: list[Block]) -> str | None:
    stated = " ".join(repaired(opened.core_properties.title or "").split())
    if stated and len(stated) <= 300 and not _PLACEHOLDER_TITLE.match(stated):
        return stated
    return next((block.text for block in blocks[:5] if block.heading), None)


def _authors(opened: Any) -> tuple[str, ...]:
    stated = repaired(opened.core_properties.author or "")
    names = [name.strip() for name in re.split(r"[;,]", stated)]
    return tuple(name for name in names if " " in name and not name.lower().startswith("python-docx"))

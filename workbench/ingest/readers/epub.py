"""EPUB books: the HTML parts in reading order."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lxml import etree

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired
from workbench.ingest.decoding import decode
from workbench.ingest.document import Document
from workbench.ingest.readers.html import html_blocks
from workbench.ingest.sections import Block, sections_of_blocks

_DAMAGED = "this EPUB is damaged: it does not open"


def read_epub(path: Path) -> Document:
    """Sections named after the book's headings, with its title and authors."""
    try:
        with zipfile.ZipFile(path) as archive:
            package_name, package = _package(archive)
            found = sections_of_blocks(_blocks(archive, package_name, package))
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, etree.XMLSyntaxError) as error:
        raise DocumentError(_DAMAGED) from error
    titles = _values(package, "title")
    return Document(
        kind="epub",
        pages=found.pages,
        page_unit="section",
        title=titles[0] if titles and not titles[0].lower().startswith("untitled") else None,
        authors=tuple(_values(package, "creator")),
        headings=found.headings,
    )


def _parsed(data: bytes) -> Any:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(data, parser)


def _package(archive: zipfile.ZipFile) -> tuple[str, Any]:
    container = _parsed(archive.read("META-INF/container.xml"))
    root = container.find(".//{*}rootfile")
    if root is None:
        raise DocumentError(_DAMAGED)
    name = root.get("full-path", "")
    return name, _parsed(archive.read(name))


def _blocks(archive: zipfile.ZipFile, package_name: str, package: Any) -> Iterator[Block]:
    folder = posixpath.dirname(package_name)
    items = {item.get("id"): item for item in package.iterfind(".//{*}manifest/{*}item")}
    names = set(archive.namelist())
    for reference in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "html" not in (item.get("media-type") or ""):
            continue
        name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        if name in names:
            yield from html_blocks(decode(archive.read(name)).text)


def _values(package: Any, name: str) -> list[str]:
    texts = ["".join(e.itertext()) for e in package.iterfind(f".//{{*}}metadata/{{*}}{name}")]
    return [text for text in (" ".join(repaired(t).split()) for t in texts) if text]

"""XML as text: the words of its elements, block by block. No entity is expanded, nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document
from workbench.ingest.sections import Block, pieces, sections_of_blocks

_INLINE = frozenset(
    {
        "italic", "bold", "sup", "sub", "xref", "ext-link", "underline", "sc", "monospace",
        "styled-content", "named-content", "i", "b", "em", "strong", "a", "span", "uri", "email",
        "inline-formula", "tex-math", "mml:math", "abbrev", "institution", "country", "surname",
        "given-names", "year", "volume", "fpage", "lpage", "source", "article-title-in-ref",
        "pub-id", "person-group", "name", "string-name", "collab", "label",
    }
)  # fmt: skip
_HEADINGS = frozenset({"title", "article-title"})
_SKIPPED = frozenset({"tex-math", "object-id", "script", "style"})
_YEAR = re.compile(r"(?:19|20)\d{2}")


def read_xml(text: str) -> Document:
    """Blocks of text with their headings; title, authors, year and DOI of a JATS article."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    try:
        root = etree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError(f"the XML is damaged: {error.msg}") from error
    if root is None:
        raise DocumentError("the XML is damaged: it holds no element")
    found = sections_of_blocks(_blocks(root))
    return Document(
        kind="xml",
        pages=found.pages,
        page_unit="section",
        title=_text_of(root, ".//{*}article-meta//{*}article-title") or _text_of(root, "./{*}title"),
        authors=_authors(root),
        year=_year(root),
        doi=_text_of(root, ".//{*}article-meta/{*}article-id[@pub-id-type='doi']"),
        headings=found.headings,
    )


def _local(element: Any) -> str:
    tag = element.tag
    return etree.QName(element).localname.lower() if isinstance(tag, str) else ""


def _blocks(root: Any) -> Iterator[Block]:
    """Each element with words of its own is a block, with the elements inside its line."""
    words: list[str] = []
    heading = False
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = _local(element)
        inline = not name or name in _INLINE or (name in _HEADINGS and _in_reference(element))
        if not inline and words:
            yield from _flushed(words, heading)
        if event == "start":
            heading = heading if inline else name in _HEADINGS
            if name and name not in _SKIPPED and element.text:
                words.append(element.text)
        else:
            if not inline:
                heading = False
            if element.tail:
                words.append(element.tail)
            elif inline:
                words.append(" ")
    yield from _flushed(words, False)


def _in_reference(element: Any) -> bool:
    parent = element.getparent()
    return parent is not None and _local(parent) in {"element-citation", "mixed-citation", "citation"}


def _flushed(words: list[str], heading: bool) -> Iterator[Block]:
    text = " ".join(repaired("".join(words)).split())
    words.clear()
    if text:
        if heading:
            yield Block(text, heading=True)
        else:
            yield from (Block(part) for part in pieces(text))


def _text_of(root: Any, path: str) -> str | None:
    element = root.find(path)
    if element is None:
        return None
    return " ".join(repaired("".join(element.itertext())).split()) or None


def _authors(root: Any) -> tuple[str, ...]:
    names = []
    for contributor in root.iterfind(".//{*}article-meta//{*}contrib[@contrib-type='author']"):
        given, last = (
            _text_of(contributor, "{*}name/{*}given-names"),
            _text_of(contributor, "{*}name/{*}surname"),
        )
        if last:
            names.append(f"{given} {last}" if given else last)
    return tuple(dict.fromkeys(names))


def _year(root: Any) -> int | None:
    found = _text_of(root, ".//{*}article-meta/{*}pub-date/{*}year")
    return int(found) if found and _YEAR.fullmatch(found) else None

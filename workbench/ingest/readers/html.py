"""HTML as text: blocks in document order, without menus and scripts. Nothing is fetched or run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document
from workbench.ingest.sections import Block, pieces, sections_of_blocks

_DROPPED = frozenset(
    {
        "script", "style", "noscript", "template", "iframe", "object", "embed", "svg", "canvas",
        "nav", "aside", "form", "button", "select", "input", "textarea", "audio", "video", "map",
        "dialog", "head",
    }
)  # fmt: skip
_BLOCKS = frozenset(
    {
        "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "div",
        "dl", "dt", "fieldset", "figcaption", "figure", "footer", "header", "hr", "li", "main",
        "ol", "p", "pre", "section", "summary", "table", "ul",
    }
)  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_MAIN = ("#mw-content-text", "article", "main", "[role=main]", "#content", ".content")
_MAIN_SHARE = 0.4  # of the body's text: a smaller "main" part is not the document
_NOT_TEXT = ".mw-editsection, .noprint, .navbox, .reference-tooltip, [role=navigation]"
_TAG = re.compile(r"<(/?)([a-z][a-z0-9:-]*+)", re.IGNORECASE)
_CLOSED_BY_OTHERS = frozenset(
    {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr", "p", "li", "dt", "dd", "option", "optgroup", "thead", "tbody", "tfoot", "tr", "td",
        "th", "colgroup", "rt", "rp", "html", "head", "body",
    }
)  # fmt: skip
_DEEPEST = 10_000  # elements inside each other: the parser's time grows with their square
_YEAR = re.compile(r"\b((?:19|20)\d{2})\b")


def read_html(text: str) -> Document:
    """Sections named after the page's headings, with title and authors where the page states them."""
    tree = _parsed(text)
    metas = _metas(tree)
    title = _first(metas, "citation_title", "dc.title", "og:title") or _title(tree)
    blocks = list(_blocks(_main_part(tree)))
    found = sections_of_blocks(blocks)
    year = _YEAR.search(_first(metas, "citation_publication_date", "citation_date", "dc.date") or "")
    return Document(
        kind="html",
        pages=found.pages,
        page_unit="section",
        title=title,
        authors=tuple(dict.fromkeys(metas.get("citation_author", []) or metas.get("dc.creator", []))),
        year=int(year[1]) if year else None,
        doi=(_first(metas, "citation_doi") or "").removeprefix("doi:").strip() or None,
        headings=found.headings,
    )


def html_blocks(text: str) -> Iterator[Block]:
    """The blocks of a whole HTML text, menus included where they are marked as content."""
    tree = _parsed(text)
    if tree.body is not None:
        yield from _blocks(tree.body)


def _parsed(text: str) -> LexborHTMLParser:
    """The page's tree. Raises DocumentError for nesting that no page has, before the parser meets it."""
    depth = 0
    for closing, tag in _TAG.findall(text):
        if tag.lower() not in _CLOSED_BY_OTHERS:
            depth = max(depth - 1, 0) if closing else depth + 1
            if depth > _DEEPEST:
                raise DocumentError("the page is nested too deeply to be read")
    return LexborHTMLParser(text)


def _metas(tree: LexborHTMLParser) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in tree.css("meta[name][content], meta[property][content]"):
        name = (node.attributes.get("name") or node.attributes.get("property") or "").lower()
        content = _plain(node.attributes.get("content") or "")
        if content:
            found.setdefault(name, []).append(content)
    return found


def _first(metas: dict[str, list[str]], *names: str) -> str | None:
    return next((metas[name][0] for name in names if metas.get(name)), None)


def _title(tree: LexborHTMLParser) -> str | None:
    for selector in ("title", "h1"):
        node = tree.css_first(selector)
        if node is not None and (text := _plain(node.text())):
            return text
    return None


def _main_part(tree: LexborHTMLParser) -> LexborNode | None:
    body = tree.body
    if body is None:
        return None
    for node in body.css(_NOT_TEXT):
        node.decompose()
    whole = len(body.text())
    for selector in _MAIN:
        nodes = body.css(selector)
        if len(nodes) == 1 and len(nodes[0].text()) >= _MAIN_SHARE * whole:
            return nodes[0]
    return body


def _blocks(root: LexborNode | None) -> Iterator[Block]:
    """Blocks under ``root``, walked without recursion, so that no depth of nesting can end the reader."""
    if root is None:
        return
    words: list[str] = []
    heading_depth = preformatted = 0
    stack: list[tuple[LexborNode, bool]] = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        tag = node.tag or ""
        if tag == "-text":
            words.append(
                node.text_content or "" if preformatted else _SPACE.sub(" ", node.text_content or "")
            )
            continue
        if leaving:
            yield from _flushed(words, heading_depth > 0)
            heading_depth -= tag in _HEADINGS
            preformatted -= tag == "pre"
            continue
        if tag in _DROPPED or tag.startswith("-") or tag.startswith("!") or _is_hidden(node):
            continue
        if tag == "br":
            words.append("\n")
            continue
        if tag == "table" and not _is_layout(node):
            yield from _flushed(words, False)
            yield from (Block(part) for part in pieces(_table(node)))
            continue
        if tag in _BLOCKS or tag in _HEADINGS:
            yield from _flushed(words, heading_depth > 0)
            heading_depth += tag in _HEADINGS
            preformatted += tag == "pre"
            stack.append((node, True))
            if tag == "li":
                words.append("• ")
        elif tag in {"td", "th", "tr"}:
            words.append(" ")
        stack.extend((child, False) for child in reversed(list(_children(node))))
    yield from _flushed(words, False)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return "hidden" in attributes or _HIDDEN_STYLE.search(attributes.get("style") or "") is not None


def _is_layout(table: LexborNode) -> bool:
    """Whether the table only places text: it holds other tables, headings, or long paragraphs."""
    return any(node is not table for node in table.css("table")[1:]) or bool(table.css("h1, h2, h3, p + p"))


def _table(table: LexborNode) -> str:
    rows = []
    for row in table.css("tr"):
        cells = [_plain(cell.text(separator=" ")) for cell in row.css("td, th")]
        if any(cells):
            rows.append(" | ".join(cells))
    caption = table.css_first("caption")
    if caption is not None and (text := _plain(caption.text())):
        rows.insert(0, text)
    return "\n".join(rows)


def _flushed(words: list[str], heading: bool) -> Iterator[Block]:
    text = "".join(words).strip()
    words.clear()
    if text and text != "•":
        lines = [_trimmed(line) for line in repaired(text).split("\n")]
        joined = "\n".join(lines).strip()
        if heading:
            yield Block(" ".join(joined.split()), heading=True)
        else:
            yield from (Block(part) for part in pieces(joined))


def _trimmed(line: str) -> str:
    return line.rstrip() if line.startswith("  ") else re.sub(r" {2,}", " ", line).strip()


def _plain(text: Any) -> str:
    return " ".join(repaired(str(text)).split())

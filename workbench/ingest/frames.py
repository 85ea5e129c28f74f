"""The wire between a process and its reading process: a length, JSON, and optionally raw bytes.

Nothing that is read is executed, whatever a broken or hijacked reader sends: no pickles.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from workbench.ingest.document import Document, Heading, ReadPage

_HEADER = struct.Struct("!IQ")  # bytes of JSON, bytes that follow it
MAX_JSON = 2_000_000_000
MAX_BYTES = 200_000_000


def packed(message: dict[str, Any], payload: bytes = b"") -> bytes:
    """One frame. Lone halves of characters are escaped, and survive."""
    body = json.dumps(message).encode("ascii")
    return _HEADER.pack(len(body), len(payload)) + body + payload


def read_frame(read_exactly: Callable[[int], bytes]) -> tuple[dict[str, Any], bytes]:
    """The next frame, from a function that returns exactly as many bytes as it is asked for."""
    json_length, payload_length = _HEADER.unpack(read_exactly(_HEADER.size))
    if json_length > MAX_JSON or payload_length > MAX_BYTES:
        raise ValueError("a frame of the reading process is too large")
    message = json.loads(read_exactly(json_length))
    if not isinstance(message, dict):
        raise ValueError("a frame of the reading process is no object")
    return message, read_exactly(payload_length)


def document_to_wire(document: Document) -> dict[str, Any]:
    """The document as plain JSON values."""
    return {
        "kind": document.kind,
        "pages": [[page.text, page.label] for page in document.pages],
        "page_unit": document.page_unit,
        "title": document.title,
        "authors": list(document.authors),
        "year": document.year,
        "doi": document.doi,
        "headings": [[h.page, h.char_in_page, h.text] for h in document.headings],
        "warnings": list(document.warnings),
    }


def document_from_wire(values: dict[str, Any]) -> Document:
    """The document that ``document_to_wire`` took apart."""
    return Document(
        kind=values["kind"],
        pages=tuple(ReadPage(text, label) for text, label in values["pages"]),
        page_unit=values["page_unit"],
        title=values["title"],
        authors=tuple(values["authors"]),
        year=values["year"],
        doi=values["doi"],
        headings=tuple(Heading(page, char, text) for page, char, text in values["headings"]),
        warnings=tuple(values["warnings"]),
    )

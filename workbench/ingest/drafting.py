"""What a read document becomes in the library: its draft, and a title where it has none. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import InvalidInputError
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document
from workbench.ingest.reading import read_text_document
from workbench.storage.cleaning import MAX_FILE_NAME
from workbench.storage.drafts import ChunkDraft, PageDraft, PaperDraft

if TYPE_CHECKING:
    import numpy

LONGEST_TITLE = 1_000  # characters that a user's own title may have
_SPARE_TITLE = 80  # characters of a text that serve as its title


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The bytes a text is stored as, and their hash."""

    data: bytes
    sha256: str


def paper_draft(
    document: Document,
    chunks: Sequence[ChunkDraft],
    vectors: numpy.ndarray | None,
    *,
    sha256: str,
    source: Path | bytes,
) -> PaperDraft:
    """The draft that storage takes."""
    starts = document.page_starts()
    pages = tuple(
        PageDraft(number, page.label, page.text, start, start + len(page.text))
        for number, (page, start) in enumerate(zip(document.pages, starts, strict=True), start=1)
    )
    return PaperDraft(
        sha256=sha256,
        kind=document.kind,
        title=document.title or "Untitled",
        authors=document.authors,
        year=document.year,
        doi=document.doi,
        page_unit=document.page_unit,
        pages=pages,
        chunks=tuple(chunks),
        vectors=vectors,
        source=source,
    )


def titled(document: Document) -> Document:
    """The document with a title that every user of the library may see: its own, else its first words.

    A file's name is never one: it belongs to the user who added the file.
    """
    if document.title:
        return document
    opening = document.pages[0].text if document.pages else ""
    return replace(document, title=neutral_title(document.kind, opening))


def neutral_title(kind: str, opening: str) -> str:
    """The title of a document that states none, from its kind and the text of its first page."""
    return _beginning(opening) or f"Untitled {kind} file"


def titled_again(document: Document, stored: str) -> Document:
    """A document read again: one that states no title keeps the stored one where its text begins with it,
    as a record's does. Any other came from a file's name."""
    whole = titled(document)
    opening = " ".join(document.pages[0].text.split()) if document.pages else ""
    kept = not document.title and opening.startswith(stored.removesuffix("…"))
    return replace(whole, title=stored) if kept else whole


def check_title(title: str) -> None:
    """Raises InvalidInputError for a title that is no title any more."""
    if len(title) > LONGEST_TITLE:
        raise InvalidInputError(
            f"This title has {len(title):,} characters, and {LONGEST_TITLE:,} is the most: shorten it."
        )


def record_source(record: Mapping[str, Any]) -> RecordSource:
    """The bytes of a record: its title, a blank line, its text. Raises InvalidInputError for a bad one."""
    if not isinstance(record, Mapping):
        raise InvalidInputError(f"a record is a mapping with a title and a text, not {type(record).__name__}")
    title, text = record.get("title") or "", record.get("text")
    if not isinstance(title, str) or not isinstance(text, str):
        raise InvalidInputError("a record needs a title and a text, both strings")
    check_title(title)
    whole = f"{title.strip()}\n\n{text}" if title.strip() else text
    data = repaired(whole).encode("utf-8")
    return RecordSource(data, hashlib.sha256(data).hexdigest())


def record_document(record: Mapping[str, Any]) -> Document:
    """The document of a record: its text, with its title or the text's first words as title."""
    document = read_text_document(record["text"])
    title = " ".join(repaired(record.get("title") or "").split())
    return replace(document, title=title or first_words(document))


def record_name(record: Any) -> str:
    """What a record goes by in reports: its title, else its own id; cut where it is long."""
    title = record.get("title") if isinstance(record, Mapping) else None
    named = title.strip() if isinstance(title, str) else ""
    name = named or record_id(record) or "text"
    return name if len(name) <= MAX_FILE_NAME else f"{name[: MAX_FILE_NAME - 1]}…"


def record_id(record: Any) -> str | None:
    """The id that a record brings, as text; None where it has none."""
    given = record.get("source_id") if isinstance(record, Mapping) else None
    return None if given is None else str(given)


def record_length(record: Any) -> int:
    """Characters of a record's text; 0 where it has none."""
    text = record.get("text") if isinstance(record, Mapping) else None
    return len(text) if isinstance(text, str) else 0


def first_words(document: Document) -> str | None:
    """The beginning of a text, to serve as its title."""
    return _beginning(document.pages[0].text) if document.pages else None


def _beginning(page: str) -> str | None:
    text = " ".join(page[: 50 * _SPARE_TITLE].split())
    if len(text) <= _SPARE_TITLE:
        return text or None
    cut = text.rfind(" ", 0, _SPARE_TITLE)
    return text[: cut if cut > 0 else _SPARE_TITLE].rstrip(" ,;:") + "…"

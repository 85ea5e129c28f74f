"""A note becomes a paper: Markdown of the user's own, with an identity that its text does not decide."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, replace

from workbench.errors import DocumentError, InvalidInputError
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document
from workbench.ingest.drafting import first_words, paper_draft
from workbench.ingest.indexing import PaperIndexer
from workbench.ingest.progress import FileWork
from workbench.ingest.reading import read_text_document
from workbench.storage.drafts import PaperDraft

KIND = "note"


@dataclass(frozen=True)
class PreparedNote:
    """A note read, chunked and embedded, not stored yet. ``work`` knows what each stage took."""

    body: str
    draft: PaperDraft
    warnings: tuple[str, ...]
    work: FileWork


def note_document(title: str, body: str) -> Document:
    """The note's text in sections, under its title or its own first words.

    Raises InvalidInputError where there is nothing to find it by.
    """
    text = repaired(body)
    if not any(c.isalnum() for c in text):
        raise InvalidInputError("A note needs some text: write at least one word.")
    document = read_text_document(f"\n{text}", kind="md")  # not at the start: "---" there is front matter
    chosen = " ".join(repaired(title).split()) or document.title or first_words(document)
    return replace(document, kind=KIND, title=chosen)


def prepare_note(indexer: PaperIndexer, title: str, body: str, *, user: str) -> PreparedNote:
    """Everything slow about a note, done while the library is closed. Raises InvalidInputError."""
    document = note_document(title, body)
    source = _source(document.title or "Untitled", body)
    work = FileWork(f"{document.title}.md", user, sha256=hashlib.sha256(source).hexdigest(), stage="chunk")
    try:
        with work.timed("chunk"):
            chunks = indexer.chunks(document)
    except DocumentError as error:
        raise InvalidInputError(f"This note cannot be indexed: {error}.") from error
    with work.timed("embed"):
        embedded = indexer.embedded(KIND, chunks)
    draft = paper_draft(document, chunks, embedded.vectors, sha256=work.sha256 or "", source=source)
    return PreparedNote(body, draft, (*document.warnings, *embedded.warnings), work)


def _source(title: str, body: str) -> bytes:
    """The note as a Markdown file. Its own id keeps two notes of one text apart, and two users'."""
    head = f"---\nid: {uuid.uuid4()}\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n\n"
    return (head + repaired(body)).encode("utf-8")

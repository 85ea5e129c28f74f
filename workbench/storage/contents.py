"""What a paper consists of in the library: pages, chunks, vectors and the file itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from duckdb import DuckDBPyConnection

from workbench.errors import DocumentError, InvalidInputError
from workbench.records import PAGE_BREAK
from workbench.storage import vectors
from workbench.storage.cleaning import clean_label, clean_text
from workbench.storage.drafts import ChunkDraft, PaperDraft
from workbench.storage.generations import Generation

# A file is read and written in portions, and stored in pieces. DuckDB holds 2,048 pieces in memory at
# commit: with larger ones a file near the memory limit could not be committed at all.
SOURCE_PORTION = 4 * 1024 * 1024
SOURCE_PIECE = 64 * 1024


def check(draft: PaperDraft) -> None:
    """Raises InvalidInputError unless every page and chunk stands where the draft says it does.

    A citation is only as true as these numbers, so a draft that contradicts itself is never stored.
    """
    whole = PAGE_BREAK.join(page.text for page in draft.pages)
    start = 0
    for number, page in enumerate(draft.pages, start=1):
        end = start + len(page.text)
        if (page.page, page.char_start, page.char_end) != (number, start, end):
            raise InvalidInputError(
                f"Page {number} of “{draft.title}” is said to be page {page.page} at {page.char_start} to "
                f"{page.char_end}, and stands at {start} to {end}."
            )
        start = end + len(PAGE_BREAK)
    for number, chunk in enumerate(draft.chunks):
        if (
            chunk.ordinal != number
            or whole[chunk.char_start : chunk.char_end] != chunk.text
            or not chunk.text
        ):
            raise InvalidInputError(
                f"Chunk {number} of “{draft.title}” is not the text from {chunk.char_start} "
                f"to {chunk.char_end}."
            )
        _check_pages(draft, chunk)


def _check_pages(draft: PaperDraft, chunk: ChunkDraft) -> None:
    if not 1 <= chunk.page_start <= chunk.page_end <= len(draft.pages):
        raise InvalidInputError(
            f"Chunk {chunk.ordinal} of “{draft.title}” is on pages {chunk.page_start} to {chunk.page_end} "
            f"of {len(draft.pages)}."
        )
    first, last = draft.pages[chunk.page_start - 1], draft.pages[chunk.page_end - 1]
    if not (first.char_start <= chunk.char_start <= first.char_end + len(PAGE_BREAK)):
        raise InvalidInputError(
            f"Chunk {chunk.ordinal} of “{draft.title}” does not begin on page {first.page}."
        )
    if not (last.char_start - len(PAGE_BREAK) <= chunk.char_end <= last.char_end + len(PAGE_BREAK)):
        raise InvalidInputError(f"Chunk {chunk.ordinal} of “{draft.title}” does not end on page {last.page}.")


def write(
    cursor: DuckDBPyConnection, paper_id: int, draft: PaperDraft, *, generation: Generation | None
) -> None:
    """Writes the draft's pages, chunks, vectors and source for a paper that has none."""
    _write_pages(cursor, paper_id, draft)
    chunk_ids = _write_chunks(cursor, paper_id, draft.chunks)
    if draft.vectors is not None and generation is not None:
        vectors.store(cursor, paper_id, chunk_ids, draft.vectors, generation=generation)
    _write_source(cursor, paper_id, draft)


def source(cursor: DuckDBPyConnection, paper_id: int) -> Iterator[bytes]:
    """The file the paper was made from, in portions of at most 4 MiB."""
    step = SOURCE_PORTION // SOURCE_PIECE
    row = cursor.execute(
        "SELECT coalesce(max(part) + 1, 0) FROM sources WHERE paper_id = ?", [paper_id]
    ).fetchone()
    assert row is not None
    for first in range(0, row[0], step):
        pieces = cursor.execute(
            "SELECT data FROM sources WHERE paper_id = ? AND part >= ? AND part < ? ORDER BY part",
            [paper_id, first, first + step],
        ).fetchall()
        yield b"".join(piece for (piece,) in pieces)


def remove(cursor: DuckDBPyConnection, paper_id: int) -> None:
    """Removes everything ``write`` wrote, in every generation."""
    vectors.remove(cursor, paper_id)
    for table in ("chunks", "pages", "sources"):
        cursor.execute(f"DELETE FROM {table} WHERE paper_id = ?", [paper_id])


def _write_pages(cursor: DuckDBPyConnection, paper_id: int, draft: PaperDraft) -> None:
    pages = draft.pages
    cursor.execute(
        "INSERT INTO pages (paper_id, page, label, text, char_start, char_end)"
        " SELECT ?, unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::BIGINT[]),"
        " unnest(?::BIGINT[])",
        [
            paper_id,
            [p.page for p in pages],
            [None if p.label is None else clean_label(p.label) for p in pages],
            [clean_text(p.text) for p in pages],
            [p.char_start for p in pages],
            [p.char_end for p in pages],
        ],
    )


def _write_chunks(cursor: DuckDBPyConnection, paper_id: int, chunks: tuple[ChunkDraft, ...]) -> list[int]:
    """Writes the chunks in order and returns their new ids, which rise in that order."""
    numbers = cursor.execute("SELECT nextval('chunk_ids') FROM range(?)", [len(chunks)]).fetchall()
    chunk_ids = sorted(row[0] for row in numbers)
    cursor.execute(
        "INSERT INTO chunks (chunk_id, paper_id, ordinal, heading, blurb, text, page_start, page_end,"
        " char_start, char_end) SELECT unnest(?::BIGINT[]), ?, unnest(?::INTEGER[]), unnest(?::VARCHAR[]),"
        " unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::INTEGER[]),"
        " unnest(?::BIGINT[]), unnest(?::BIGINT[])",
        [
            chunk_ids,
            paper_id,
            [c.ordinal for c in chunks],
            [None if c.heading is None else clean_label(c.heading) for c in chunks],
            [clean_text(c.blurb) for c in chunks],
            [clean_text(c.text) for c in chunks],
            [c.page_start for c in chunks],
            [c.page_end for c in chunks],
            [c.char_start for c in chunks],
            [c.char_end for c in chunks],
        ],
    )
    return chunk_ids


def _write_source(cursor: DuckDBPyConnection, paper_id: int, draft: PaperDraft) -> None:
    digest = hashlib.sha256()
    part = 0
    for portion in _portions(draft.source):
        digest.update(portion)
        pieces = [portion[i : i + SOURCE_PIECE] for i in range(0, len(portion), SOURCE_PIECE)]
        cursor.execute(
            "INSERT INTO sources (paper_id, part, data) SELECT ?, unnest(?::INTEGER[]), unnest(?::BLOB[])",
            [paper_id, list(range(part, part + len(pieces))), pieces],
        )
        part += len(pieces)
    if isinstance(draft.source, Path) and digest.hexdigest() != draft.sha256:
        raise DocumentError("The file changed while it was being added: add it again.")


def _portions(source: Path | bytes) -> Iterator[bytes]:
    if isinstance(source, bytes):
        for start in range(0, len(source), SOURCE_PORTION):
            yield source[start : start + SOURCE_PORTION]
        return
    with source.open("rb") as file:
        while portion := file.read(SOURCE_PORTION):
            yield portion

"""Chunks, read for passages and notebooks. Who may see them is decided by the scope before."""

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from workbench.records import Chunk

_COLUMNS = "chunk_id, paper_id, ordinal, text, blurb, page_start, page_end, char_start, char_end"


def by_ids(cursor: DuckDBPyConnection, ids: Sequence[int]) -> list[Chunk]:
    """The chunks with these ids, in the order of ``ids``; an id the library does not have is left out."""
    rows = cursor.execute(
        f"SELECT {_COLUMNS} FROM chunks WHERE chunk_id IN (SELECT unnest(?::BIGINT[]))", [list(ids)]
    ).fetchall()
    found = {row[0]: Chunk(*row) for row in rows}
    return [found[i] for i in dict.fromkeys(ids) if i in found]


def pages_of(cursor: DuckDBPyConnection, ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """First and last page of each of these chunks."""
    rows = cursor.execute(
        "SELECT chunk_id, page_start, page_end FROM chunks WHERE chunk_id IN (SELECT unnest(?::BIGINT[]))",
        [list(ids)],
    ).fetchall()
    return {chunk_id: (first, last) for chunk_id, first, last in rows}


def of_papers(cursor: DuckDBPyConnection, paper_ids: Sequence[int]) -> list[Chunk]:
    """Every chunk of these papers, by paper id and then in the order of the text."""
    rows = cursor.execute(
        f"SELECT {_COLUMNS} FROM chunks WHERE paper_id IN (SELECT unnest(?::BIGINT[]))"
        " ORDER BY paper_id, ordinal",
        [list(paper_ids)],
    ).fetchall()
    return [Chunk(*row) for row in rows]

"""Chunks, read for passages and notebooks. Who may see them is decided by the scope before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.records import Chunk

_SELECT = (
    "SELECT chunk_id, paper_id, ordinal, text, blurb, page_start, page_end, char_start, char_end FROM chunks"
)
# One select per value lets DuckDB skip every block that cannot hold it, so the time does not grow with the
# library; IN reads the text of all blocks between the smallest and the largest value. Beyond so many values
# a library is read almost whole either way.
_MOST_SINGLE_SELECTS = 100


def by_ids(cursor: DuckDBPyConnection, ids: Sequence[int]) -> list[Chunk]:
    """The chunks with these ids, in the order of ``ids``; an id the library does not have is left out."""
    found = {row[0]: Chunk(*row) for row in _rows(cursor, "chunk_id", ids)}
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
    found = [Chunk(*row) for row in _rows(cursor, "paper_id", paper_ids)]
    return sorted(found, key=lambda chunk: (chunk.paper_id, chunk.ordinal))


def _rows(cursor: DuckDBPyConnection, column: str, values: Sequence[int]) -> list[tuple[Any, ...]]:
    wanted = sorted(set(values))
    if not wanted:
        return []
    if len(wanted) > _MOST_SINGLE_SELECTS:
        return cursor.execute(
            f"{_SELECT} WHERE {column} IN (SELECT unnest(?::BIGINT[]))", [wanted]
        ).fetchall()
    return cursor.execute(
        " UNION ALL ".join([f"{_SELECT} WHERE {column} = ?"] * len(wanted)), wanted
    ).fetchall()

"""Chunks, read for passages and notebooks. Who may see them is decided by the scope before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from duckdb import DuckDBPyConnection

from workbench.records import Chunk

_SELECT = (
    "SELECT chunk_id, paper_id, ordinal, text, blurb, page_start, page_end, char_start, char_end FROM chunks"
)

# One select per paper lets DuckDB skip every block that cannot hold it, so the time does not grow with the
# library. Beyond so many papers a library is read almost whole either way.
_MOST_SINGLE_SELECTS = 100


def by_ids(cursor: DuckDBPyConnection, ids: Sequence[int]) -> list[Chunk]:
    """The chunks with these ids, in the order of ``ids``; an id the library does not have is left out."""
    rows = cursor.execute(f"{_SELECT} WHERE chunk_id IN (SELECT unnest(?::BIGINT[]))", [list(ids)]).fetchall()
    found = {row[0]: Chunk(*row) for row in rows}
    return [found[i] for i in dict.fromkeys(ids) if i in found]


class Standing(NamedTuple):
    """Where a chunk stands in its paper: its place in the text (from 0), its pages, its section."""

    paper_id: int
    ordinal: int
    page_start: int
    page_end: int
    heading: str | None


def standing_of(cursor: DuckDBPyConnection, ids: Sequence[int]) -> dict[int, Standing]:
    """Where each of these chunks stands; one that is no longer there is left out."""
    rows = cursor.execute(
        "SELECT chunk_id, paper_id, ordinal, page_start, page_end, heading FROM chunks"
        " WHERE chunk_id IN (SELECT unnest(?::BIGINT[]))",
        [list(ids)],
    ).fetchall()
    return {chunk_id: Standing(*rest) for chunk_id, *rest in rows}


def of_papers(cursor: DuckDBPyConnection, paper_ids: Sequence[int]) -> list[Chunk]:
    """Every chunk of these papers, by paper id and then in the order of the text."""
    wanted = sorted(set(paper_ids))
    if not wanted:
        return []
    values: list[list[int]] | list[int]
    if len(wanted) > _MOST_SINGLE_SELECTS:
        query, values = f"{_SELECT} WHERE paper_id IN (SELECT unnest(?::BIGINT[]))", [wanted]
    else:
        query, values = " UNION ALL ".join([f"{_SELECT} WHERE paper_id = ?"] * len(wanted)), wanted
    found = [Chunk(*row) for row in cursor.execute(query, values).fetchall()]
    return sorted(found, key=lambda chunk: (chunk.paper_id, chunk.ordinal))

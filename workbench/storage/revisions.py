"""The numbered content changes that derived indexes catch up from.

Numbers go up by random steps: an older copy of the library that is put back and changed does not come to a
number that an index has from the library it replaced.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from duckdb import DuckDBPyConnection

LONGEST_STEP = 2**31


def advance(cursor: DuckDBPyConnection) -> int:
    """The revision that the library has from now on. Only inside a transaction that changes a paper."""
    revision = latest(cursor) + 1 + secrets.randbelow(LONGEST_STEP)
    cursor.execute("INSERT INTO library_revisions (revision) VALUES (?)", [revision])
    return revision


def bump(cursor: DuckDBPyConnection, paper_id: int, *, present: bool) -> int:
    """Notes that the paper's content changed, or went (``present=False``). Returns the new revision."""
    revision = advance(cursor)
    # Not RETURNING: with that DuckDB deletes the row and inserts it again, and a commit that then fails (a
    # full disk) finds the key twice and ends the whole process.
    cursor.execute(
        "INSERT INTO paper_changes (paper_id, revision, present) VALUES (?, ?, ?)"
        " ON CONFLICT (paper_id) DO UPDATE SET revision = excluded.revision, present = excluded.present",
        [paper_id, revision, present],
    )
    return revision


def latest(cursor: DuckDBPyConnection) -> int:
    """Number of the last content change; 0 for a library that never had a paper."""
    row = cursor.execute("SELECT coalesce(max(revision), 0) FROM library_revisions").fetchone()
    assert row is not None
    return int(row[0])


def has_been(cursor: DuckDBPyConnection, revision: int) -> bool:
    """Whether the library was ever at this revision: if not, it is another library's."""
    found = cursor.execute("SELECT 1 FROM library_revisions WHERE revision = ? LIMIT 1", [revision])
    return revision == 0 or found.fetchone() is not None


def of_papers(cursor: DuckDBPyConnection, paper_ids: Sequence[int]) -> dict[int, int]:
    """The last content change of each of these papers."""
    rows = cursor.execute(
        "SELECT paper_id, revision FROM paper_changes WHERE paper_id IN (SELECT unnest(?::BIGINT[]))",
        [list(paper_ids)],
    ).fetchall()
    return dict(rows)


def since(cursor: DuckDBPyConnection, revision: int) -> dict[int, bool]:
    """Paper ids changed after ``revision``, oldest change first; True where the paper still has chunks."""
    rows = cursor.execute(
        "SELECT c.paper_id, c.present AND coalesce(p.chunk_count, 0) > 0"
        " FROM paper_changes c LEFT JOIN papers p USING (paper_id) WHERE c.revision > ? ORDER BY c.revision",
        [revision],
    ).fetchall()
    return dict(rows)

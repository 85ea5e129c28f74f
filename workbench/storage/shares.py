"""Who shares which paper with every user of the library."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError
from workbench.storage import papers


def share(cursor: DuckDBPyConnection, user: str, paper_id: int) -> None:
    """Makes a paper of the user's library visible to every user. Raises NotFoundError where it is hidden,
    ConflictError where it is only shared by others."""
    found = papers.get(cursor, user, paper_id)
    if not papers.linked(cursor, user, paper_id):
        raise ConflictError(f"“{found.title}” is shared by another user already: it is not yours to share.")
    cursor.execute(
        "INSERT INTO shares (paper_id, user_name) VALUES (?, ?) ON CONFLICT DO NOTHING", [paper_id, user]
    )
    cursor.execute("UPDATE papers SET shared = true WHERE paper_id = ?", [paper_id])


def unshare(cursor: DuckDBPyConnection, user: str, paper_id: int) -> None:
    """Takes back the user's share: whoever has not put the paper into a library
    of their own sees it no more, unless somebody else shares it too.

    Raises NotFoundError for a hidden paper, ConflictError where it is not the user who shares it.
    """
    found = papers.get(cursor, user, paper_id)
    if not stop_sharing(cursor, user, paper_id):
        raise ConflictError(f"You do not share “{found.title}”: only who shares a paper can take that back.")
    papers.delete_if_unneeded(cursor, paper_id)


def stop_sharing(cursor: DuckDBPyConnection, user: str, paper_id: int) -> bool:
    """Takes back the user's share, if there is one. The paper stays until it is unlinked."""
    gone = cursor.execute(
        "DELETE FROM shares WHERE paper_id = ? AND user_name = ? RETURNING paper_id", [paper_id, user]
    ).fetchall()
    if gone and cursor.execute("SELECT 1 FROM shares WHERE paper_id = ?", [paper_id]).fetchone() is None:
        cursor.execute("UPDATE papers SET shared = false WHERE paper_id = ?", [paper_id])
    return bool(gone)


def shared_ids(cursor: DuckDBPyConnection) -> frozenset[int]:
    """Ids of the papers that somebody shares with every user."""
    return frozenset(r[0] for r in cursor.execute("SELECT paper_id FROM papers WHERE shared").fetchall())

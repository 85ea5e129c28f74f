"""Notes: papers of kind "note", with the text as it was written. Only the writer sees them as notes."""

from __future__ import annotations

from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import NotFoundError
from workbench.records import Note
from workbench.storage.cleaning import clean_text
from workbench.storage.moments import utc

_NOTE = """
    SELECT n.paper_id, p.title, n.body,
           coalesce(list_sort((SELECT list(pp.project_id) FROM project_papers pp
                               WHERE pp.paper_id = n.paper_id AND pp.user_name = n.user_name)), []),
           p.generation IS NOT DISTINCT FROM (SELECT g.generation FROM generations g WHERE g.serving),
           n.created_at AT TIME ZONE 'UTC', n.updated_at AT TIME ZONE 'UTC'
    FROM notes n JOIN papers p USING (paper_id) JOIN library_links l USING (paper_id, user_name)
    WHERE n.user_name = ?
"""


def insert(cursor: DuckDBPyConnection, user: str, paper_id: int, body: str) -> None:
    """Makes a stored paper the user's note."""
    cursor.execute(
        "INSERT INTO notes (paper_id, user_name, body) VALUES (?, ?, ?)", [paper_id, user, clean_text(body)]
    )


def update(cursor: DuckDBPyConnection, user: str, paper_id: int, body: str) -> None:
    """Replaces the note's text. Raises NotFoundError for a note that is not the user's."""
    get(cursor, user, paper_id)
    cursor.execute(
        "UPDATE notes SET body = ?, updated_at = now() WHERE paper_id = ?", [clean_text(body), paper_id]
    )


def get(cursor: DuckDBPyConnection, user: str, paper_id: int) -> Note:
    """The user's note with this id. Raises NotFoundError, alike for an unknown and a foreign one."""
    row = cursor.execute(_NOTE + " AND n.paper_id = ?", [user, paper_id]).fetchone()
    if row is None:
        raise NotFoundError("Note not found: you have no note with this id. List your notes to see theirs.")
    return _note(row)


def list_notes(cursor: DuckDBPyConnection, user: str) -> list[Note]:
    """The user's notes, the one changed last first."""
    rows = cursor.execute(_NOTE + " ORDER BY n.updated_at DESC, n.paper_id DESC", [user]).fetchall()
    return [_note(row) for row in rows]


def body_of(cursor: DuckDBPyConnection, paper_id: int) -> str | None:
    """The text of a note, whoever wrote it; ``None`` where the paper is no note. Who may see it is for the
    caller to ask (``papers.get``)."""
    row = cursor.execute("SELECT body FROM notes WHERE paper_id = ?", [paper_id]).fetchone()
    return None if row is None else str(row[0])


def _note(row: tuple[Any, ...]) -> Note:
    paper_id, title, body, projects, served, created, updated = row
    state = "ready" if served else "indexing"
    return Note(paper_id, title, body, tuple(projects), state, utc(created), utc(updated))

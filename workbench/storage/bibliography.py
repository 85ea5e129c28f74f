"""What a user's ``.bib`` or ``.ris`` file says of papers. It is that user's alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from workbench.records import Reference
from workbench.storage.cleaning import clean_label, file_title


def put(cursor: DuckDBPyConnection, user: str, paper_id: int, reference: Reference) -> None:
    """Gives the user's paper this bibliographic data, in place of what it had.

    Its title goes before one that the user's file name gave, and behind one that the user chose.
    """
    remove(cursor, user, paper_id)
    if _label(reference.title) is not None:
        _forget_file_title(cursor, user, paper_id)
    cursor.execute(
        "INSERT INTO bibliography"
        " (user_name, paper_id, cite_key, entry_type, title, authors, year, doi, fields)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            user,
            paper_id,
            _label(reference.key),
            clean_label(reference.entry_type) or "misc",
            _label(reference.title),
            [name for name in map(clean_label, reference.authors) if name],
            reference.year,
            _label(reference.doi),
            json.dumps({clean_label(k): clean_label(v) for k, v in reference.fields.items()}),
        ],
    )


def remove(cursor: DuckDBPyConnection, user: str, paper_id: int) -> None:
    """Takes the user's data of a paper away; what the paper's own file says is seen again."""
    cursor.execute("DELETE FROM bibliography WHERE user_name = ? AND paper_id = ?", [user, paper_id])


def of_papers(cursor: DuckDBPyConnection, user: str, paper_ids: Sequence[int]) -> dict[int, Reference]:
    """The user's data of each of these papers that has some."""
    rows = cursor.execute(
        "SELECT paper_id, cite_key, entry_type, title, authors, year, doi, fields FROM bibliography"
        " WHERE user_name = ? AND paper_id IN (SELECT unnest(?::BIGINT[]))",
        [user, list(paper_ids)],
    ).fetchall()
    return {
        paper_id: Reference(key, kind, title, tuple(authors), year, doi, (), json.loads(fields))
        for paper_id, key, kind, title, authors, year, doi, fields in rows
    }


def _forget_file_title(cursor: DuckDBPyConnection, user: str, paper_id: int) -> None:
    link = "WHERE user_name = ? AND paper_id = ?"
    found = cursor.execute(f"SELECT file, title FROM library_links {link}", [user, paper_id]).fetchone()
    if found is not None and found[1] == file_title(found[0]):
        cursor.execute(f"UPDATE library_links SET title = NULL {link}", [user, paper_id])


def _label(text: str | None) -> str | None:
    return None if text is None else clean_label(text) or None

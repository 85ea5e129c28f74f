"""What becomes of conversations, memories and summaries when a project or a paper leaves or changes. Nothing
here is asked for by a user, so no owner is checked beyond the name that is given."""

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

OPENING = 200  # characters of a paper that summaries of its projects are made from


def project_deleted(cursor: DuckDBPyConnection, user: str, project_id: int, *, name: str) -> None:
    """Removes the project's own chat, its memories, presets and matrices. Threads that saw the project see
    orphans from now on, and say so; its labelled questions stay, in no project."""
    for table in ("memories", "presets"):
        cursor.execute(f"DELETE FROM {table} WHERE user_name = ? AND project_id = ?", [user, project_id])
    _free_questions(cursor, user, project_id)
    _remove_matrices(cursor, user, project_id)
    rows = cursor.execute(
        "SELECT conversation_id FROM conversations"
        " WHERE user_name = ? AND kind = 'project' AND rag_project_id = ?",
        [user, project_id],
    ).fetchall()
    remove_conversations(cursor, [row[0] for row in rows])
    notice = (
        f"Project “{name}” was deleted, so this conversation now looks in papers of no project only "
        "(Orphan notes only). Choose another scope if you want more."
    )
    cursor.execute(
        "UPDATE conversations SET rag_project_id = NULL, notice = ?"
        " WHERE user_name = ? AND kind = 'thread' AND rag_project_id = ?",
        [notice, user, project_id],
    )


def _remove_matrices(cursor: DuckDBPyConnection, user: str, project_id: int) -> None:
    rows = cursor.execute(
        "SELECT matrix_id FROM matrices WHERE user_name = ? AND rag_project_id = ?", [user, project_id]
    ).fetchall()
    for table in ("matrix_cells", "matrices"):
        cursor.execute(
            f"DELETE FROM {table} WHERE matrix_id IN (SELECT unnest(?::BIGINT[]))", [[row[0] for row in rows]]
        )


def _free_questions(cursor: DuckDBPyConnection, user: str, project_id: int) -> None:
    """One whose id is taken among those of no project gets a number behind it."""
    rows = cursor.execute(
        "SELECT question_id, label, project_id FROM questions"
        " WHERE user_name = ? AND (project_id IS NULL OR project_id = ?) ORDER BY question_id",
        [user, project_id],
    ).fetchall()
    taken = {label for _, label, project in rows if project is None}
    for question_id, label, project in rows:
        if project is None:
            continue
        free, number = label, 2
        while free in taken:
            free, number = f"{label}-{number}", number + 1
        taken.add(free)
        cursor.execute(
            "UPDATE questions SET project_id = NULL, label = ? WHERE question_id = ?", [free, question_id]
        )


def paper_left(cursor: DuckDBPyConnection, user: str, paper_id: int) -> None:
    """Removes the user's chat about a paper that leaves the user's library, and what it said in matrices, and
    empties the summaries of the projects it is still in, because they may tell of it."""
    cursor.execute(
        "DELETE FROM matrix_cells WHERE paper_id = ?"
        " AND matrix_id IN (SELECT matrix_id FROM matrices WHERE user_name = ?)",
        [paper_id, user],
    )
    cursor.execute(
        "UPDATE projects SET auto_summary = NULL, summary_updated_at = NULL, summary_by = NULL"
        " WHERE user_name = ? AND project_id IN (SELECT project_id FROM project_papers WHERE paper_id = ?)",
        [user, paper_id],
    )
    rows = cursor.execute(
        "SELECT conversation_id FROM conversations WHERE user_name = ? AND kind = 'paper' AND paper_id = ?",
        [user, paper_id],
    ).fetchall()
    remove_conversations(cursor, [row[0] for row in rows])


def told_of(cursor: DuckDBPyConnection, paper_id: int) -> tuple[object, ...] | None:
    """What a summary may tell of a paper: title, year and opening."""
    return cursor.execute(
        "SELECT p.title, p.year, left(g.text, ?) FROM papers p"
        " LEFT JOIN pages g ON g.paper_id = p.paper_id AND g.page = 1 WHERE p.paper_id = ?",
        [OPENING, paper_id],
    ).fetchone()


def paper_changed(cursor: DuckDBPyConnection, paper_id: int) -> None:
    """Makes the summaries of all projects the paper is in outdated, of every user: they may tell what only
    the old text said. They stay until they are written anew, because that may fail."""
    cursor.execute(
        "UPDATE projects SET summary_updated_at = NULL"
        " WHERE project_id IN (SELECT project_id FROM project_papers WHERE paper_id = ?)",
        [paper_id],
    )


def remove_conversations(cursor: DuckDBPyConnection, ids: Sequence[int]) -> None:
    """Removes conversations with all their messages."""
    remove_messages(cursor, ids)
    cursor.execute("DELETE FROM conversations WHERE conversation_id IN (SELECT unnest(?::BIGINT[]))", [ids])


def remove_messages(cursor: DuckDBPyConnection, ids: Sequence[int]) -> None:
    """Removes the messages of these conversations, and what is noted of the papers they cite."""
    for table in ("message_papers", "kept_answers"):
        cursor.execute(
            f"DELETE FROM {table} WHERE message_id IN (SELECT message_id FROM messages"
            " WHERE conversation_id IN (SELECT unnest(?::BIGINT[])))",
            [ids],
        )
    cursor.execute("DELETE FROM messages WHERE conversation_id IN (SELECT unnest(?::BIGINT[]))", [ids])

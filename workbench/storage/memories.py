"""Memories: what a user said, by user and project. Another user's memory does not exist, on any call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, NotFoundError
from workbench.records import Memory
from workbench.scope import Scope, as_scope
from workbench.storage import projects
from workbench.storage.cleaning import clean_text
from workbench.storage.moments import utc

_MEMORY = """
    SELECT memory_id, text, project_id, created_at AT TIME ZONE 'UTC', seen_at AT TIME ZONE 'UTC', message_id
    FROM memories WHERE user_name = ?
"""


def remember(
    cursor: DuckDBPyConnection,
    user: str,
    text: str,
    *,
    key: str,
    project_id: int | None,
    message_id: int | None = None,
) -> Memory:
    """Keeps the text; one with the same ``key`` in the same project stays as it is and was seen now.

    Raises NotFoundError for a project that is not the user's.
    """
    if project_id is not None:
        project_id = projects.get(cursor, user, project_id).id
    row = _of_key(cursor, user, key, project_id)
    if row is not None:
        cursor.execute("UPDATE memories SET seen_at = now() WHERE memory_id = ?", [row[0]])
    else:
        row = cursor.execute(
            "INSERT INTO memories (user_name, project_id, text, text_key, message_id) VALUES (?, ?, ?, ?, ?)"
            " RETURNING memory_id",
            [user, project_id, clean_text(text), clean_text(key), message_id],
        ).fetchone()
    assert row is not None
    return get(cursor, user, row[0])


def get(cursor: DuckDBPyConnection, user: str, memory_id: int) -> Memory:
    """The memory with this id. Raises NotFoundError."""
    row = cursor.execute(_MEMORY + " AND memory_id = ?", [user, memory_id]).fetchone()
    if row is None:
        raise NotFoundError(_not_found(memory_id))
    return _memory(row)


def list_memories(cursor: DuckDBPyConnection, user: str, scope: Scope) -> list[Memory]:
    """The user's memories, last seen first: of one project, of none (``Scope.ORPHANS``), or all.

    Raises NotFoundError for a project that is not the user's.
    """
    scope = as_scope(scope)
    condition = ""
    values: list[str | int] = [user]
    if scope.project_id is not None:
        condition, values = " AND project_id = ?", [user, projects.get(cursor, user, scope.project_id).id]
    elif scope == Scope.ORPHANS:
        condition = " AND project_id IS NULL"
    rows = cursor.execute(_MEMORY + condition + " ORDER BY seen_at DESC, memory_id DESC", values).fetchall()
    return [_memory(row) for row in rows]


def reword(cursor: DuckDBPyConnection, user: str, memory_id: int, text: str, *, key: str) -> Memory:
    """Gives the memory another text. Raises NotFoundError, ConflictError where another one says that."""
    current = get(cursor, user, memory_id)
    other = _of_key(cursor, user, key, current.project_id)
    if other is not None and other[0] != current.id:
        raise ConflictError(f"Memory {other[0]} says that already: forget this one instead.")
    cursor.execute(
        "UPDATE memories SET text = ?, text_key = ?, seen_at = now() WHERE memory_id = ?",
        [clean_text(text), clean_text(key), current.id],
    )
    return get(cursor, user, current.id)


def _of_key(
    cursor: DuckDBPyConnection, user: str, key: str, project_id: int | None
) -> tuple[int, ...] | None:
    row: tuple[int, ...] | None = cursor.execute(
        "SELECT memory_id FROM memories WHERE user_name = ? AND text_key = ?"
        " AND project_id IS NOT DISTINCT FROM ?",
        [user, clean_text(key), project_id],
    ).fetchone()
    return row


def forget(cursor: DuckDBPyConnection, user: str, memory_ids: Sequence[int]) -> None:
    """Deletes the memories for good. Raises NotFoundError where one of them is not the user's."""
    for memory_id in memory_ids:
        get(cursor, user, memory_id)
        cursor.execute("DELETE FROM memories WHERE memory_id = ? AND user_name = ?", [memory_id, user])


def _not_found(memory_id: int) -> str:
    return f"Memory not found: {memory_id}. List your memories to see their ids."


def _memory(row: tuple[Any, ...]) -> Memory:
    memory_id, text, project_id, created, seen, message_id = row
    return Memory(memory_id, text, project_id, utc(created), utc(seen), message_id)

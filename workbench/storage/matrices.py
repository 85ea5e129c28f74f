"""Matrices and their answers, by user. Another user's matrix does not exist, on any call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import NotFoundError
from workbench.matrix import MatrixInfo, MatrixRow
from workbench.scope import Scope
from workbench.storage import scopes
from workbench.storage.answer_json import plain_values
from workbench.storage.moments import utc

Place = tuple[int, int]  # a question's place and a paper's id

_MATRIX = """
    SELECT m.matrix_id, m.questions, m.rag_project_id, m.options, m.created_at AT TIME ZONE 'UTC',
           (SELECT count(*) FROM matrix_cells c WHERE c.matrix_id = m.matrix_id)
    FROM matrices m WHERE m.user_name = ?
"""


def begin(
    cursor: DuckDBPyConnection, user: str, scope: Scope, questions: Sequence[str], options: Mapping[str, Any]
) -> int:
    """The id of the user's matrix of these questions in this scope, asked in this way; made where there is
    none."""
    wanted = json.dumps(list(questions), ensure_ascii=False), json.dumps(dict(options), sort_keys=True)
    row = cursor.execute(
        "SELECT matrix_id FROM matrices WHERE user_name = ? AND rag_project_id IS NOT DISTINCT FROM ?"
        " AND questions::VARCHAR = ? AND options::VARCHAR = ?",
        [user, scope.rag_project_id, *wanted],
    ).fetchone()
    if row is None:
        row = cursor.execute(
            "INSERT INTO matrices (user_name, rag_project_id, questions, options) VALUES (?, ?, ?, ?)"
            " RETURNING matrix_id",
            [user, scope.rag_project_id, *wanted],
        ).fetchone()
    assert row is not None
    return int(row[0])


def get(cursor: DuckDBPyConnection, user: str, matrix_id: int) -> MatrixInfo:
    """Raises NotFoundError."""
    row = cursor.execute(_MATRIX + " AND m.matrix_id = ?", [user, matrix_id]).fetchone()
    if row is None:
        raise NotFoundError(f"Matrix not found: {matrix_id}.")
    return _info(cursor, user, row)


def list_matrices(cursor: DuckDBPyConnection, user: str) -> list[MatrixInfo]:
    """The user's matrices, the newest first."""
    rows = cursor.execute(_MATRIX + " ORDER BY m.matrix_id DESC", [user]).fetchall()
    return [_info(cursor, user, row) for row in rows]


def delete(cursor: DuckDBPyConnection, user: str, matrix_id: int) -> None:
    """Removes it with its answers. Raises NotFoundError."""
    found = get(cursor, user, matrix_id)
    cursor.execute("DELETE FROM matrix_cells WHERE matrix_id = ?", [found.id])
    cursor.execute("DELETE FROM matrices WHERE matrix_id = ?", [found.id])


def cells(cursor: DuckDBPyConnection, matrix_id: int) -> dict[Place, tuple[MatrixRow, int, str]]:
    """Each stored answer with the paper's revision of that time and the provider that answered."""
    rows = cursor.execute(
        "SELECT question, paper_id, cell, revision, provider FROM matrix_cells WHERE matrix_id = ?",
        [matrix_id],
    ).fetchall()
    return {(row[0], row[1]): (_row(row[2]), row[3], row[4]) for row in rows}


def put(cursor: DuckDBPyConnection, matrix_id: int, question: int, row: MatrixRow, *, revision: int) -> None:
    """Keeps an answer, in place of the one before. Nothing where the matrix has been deleted meanwhile."""
    text = json.dumps(plain_values(asdict(row)), ensure_ascii=False)
    cursor.execute(
        "INSERT INTO matrix_cells (matrix_id, question, paper_id, revision, provider, cell)"
        " SELECT matrix_id, ?, ?, ?, ?, ? FROM matrices WHERE matrix_id = ?"
        " ON CONFLICT (matrix_id, question, paper_id) DO UPDATE SET revision = excluded.revision,"
        " provider = excluded.provider, cell = excluded.cell, asked_at = now()",
        [question, row.paper_id, revision, row.provider, text, matrix_id],
    )


def _info(cursor: DuckDBPyConnection, user: str, row: tuple[Any, ...]) -> MatrixInfo:
    matrix_id, questions, rag_project_id, _, created, answers = row
    scope = Scope(rag_project_id)
    label = scopes.label(cursor, user, scope)
    return MatrixInfo(matrix_id, tuple(json.loads(questions)), scope, label, answers, utc(created))


def _row(text: str) -> MatrixRow:
    values = json.loads(text)
    known = {name: values[name] for name in MatrixRow.__slots__ if name in values}
    return MatrixRow(**{**known, "warnings": tuple(values.get("warnings", ()))})

"""Evaluations as they were: the figures of each set of parameters, and of each question."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import NotFoundError
from workbench.scope import Scope
from workbench.storage.cleaning import clean_text
from workbench.storage.moments import utc
from workbench.tuning import Evaluation

_FIGURES = ("mean", "low", "high", "difference", "difference_low", "difference_high", "p")


def record(
    cursor: DuckDBPyConnection,
    user: str,
    *,
    scope: Scope,
    scope_label: str,
    questions: int,
    options: Mapping[str, Any],
    seconds: float,
    results: Sequence[Mapping[str, Any]],
    scores: Sequence[tuple[int, str, str, str, float, float]],
) -> int:
    """Stores an evaluation and returns its id.

    ``results`` have ``set``, ``parameters`` (a mapping), ``metric``, ``questions`` and the figures of an
    estimate; ``scores`` are (set, question's id, question, metric, part, whole).
    """
    row = cursor.execute(
        "INSERT INTO evaluations (user_name, rag_project_id, scope_label, questions, options, seconds)"
        " VALUES (?, ?, ?, ?, ?, ?) RETURNING evaluation_id",
        [user, scope.rag_project_id, scope_label, questions, json.dumps(dict(options)), seconds],
    ).fetchone()
    assert row is not None
    evaluation_id = int(row[0])
    figures = ", ".join(["unnest(?::DOUBLE[])"] * len(_FIGURES))
    cursor.execute(
        f"INSERT INTO evaluation_results (evaluation_id, set_number, parameters, metric, questions,"
        f" {', '.join(_FIGURES)}) SELECT ?, unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),"
        f" unnest(?::INTEGER[]), {figures}",
        [
            evaluation_id,
            [r["set"] for r in results],
            [json.dumps(r["parameters"]) for r in results],
            [r["metric"] for r in results],
            [r["questions"] for r in results],
            *([None if math.isnan(r[name]) else float(r[name]) for r in results] for name in _FIGURES),
        ],
    )
    columns = [list(column) for column in zip(*scores, strict=True)] or [[] for _ in range(6)]
    sets, labels, texts, metrics, parts, wholes = columns
    cursor.execute(
        "INSERT INTO evaluation_scores (evaluation_id, set_number, label, question, metric, part, whole)"
        " SELECT ?, unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),"
        " unnest(?::DOUBLE[]), unnest(?::DOUBLE[])",
        [
            evaluation_id,
            sets,
            [clean_text(label) for label in labels],
            [clean_text(text) for text in texts],
            metrics,
            parts,
            wholes,
        ],
    )
    return evaluation_id


_EVALUATION = """
    SELECT evaluation_id, rag_project_id, scope_label, questions, options, seconds,
           created_at AT TIME ZONE 'UTC'
    FROM evaluations WHERE user_name = ?
"""


def get(cursor: DuckDBPyConnection, user: str, evaluation_id: int) -> Evaluation:
    """One of the user's evaluations. Raises NotFoundError."""
    known = 0 < evaluation_id < 2**63
    row = cursor.execute(
        _EVALUATION + " AND evaluation_id = ?", [user, evaluation_id if known else 0]
    ).fetchone()
    if row is None:
        raise NotFoundError(f"Evaluation not found: {evaluation_id}. List your evaluations to see their ids.")
    return _evaluation(row)


def list_evaluations(cursor: DuckDBPyConnection, user: str) -> list[Evaluation]:
    """The user's evaluations, the latest first."""
    rows = cursor.execute(_EVALUATION + " ORDER BY evaluation_id DESC", [user]).fetchall()
    return [_evaluation(row) for row in rows]


def results(cursor: DuckDBPyConnection, user: str, evaluation_id: int) -> list[dict[str, Any]]:
    """The rows that ``record`` was given, set by set in their order; NaN where there is no figure. Raises
    NotFoundError."""
    owned = get(cursor, user, evaluation_id)
    rows = cursor.execute(
        f"SELECT set_number, parameters, metric, questions, {', '.join(_FIGURES)} FROM evaluation_results"
        " WHERE evaluation_id = ? ORDER BY set_number, rowid",
        [owned.id],
    ).fetchall()
    found = []
    for number, parameters, metric, questions, *figures in rows:
        numbers = [math.nan if figure is None else figure for figure in figures]
        named = dict(zip(_FIGURES, numbers, strict=True))
        head = {"set": number, "parameters": json.loads(parameters), "metric": metric, "questions": questions}
        found.append(head | named)
    return found


def delete(cursor: DuckDBPyConnection, user: str, evaluation_id: int) -> None:
    """Deletes an evaluation with all its figures. Raises NotFoundError."""
    owned = get(cursor, user, evaluation_id)
    for table in ("evaluation_scores", "evaluation_results", "evaluations"):
        cursor.execute(f"DELETE FROM {table} WHERE evaluation_id = ?", [owned.id])


def _evaluation(row: tuple[Any, ...]) -> Evaluation:
    evaluation_id, rag_project_id, label, questions, options, seconds, created = row
    return Evaluation(
        evaluation_id, Scope(rag_project_id), label, questions, json.loads(options), seconds, utc(created)
    )

"""Evaluations as they were: the figures of each set of parameters, and of each question."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.scope import Scope
from workbench.storage.cleaning import clean_text

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

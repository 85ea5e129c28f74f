"""Every retrieval, as it was: query, scope, parameters, passages and what was dropped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import NotFoundError
from workbench.records import Evidence
from workbench.scope import Scope
from workbench.storage.cleaning import clean_text
from workbench.storage.moments import utc
from workbench.tuning import PastSearch


@dataclass(frozen=True, slots=True)
class RetrievedChunk:
    """One candidate of a stored retrieval. ``n`` is its number, or ``None`` where it was dropped."""

    n: int | None
    chunk_id: int
    paper_id: int
    relevance: float
    vector_rank: int | None
    keyword_rank: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A stored retrieval: enough to run it again and to compare. ``timing`` is in seconds."""

    id: int
    query: str
    scope: Scope
    parameters: dict[str, Any]
    timing: dict[str, float]
    created_at: datetime
    chunks: tuple[RetrievedChunk, ...]


def record(cursor: DuckDBPyConnection, user: str, evidence: Evidence) -> int:
    """Stores the evidence of one question and returns the retrieval's id."""
    row = cursor.execute(
        "INSERT INTO retrievals (user_name, query, rag_project_id, parameters, timing)"
        " VALUES (?, ?, ?, ?, ?) RETURNING retrieval_id",
        [
            user,
            clean_text(evidence.query),
            evidence.scope.rag_project_id,
            json.dumps(evidence.parameters, default=str),
            json.dumps(evidence.timing, default=str),
        ],
    ).fetchone()
    assert row is not None
    retrieval_id = int(row[0])
    passages = [
        RetrievedChunk(p.n, p.chunk_id, p.paper_id, p.score, p.vector_rank, p.keyword_rank, None)
        for p in evidence.passages
    ]
    dropped = [
        RetrievedChunk(None, d.chunk_id, d.paper_id, d.relevance, None, None, clean_text(d.reason))
        for d in evidence.dropped
    ]
    _write(cursor, retrieval_id, passages + dropped)
    return retrieval_id


def get(cursor: DuckDBPyConnection, user: str, retrieval_id: int) -> Retrieval:
    """One of the user's retrievals, passages first in their order. Raises NotFoundError."""
    row = cursor.execute(
        "SELECT query, rag_project_id, parameters, timing, created_at AT TIME ZONE 'UTC'"
        " FROM retrievals WHERE retrieval_id = ? AND user_name = ?",
        [retrieval_id, user],
    ).fetchone()
    if row is None:
        raise NotFoundError(f"Retrieval not found: {retrieval_id}.")
    query, rag_project_id, parameters, timing, created = row
    chunks = cursor.execute(
        "SELECT n, chunk_id, paper_id, relevance, vector_rank, keyword_rank, reason FROM retrieval_passages"
        " WHERE retrieval_id = ? ORDER BY n NULLS LAST, relevance DESC, chunk_id",
        [retrieval_id],
    ).fetchall()
    return Retrieval(
        retrieval_id,
        query,
        Scope(rag_project_id),
        json.loads(parameters),
        json.loads(timing),
        utc(created),
        tuple(RetrievedChunk(*chunk) for chunk in chunks),
    )


def past_searches(cursor: DuckDBPyConnection, user: str, scope: Scope, *, limit: int) -> list[PastSearch]:
    """The user's newest searches of the scope that chose passages, the newest first."""
    rows = cursor.execute(
        "SELECT retrieval_id, query, created_at AT TIME ZONE 'UTC' FROM retrievals"
        " WHERE user_name = ? AND rag_project_id IS NOT DISTINCT FROM ?"
        " AND json_extract_string(parameters, '$.mode') IN ('hybrid', 'vector', 'keyword')"
        " ORDER BY retrieval_id DESC LIMIT ?",
        [user, scope.rag_project_id, limit],
    ).fetchall()
    return [PastSearch(number, query, scope, utc(moment)) for number, query, moment in rows]


def _write(cursor: DuckDBPyConnection, retrieval_id: int, chunks: list[RetrievedChunk]) -> None:
    cursor.execute(
        "INSERT INTO retrieval_passages (retrieval_id, n, chunk_id, paper_id, relevance, vector_rank,"
        " keyword_rank, reason) SELECT ?, unnest(?::INTEGER[]), unnest(?::BIGINT[]), unnest(?::BIGINT[]),"
        " unnest(?::DOUBLE[]), unnest(?::INTEGER[]), unnest(?::INTEGER[]), unnest(?::VARCHAR[])",
        [
            retrieval_id,
            [c.n for c in chunks],
            [c.chunk_id for c in chunks],
            [c.paper_id for c in chunks],
            [float(c.relevance) for c in chunks],
            [c.vector_rank for c in chunks],
            [c.keyword_rank for c in chunks],
            [c.reason for c in chunks],
        ],
    )

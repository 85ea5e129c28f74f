"""Labelled questions, by user and project. Another user's question does not exist, on any call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, NotFoundError
from workbench.scope import Scope
from workbench.storage import papers, projects
from workbench.storage.cleaning import clean_text
from workbench.tuning import Gold, Question

_QUESTION = """
    SELECT question_id, label, type, question, answer, note, project_id FROM questions WHERE user_name = ?
"""


def add(cursor: DuckDBPyConnection, user: str, question: Question, *, project_id: int | None) -> Question:
    """Keeps a question. An empty id gets the next free of ``q-1``, ``q-2`` …

    Raises ConflictError where the project (or no project) has one of this id, NotFoundError for a project
    that is not the user's.
    """
    if project_id is not None:
        project_id = projects.get(cursor, user, project_id).id
    label = clean_text(question.id) or _next_label(cursor, user, project_id)
    if _row_of(cursor, user, label, project_id) is not None:
        raise ConflictError(f"There is a question “{label}” already: delete it, or give another id.")
    row = cursor.execute(
        "INSERT INTO questions (user_name, project_id, label, type, question, answer, note)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING question_id",
        [user, project_id, label, *_texts(question)],
    ).fetchone()
    assert row is not None
    _write_gold(cursor, row[0], question.gold)
    return get(cursor, user, label, project_id=project_id)


def put(cursor: DuckDBPyConnection, user: str, question: Question, *, project_id: int | None) -> bool:
    """Keeps a question in place of the one of its id; True where there was none."""
    row = _row_of(cursor, user, clean_text(question.id), project_id)
    if row is None:
        add(cursor, user, question, project_id=project_id)
        return True
    cursor.execute(
        "UPDATE questions SET type = ?, question = ?, answer = ?, note = ? WHERE question_id = ?",
        [*_texts(question), row[0]],
    )
    _write_gold(cursor, row[0], question.gold)
    return False


def get(cursor: DuckDBPyConnection, user: str, label: str, *, project_id: int | None) -> Question:
    """The question of this id in a project, or in none. Raises NotFoundError."""
    row = _row_of(cursor, user, clean_text(label), project_id)
    if row is None:
        raise NotFoundError(f"Question not found: “{clean_text(label)}”. List yours to see their ids.")
    return _questions(cursor, user, [row])[0]


def with_text(cursor: DuckDBPyConnection, user: str, text: str, *, project_id: int | None) -> Question | None:
    """The question that asks this, in a project or in none; None where there is none."""
    row = cursor.execute(
        _QUESTION + " AND question = ? AND project_id IS NOT DISTINCT FROM ? ORDER BY question_id LIMIT 1",
        [user, clean_text(text), project_id],
    ).fetchone()
    return None if row is None else _questions(cursor, user, [row])[0]


def list_questions(cursor: DuckDBPyConnection, user: str, scope: Scope) -> list[Question]:
    """The user's questions in the order they came: of one project, of none (``Scope.ORPHANS``), or all.

    A label made on a paper has the name that paper has now. Raises NotFoundError for a project that is not
    the user's.
    """
    query = _QUESTION
    values: list[str | int] = [user]
    if scope.project_id is not None:
        query, values = query + " AND project_id = ?", [user, projects.get(cursor, user, scope.project_id).id]
    elif scope == Scope.ORPHANS:
        query += " AND project_id IS NULL"
    return _questions(cursor, user, cursor.execute(query + " ORDER BY question_id", values).fetchall())


def delete(cursor: DuckDBPyConnection, user: str, labels: Iterable[str], *, project_id: int | None) -> None:
    """Deletes questions of a project, or of none. Raises NotFoundError where one of them is not there."""
    for label in labels:
        get(cursor, user, label, project_id=project_id)
        row = _row_of(cursor, user, clean_text(label), project_id)
        assert row is not None
        cursor.execute("DELETE FROM question_gold WHERE question_id = ?", [row[0]])
        cursor.execute("DELETE FROM questions WHERE question_id = ? AND user_name = ?", [row[0], user])


def _row_of(
    cursor: DuckDBPyConnection, user: str, label: str, project_id: int | None
) -> tuple[Any, ...] | None:
    row: tuple[Any, ...] | None = cursor.execute(
        _QUESTION + " AND label = ? AND project_id IS NOT DISTINCT FROM ?", [user, label, project_id]
    ).fetchone()
    return row


def _texts(question: Question) -> list[str]:
    return [clean_text(t) for t in (question.type, question.question, question.answer, question.note)]


def _next_label(cursor: DuckDBPyConnection, user: str, project_id: int | None) -> str:
    rows = cursor.execute(
        "SELECT label FROM questions WHERE user_name = ? AND project_id IS NOT DISTINCT FROM ?",
        [user, project_id],
    ).fetchall()
    taken = {row[0] for row in rows}
    number = len(taken) + 1
    while f"q-{number}" in taken:
        number += 1
    return f"q-{number}"


def _write_gold(cursor: DuckDBPyConnection, question_id: int, gold: Sequence[Gold]) -> None:
    cursor.execute("DELETE FROM question_gold WHERE question_id = ?", [question_id])
    if not gold:
        return
    cursor.execute(
        "INSERT INTO question_gold (question_id, ordinal, paper_id, file, page, phrase) SELECT ?,"
        " unnest(?::INTEGER[]), unnest(?::BIGINT[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[]),"
        " unnest(?::VARCHAR[])",
        [
            question_id,
            list(range(len(gold))),
            [g.paper_id for g in gold],
            [clean_text(g.file) for g in gold],
            [g.page for g in gold],
            [clean_text(g.phrase) for g in gold],
        ],
    )


def _questions(cursor: DuckDBPyConnection, user: str, rows: Sequence[tuple[Any, ...]]) -> list[Question]:
    found = cursor.execute(
        "SELECT question_id, file, page, phrase, paper_id FROM question_gold"
        " WHERE question_id IN (SELECT unnest(?::BIGINT[])) ORDER BY question_id, ordinal",
        [[row[0] for row in rows]],
    ).fetchall()
    labelled = sorted({row[4] for row in found if row[4] is not None})
    now = {p.id: p.file for p in papers.list_papers(cursor, user, labelled)} if labelled else {}
    gold: dict[int, list[Gold]] = {}
    for question_id, *place in found:
        one = Gold(*place)
        gold.setdefault(question_id, []).append(replace(one, file=now.get(one.paper_id or 0, one.file)))
    return [
        Question(label, text, tuple(gold.get(question_id, ())), kind, answer, note, project_id)
        for question_id, label, kind, text, answer, note, project_id in rows
    ]

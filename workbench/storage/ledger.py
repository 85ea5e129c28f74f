"""The ledger: what became of every stage of every file, and why."""

from __future__ import annotations

from collections.abc import Sequence

from duckdb import DuckDBPyConnection

from workbench.errors import InvalidInputError
from workbench.records import StageEnd
from workbench.storage.cleaning import clean_label, clean_text, file_name
from workbench.storage.moments import utc

STAGES = ("read", "chunk", "embed", "index")
STATES = ("done", "failed")


def record(
    cursor: DuckDBPyConnection,
    user: str,
    *,
    file: str,
    stage: str,
    state: str,
    seconds: float,
    sha256: str | None = None,
    paper_id: int | None = None,
    error: str | None = None,
) -> None:
    """Notes one finished stage (``read``, ``chunk``, ``embed``, ``index``; ``done`` or ``failed``)."""
    if stage not in STAGES or state not in STATES:
        raise InvalidInputError(
            f"{stage!r}, {state!r} is no ledger entry: stages are {', '.join(STAGES)}; "
            f"states {', '.join(STATES)}."
        )
    cursor.execute(
        "INSERT INTO ledger (user_name, file, sha256, paper_id, stage, state, error, seconds)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            user,
            file_name(file),
            sha256,
            paper_id,
            stage,
            state,
            None if error is None else clean_label(error),
            float(seconds),
        ],
    )


def last_failures(cursor: DuckDBPyConnection, user: str, paper_ids: Sequence[int]) -> dict[int, str]:
    """Why work on each of these papers failed, for those whose newest entry is a failure."""
    rows = cursor.execute(
        "SELECT paper_id, arg_max(error, ledger_id) FROM ledger"
        " WHERE user_name = ? AND paper_id IN (SELECT unnest(?::BIGINT[]))"
        " GROUP BY paper_id HAVING arg_max(state, ledger_id) = 'failed'",
        [user, list(paper_ids)],
    ).fetchall()
    return {paper_id: error or "" for paper_id, error in rows}


# The user's papers are those of the library and those that others share.
_STAGE_ENDS = """
    WITH visible AS (
        SELECT paper_id, sha256 FROM papers p WHERE shared
            OR EXISTS (FROM library_links k WHERE k.paper_id = p.paper_id AND k.user_name = $user)),
    own AS (FROM ledger WHERE user_name = $user)
    SELECT paper_id, file, stage, state, error, seconds, finished_at AT TIME ZONE 'UTC'
    FROM own l
    WHERE paper_id IN (SELECT paper_id FROM visible)
       OR (paper_id IS NULL AND NOT EXISTS (FROM visible p WHERE p.sha256 = l.sha256)
           AND NOT EXISTS (FROM own n WHERE n.file = l.file AND n.ledger_id > l.ledger_id
                           AND n.paper_id IS NOT NULL))
    QUALIFY row_number() OVER (PARTITION BY paper_id, CASE WHEN paper_id IS NULL THEN file END, stage
                               ORDER BY ledger_id DESC) = 1
    ORDER BY ledger_id"""


def stage_ends(cursor: DuckDBPyConnection, user: str) -> list[StageEnd]:
    """How each stage of each of the user's papers ended last, and of each file that became none, in the order
    in which they ended. Such a file counts until its bytes, or a file of its name, are in the library."""
    rows = cursor.execute(_STAGE_ENDS, {"user": user}).fetchall()
    return [StageEnd(*(*row[:-1], utc(row[-1]))) for row in rows]


def forget(cursor: DuckDBPyConnection, user: str, file: str) -> int:
    """Removes the user's entries of a file that did not become a paper, and returns how many there were."""
    rows = cursor.execute(
        "DELETE FROM ledger WHERE user_name = ? AND file IN (?, ?) AND paper_id IS NULL RETURNING ledger_id",
        [user, clean_text(file), file_name(file)],  # an older library holds names as they were cleaned then
    ).fetchall()
    return len(rows)

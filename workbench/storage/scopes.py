"""The one place that turns a scope into the papers it covers, and into the words a reader sees."""

from __future__ import annotations

from collections.abc import Collection

from duckdb import DuckDBPyConnection

from workbench.scope import Scope, as_scope
from workbench.storage import projects

ORPHANS_LABEL = "Orphan notes only"
ALL_LABEL = "All notes"


def paper_ids(
    cursor: DuckDBPyConnection,
    user: str,
    scope: Scope,
    *,
    shared: bool = True,
    without: Collection[int] = (),
) -> tuple[int, ...]:
    """Ids of the papers in the scope, ascending; those ``without`` left out.

    Orphans are papers of the user's library that are in none of the user's projects, archived ones
    included. ``shared`` decides whether ``Scope.ALL`` covers papers that others have shared. Raises
    NotFoundError for a project that is not the user's, InvalidInputError for what is no scope.
    """
    left_out = frozenset(without)
    return tuple(i for i in _all_ids(cursor, user, as_scope(scope), shared=shared) if i not in left_out)


def _all_ids(cursor: DuckDBPyConnection, user: str, scope: Scope, *, shared: bool) -> tuple[int, ...]:
    if scope.project_id is not None:
        return projects.paper_ids(cursor, user, scope.project_id)
    if scope == Scope.ALL:
        query = (
            "SELECT paper_id FROM papers WHERE (shared AND ?)"
            " OR paper_id IN (SELECT paper_id FROM library_links WHERE user_name = ?) ORDER BY paper_id"
        )
        rows = cursor.execute(query, [shared, user]).fetchall()
    else:
        query = (
            "SELECT paper_id FROM library_links WHERE user_name = ?"
            " AND paper_id NOT IN (SELECT paper_id FROM project_papers WHERE user_name = ?) ORDER BY paper_id"
        )
        rows = cursor.execute(query, [user, user]).fetchall()
    return tuple(row[0] for row in rows)


def label(cursor: DuckDBPyConnection, user: str, scope: Scope) -> str:
    """What the scope is called: "Orphan notes only", "All notes", or the project's name."""
    if scope.project_id is not None:
        return projects.get(cursor, user, scope.project_id).name
    return ALL_LABEL if scope == Scope.ALL else ORPHANS_LABEL

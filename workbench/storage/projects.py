"""Projects: a user's private groups of papers. Another user's project does not exist, on any call."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, InvalidInputError, NotFoundError
from workbench.records import Project
from workbench.storage import departures, papers
from workbench.storage.cleaning import checked_name, clean_text, name_key
from workbench.storage.moments import utc

STATUSES = ("active", "archived")


class NotGiven(Enum):
    """Marks an argument that was left out, where ``None`` means "make it empty"."""

    NOT_GIVEN = "not given"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN

_PROJECT = """
    SELECT j.project_id, j.name, j.description, j.goal, j.status,
           (SELECT count(*) FROM project_papers pp WHERE pp.project_id = j.project_id),
           j.created_at AT TIME ZONE 'UTC', j.updated_at AT TIME ZONE 'UTC'
    FROM projects j WHERE j.user_name = ?
"""


def create(
    cursor: DuckDBPyConnection,
    user: str,
    name: str,
    *,
    description: str | None = None,
    goal: str | None = None,
) -> Project:
    """A new, active project. Raises ConflictError where the user has one of this name, whatever its case."""
    chosen = checked_name(_text(name, "name"), what="project")
    _require_free(cursor, user, chosen, but_for=None)
    row = cursor.execute(
        "INSERT INTO projects (user_name, name, name_key, description, goal) VALUES (?, ?, ?, ?, ?)"
        " RETURNING project_id",
        [user, chosen, name_key(chosen), _prose(description), _prose(goal)],
    ).fetchone()
    assert row is not None
    return get(cursor, user, row[0])


def get(cursor: DuckDBPyConnection, user: str, project: int | str) -> Project:
    """The user's project with this id, or with this name in any case. Raises NotFoundError."""
    if isinstance(project, bool) or not isinstance(project, int | str):
        raise InvalidInputError(f"{project!r} is neither a project's id nor its name.")
    if isinstance(project, str):
        query = _PROJECT + " AND j.name_key = ?"
        row = cursor.execute(query, [user, name_key(clean_text(project))]).fetchone()
    else:
        query = _PROJECT + " AND j.project_id = ?"
        row = cursor.execute(query, [user, project]).fetchone() if 0 < project < 2**63 else None
    if row is None:
        raise NotFoundError(_not_found(project))
    return _project(row)


def list_projects(cursor: DuckDBPyConnection, user: str, *, status: str | None = "active") -> list[Project]:
    """The user's projects of one status, or all of them for ``None``, by name."""
    if status is None:
        rows = cursor.execute(_PROJECT + " ORDER BY j.name_key", [user]).fetchall()
    else:
        rows = cursor.execute(
            _PROJECT + " AND j.status = ? ORDER BY j.name_key", [user, _checked_status(status)]
        ).fetchall()
    return [_project(row) for row in rows]


def update(
    cursor: DuckDBPyConnection,
    user: str,
    project_id: int,
    *,
    name: str | NotGiven = NOT_GIVEN,
    description: str | NotGiven | None = NOT_GIVEN,
    goal: str | NotGiven | None = NOT_GIVEN,
    status: str | NotGiven = NOT_GIVEN,
) -> Project:
    """Changes what is given and leaves the rest; ``None`` empties a description or goal."""
    current = get(cursor, user, project_id)
    changes: dict[str, str | None] = {}
    if name is not NOT_GIVEN:
        if name is None:
            raise InvalidInputError("A project keeps its name: give a new one, or leave it out.")
        chosen = checked_name(_text(name, "name"), what="project")
        _require_free(cursor, user, chosen, but_for=current.id)
        changes |= {"name": chosen, "name_key": name_key(chosen)}
    if description is not NOT_GIVEN:
        changes["description"] = _prose(description)
    if goal is not NOT_GIVEN:
        changes["goal"] = _prose(goal)
    if status is not NOT_GIVEN:
        changes["status"] = _checked_status(status)
    if not changes:
        return current
    assignments = ", ".join(f"{column} = ?" for column in changes)
    cursor.execute(
        f"UPDATE projects SET {assignments}, updated_at = now() WHERE project_id = ? AND user_name = ?",
        [*changes.values(), current.id, user],
    )
    return get(cursor, user, current.id)


def delete(cursor: DuckDBPyConnection, user: str, project_id: int) -> None:
    """Removes the project with its chat. Its papers stay in the user's library; conversations that saw it
    see orphans from now on."""
    current = get(cursor, user, project_id)
    departures.project_deleted(cursor, user, current.id, name=current.name)
    cursor.execute("DELETE FROM project_papers WHERE project_id = ?", [current.id])
    cursor.execute("DELETE FROM projects WHERE project_id = ? AND user_name = ?", [current.id, user])


def add_paper(
    cursor: DuckDBPyConnection, user: str, project_id: int, paper_id: int, *, limit: int = 0
) -> bool:
    """Puts a paper the user sees into the project and into the user's library; False where it is in the
    project already.

    ``limit`` is the most papers the project may hold, 0 for no limit. Raises ConflictError at the limit.
    """
    current = get(cursor, user, project_id)
    paper = papers.get(cursor, user, paper_id)
    if paper.id in paper_ids(cursor, user, current.id):
        return False
    require_room(current, 1, limit=limit)
    # What others share comes into the user's own library, so that the project keeps it when they stop.
    papers.link(cursor, user, paper.id, file=paper.file)
    cursor.execute(
        "INSERT INTO project_papers (project_id, paper_id, user_name) VALUES (?, ?, ?)",
        [current.id, paper.id, user],
    )
    touch(cursor, current.id)
    return True


def require_room(project: Project, papers_to_come: int, *, limit: int) -> None:
    """Raises ConflictError where the project would hold more than ``limit`` papers, 0 for no limit."""
    if limit and papers_to_come and project.paper_count + papers_to_come > limit:
        held = "1 paper" if project.paper_count == 1 else f"{project.paper_count} papers"
        more = "" if papers_to_come == 1 else f", so {papers_to_come} more do not fit"
        raise ConflictError(
            f"Project “{project.name}” holds {held} and its limit is {limit}{more}: "
            "remove one, or raise WORKBENCH_PROJECT_MAX_PAPERS (0 means no limit)."
        )


def remove_paper(cursor: DuckDBPyConnection, user: str, project_id: int, paper_id: int) -> None:
    """Takes the paper out of the project; it stays in the library. Raises NotFoundError if absent."""
    current = get(cursor, user, project_id)
    gone = cursor.execute(
        "DELETE FROM project_papers WHERE project_id = ? AND paper_id = ? RETURNING paper_id",
        [current.id, paper_id],
    ).fetchall()
    if not gone:
        raise NotFoundError(f"Paper not found in project “{current.name}”.")
    touch(cursor, current.id)


def paper_ids(cursor: DuckDBPyConnection, user: str, project_id: int) -> tuple[int, ...]:
    """Ids of the project's papers, ascending. Raises NotFoundError for a project that is not the user's."""
    current = get(cursor, user, project_id)
    rows = cursor.execute(
        "SELECT paper_id FROM project_papers WHERE project_id = ? ORDER BY paper_id", [current.id]
    ).fetchall()
    return tuple(row[0] for row in rows)


def members(cursor: DuckDBPyConnection, user: str) -> dict[int, tuple[int, ...]]:
    """Ids of the papers of each of the user's projects that has any, ascending, by the project's id."""
    rows = cursor.execute(
        "SELECT project_id, list(paper_id ORDER BY paper_id) FROM project_papers WHERE user_name = ?"
        " GROUP BY project_id ORDER BY project_id",
        [user],
    ).fetchall()
    return {project_id: tuple(paper_ids) for project_id, paper_ids in rows}


def touch(cursor: DuckDBPyConnection, project_id: int) -> None:
    """Notes that the project changed now."""
    cursor.execute("UPDATE projects SET updated_at = now() WHERE project_id = ?", [project_id])


def _require_free(cursor: DuckDBPyConnection, user: str, name: str, *, but_for: int | None) -> None:
    row = cursor.execute(
        "SELECT project_id, name FROM projects WHERE user_name = ? AND name_key = ?", [user, name_key(name)]
    ).fetchone()
    if row is not None and row[0] != but_for:
        raise ConflictError(f"You have a project named “{row[1]}” already: use it, or choose another name.")


def _not_found(project: int | str) -> str:
    shown = f"“{clean_text(project)}”" if isinstance(project, str) else str(project)
    text = f"Project not found: {shown}. List your projects to see their names."
    if isinstance(project, str) and project.strip().isdecimal():
        text += " (A text is taken for a name: give an id as a number.)"
    return text


def _checked_status(status: Any) -> str:
    if status not in STATUSES:
        raise InvalidInputError(f"{status!r} is not a project's status: use {' or '.join(STATUSES)}.")
    return str(status)


def _prose(text: str | None) -> str | None:
    return None if text is None else clean_text(_text(text, "description or goal")).strip() or None


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise InvalidInputError(f"{given!r} is no {what} of a project: give a text.")
    return given


def _project(row: tuple[Any, ...]) -> Project:
    project_id, name, description, goal, status, paper_count, created, updated = row
    return Project(project_id, name, description, goal, status, paper_count, utc(created), utc(updated))

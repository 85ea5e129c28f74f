"""Project summaries: what goes into one, and the text that came out. Every call checks the owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.records import ProjectSummary
from workbench.retrieval.project_ranking import DescribedProject
from workbench.storage import projects
from workbench.storage.cleaning import clean_text
from workbench.storage.departures import OPENING
from workbench.storage.moments import utc

NEWEST_PAPERS = 10


@dataclass(frozen=True, slots=True)
class ProjectContents:
    """What a summary is written from. ``papers`` are (title, first characters) of the newest ones, newest
    first, ``years`` those of all papers that have one. ``state`` and ``summarized_at`` tell whether the
    project and its summary are still the same when the new one is stored."""

    project_id: int
    title: str
    description: str | None
    goal: str | None
    paper_count: int
    years: tuple[int, ...]
    papers: tuple[tuple[str, str], ...]
    state: tuple[object, ...]
    summarized_at: datetime | None = None


def contents(cursor: DuckDBPyConnection, user: str, project_id: int) -> ProjectContents:
    """The project as a summary sees it. Raises NotFoundError."""
    project = projects.get(cursor, user, project_id)
    newest = cursor.execute(
        "SELECT coalesce(l.title, p.title), left(g.text, ?) FROM project_papers pp"
        " JOIN papers p USING (paper_id)"
        " LEFT JOIN library_links l ON l.paper_id = p.paper_id AND l.user_name = ?"
        " LEFT JOIN pages g ON g.paper_id = p.paper_id AND g.page = 1"
        " WHERE pp.project_id = ? ORDER BY pp.added_at DESC, p.paper_id DESC LIMIT ?",
        [OPENING, user, project.id, NEWEST_PAPERS],
    ).fetchall()
    years = cursor.execute(
        "SELECT year FROM papers JOIN project_papers USING (paper_id)"
        " WHERE project_id = ? AND year IS NOT NULL ORDER BY year",
        [project.id],
    ).fetchall()
    return ProjectContents(
        project_id=project.id,
        title=project.name,
        description=project.description,
        goal=project.goal,
        paper_count=project.paper_count,
        years=tuple(row[0] for row in years),
        papers=tuple((title, opening or "") for title, opening in newest),
        state=_state(cursor, user, project.id),
        summarized_at=get(cursor, user, project.id).updated_at,
    )


def store(cursor: DuckDBPyConnection, user: str, text: str, *, written_by: str, of: ProjectContents) -> bool:
    """Keeps the summary that was written from ``of``; False where the project or its papers have changed
    since, so that nothing of a removed paper comes back. One that was written meanwhile of the same state
    stays, and does for both. Raises NotFoundError for a project that went."""
    project = projects.get(cursor, user, of.project_id)
    if _state(cursor, user, project.id) != of.state:
        return False
    if get(cursor, user, project.id).updated_at != of.summarized_at:
        return True
    cursor.execute(
        "UPDATE projects SET auto_summary = ?, summary_by = ?, summary_updated_at = now()"
        " WHERE project_id = ? AND user_name = ?",
        [clean_text(text), written_by, project.id, user],
    )
    return True


def get(cursor: DuckDBPyConnection, user: str, project_id: int) -> ProjectSummary:
    """The project's summary as it stands. Raises NotFoundError."""
    project = projects.get(cursor, user, project_id)
    return _listed(cursor, user, "AND project_id = ?", [project.id])[0]


def list_summaries(
    cursor: DuckDBPyConnection, user: str, *, status: str | None = None
) -> list[ProjectSummary]:
    """The summaries of the user's projects, by name; those without one have no text."""
    if status is None:
        return _listed(cursor, user, "", [])
    return _listed(cursor, user, "AND status = ?", [status])


def described_projects(cursor: DuckDBPyConnection, user: str) -> list[DescribedProject]:
    """What each project of the user's can be found by, archived ones included."""
    rows = cursor.execute(
        "SELECT project_id, name, description, auto_summary FROM projects WHERE user_name = ?"
        " ORDER BY project_id",
        [user],
    ).fetchall()
    return [DescribedProject(*row) for row in rows]


def due(
    cursor: DuckDBPyConnection, user: str, *, older_than: timedelta, project_id: int | None = None
) -> list[int]:
    """Ids of the user's projects whose summary should be written again: it is missing, it is older than that,
    the text of one of its papers has changed since, or no paper of the project was in it yet when it was
    written. Of all active projects, an old summary counts only where the project has changed since. Raises
    NotFoundError for a project that is not the user's."""
    if project_id is not None:
        chosen, values = "project_id = ?", [projects.get(cursor, user, project_id).id]
        changed = "true"
    else:
        chosen, values = (
            "(status = 'active' OR (auto_summary IS NOT NULL AND summary_updated_at IS NULL))",
            [],
        )
        changed = "updated_at > summary_updated_at"
    rows = cursor.execute(
        f"SELECT project_id FROM projects j WHERE user_name = ? AND {chosen} AND (summary_updated_at IS NULL"
        f" OR (summary_updated_at < now() - to_seconds(?) AND {changed})"
        " OR summary_updated_at < (SELECT min(added_at) FROM project_papers pp"
        " WHERE pp.project_id = j.project_id)) ORDER BY project_id",
        [user, *values, older_than.total_seconds()],
    ).fetchall()
    return [row[0] for row in rows]


def _state(cursor: DuckDBPyConnection, user: str, project_id: int) -> tuple[object, ...]:
    """What a summary depends on: the project's own words and, for each paper, its last content change."""
    row = cursor.execute(
        "SELECT name, description, goal FROM projects WHERE project_id = ? AND user_name = ?",
        [project_id, user],
    ).fetchone()
    papers = cursor.execute(
        "SELECT paper_id, revision, title FROM project_papers pp LEFT JOIN paper_changes USING (paper_id)"
        " LEFT JOIN library_links l USING (paper_id, user_name) WHERE pp.project_id = ? ORDER BY paper_id",
        [project_id],
    ).fetchall()
    return (row, *papers)


def _listed(cursor: DuckDBPyConnection, user: str, condition: str, values: list[Any]) -> list[ProjectSummary]:
    rows = cursor.execute(
        "SELECT project_id, name, auto_summary, summary_updated_at AT TIME ZONE 'UTC', summary_by"
        " FROM projects"
        f" WHERE user_name = ? {condition} ORDER BY name_key",
        [user, *values],
    ).fetchall()
    return [_summary(*row) for row in rows]


def _summary(
    project_id: int, name: str, text: str | None, updated: datetime | None, written_by: str | None
) -> ProjectSummary:
    return ProjectSummary(project_id, name, text, None if updated is None else utc(updated), written_by)

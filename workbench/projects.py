"""``wb.projects``: a user's own groups of papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.library import Papers
from workbench.naming import PaperLike, ProjectLike, paper_id_of, project_key
from workbench.records import Paper, Project, ProjectMatch
from workbench.rendering import Listing
from workbench.retrieval.project_ranking import rank_projects
from workbench.scope import Scope
from workbench.storage import projects as project_store
from workbench.storage import summaries as summary_store
from workbench.storage.database import Database
from workbench.summaries import Summaries

_NOT_GIVEN: Any = project_store.NOT_GIVEN


class Projects:
    """``wb.projects``: a user's private groups of papers. Another user's project does not exist here."""

    def __init__(
        self, database: Database, user: str, papers: Papers, *, max_papers: int, summaries: Summaries
    ) -> None:
        self._database, self._user, self._papers, self._max_papers = database, user, papers, max_papers
        self._summaries = summaries

    def create(self, name: str, description: str | None = None, goal: str | None = None) -> Project:
        """A new, empty, active project. Raises ConflictError where the name is taken (in any case)."""
        with self._database.write() as cursor:
            return project_store.create(cursor, self._user, name, description=description, goal=goal)

    def get(self, project: ProjectLike) -> Project:
        """The project with this id or name. Raises NotFoundError."""
        with self._database.read() as cursor:
            return project_store.get(cursor, self._user, project_key(project))

    def list(self, status: str | None = "active") -> Listing[Project]:
        """Projects by name; ``status`` is ``"active"``, ``"archived"`` or None for both."""
        with self._database.read() as cursor:
            return Listing(Project, project_store.list_projects(cursor, self._user, status=status))

    def update(
        self,
        project: ProjectLike,
        *,
        name: str = _NOT_GIVEN,
        description: str | None = _NOT_GIVEN,
        goal: str | None = _NOT_GIVEN,
        status: str = _NOT_GIVEN,
    ) -> Project:
        """The project with new values; what is not given stays, and None empties a text."""
        found = self.get(project)
        with self._database.write() as cursor:
            changed = project_store.update(
                cursor, self._user, found.id, name=name, description=description, goal=goal, status=status
            )
        self._summaries.project_changed(changed.id)
        return changed

    def delete(self, project: ProjectLike) -> None:
        """Deletes the project and its memberships. Its papers stay in the library."""
        found = self.get(project)
        with self._database.write() as cursor:
            project_store.delete(cursor, self._user, found.id)

    def add(self, project: ProjectLike, *papers: PaperLike | str | Path) -> Project:
        """Adds papers, given as papers, ids or paths; a path is put into the library first.

        Papers and ids go in all or none, each file by itself. Raises ConflictError at the project's paper
        limit, NotFoundError for an unknown paper, and DocumentError for a file that cannot become one.
        """
        found = self.get(project)
        paper_ids = [paper_id_of(p) for p in papers if not isinstance(p, str | Path)]
        if paper_ids:
            with self._database.write() as cursor:
                new = set(paper_ids) - set(project_store.paper_ids(cursor, self._user, found.id))
                now = project_store.get(cursor, self._user, found.id)
                project_store.require_room(now, len(new), limit=self._max_papers)  # before any goes in
                for paper_id in paper_ids:
                    project_store.add_paper(cursor, self._user, found.id, paper_id, limit=self._max_papers)
            self._papers.index_soon(paper_ids)
        for path in papers:
            if isinstance(path, str | Path):
                self._papers.add(path, project=found)
        self._summaries.papers_changed(found.id)
        return self.get(found.id)

    def remove(self, project: ProjectLike, paper: PaperLike) -> None:
        """Takes the paper out of this project only."""
        found = self.get(project)
        with self._database.write() as cursor:
            project_store.remove_paper(cursor, self._user, found.id, paper_id_of(paper))
        self._summaries.papers_changed(found.id)

    def papers(self, project: ProjectLike) -> Listing[Paper]:
        """The project's papers, in the order the library got them."""
        return self._papers.list(scope=Scope.project(self.get(project)))

    def members(self) -> dict[int, tuple[int, ...]]:
        """The ids of the papers of every project that has any, archived ones too, by the project's id."""
        with self._database.read() as cursor:
            return project_store.members(cursor, self._user)

    def search(self, query: str) -> Listing[ProjectMatch]:
        """The five projects nearest to the query, archived ones too, best first, however far they are.

        An empty query is near to none: it gives the five that were made first.

        They are found by name, description and summary; scores, 0 to 2, are those of ``rank_projects``.
        """
        with self._database.read() as cursor:
            described = summary_store.described_projects(cursor, self._user)
        return Listing(ProjectMatch, rank_projects(query, described))

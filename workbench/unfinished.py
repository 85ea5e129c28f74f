"""Papers that searches by meaning leave out, indexed in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from workbench.background import Background
from workbench.errors import LibraryError, NotFoundError, WorkbenchError
from workbench.storage import ledger, papers, projects
from workbench.storage.database import Database

if TYPE_CHECKING:
    from workbench.ingest.pipeline import Ingestor


class Unfinished:
    """One user's papers without vectors. ``lacking`` gives what indexes them, None where no embedder is at
    hand."""

    def __init__(
        self,
        database: Database,
        user: str,
        *,
        lacking: Callable[[], Ingestor | None],
        refresh_indexes: Callable[[], None],
        background: Background,
    ) -> None:
        self._database, self._user = database, user
        self._lacking, self._refresh_indexes, self._background = lacking, refresh_indexes, background

    def index_soon(self, paper_ids: Iterable[int]) -> None:
        """Has those of the papers that are not ready indexed, one after another."""
        with self._database.read() as cursor:
            found = papers.list_papers(cursor, self._user, list(paper_ids))
        left = [paper.id for paper in found if paper.state != "ready"]
        if left:  # one piece of work, since the background has room for a few hundred
            self._background.start(partial(self._index_each, left), key=("index", *left))

    def go_on(self) -> None:
        """When a library opens: papers of active projects that were to be indexed when an earlier process
        ended, or its embedder failed, are indexed now."""
        self._background.start(self._index_of_projects, key="unfinished")

    def failures(self) -> dict[int, str]:
        """Why the last try failed, by the paper's id; a paper that nobody has tried since is not in it."""
        with self._database.read() as cursor:
            left = [p.id for p in papers.list_papers(cursor, self._user) if p.state != "ready"]
            return ledger.last_failures(cursor, self._user, left) if left else {}

    def _index_of_projects(self) -> None:
        with self._database.read() as cursor:
            active = projects.list_projects(cursor, self._user)
            wanted = [i for p in active for i in projects.paper_ids(cursor, self._user, p.id)]
        self.index_soon(wanted)

    def _index_each(self, paper_ids: Sequence[int]) -> None:
        for paper_id in paper_ids:
            with suppress(NotFoundError, LibraryError):  # it has gone, or cannot be looked at now
                self._index(paper_id)

    def _index(self, paper_id: int) -> None:
        if self._background.closing or self._is_ready(paper_id):
            return
        try:
            ingestor = self._lacking()
            if ingestor is not None:
                ingestor.index(paper_id, user=self._user)
                self._refresh_indexes()
        except WorkbenchError as error:
            self._note_failure(paper_id, error)

    def _is_ready(self, paper_id: int) -> bool:
        with self._database.read() as cursor:
            return papers.get(cursor, self._user, paper_id).state == "ready"

    def _note_failure(self, paper_id: int, error: WorkbenchError) -> None:
        """Keeps in the ledger why a paper could not be indexed: nobody was there to be told."""
        reason = " ".join(str(error).split())
        with suppress(NotFoundError), self._database.write() as cursor:
            paper = papers.get(cursor, self._user, paper_id)
            ledger.record(
                cursor,
                self._user,
                file=paper.file,
                stage="embed",
                state="failed",
                seconds=0.0,
                sha256=paper.sha256,
                paper_id=paper.id,
                error=reason,
            )

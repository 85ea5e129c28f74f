"""``wb.summaries``: what each project is about, written in the background and kept with the project."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Literal

from workbench.background import Background
from workbench.chat.summaries import extracted_summary, written_summary
from workbench.errors import ConflictError
from workbench.interfaces import ChatModel
from workbench.records import Project, ProjectSummary
from workbench.rendering import Listing
from workbench.scope import Scope
from workbench.storage import projects as project_store
from workbench.storage import summaries
from workbench.storage.database import Database

FRESH_FOR = timedelta(hours=1)
EXTRACTIVE = "extractive"
ATTEMPTS = 3  # while papers come and go meanwhile

ProjectLike = Project | int | str
Mode = Literal["auto", "extractive", "off"]


class Summaries:
    """The summaries of a user's projects. One that cannot be written leaves the old one, and no error.

    ``mode`` is ``"auto"`` (``chat_model(scope)`` writes; without one the papers' own words), ``"extractive"``
    (always their own words) or ``"off"``, which writes none but those that ``refresh`` asks for.
    """

    def __init__(
        self,
        database: Database,
        user: str,
        *,
        background: Background,
        chat_model: Callable[[Scope], ChatModel | None],
        mode: Mode = "auto",
    ) -> None:
        self._database, self._user, self._mode = database, user, mode
        self._background, self._chat_model = background, chat_model

    def get(self, project: ProjectLike) -> ProjectSummary:
        """The project's summary as it stands; without text until the first is ready. Raises NotFoundError."""
        with self._database.read() as cursor:
            found = project_store.get(cursor, self._user, _key(project))
            return summaries.get(cursor, self._user, found.id)

    def list(self, status: str | None = "active") -> Listing[ProjectSummary]:
        """The summaries of all projects of a status (None for both), by the project's name."""
        with self._database.read() as cursor:
            return Listing(ProjectSummary, summaries.list_summaries(cursor, self._user, status=status))

    def refresh(self, project: ProjectLike) -> ProjectSummary:
        """Writes the summary anew, now, and returns it.

        Raises NotFoundError, ProviderError where the chat model fails (the old summary stays), ConflictError
        where the project keeps changing meanwhile.
        """
        with self._database.read() as cursor:
            found = project_store.get(cursor, self._user, _key(project))
        if not self._write(found.id, at_any_rate=True):
            raise ConflictError(f"Project “{found.name}” is changing: refresh its summary again in a moment.")
        return self.get(found.id)

    # --- in the background -------------------------------------------------------------------

    def project_changed(self, project_id: int) -> None:
        """After a project's own words changed: a new summary, in any case."""
        if self._mode != "off":
            self._background.start(lambda: self._write(project_id), key=("summary", project_id))

    def papers_changed(self, project_id: int) -> None:
        """After papers or notes of a project came, changed or went: a new summary if it has none, or one
        that is over an hour old, tells of a text that is another now, or was written before any of its papers
        came. So many changes cost one."""
        if self._mode != "off":
            self._background.start(lambda: self._write_if_due(project_id), key=("summary if due", project_id))

    def backfill(self) -> None:
        """When a library opens, and after papers were read again: a summary for each active project without
        one, or with an old one that missed a change."""
        if self._mode != "off":
            self._background.start(self._start_all_due, key="summaries")

    def _start_all_due(self) -> None:
        with self._database.read() as cursor:
            due = summaries.due(cursor, self._user, older_than=FRESH_FOR)
        for project_id in due:
            self.papers_changed(project_id)

    def _write_if_due(self, project_id: int) -> None:
        with self._database.read() as cursor:
            due = summaries.due(cursor, self._user, older_than=FRESH_FOR, project_id=project_id)
        if due:
            self._write(project_id)

    def _write(self, project_id: int, *, at_any_rate: bool = False) -> bool:
        """False where the project changed during each attempt. Raises NotFoundError, ProviderError.

        Where no chat model is at hand at the moment, what one has written stays, unless ``at_any_rate`` or
        a paper's text has changed since.
        """
        for _ in range(ATTEMPTS):
            with self._database.read() as cursor:
                contents = summaries.contents(cursor, self._user, project_id)
                now = summaries.get(cursor, self._user, project_id)
            model = self._chat_model(Scope.project(project_id)) if self._mode != "extractive" else None
            missed = model is None and self._mode != "extractive" and not at_any_rate
            if missed and now.updated_at is not None and now.written_by != EXTRACTIVE:
                return True
            text = extracted_summary(contents) if model is None else written_summary(contents, model)
            name = EXTRACTIVE if model is None else model.name
            with self._database.write() as cursor:
                if summaries.store(cursor, self._user, text, written_by=name, of=contents):
                    return True
        return False


def _key(project: ProjectLike) -> int | str:
    return project.id if isinstance(project, Project) else project

"""``wb.notes``: the user's own notes. Each is a paper of kind "note", so searches and projects know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.errors import InvalidInputError
from workbench.naming import PaperLike, ProjectLike, paper_id_of
from workbench.projects import Projects
from workbench.records import Note
from workbench.rendering import Listing
from workbench.storage import generations, papers, shares
from workbench.storage import notes as note_store
from workbench.storage import projects as project_store
from workbench.storage.database import Database
from workbench.summaries import Summaries

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from workbench.ingest.indexing import PaperIndexer
    from workbench.ingest.notes import PreparedNote

_NOT_GIVEN: Any = project_store.NOT_GIVEN


class Notes:
    """Markdown notes: in no project until they are put into one, and searched like every other paper."""

    def __init__(
        self,
        database: Database,
        user: str,
        projects: Projects,
        *,
        indexer: Callable[[], tuple[PaperIndexer, tuple[str, ...]]],
        refresh_indexes: Callable[[], None],
        max_papers: int,
        summaries: Summaries,
    ) -> None:
        self._database, self._user, self._projects = database, user, projects
        self._indexer, self._refresh_indexes, self._max_papers = indexer, refresh_indexes, max_papers
        self._summaries = summaries

    def create(self, title: str, body: str, *, project: ProjectLike | None = None) -> Note:
        """A new note, an orphan unless a project is named; without a title it goes by its first words.

        Two notes of the same text are two notes. Raises InvalidInputError for one without a word,
        ConflictError where the project is full.
        """
        project_id = None if project is None else self._projects.get(project).id
        indexer, remarks = self._indexer()
        prepared = _prepared(indexer, title, body, self._user)
        with self._database.write() as cursor:
            with prepared.work.timed("index"):
                number = _generation(cursor, indexer, prepared)
                paper_id = papers.insert(cursor, prepared.draft, generation=number)
                papers.link(cursor, self._user, paper_id, file=prepared.work.name)
                note_store.insert(cursor, self._user, paper_id, prepared.body)
                self._file(cursor, paper_id, project_id)
            prepared.work.write_ledger(cursor, paper_id=paper_id)
            note = note_store.get(cursor, self._user, paper_id)
        self._refresh_indexes()
        self._projects_changed(note)
        return replace(note, warnings=(*remarks, *prepared.warnings))

    def get(self, note: PaperLike) -> Note:
        """The note as it is now. Raises NotFoundError for one that is not the user's."""
        with self._database.read() as cursor:
            return note_store.get(cursor, self._user, paper_id_of(note))

    def list(self, *, project: ProjectLike | None = None) -> Listing[Note]:
        """The user's notes, or those in one project; the one changed last first."""
        project_id = None if project is None else self._projects.get(project).id
        with self._database.read() as cursor:
            found = note_store.list_notes(cursor, self._user)
        return Listing(Note, [n for n in found if project_id is None or project_id in n.projects])

    def update(
        self,
        note: PaperLike,
        *,
        title: str = _NOT_GIVEN,
        body: str = _NOT_GIVEN,
        project: ProjectLike | None = _NOT_GIVEN,
    ) -> Note:
        """The note with new values; what is not given stays.

        A new title or text is indexed and takes the old one's place in one step. ``project`` moves the note
        into that project alone, and None out of all of them. Raises NotFoundError, ConflictError where the
        project is full.
        """
        current = self.get(note)
        moves = project is not _NOT_GIVEN
        project_id = self._projects.get(project).id if moves and project is not None else None
        new_title = current.title if title is _NOT_GIVEN else title
        new_body = current.body if body is _NOT_GIVEN else body
        if (new_title, new_body) == (current.title, current.body):
            with self._database.write() as cursor:
                if moves:
                    self._move(cursor, current, project_id)
                moved = note_store.get(cursor, self._user, current.id)
            self._projects_changed(current, moved)
            return moved
        indexer, remarks = self._indexer()
        prepared = _prepared(indexer, new_title, new_body, self._user)
        with self._database.write() as cursor:
            note_store.update(cursor, self._user, current.id, prepared.body)  # first: it may be gone by now
            with prepared.work.timed("index"):
                number = _generation(cursor, indexer, prepared)
                papers.replace_index(cursor, current.id, prepared.draft, generation=number)
            papers.rename_file(cursor, self._user, current.id, file=prepared.work.name)
            if moves:
                self._move(cursor, current, project_id)
            prepared.work.write_ledger(cursor, paper_id=current.id)
            changed = note_store.get(cursor, self._user, current.id)
        self._refresh_indexes()
        self._projects_changed(current, changed)
        return replace(changed, warnings=(*remarks, *prepared.warnings))

    def delete(self, note: PaperLike) -> None:
        """Deletes the note, out of every project and, where it was shared, out of what is shared. Users who
        put it into a library of their own keep it."""
        with self._database.write() as cursor:
            current = note_store.get(cursor, self._user, paper_id_of(note))
            shares.stop_sharing(cursor, self._user, current.id)
            papers.unlink(cursor, self._user, current.id)
        self._refresh_indexes()
        self._projects_changed(current)

    def _projects_changed(self, *notes: Note) -> None:
        """For the summaries of the projects that a note is or was in."""
        for project_id in sorted({project_id for note in notes for project_id in note.projects}):
            self._summaries.papers_changed(project_id)

    def _move(self, cursor: DuckDBPyConnection, note: Note, project_id: int | None) -> None:
        for old in note_store.get(cursor, self._user, note.id).projects:
            if old != project_id:
                project_store.remove_paper(cursor, self._user, old, note.id)
        self._file(cursor, note.id, project_id)

    def _file(self, cursor: DuckDBPyConnection, paper_id: int, project_id: int | None) -> None:
        if project_id is not None:
            project_store.add_paper(cursor, self._user, project_id, paper_id, limit=self._max_papers)


def _prepared(indexer: PaperIndexer, title: object, body: object, user: str) -> PreparedNote:
    from workbench.ingest.notes import prepare_note

    if not isinstance(body, str) or not (title is None or isinstance(title, str)):
        raise InvalidInputError("A note's title and body are texts.")
    return prepare_note(indexer, title or "", body, user=user)


def _generation(cursor: DuckDBPyConnection, indexer: PaperIndexer, prepared: PreparedNote) -> int | None:
    """The generation that the note's vectors belong to."""
    if prepared.draft.vectors is None or indexer.embedder is None:
        return None
    embedder = indexer.embedder
    return generations.begin(cursor, embedder.name, embedder.dimension).generation

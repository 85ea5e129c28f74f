"""``wb.papers`` and ``wb.chunks``: what is in the library, as one user sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from filelock import FileLock, Timeout

from workbench.background import Background
from workbench.errors import DocumentError, InvalidInputError, LibraryError, NotFoundError
from workbench.ingest.drafting import check_title
from workbench.ingest.sources import is_folder, listed
from workbench.naming import PaperLike, ProjectLike, paper_id_of, project_key
from workbench.paper_pages import PaperPages
from workbench.records import Chunk, FileOutcome, IngestReport, Paper, Progress, StageEnd
from workbench.rendering import Listing
from workbench.scope import Scope
from workbench.storage import chunks as chunk_store
from workbench.storage import generations, ledger, scopes, shares
from workbench.storage import papers as paper_store
from workbench.storage import projects as project_store
from workbench.storage.database import Database
from workbench.summaries import Summaries
from workbench.unfinished import Unfinished

if TYPE_CHECKING:
    import pandas

    from workbench.ingest.pipeline import Ingestor
    from workbench.ingest.sandbox import Reader

Source = str | Path | bytes | BinaryIO


class Papers(PaperPages):
    """``wb.papers``: what is in the library, as this user sees it."""

    def __init__(
        self,
        database: Database,
        user: str,
        *,
        ingestor: Callable[[], tuple[Ingestor, tuple[str, ...]]],
        renewer: Callable[[bool], Ingestor],
        unfinished: Unfinished,
        reader: Callable[[], Reader],
        refresh_indexes: Callable[[], None],
        background: Background,
        summaries: Summaries,
    ) -> None:
        super().__init__(database, user, reader=reader)
        self._ingestor, self._renewer, self._unfinished = ingestor, renewer, unfinished
        self._refresh_indexes, self._background = refresh_indexes, background
        self._summaries = summaries

    def add(self, source: Source, *, title: str | None = None, project: ProjectLike | None = None) -> Paper:
        """Adds one file (path, bytes or file object) and returns its paper; the same bytes again return the
        paper that is there.

        ``title`` is what this user calls it, in place of the title that stands in the file. Raises
        DocumentError with the reason where it cannot become a paper, ConflictError where the project is full.
        """
        if is_folder(source):
            raise InvalidInputError(f"{source!s} is a folder: add_many takes folders, add one file.")
        if title is not None:
            if not isinstance(title, str):
                raise InvalidInputError(f"A title is a text, not {type(title).__name__}.")
            check_title(title)
        outcome = self._add([source], title=title, project=project, progress=None, strict=True).files[0]
        if outcome.status == "failed" or outcome.paper_id is None:
            raise DocumentError(f"{outcome.file}: {outcome.error}")
        return self.get(outcome.paper_id)

    def add_many(
        self,
        sources: Iterable[Source],
        *,
        project: ProjectLike | None = None,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        done: Callable[[FileOutcome], None] | None = None,
    ) -> IngestReport:
        """Adds many files and folders; one bad file never stops the rest.

        ``progress`` is called with each step, ``done`` with what became of each file as soon as it is known;
        ``cancelled`` is asked between papers and ends the work, with everything finished so far kept.
        """
        return self._add(
            listed(sources, what="files and folders"),
            title=None,
            project=project,
            progress=progress,
            cancelled=cancelled,
            done=done,
        )

    def _add(
        self,
        sources: Sequence[Source],
        *,
        title: str | None,
        project: ProjectLike | None,
        progress: Callable[[Progress], None] | None,
        cancelled: Callable[[], bool] | None = None,
        done: Callable[[FileOutcome], None] | None = None,
        strict: bool = False,
    ) -> IngestReport:
        project_id = self._project_id(project)
        ingestor, notes = self._ingestor()
        report = ingestor.add_many(
            sources,
            user=self._user,
            project_id=project_id,
            title=title,
            progress=progress,
            cancelled=cancelled,
            done=_noting(done, notes),
            strict=strict,
        )
        with suppress(LibraryError):  # what has become of the files is to be told, whatever comes after
            self._refresh_indexes()
            if project_id is not None:
                self.index_soon([f.paper_id for f in report.files if f.status == "duplicate" and f.paper_id])
        if project_id is not None:
            self._summaries.papers_changed(project_id)
        return _noted(report, notes)

    def add_texts(
        self,
        records: Iterable[dict[str, str]],
        *,
        project: ProjectLike | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> IngestReport:
        """Adds records with ``title``, ``text`` and an optional ``source_id`` of your own, one paper each.

        One bad record never stops the rest.
        """
        given = listed(records, what="records")
        project_id = self._project_id(project)
        ingestor, notes = self._ingestor()
        report = ingestor.add_texts(given, user=self._user, project_id=project_id, progress=progress)
        with suppress(LibraryError):
            self._refresh_indexes()
        if project_id is not None:
            self._summaries.papers_changed(project_id)
        return _noted(report, notes)

    def get(self, paper: PaperLike) -> Paper:
        """The paper with this id. Raises NotFoundError where it is not in the user's library."""
        with self._database.read() as cursor:
            return paper_store.get(cursor, self._user, paper_id_of(paper))

    def list(self, scope: Scope = Scope.ALL) -> Listing[Paper]:
        """The papers of a scope, in the order the library got them."""
        with self._database.read() as cursor:
            ids = scopes.paper_ids(cursor, self._user, scope)
            return Listing(Paper, paper_store.list_papers(cursor, self._user, ids))

    def remove(self, paper: PaperLike) -> None:
        """Takes the paper out of the user's library and projects. Its text, vectors and file go when no
        user's library holds it any more."""
        with self._database.write() as cursor:
            found = paper_store.get(cursor, self._user, paper_id_of(paper))
            paper_store.unlink(cursor, self._user, found.id)
            gone = paper_store.find_by_hash(cursor, found.sha256) is None
        self._summaries.backfill()  # those of its projects are empty now
        if gone:
            self._files.discard(found)
            self._refresh_indexes()

    def reprocess(
        self, paper: PaperLike, *, progress: Callable[[Progress], None] | None = None
    ) -> FileOutcome:
        """Reads the stored file again and replaces the paper's chunks and vectors in one step.

        With another embedder than the library's (given, or set by name) the paper gets new vectors beside
        the old ones, which take over when no paper lacks them.
        """
        ingestor = self._renewer(False)
        outcome = ingestor.reprocess(self.get(paper).id, user=self._user, progress=progress)
        self._refresh_indexes()
        self._summaries.backfill()  # those that told of another text are outdated now
        return outcome

    def reprocess_all(
        self,
        *,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        done: Callable[[FileOutcome], None] | None = None,
    ) -> IngestReport:
        """Renews every paper of the user's library, one after another.

        With another embedder than the library's (given, set by name, or because the library's own cannot be
        had) the papers of its other users get vectors too, unseen, and then the new vectors take over.
        ``done`` is called with each outcome; ``cancelled`` is asked between papers, and what is finished
        stays. One paper that cannot be renewed keeps what it has, and never stops the rest.
        """
        ingestor = self._renewer(True)
        ingestor.begin_move()
        outcomes: list[FileOutcome] = []
        own = self._own_ids()
        wanted = [paper for paper in self.list() if paper.id in own]
        for number, paper in enumerate(wanted, start=1):
            if cancelled is not None and cancelled():
                break
            outcomes.append(self._renewed(ingestor, paper, progress, number, len(wanted)))
            if done is not None:
                done(outcomes[-1])
        else:
            if not any(outcome.status == "failed" for outcome in outcomes):
                ingestor.complete_move(cancelled=cancelled)
        self._refresh_indexes()
        self._summaries.backfill()
        return IngestReport(tuple(outcomes))

    def move_soon(self) -> bool:
        """Moves the library to the embedder that is set by name, in the background.

        The old vectors answer searches until no paper lacks the new ones; then those take over and the old
        ones go. Cut off by ``close`` or a kill, it goes on where it was with ``go_on_moving``. False where
        the background takes no more work. Raises ProviderError, SettingsError where the embedder cannot be
        had.
        """
        ingestor = self._renewer(True)
        return self._background.start(partial(self._move, ingestor), key="move")

    def go_on_moving(self) -> None:
        """Goes on in the background with a move to another embedder that was cut off, where that embedder is
        set by name or given. The dashboard does so when it opens, and the library when papers are added."""
        self._background.start(self._go_on_moving, key="go on moving")

    def _go_on_moving(self) -> None:
        with self._database.read() as cursor:
            target = generations.move_target(cursor)
        if target is None or self._background.closing:
            return
        ingestor = self._renewer(False)
        if ingestor.goes_on_with(target):
            with suppress(Timeout), FileLock(self._database.derived / "moving.lock", timeout=0):
                self._move(ingestor)  # another process that is at it will bring it to its end

    def _move(self, ingestor: Ingestor) -> None:
        if ingestor.complete_move(cancelled=lambda: self._background.closing):
            self._refresh_indexes()

    def _renewed(
        self,
        ingestor: Ingestor,
        paper: Paper,
        progress: Callable[[Progress], None] | None,
        number: int,
        files: int,
    ) -> FileOutcome:
        def tell(step: Progress) -> None:
            if progress is not None:
                progress(replace(step, number=number, files=files))

        try:
            return ingestor.reprocess(paper.id, user=self._user, progress=tell)
        except NotFoundError:
            return FileOutcome(paper.file, "failed", paper.id, error="the paper was removed meanwhile")

    def _own_ids(self) -> frozenset[int]:
        with self._database.read() as cursor:
            return paper_store.linked_ids(cursor, self._user)

    def index_soon(self, papers: Iterable[PaperLike]) -> None:
        """Has those of the papers that searches leave out indexed in the background. Nothing happens where
        no embedder is at hand: they stay "indexing" until there is one. What fails is in the ledger, and
        ``Workbench.status`` tells of it."""
        self._unfinished.index_soon([paper_id_of(paper) for paper in papers])

    def index_failures(self) -> dict[int, str]:
        """For the papers that are still indexing: why the last try failed, by the paper's id. One that
        nobody has tried since is not in it."""
        return self._unfinished.failures()

    def stage_ends(self) -> Listing[StageEnd]:
        """How each stage of each paper ended last, and of each file that did not become a paper, in the order
        in which they ended. Such a file is there until its bytes, or a file of its name, become a paper, or
        ``forget_file`` takes it out."""
        with self._database.read() as cursor:
            return Listing(StageEnd, ledger.stage_ends(cursor, self._user))

    def forget_file(self, file: str) -> None:
        """Takes a file that could not become a paper out of the ledger, by the name it was added under.

        Papers and their entries stay. Raises NotFoundError where the ledger has no such file.
        """
        if not isinstance(file, str):
            raise InvalidInputError(f"A file's name is a text, not {type(file).__name__}.")
        with self._database.write() as cursor:
            if not ledger.forget(cursor, self._user, file):
                raise NotFoundError("File not found: the ledger has no file of this name that failed.")

    def share(self, paper: PaperLike) -> Paper:
        """Makes a paper of the user's library visible to every user; ``unshare`` takes that back."""
        with self._database.write() as cursor:
            shares.share(cursor, self._user, paper_id_of(paper))
        return self.get(paper)

    def unshare(self, paper: PaperLike) -> None:
        """Takes back the user's own share. Users who put the paper into a project of theirs keep it; for
        the others it goes, unless somebody else shares it too. Raises ConflictError for a paper that the
        user does not share."""
        with self._database.write() as cursor:
            shares.unshare(cursor, self._user, paper_id_of(paper))
        self._refresh_indexes()

    def _project_id(self, project: ProjectLike | None) -> int | None:
        self._database.require_open()
        if project is None:
            return None
        with self._database.read() as cursor:
            return project_store.get(cursor, self._user, project_key(project)).id


class Chunks:
    """``wb.chunks``: the pieces that searches work on."""

    def __init__(self, database: Database, user: str) -> None:
        self._database, self._user = database, user

    def list(self, scope: Scope = Scope.ALL) -> Listing[Chunk]:
        """Every chunk of the scope's papers, paper by paper, in reading order."""
        with self._database.read() as cursor:
            return Listing(Chunk, chunk_store.of_papers(cursor, scopes.paper_ids(cursor, self._user, scope)))

    def frame(self, scope: Scope = Scope.ALL) -> pandas.DataFrame:
        """The same as a DataFrame, one row per chunk, with the fields of ``Chunk`` as columns."""
        return self.list(scope).to_frame()


def _noting(
    done: Callable[[FileOutcome], None] | None, notes: tuple[str, ...]
) -> Callable[[FileOutcome], None]:
    """``done``, which gets the first new paper with the notes, as the report has it."""
    left = [notes]

    def tell(outcome: FileOutcome) -> None:
        if outcome.status == "ready" and left:
            outcome = replace(outcome, warnings=(*outcome.warnings, *left.pop()))
        if done is not None:
            done(outcome)

    return tell


def _noted(report: IngestReport, notes: tuple[str, ...]) -> IngestReport:
    """The report with the notes at its first new paper."""
    files = list(report.files)
    first = next((i for i, f in enumerate(files) if f.status == "ready"), None)
    if first is None or not notes:
        return report
    files[first] = replace(files[first], warnings=(*files[first].warnings, *notes))
    return IngestReport(tuple(files))

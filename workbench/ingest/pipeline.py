"""From files to papers in the library: read, chunk, embed, store. A paper is stored whole or not at all.

Nothing slow happens while the library is open: a file is read by the reading process, chunked and embedded
first, and then stored in one short transaction with its link, its place in the project and its ledger rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import ConflictError, DocumentError, LibraryError, LibraryLockedError, WorkbenchError
from workbench.ingest.chunking import ChunkingParameters
from workbench.ingest.document import Document
from workbench.ingest.drafting import (
    neutral_title,
    paper_draft,
    record_document,
    record_id,
    record_length,
    record_name,
    record_source,
    titled,
)
from workbench.ingest.indexing import PaperIndexer
from workbench.ingest.progress import FileWork, OnProgress
from workbench.ingest.renewal import begin_move, complete_move, index_stored, renew
from workbench.ingest.sandbox import Reader
from workbench.ingest.sources import UNNAMED, Source, SourceFile, listed, sha256_of, source_files
from workbench.ingest.texts import LONGEST, TextBatch
from workbench.interfaces import Embedder
from workbench.records import FileOutcome, IngestReport, Progress
from workbench.scratch import scratch_folder
from workbench.storage import papers, projects
from workbench.storage.cleaning import clean_label, file_title
from workbench.storage.database import Database
from workbench.storage.drafts import PaperDraft

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from workbench.storage.generations import Generation

CANCELLED = "cancelled before it was added: add it again to go on"
OTHER_EMBEDDER = (
    "Embedded by another embedder than the rest of the library: reprocess all papers to switch to it; "
    "until then this paper is found by keywords only."
)
_TEXTS_AT_ONCE = 200


class Ingestor:
    """Adds files and texts to a library, and renews papers that are in it.

    ``embedder`` may be ``None``: papers are then found by keywords, until they are reprocessed with one.
    ``project_max_papers`` is the most papers of a project, 0 for no limit. ``parameters`` replace the usual
    sizes of chunks.
    """

    def __init__(
        self,
        database: Database,
        reader: Reader,
        embedder: Embedder | None,
        *,
        project_max_papers: int = 0,
        max_file_mb: int = 512,
        parameters: ChunkingParameters | None = None,
    ) -> None:
        self._database, self._reader = database, reader
        self._indexer = PaperIndexer(embedder, parameters)
        self._project_max_papers, self._max_file_mb = project_max_papers, max_file_mb

    def add_many(
        self,
        sources: Iterable[Source],
        *,
        user: str,
        project_id: int | None = None,
        title: str | None = None,
        progress: OnProgress | None = None,
        cancelled: Callable[[], bool] | None = None,
        done: Callable[[FileOutcome], None] = lambda _: None,
        strict: bool = False,
    ) -> IngestReport:
        """What became of every file, in the order given. One that fails never stops the others.

        ``title`` is the user's own title for the file. ``done`` is called with each outcome as soon as it is
        known. ``cancelled`` is asked before each file; when it says
        so the rest are reported as failed, and what is finished stays. So does a library that another
        program holds; with ``strict`` a trouble of the library itself, or a full project, is raised instead.
        Raises NotFoundError for a project that is not the user's.
        """
        self._check_project(user, project_id)
        outcomes: list[FileOutcome] = []
        trouble: str | None = None

        def keep(outcome: FileOutcome) -> None:
            outcomes.append(outcome)
            done(outcome)

        with scratch_folder() as spool:
            found = list(source_files(sources, spool=spool, max_file_mb=self._max_file_mb))
            for number, source in enumerate(found, start=1):
                if trouble is None and cancelled is not None and cancelled():
                    trouble = CANCELLED
                if trouble is not None:
                    keep(FileOutcome(source.name, "failed", error=trouble))
                    continue
                name = title if title and source.name == UNNAMED else source.name
                own = None if source.name == UNNAMED else file_title(source.name)
                work = FileWork(name, user, project_id, title=title, file_title=own, progress=progress)
                work.number, work.files = number, len(found)
                try:
                    outcome = self._add_file(work, source, strict=strict)
                except LibraryError as error:
                    if strict:
                        raise
                    outcome = FileOutcome(name, "failed", error=" ".join(str(error).split()))
                    if isinstance(error, LibraryLockedError):  # the others would wait as long, each
                        trouble = outcome.error
                keep(replace(outcome, warnings=(*source.notes, *outcome.warnings)))
        return IngestReport(tuple(outcomes))

    def add_texts(
        self,
        records: Iterable[Mapping[str, Any]],
        *,
        user: str,
        project_id: int | None = None,
        progress: OnProgress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IngestReport:
        """Adds records with ``title``, ``text`` and optionally ``source_id``, one paper each.

        Short texts are embedded together and stored a few hundred at a time, each whole.
        """
        items = listed(records, what="records")
        self._check_project(user, project_id)
        limit = self._project_max_papers
        batch = TextBatch(self._database, self._indexer, user=user, project_id=project_id, limit=limit)
        outcomes: list[FileOutcome] = []
        while len(outcomes) < len(items):
            start = len(outcomes)
            if cancelled is not None and cancelled():
                outcomes += [FileOutcome(record_name(r), "failed", error=CANCELLED) for r in items[start:]]
                break
            group = items[start : start + _TEXTS_AT_ONCE]
            try:
                outcomes += self._add_group(batch, group, user, project_id)
            except LibraryLockedError as error:
                reason = " ".join(str(error).split())
                outcomes += [FileOutcome(record_name(r), "failed", error=reason) for r in items[start:]]
            if progress is not None:
                progress(Progress("index", "texts", len(outcomes), len(items)))
        return IngestReport(tuple(outcomes))

    def reprocess(self, paper_id: int, *, user: str, progress: OnProgress | None = None) -> FileOutcome:
        """Reads the stored file again and replaces the paper's index in one transaction.

        Until the new index is stored the old one answers. With another embedder than the one that serves
        the library the paper gets new vectors beside the old ones, which take over when every paper has
        them. Raises NotFoundError.
        """
        return renew(
            self._database, self._reader, self._indexer, paper_id=paper_id, user=user, progress=progress
        )

    def index(self, paper_id: int, *, user: str, progress: OnProgress | None = None) -> FileOutcome:
        """Gives a paper the vectors it lacks, without reading its file again. Raises NotFoundError."""
        return index_stored(self._database, self._indexer, paper_id=paper_id, user=user, progress=progress)

    def begin_move(self) -> None:
        """Notes that the whole library shall have this embedder's vectors."""
        begin_move(self._database, self._indexer)

    def goes_on_with(self, generation: Generation) -> bool:
        """Whether these are the vectors that this embedder makes."""
        embedder = self._indexer.embedder
        return embedder is not None and embedder.name == generation.embedder

    def complete_move(self, *, cancelled: Callable[[], bool] | None = None) -> bool:
        """Lets this embedder's vectors take over once every paper of the library has them; True where they
        serve now. Raises ProviderError."""
        return complete_move(self._database, self._indexer, cancelled=cancelled)

    # --- one file ----------------------------------------------------------------------------------

    def _add_file(self, work: FileWork, source: SourceFile, *, strict: bool) -> FileOutcome:
        if source.absent:  # a mistyped path is told, and would stay in the ledger for ever
            return FileOutcome(work.name, "failed", error=source.problem)
        try:
            if source.path is None:
                raise DocumentError(source.problem or "the file cannot be opened")
            work.tell(0, 1)
            with work.timed("read"):
                work.sha256 = sha256_of(source.path)
                known = self._known(work)
                document = None if known else self._reader.read(source.path, name=work.name)
            return self._linked(work) if document is None else self._added(work, document, source.path)
        except LibraryError:
            raise
        except WorkbenchError as error:
            outcome = self._failed(work, str(error))
            if strict and isinstance(error, ConflictError):
                raise ConflictError(f"{work.name}: {error}") from error
            return outcome
        except OSError as error:
            return self._failed(work, f"the file cannot be opened: {error.strerror or error}")

    def _check_project(self, user: str, project_id: int | None) -> None:
        if project_id is not None:
            with self._database.read() as cursor:
                projects.get(cursor, user, project_id)

    def _add_group(
        self, batch: TextBatch, group: Sequence[Mapping[str, Any]], user: str, project_id: int | None
    ) -> list[FileOutcome]:
        """What became of each record; where they cannot go in together, each is tried by itself."""
        if all(record_length(record) * 4 <= LONGEST for record in group):
            try:
                return batch.add(group)
            except LibraryLockedError:
                raise
            except (WorkbenchError, OSError) as error:
                if len(group) == 1:
                    reason = " ".join(str(error).split())
                    return [FileOutcome(record_name(group[0]), "failed", error=reason)]
        elif len(group) == 1:
            return [self._add_long_text(group[0], user, project_id)]
        outcomes: list[FileOutcome] = []
        for record in group:
            try:
                outcomes += self._add_group(batch, [record], user, project_id)
            except LibraryLockedError as error:
                reason = " ".join(str(error).split())
                left = group[len(outcomes) :]
                return outcomes + [FileOutcome(record_name(r), "failed", error=reason) for r in left]
        return outcomes

    def _add_long_text(self, record: Mapping[str, Any], user: str, project_id: int | None) -> FileOutcome:
        work = FileWork(record_name(record), user, project_id)
        work.source_id = record_id(record)
        try:
            source = record_source(record)
            work.sha256 = source.sha256
            if self._known(work):
                return self._linked(work)
            return self._added(work, record_document(record), source.data)
        except LibraryLockedError:
            raise
        except LibraryError as error:
            return FileOutcome(work.name, "failed", error=" ".join(str(error).split()))
        except (WorkbenchError, OSError) as error:
            return self._failed(work, str(error))

    def _known(self, work: FileWork) -> bool:
        """Whether the library has these bytes. Raises ConflictError, before any work, for a full project."""
        assert work.sha256 is not None
        with self._database.read() as cursor:
            known = papers.find_by_hash(cursor, work.sha256)
            if work.project_id is None:
                return known is not None
            project = projects.get(cursor, work.user, work.project_id)
            if known is None or known not in projects.paper_ids(cursor, work.user, project.id):
                projects.require_room(project, 1, limit=self._project_max_papers)
        return known is not None

    def _added(self, work: FileWork, document: Document, source: Path | bytes) -> FileOutcome:
        assert work.sha256 is not None
        whole = titled(document)
        with work.timed("chunk"):
            chunks = self._indexer.chunks(whole)
        with work.timed("embed"):
            embedded = self._indexer.embedded(whole.kind, chunks, done=work.tell)
        draft = paper_draft(whole, chunks, embedded.vectors, sha256=work.sha256, source=source)
        warnings = (*document.warnings, *embedded.warnings)
        with self._database.write() as cursor:
            with work.timed("index"):
                outcome = self._stored(cursor, work, draft, warnings)
            work.write_ledger(cursor, paper_id=outcome.paper_id)
        work.tell(1, 1)
        return outcome

    def _stored(
        self, cursor: DuckDBPyConnection, work: FileWork, draft: PaperDraft, warnings: tuple[str, ...]
    ) -> FileOutcome:
        existing = papers.find_by_hash(cursor, draft.sha256)
        if existing is not None:  # another process was faster
            return self._link(cursor, work, existing, "duplicate")
        generation = self._indexer.generation(cursor) if draft.vectors is not None else None
        paper_id = papers.insert(cursor, draft, generation=generation.generation if generation else None)
        if generation is not None and not generation.serving:
            warnings = (*warnings, OTHER_EMBEDDER)
        return replace(self._link(cursor, work, paper_id, "ready"), warnings=warnings)

    def _linked(self, work: FileWork) -> FileOutcome:
        assert work.sha256 is not None
        with self._database.write() as cursor:
            existing = papers.find_by_hash(cursor, work.sha256)
            if existing is None:
                raise DocumentError("the paper was removed while it was being added: add it again")
            return self._link(cursor, work, existing, "duplicate")

    def _link(
        self,
        cursor: DuckDBPyConnection,
        work: FileWork,
        paper_id: int,
        status: Literal["ready", "duplicate"],
    ) -> FileOutcome:
        is_new = papers.link(
            cursor, work.user, paper_id, file=work.name, source_id=work.source_id, title=work.title
        )
        if is_new and work.title is None and work.file_title is not None:
            _go_by_file(cursor, work.user, paper_id, work.file_title)
        if work.project_id is not None:
            projects.add_paper(cursor, work.user, work.project_id, paper_id, limit=self._project_max_papers)
        paper = papers.get(cursor, work.user, paper_id)
        return FileOutcome(work.name, status, paper_id, paper.pages, paper.chunks)

    def _failed(self, work: FileWork, reason: str) -> FileOutcome:
        with self._database.write() as cursor:
            return work.write_failure(cursor, reason, paper_id=None)


def _go_by_file(cursor: DuckDBPyConnection, user: str, paper_id: int, own_title: str) -> None:
    """Lets a paper that states no title go by the user's own file name, in this user's library alone."""
    kind, opening = papers.kind_of(cursor, paper_id), papers.page(cursor, paper_id, 1).text
    if papers.stored_title(cursor, paper_id) == clean_label(neutral_title(kind or "", opening)):
        papers.link(cursor, user, paper_id, file=own_title, title=own_title)

"""From files to papers in the library: read, chunk, embed, store. A paper is stored whole or not at all.

Nothing slow happens while the library is open: a file is read by the reading process, chunked and embedded
first, and then stored in one short transaction with its link, its place in the project and its ledger rows.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ConflictError, DocumentError, InvalidInputError, WorkbenchError
from workbench.ingest.chunking import ChunkingParameters, chunk_document
from workbench.ingest.document import Document
from workbench.ingest.drafting import paper_draft, record_document, record_source, spare_title
from workbench.ingest.embedding import embed, texts_to_embed
from workbench.ingest.sandbox import Reader
from workbench.ingest.sources import Source, SourceFile, sha256_of, source_files
from workbench.interfaces import Embedder
from workbench.records import FileOutcome, IngestReport, Paper, Progress
from workbench.storage import chunks as chunk_store
from workbench.storage import generations, ledger, papers, projects
from workbench.storage.database import Database
from workbench.storage.drafts import ChunkDraft, PaperDraft

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from workbench.storage.generations import Generation

OnProgress = Callable[[Progress], None]

CANCELLED = "cancelled before it was added: add it again to go on"
TARGET_TOKENS = 240
SPARE_TOKENS = 16  # of the embedder's window: a text can have more tokens with its blurb than apart
_RECORDS_AT_ONCE = 200


@dataclass(slots=True)
class _Work:
    """One file on its way: what is known of it, and what each stage took."""

    name: str
    user: str
    project_id: int | None
    title: str | None = None
    source_id: str | None = None
    sha256: str | None = None
    stage: str = "read"
    progress: OnProgress | None = None
    seconds: list[tuple[str, float]] = field(default_factory=list)

    def tell(self, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(Progress(self.stage, self.name, done, total))

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        self.stage = stage
        start = time.perf_counter()
        self.tell(0, 1)
        yield
        self.seconds.append((stage, time.perf_counter() - start))
        self.tell(1, 1)


class Ingestor:
    """Adds files and texts to a library and renews papers that are in it.

    ``embedder`` may be ``None``: papers are then found by keywords, until they are reprocessed with one.
    ``project_max_papers`` is the most papers of a project, 0 for no limit.
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
        self._database, self._reader, self._embedder = database, reader, embedder
        self._project_max_papers, self._max_file_mb = project_max_papers, max_file_mb
        self._given_parameters = parameters

    # --- files -----------------------------------------------------------------------------------

    def add_many(
        self,
        sources: Iterable[Source],
        *,
        user: str,
        project_id: int | None = None,
        title: str | None = None,
        progress: OnProgress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> IngestReport:
        """What became of every file, in the order given. One that fails never stops the others.

        ``title`` is the user's own title for the file. ``cancelled`` is asked before each file; when it says
        so the rest are reported as failed, and what is finished stays.
        """
        outcomes: list[FileOutcome] = []
        with tempfile.TemporaryDirectory(prefix="workbench-") as spool:
            for source in source_files(sources, spool=Path(spool), max_file_mb=self._max_file_mb):
                if cancelled is not None and cancelled():
                    outcomes.append(FileOutcome(source.name, "failed", error=CANCELLED))
                    continue
                work = _Work(source.name, user, project_id, title=title, progress=progress)
                outcome = self._add_source(work, source)
                outcomes.append(replace(outcome, warnings=(*source.notes, *outcome.warnings)))
        return IngestReport(tuple(outcomes))

    def _add_source(self, work: _Work, source: SourceFile) -> FileOutcome:
        if source.path is None:
            return self._failed(work, source.problem or "the file cannot be opened")
        try:
            with work.timed("read"):
                work.sha256 = sha256_of(source.path)
                known = self._known(work)
                document = None if known is not None else self._reader.read(source.path, name=work.name)
            if document is None:
                return self._link_duplicate(work)
            return self._add_document(work, document, source.path)
        except (DocumentError, ConflictError) as error:
            return self._failed(work, str(error))
        except OSError as error:
            return self._failed(work, f"the file cannot be opened: {error.strerror or error}")

    def _known(self, work: _Work) -> int | None:
        """Id of the paper with these bytes. Raises ConflictError before any work where the project is full."""
        assert work.sha256 is not None
        with self._database.read() as cursor:
            known = papers.find_by_hash(cursor, work.sha256)
            if work.project_id is None:
                return known
            project = projects.get(cursor, work.user, work.project_id)
            full = 0 < self._project_max_papers <= project.paper_count
            if full and (known is None or known not in projects.paper_ids(cursor, work.user, project.id)):
                raise ConflictError(
                    f"Project “{project.name}” holds {project.paper_count} papers and its limit is "
                    f"{self._project_max_papers}: remove one, or raise WORKBENCH_PROJECT_MAX_PAPERS "
                    "(0 means no limit)."
                )
        return known

    def _add_document(self, work: _Work, document: Document, source: Path | bytes) -> FileOutcome:
        titled = document if document.title else replace(document, title=spare_title(work.name))
        with work.timed("chunk"):
            chunks = self._chunks(titled)
        vectors, notes = self._embedded(work, titled.kind, chunks)
        assert work.sha256 is not None
        draft = paper_draft(titled, chunks, vectors, sha256=work.sha256, source=source)
        work.stage = "index"
        start = time.perf_counter()
        with self._database.write() as cursor:
            outcome = self._store(cursor, work, draft, (*document.warnings, *notes))
            work.seconds.append(("index", time.perf_counter() - start))
            self._write_ledger(cursor, work, outcome.paper_id)
        work.tell(1, 1)
        return outcome

    def _store(
        self, cursor: DuckDBPyConnection, work: _Work, draft: PaperDraft, warnings: tuple[str, ...]
    ) -> FileOutcome:
        existing = papers.find_by_hash(cursor, draft.sha256)
        if existing is not None:  # another process was faster
            return self._link(cursor, work, existing, "duplicate")
        generation = self._generation(cursor) if draft.vectors is not None else None
        paper_id = papers.insert(cursor, draft, generation=generation.generation if generation else None)
        outcome = self._link(cursor, work, paper_id, "ready")
        if generation is not None and not generation.serving:
            warnings = (*warnings, _OTHER_EMBEDDER)
        return replace(outcome, warnings=warnings)

    def _link_duplicate(self, work: _Work) -> FileOutcome:
        assert work.sha256 is not None
        with self._database.write() as cursor:
            existing = papers.find_by_hash(cursor, work.sha256)
            if existing is None:
                raise DocumentError("the paper was removed while it was being added: add it again")
            return self._link(cursor, work, existing, "duplicate")

    def _link(self, cursor: DuckDBPyConnection, work: _Work, paper_id: int, status: Any) -> FileOutcome:
        papers.link(cursor, work.user, paper_id, file=work.name, source_id=work.source_id, title=work.title)
        if work.project_id is not None:
            projects.add_paper(cursor, work.user, work.project_id, paper_id, limit=self._project_max_papers)
        paper = papers.get(cursor, work.user, paper_id)
        return FileOutcome(work.name, status, paper_id, paper.pages, paper.chunks)

    def _failed(self, work: _Work, reason: str) -> FileOutcome:
        line = " ".join(reason.split())
        with self._database.write() as cursor:
            self._write_ledger(cursor, work, None)
            ledger.record(
                cursor,
                work.user,
                file=work.name,
                stage=work.stage,
                state="failed",
                seconds=0.0,
                sha256=work.sha256,
                error=line,
            )
        return FileOutcome(work.name, "failed", error=line)

    def _write_ledger(self, cursor: DuckDBPyConnection, work: _Work, paper_id: int | None) -> None:
        for stage, seconds in work.seconds:
            ledger.record(
                cursor,
                work.user,
                file=work.name,
                stage=stage,
                state="done",
                seconds=seconds,
                sha256=work.sha256,
                paper_id=paper_id,
            )

    # --- chunks and vectors ----------------------------------------------------------------------

    def _chunks(self, document: Document) -> list[ChunkDraft]:
        chunks = chunk_document(document, token_spans=self._token_spans(), parameters=self._parameters())
        if not chunks:
            raise DocumentError("there is no text in the file")
        return chunks

    def _token_spans(self) -> Callable[[str], Sequence[tuple[int, int]]]:
        if self._embedder is not None:
            return self._embedder.token_spans
        from workbench.providers.token_estimate import estimated_spans

        return estimated_spans

    def _parameters(self) -> ChunkingParameters:
        if self._given_parameters is not None:
            return self._given_parameters
        window = self._embedder.max_tokens if self._embedder is not None else 256
        most = min(TARGET_TOKENS, max(window - SPARE_TOKENS, 16))
        return ChunkingParameters(max_tokens=most, blurb_tokens=min(40, most // 4))

    def _embedded(
        self, work: _Work, kind: str, chunks: Sequence[ChunkDraft]
    ) -> tuple[Any | None, tuple[str, ...]]:
        """Vectors of the chunks, or ``None`` without an embedder, and what the user should know."""
        if self._embedder is None:
            return None, ()
        work.stage = "embed"
        start = time.perf_counter()
        texts, notes = texts_to_embed(kind, chunks)
        work.tell(0, len(texts))
        found = embed(self._embedder, texts, done=lambda count: work.tell(count, len(texts)))
        if found.vectors is not None:
            work.seconds.append(("embed", time.perf_counter() - start))
        return found.vectors, (*notes, *found.warnings)

    def _generation(self, cursor: DuckDBPyConnection) -> Generation:
        assert self._embedder is not None
        return generations.begin(cursor, self._embedder.name, self._embedder.dimension)

    # --- texts -----------------------------------------------------------------------------------

    def add_texts(
        self,
        records: Iterable[dict[str, str]],
        *,
        user: str,
        project_id: int | None = None,
        progress: OnProgress | None = None,
    ) -> IngestReport:
        """Adds records with ``title``, ``text`` and optionally ``source_id``, one paper each.

        Many short texts are embedded together and stored a few hundred at a time, each whole.
        """
        items = list(records)
        outcomes: list[FileOutcome] = []
        for start in range(0, len(items), _RECORDS_AT_ONCE):
            group = items[start : start + _RECORDS_AT_ONCE]
            outcomes += self._add_records(group, user, project_id)
            if progress is not None:
                progress(Progress("index", "texts", len(outcomes), len(items)))
        return IngestReport(tuple(outcomes))

    def _add_records(
        self, group: Sequence[dict[str, str]], user: str, project_id: int | None
    ) -> list[FileOutcome]:
        outcomes: dict[int, FileOutcome] = {}
        ready: list[tuple[int, _Work, Document, list[ChunkDraft], bytes]] = []
        for index, record in enumerate(group):
            work = _Work(_record_name(record), user, project_id, source_id=record.get("source_id"))
            try:
                source = record_source(record)
                work.sha256 = source.sha256
                if self._known(work) is not None:
                    outcomes[index] = self._link_duplicate(work)
                    continue
                document = record_document(record)
                ready.append((index, work, document, self._chunks(document), source.data))
            except (DocumentError, ConflictError, InvalidInputError) as error:
                outcomes[index] = self._failed(work, str(error))
        vectors, notes = self._embedded_together(
            [(document.kind, chunks) for _, _, document, chunks, _ in ready]
        )
        with self._database.write() as cursor:
            position = 0
            for index, work, document, chunks, data in ready:
                rows = None if vectors is None else vectors[position : position + len(chunks)]
                position += len(chunks)
                assert work.sha256 is not None
                draft = paper_draft(document, chunks, rows, sha256=work.sha256, source=data)
                outcomes[index] = self._store(cursor, work, draft, notes)
                self._write_ledger(cursor, work, outcomes[index].paper_id)
        return [outcomes[index] for index in range(len(group))]

    def _embedded_together(
        self, papers_chunks: Sequence[tuple[str, Sequence[ChunkDraft]]]
    ) -> tuple[Any | None, tuple[str, ...]]:
        if self._embedder is None:
            return None, ()
        texts = [text for kind, chunks in papers_chunks for text in texts_to_embed(kind, chunks)[0]]
        found = embed(self._embedder, texts)
        return found.vectors, found.warnings

    # --- renewal ---------------------------------------------------------------------------------

    def reprocess(self, paper_id: int, *, user: str, progress: OnProgress | None = None) -> FileOutcome:
        """Reads the stored file again and replaces the paper's index in one transaction.

        With another embedder than the one that serves the library, the paper gets its vectors in that
        embedder's generation, beside the old ones; when every paper has them they take over. Until the new
        index is stored the old one answers. Raises NotFoundError.
        """
        with self._database.read() as cursor:
            paper = papers.get(cursor, user, paper_id)
            serving = generations.serving(cursor)
        work = _Work(paper.file, user, None, sha256=paper.sha256, progress=progress)
        try:
            if self._embedder is not None and serving is not None and serving.embedder != self._embedder.name:
                return self._add_generation(work, paper)
            return self._renew(work, paper)
        except WorkbenchError as error:
            return replace(self._failed(work, str(error)), paper_id=paper.id)

    def _renew(self, work: _Work, paper: Paper) -> FileOutcome:
        with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
            path = Path(folder) / "source"
            with work.timed("read"):
                with self._database.read() as cursor:
                    papers.write_source(cursor, paper.id, path)
                document = self._reader.read(path, name=paper.file)
            titled = document if document.title else replace(document, title=paper.title)
            with work.timed("chunk"):
                chunks = self._chunks(titled)
            vectors, notes = self._embedded(work, titled.kind, chunks)
            draft = paper_draft(titled, chunks, vectors, sha256=paper.sha256, source=path)
            start = time.perf_counter()
            with self._database.write() as cursor:
                generation = self._generation(cursor).generation if vectors is not None else None
                papers.replace_index(cursor, paper.id, draft, generation=generation)
                work.seconds.append(("index", time.perf_counter() - start))
                self._write_ledger(cursor, work, paper.id)
        warnings = (*document.warnings, *notes)
        return FileOutcome(work.name, "ready", paper.id, len(document.pages), len(chunks), warnings=warnings)

    def _add_generation(self, work: _Work, paper: Paper) -> FileOutcome:
        """Vectors of this embedder for the chunks as they are."""
        with self._database.read() as cursor:
            stored = chunk_store.of_papers(cursor, [paper.id])
        drafts = [
            ChunkDraft(c.ordinal, None, c.blurb, c.text, c.page_start, c.page_end, c.char_start, c.char_end)
            for c in stored
        ]
        vectors, notes = self._embedded(work, paper.kind, drafts)
        if vectors is None:
            raise DocumentError(notes[-1] if notes else "the embedder failed")
        with self._database.write() as cursor:
            generation = self._generation(cursor)
            papers.store_vectors(cursor, paper.id, vectors, generation=generation.generation)
            if not generation.serving:
                left = generations.papers_without(cursor, generation.generation)
                if left:
                    notes = (
                        *notes,
                        f"{len(left)} more papers to reprocess before the new vectors take over.",
                    )
                else:
                    generations.serve(cursor, generation.generation)
            self._write_ledger(cursor, work, paper.id)
        return FileOutcome(work.name, "ready", paper.id, paper.pages, paper.chunks, warnings=notes)


_OTHER_EMBEDDER = (
    "Embedded by another embedder than the rest of the library: reprocess all papers to switch to it; "
    "until then this paper is found by keywords only."
)


def _record_name(record: dict[str, str]) -> str:
    title = record.get("title")
    return (
        title.strip() if isinstance(title, str) and title.strip() else str(record.get("source_id") or "text")
    )

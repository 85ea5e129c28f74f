"""Papers that are in the library, read again or embedded anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.errors import DocumentError, ProviderError
from workbench.ingest.drafting import paper_draft, titled_again
from workbench.ingest.embedding import KEYWORDS_ONLY
from workbench.ingest.indexing import PaperIndexer
from workbench.ingest.notes import note_document
from workbench.ingest.progress import FileWork, OnProgress
from workbench.ingest.sandbox import Reader
from workbench.records import Chunk, FileOutcome, Paper
from workbench.scratch import scratch_folder
from workbench.storage import chunks as chunk_store
from workbench.storage import generations, notes, papers
from workbench.storage.cleaning import file_title
from workbench.storage.database import Database
from workbench.storage.drafts import ChunkDraft

if TYPE_CHECKING:
    from workbench.storage.generations import Generation


def renew(
    database: Database,
    reader: Reader,
    indexer: PaperIndexer,
    *,
    paper_id: int,
    user: str,
    progress: OnProgress | None,
) -> FileOutcome:
    """Replaces the paper's index, or adds vectors of an embedder that does not serve the library yet."""
    with database.read() as cursor:
        paper = papers.get(cursor, user, paper_id)
        serving = generations.serving(cursor)
    work = FileWork(paper.file, user, sha256=paper.sha256, progress=progress)
    other = indexer.embedder is not None and serving is not None and serving.embedder != indexer.embedder.name
    try:
        if indexer.embedder is None and serving is not None and paper.state == "ready":
            raise ProviderError(
                f"its vectors are of {serving.embedder}, which is not at hand: the paper keeps what it has"
            )
        if other:
            return _embedded_anew(database, indexer, work, paper)
        has_vectors = serving is not None and paper.state == "ready"
        return _read_again(database, reader, indexer, work, paper, has_vectors=has_vectors)
    except (DocumentError, ProviderError) as error:
        with database.write() as cursor:
            return work.write_failure(cursor, str(error), paper_id=paper.id)


def _read_again(
    database: Database,
    reader: Reader,
    indexer: PaperIndexer,
    work: FileWork,
    paper: Paper,
    *,
    has_vectors: bool,
) -> FileOutcome:
    with scratch_folder() as folder:
        path = folder / "source"
        work.tell(0, 1)
        with work.timed("read"):
            with database.read() as cursor:
                papers.write_source(cursor, paper.id, path)
                body = notes.body_of(cursor, paper.id)
                stored = papers.stored_title(cursor, paper.id)
                before = chunk_store.of_papers(cursor, [paper.id])
            document = note_document(paper.title, body) if body else reader.read(path, name=paper.file)
        whole = titled_again(document, stored)
        with work.timed("chunk"):
            chunks = indexer.chunks(whole)
        with work.timed("embed"):
            embedded = indexer.embedded(whole.kind, chunks, done=work.tell)
            if has_vectors and embedded.vectors is None:
                reason = embedded.warnings[-1].removeprefix(KEYWORDS_ONLY)
                raise ProviderError(f"the paper keeps what it has, because it cannot be embedded: {reason}")
        draft = paper_draft(whole, chunks, embedded.vectors, sha256=paper.sha256, source=path)
        with database.write() as cursor:
            paper = papers.get(cursor, work.user, paper.id)
            same = chunk_store.of_papers(cursor, [paper.id]) == before
            if same:
                with work.timed("index"):
                    number = indexer.generation(cursor).generation if embedded.vectors is not None else None
                    papers.replace_index(cursor, paper.id, draft, generation=number)
                    was_file_name = paper.title == stored == file_title(paper.file) and draft.title != stored
                    if was_file_name and paper.id in papers.linked_ids(cursor, work.user):
                        papers.link(cursor, work.user, paper.id, file=paper.file, title=stored)
                work.write_ledger(cursor, paper_id=paper.id)
    if not same:  # a note was edited meanwhile: what was read is not its text any more
        work.seconds.clear()
        return _read_again(database, reader, indexer, work, paper, has_vectors=has_vectors)
    work.tell(1, 1)
    warnings = (*document.warnings, *embedded.warnings)
    return FileOutcome(work.name, "ready", paper.id, len(document.pages), len(chunks), warnings=warnings)


def index_stored(
    database: Database, indexer: PaperIndexer, *, paper_id: int, user: str, progress: OnProgress | None
) -> FileOutcome:
    """Gives a paper the vectors it lacks, for its chunks as they are. Raises NotFoundError."""
    with database.read() as cursor:
        paper = papers.get(cursor, user, paper_id)
    work = FileWork(paper.file, user, sha256=paper.sha256, progress=progress, stage="embed")
    try:
        return _embedded_anew(database, indexer, work, paper)
    except ProviderError as error:
        with database.write() as cursor:
            return work.write_failure(cursor, str(error), paper_id=paper.id)


def begin_move(database: Database, indexer: PaperIndexer) -> None:
    """Notes that the whole library shall have this embedder's vectors, so that a move that is cut off goes on
    later. Where they serve already, or are the library's first, no move is left to go on with."""
    if indexer.embedder is None:
        return
    with database.write() as cursor:
        generations.move_to(cursor, indexer.generation(cursor).generation)


def complete_move(
    database: Database, indexer: PaperIndexer, *, cancelled: Callable[[], bool] | None = None
) -> bool:
    """Finishes a move to this embedder: whatever paper of the library still lacks its vectors gets them, and
    they take over. True where they serve now; then the vectors that served before are gone.

    Papers of other users are embedded without being named or shown. Raises ProviderError.
    """
    if indexer.embedder is None:
        return False
    with database.write() as cursor:
        before = generations.serving(cursor)
        target = indexer.generation(cursor)
        generations.move_to(cursor, target.generation)
        left = generations.papers_without(cursor, target.generation)
    while left:
        for paper_id in left:
            if cancelled is not None and cancelled():
                return False
            _embed_stored(database, indexer, paper_id, target)
        with database.read() as cursor:  # papers that came or changed meanwhile
            left = generations.papers_without(cursor, target.generation)
    with database.write() as cursor:
        if generations.papers_without(cursor, target.generation):
            return False
        if not generations.get(cursor, target.generation).serving:
            generations.serve(cursor, target.generation)
        if before is not None and before.generation != target.generation:
            generations.drop(cursor, before.generation)
    return True


def _embed_stored(database: Database, indexer: PaperIndexer, paper_id: int, target: Generation) -> None:
    """Stores vectors of a stored paper's chunks, unless it goes or gets other chunks meanwhile."""
    with database.read() as cursor:
        kind = papers.kind_of(cursor, paper_id)
        stored = chunk_store.of_papers(cursor, [paper_id])
    if kind is None:
        return
    embedded = indexer.embedded(kind, _drafts(stored))
    if embedded.vectors is None:
        raise ProviderError(embedded.warnings[-1] if embedded.warnings else "there is no embedder")
    with database.write() as cursor:
        if chunk_store.of_papers(cursor, [paper_id]) == stored:
            papers.store_vectors(cursor, paper_id, embedded.vectors, generation=target.generation)


def _drafts(stored: Sequence[Chunk]) -> list[ChunkDraft]:
    return [
        ChunkDraft(c.ordinal, None, c.blurb, c.text, c.page_start, c.page_end, c.char_start, c.char_end)
        for c in stored
    ]


def _embedded_anew(database: Database, indexer: PaperIndexer, work: FileWork, paper: Paper) -> FileOutcome:
    """Vectors of this embedder for the chunks as they are; they take over when no paper lacks them. Raises
    NotFoundError where the paper goes meanwhile."""
    with database.read() as cursor:
        paper = papers.get(cursor, work.user, paper.id)
        stored = chunk_store.of_papers(cursor, [paper.id])
    with work.timed("embed"):
        embedded = indexer.embedded(paper.kind, _drafts(stored), done=work.tell)
        if embedded.vectors is None:
            raise ProviderError(embedded.warnings[-1] if embedded.warnings else "there is no embedder")
    warnings = embedded.warnings
    with database.write() as cursor:
        if chunk_store.of_papers(cursor, [paper.id]) == stored:
            with work.timed("index"):
                generation = indexer.generation(cursor)
                papers.store_vectors(cursor, paper.id, embedded.vectors, generation=generation.generation)
                left = generations.papers_without(cursor, generation.generation)
                if left:
                    warnings = (
                        *warnings,
                        f"{len(left)} more papers to reprocess before the new vectors take over.",
                    )
                elif not generation.serving:
                    generations.serve(cursor, generation.generation)
            work.write_ledger(cursor, paper_id=paper.id)
            return FileOutcome(work.name, "ready", paper.id, paper.pages, paper.chunks, warnings=warnings)
    work.seconds.clear()  # other chunks have come meanwhile: those vectors are of what is not there any more
    return _embedded_anew(database, indexer, work, paper)

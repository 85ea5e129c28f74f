"""Papers that are in the library, read again or embedded anew."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from workbench.errors import DocumentError, ProviderError
from workbench.ingest.drafting import paper_draft
from workbench.ingest.indexing import PaperIndexer
from workbench.ingest.notes import note_document
from workbench.ingest.progress import FileWork, OnProgress
from workbench.ingest.sandbox import Reader
from workbench.records import FileOutcome, Paper
from workbench.storage import chunks as chunk_store
from workbench.storage import generations, notes, papers
from workbench.storage.database import Database
from workbench.storage.drafts import ChunkDraft


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
        if other:
            return _embedded_anew(database, indexer, work, paper)
        return _read_again(database, reader, indexer, work, paper)
    except (DocumentError, ProviderError) as error:
        with database.write() as cursor:
            return work.write_failure(cursor, str(error), paper_id=paper.id)


def _read_again(
    database: Database, reader: Reader, indexer: PaperIndexer, work: FileWork, paper: Paper
) -> FileOutcome:
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / "source"
        work.tell(0, 1)
        with work.timed("read"):
            with database.read() as cursor:
                papers.write_source(cursor, paper.id, path)
                body = notes.body_of(cursor, paper.id)
            document = note_document(paper.title, body) if body else reader.read(path, name=paper.file)
        titled = document if document.title else replace(document, title=paper.title)
        with work.timed("chunk"):
            chunks = indexer.chunks(titled)
        with work.timed("embed"):
            embedded = indexer.embedded(titled.kind, chunks, done=work.tell)
        draft = paper_draft(titled, chunks, embedded.vectors, sha256=paper.sha256, source=path)
        with database.write() as cursor:
            with work.timed("index"):
                number = indexer.generation(cursor).generation if embedded.vectors is not None else None
                papers.replace_index(cursor, paper.id, draft, generation=number)
            work.write_ledger(cursor, paper_id=paper.id)
    work.tell(1, 1)
    warnings = (*document.warnings, *embedded.warnings)
    return FileOutcome(work.name, "ready", paper.id, len(document.pages), len(chunks), warnings=warnings)


def _embedded_anew(database: Database, indexer: PaperIndexer, work: FileWork, paper: Paper) -> FileOutcome:
    """Vectors of this embedder for the chunks as they are; they take over when no paper lacks them."""
    with database.read() as cursor:
        stored = chunk_store.of_papers(cursor, [paper.id])
    drafts = [
        ChunkDraft(c.ordinal, None, c.blurb, c.text, c.page_start, c.page_end, c.char_start, c.char_end)
        for c in stored
    ]
    with work.timed("embed"):
        embedded = indexer.embedded(paper.kind, drafts, done=work.tell)
        if embedded.vectors is None:
            raise ProviderError(embedded.warnings[-1] if embedded.warnings else "there is no embedder")
    warnings = embedded.warnings
    with database.write() as cursor:
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

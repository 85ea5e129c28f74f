"""Texts that come by the hundred, each a paper of its own: embedded together, stored together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import DocumentError, InvalidInputError
from workbench.ingest.document import Document
from workbench.ingest.drafting import paper_draft, record_document, record_id, record_name, record_source
from workbench.ingest.embedding import embed, texts_to_embed
from workbench.ingest.indexing import PaperIndexer
from workbench.ingest.progress import FileWork
from workbench.records import FileOutcome
from workbench.storage import many, projects
from workbench.storage.database import Database
from workbench.storage.drafts import ChunkDraft

if TYPE_CHECKING:
    import numpy
    from duckdb import DuckDBPyConnection

NO_TEXT = "there is no text in the file"
LONGEST = 200_000  # bytes: a longer text is a paper by itself


@dataclass(slots=True)
class _Record:
    """One record that is to become a paper."""

    index: int
    work: FileWork
    document: Document
    data: bytes
    chunks: list[ChunkDraft]


class TextBatch:
    """Adds a few hundred short texts in one read and one write of the library."""

    def __init__(
        self, database: Database, indexer: PaperIndexer, *, user: str, project_id: int | None, limit: int
    ) -> None:
        self._database, self._indexer = database, indexer
        self._user, self._project_id, self._limit = user, project_id, limit

    def add(self, records: Sequence[Mapping[str, Any]]) -> list[FileOutcome]:
        """What became of each record, in order."""
        outcomes: dict[int, FileOutcome] = {}
        candidates = self._candidates(records, outcomes)
        with self._database.read() as cursor:
            known = many.ids_by_hash(cursor, [c.work.sha256 or "" for c in candidates])
            self._refuse_beyond_limit(cursor, candidates, known, outcomes)
        new: dict[str, _Record] = {}
        for candidate in candidates:
            digest = candidate.work.sha256 or ""
            if candidate.index not in outcomes and digest not in known:
                new.setdefault(digest, candidate)
        vectors, notes = self._prepared(list(new.values()), outcomes)
        ready = [record for record in new.values() if record.index not in outcomes]
        with self._database.write() as cursor:
            self._store(cursor, candidates, ready, vectors, notes, outcomes)
        return [outcomes[index] for index in range(len(records))]

    def _refuse_beyond_limit(
        self,
        cursor: DuckDBPyConnection,
        candidates: Sequence[_Record],
        known: Mapping[str, int],
        outcomes: dict[int, FileOutcome],
    ) -> None:
        """Fails the records that the project has no room for, before any work is done for them."""
        if self._project_id is None:
            return
        inside = set(projects.paper_ids(cursor, self._user, self._project_id))
        room = self._limit - len(inside) if self._limit else len(candidates)
        taken: set[str] = set()
        for candidate in candidates:
            digest = candidate.work.sha256 or ""
            if known.get(digest) in inside or digest in taken:
                continue
            if len(taken) < room:
                taken.add(digest)
            else:
                reason = f"the project's limit of {self._limit} papers is reached"
                outcomes[candidate.index] = FileOutcome(candidate.work.name, "failed", error=reason)

    def _candidates(
        self, records: Sequence[Mapping[str, Any]], outcomes: dict[int, FileOutcome]
    ) -> list[_Record]:
        found = []
        for index, record in enumerate(records):
            work = FileWork(record_name(record), self._user, self._project_id, stage="chunk")
            work.source_id = record_id(record)
            try:
                source = record_source(record)
                work.sha256 = source.sha256
                found.append(_Record(index, work, record_document(record), source.data, []))
            except InvalidInputError as error:
                outcomes[index] = FileOutcome(work.name, "failed", error=str(error))
        return found

    def _prepared(
        self, new: Sequence[_Record], outcomes: dict[int, FileOutcome]
    ) -> tuple[numpy.ndarray | None, tuple[str, ...]]:
        """Chunks of each record, and the vectors of all of them in one array."""
        texts: list[str] = []
        for record in new:
            try:
                with record.work.timed("chunk"):
                    record.chunks = self._indexer.chunks(record.document)
                texts += texts_to_embed(record.document.kind, record.chunks)[0]
            except DocumentError as error:
                outcomes[record.index] = FileOutcome(record.work.name, "failed", error=str(error))
        if self._indexer.embedder is None:
            return None, ()
        found = embed(self._indexer.embedder, texts)
        return found.vectors, found.warnings

    def _store(
        self,
        cursor: DuckDBPyConnection,
        candidates: Sequence[_Record],
        ready: Sequence[_Record],
        vectors: numpy.ndarray | None,
        notes: tuple[str, ...],
        outcomes: dict[int, FileOutcome],
    ) -> None:
        hashes = [candidate.work.sha256 or "" for candidate in candidates]
        known = many.ids_by_hash(cursor, hashes)  # another process may have been faster
        drafts, stored, position = [], [], 0
        for record in ready:
            rows = None if vectors is None else vectors[position : position + len(record.chunks)]
            position += len(record.chunks)
            digest = record.work.sha256 or ""
            if digest not in known:
                drafts.append(
                    paper_draft(record.document, record.chunks, rows, sha256=digest, source=record.data)
                )
                stored.append(record)
        generation = self._indexer.generation(cursor).generation if vectors is not None else None
        ids = many.insert(cursor, drafts, generation=generation)
        new_ids = {record.index: paper_id for record, paper_id in zip(stored, ids, strict=True)}
        known |= {record.work.sha256 or "": new_ids[record.index] for record in stored}
        linked = []
        for candidate in candidates:
            if candidate.index in outcomes:
                continue
            paper_id = known.get(candidate.work.sha256 or "")
            if paper_id is None:  # the same text earlier in the batch, which failed
                outcomes[candidate.index] = FileOutcome(candidate.work.name, "failed", error=NO_TEXT)
                continue
            linked.append((candidate, paper_id))
            outcomes[candidate.index] = _outcome(candidate, paper_id, candidate.index in new_ids, notes)
        self._link(cursor, linked, new_ids)

    def _link(
        self,
        cursor: DuckDBPyConnection,
        linked: Sequence[tuple[_Record, int]],
        new_ids: Mapping[int, int],
    ) -> None:
        links = {
            paper_id: many.NewLink(paper_id, record.work.name, record.work.source_id)
            for record, paper_id in reversed(linked)
        }
        many.link(cursor, self._user, list(links.values()))
        if self._project_id is not None:
            many.put_into_project(cursor, self._user, self._project_id, list(links), limit=self._limit)
        rows = [
            many.StageDone(record.work.name, record.work.sha256 or "", paper_id, stage, seconds)
            for record, paper_id in linked
            if record.index in new_ids
            for stage, seconds in [*record.work.seconds, ("index", 0.0)]
        ]
        many.record(cursor, self._user, rows)


def _outcome(record: _Record, paper_id: int, is_new: bool, notes: tuple[str, ...]) -> FileOutcome:
    if not is_new:
        return FileOutcome(record.work.name, "duplicate", paper_id, len(record.document.pages))
    return FileOutcome(
        record.work.name,
        "ready",
        paper_id,
        len(record.document.pages),
        len(record.chunks),
        warnings=notes,
    )

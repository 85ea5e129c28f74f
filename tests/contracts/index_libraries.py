"""Libraries that index tests can change: one in memory and one in a real DuckDB file, with the same verbs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from duckdb import DuckDBPyConnection

from workbench.indexes.memory_source import MemorySource
from workbench.interfaces import IndexSource
from workbench.records import PAGE_BREAK, Hit
from workbench.storage import generations, papers
from workbench.storage.database import Database
from workbench.storage.drafts import ChunkDraft, PageDraft, PaperDraft
from workbench.storage.index_source import LibraryIndexSource

USER = "reader"


class Library(Protocol):
    """What an index test does to a library; ``source`` is what the index reads."""

    source: IndexSource

    def add(self, texts: Sequence[str], vectors: np.ndarray | None = None, *, title: str = "") -> int: ...
    def add_all(self, papers: Iterable[tuple[Sequence[str], np.ndarray | None]]) -> list[int]: ...
    def replace(
        self, paper: int, texts: Sequence[str], vectors: np.ndarray | None = None, *, title: str = ""
    ) -> None: ...
    def remove(self, paper: int) -> None: ...
    def serve(self, vectors: Mapping[int, np.ndarray], dimension: int) -> None: ...


class MemoryLibrary:
    def __init__(self) -> None:
        self.source: MemorySource = MemorySource()
        self._papers = 0

    def add(self, texts: Sequence[str], vectors: np.ndarray | None = None, *, title: str = "") -> int:
        self._papers += 1
        self.source.add(self._papers, texts, vectors=vectors, title=title)
        return self._papers

    def add_all(self, papers: Iterable[tuple[Sequence[str], np.ndarray | None]]) -> list[int]:
        return [self.add(texts, vectors) for texts, vectors in papers]

    def replace(
        self, paper: int, texts: Sequence[str], vectors: np.ndarray | None = None, *, title: str = ""
    ) -> None:
        self.source.replace(paper, texts, vectors=vectors, title=title)

    def remove(self, paper: int) -> None:
        self.source.remove(paper)

    def serve(self, vectors: Mapping[int, np.ndarray], dimension: int) -> None:
        self.source.serve(vectors, dimension=dimension)


class DuckDBLibrary:
    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        self.source: LibraryIndexSource = LibraryIndexSource(self.database)
        self._drafts = 0
        self._switches = 0

    def add(self, texts: Sequence[str], vectors: np.ndarray | None = None, *, title: str = "") -> int:
        with self.database.write() as cursor:
            return self._insert(cursor, self._draft(texts, vectors, title))

    def add_all(self, papers: Iterable[tuple[Sequence[str], np.ndarray | None]]) -> list[int]:
        with self.database.write() as cursor:
            return [self._insert(cursor, self._draft(texts, vectors, "")) for texts, vectors in papers]

    def _insert(self, cursor: DuckDBPyConnection, draft: PaperDraft) -> int:
        paper = papers.insert(cursor, draft, generation=self._generation(cursor, draft))
        papers.link(cursor, USER, paper, file=f"{paper}.txt")
        return paper

    def _generation(self, cursor: DuckDBPyConnection, draft: PaperDraft) -> int | None:
        if draft.vectors is None:
            return None
        return generations.begin(cursor, "first", draft.vectors.shape[1]).generation

    def replace(
        self, paper: int, texts: Sequence[str], vectors: np.ndarray | None = None, *, title: str = ""
    ) -> None:
        draft = self._draft(texts, vectors, title)
        with self.database.write() as cursor:
            papers.replace_index(cursor, paper, draft, generation=self._generation(cursor, draft))

    def remove(self, paper: int) -> None:
        with self.database.write() as cursor:
            papers.unlink(cursor, USER, paper)

    def serve(self, vectors: Mapping[int, np.ndarray], dimension: int) -> None:
        self._switches += 1
        with self.database.write() as cursor:
            generation = generations.begin(cursor, f"switch {self._switches}", dimension).generation
            for paper, rows in vectors.items():
                papers.store_vectors(cursor, paper, rows, generation=generation)
            generations.serve(cursor, generation)

    def _draft(self, texts: Sequence[str], vectors: np.ndarray | None, title: str) -> PaperDraft:
        """A paper with one page and one chunk per text."""
        self._drafts += 1
        pages, chunks, start = [], [], 0
        for ordinal, text in enumerate(texts):
            end = start + len(text)
            pages.append(PageDraft(ordinal + 1, None, text, start, end))
            chunks.append(ChunkDraft(ordinal, None, "", text, ordinal + 1, ordinal + 1, start, end))
            start = end + len(PAGE_BREAK)
        source = f"{self._drafts}: {PAGE_BREAK.join(texts)}".encode()
        return PaperDraft(
            sha256=hashlib.sha256(source).hexdigest(),
            kind="txt",
            title=title or "Untitled",
            authors=(),
            year=None,
            doi=None,
            page_unit="page",
            pages=tuple(pages),
            chunks=tuple(chunks),
            vectors=vectors,
            source=source,
        )


def unit_rows(seed: int, count: int, dimension: int = 16) -> np.ndarray:
    """float32 rows of length 1, shape (count, dimension), the same for the same seed."""
    rows = np.random.default_rng(seed).normal(size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def topic_rows(
    topic: int, count: int, dimension: int = 16, *, spread: float = 0.2, seed: int = 0
) -> np.ndarray:
    """Rows of length 1 around one axis: cosine with that axis about 0.8 and more."""
    rows = np.random.default_rng([seed, topic]).normal(scale=spread / 4, size=(count, dimension))
    rows[:, topic] += 1.0
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def axis(topic: int, dimension: int = 16) -> np.ndarray:
    return np.eye(dimension, dtype=np.float32)[topic]


def cosines(
    source: IndexSource, query: np.ndarray, scope: Sequence[int] | None
) -> dict[int, tuple[int, float]]:
    """Every chunk in scope with its paper and cosine, computed the plain way from the library itself."""
    present = [paper for paper, there in source.changed_since(0).items() if there]
    found = {}
    for paper in present if scope is None else set(present).intersection(scope):
        chunk_ids, rows = source.vectors(paper)
        for chunk_id, row in zip(chunk_ids, np.asarray(rows, dtype=np.float64), strict=True):
            length = np.linalg.norm(row) * np.linalg.norm(query)
            found[chunk_id] = (paper, float(row @ np.asarray(query, dtype=np.float64) / length))
    return found


def assert_nearest(
    hits: Sequence[Hit], source: IndexSource, query: np.ndarray, *, scope: Sequence[int] | None, limit: int
) -> None:
    """The hits are the ``limit`` nearest chunks in scope, in order; near ties may stand either way."""
    expected = cosines(source, query, scope)
    assert len(hits) == min(limit, len(expected))
    assert len({hit.chunk_id for hit in hits}) == len(hits)
    for hit in hits:
        paper, cosine = expected[hit.chunk_id]
        assert hit.paper_id == paper
        assert abs(hit.score - cosine) < 1e-5
    assert [(-hit.score, hit.chunk_id) for hit in hits] == sorted((-hit.score, hit.chunk_id) for hit in hits)
    best = sorted((cosine for _, cosine in expected.values()), reverse=True)[: len(hits)]
    assert np.allclose([hit.score for hit in hits], best, atol=1e-5)

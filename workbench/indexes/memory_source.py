"""An index source without a database: for notebooks and tests."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import numpy as np

from workbench.errors import ConflictError, InvalidInputError, NotFoundError


@dataclass(frozen=True, slots=True)
class _StoredPaper:
    title: str
    chunk_ids: tuple[int, ...]
    texts: tuple[str, ...]
    vectors: np.ndarray | None


class MemorySource:
    """Papers, their chunks and vectors in memory. Implements ``interfaces.IndexSource``.

    The first vectors given decide the dimension. Every change gets a revision number of its own, higher by a
    random step, as in a library. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._papers: dict[int, _StoredPaper] = {}
        self._changes: dict[int, int] = {}
        self._revisions = [0]
        self._serving: tuple[int, int] | None = None
        self._next_chunk = count(1)
        self._lock = threading.RLock()

    # --- changing it -----------------------------------------------------------------------------

    def add(
        self,
        paper_id: int,
        texts: Sequence[str],
        *,
        vectors: np.ndarray | None = None,
        title: str = "",
    ) -> list[int]:
        """Adds a paper with one chunk per text and returns the chunk ids.

        ``vectors``: shape (len(texts), dimension), or ``None`` for a paper that has none yet. Raises
        ConflictError where the paper exists, InvalidInputError for vectors of another shape.
        """
        with self._lock:
            if paper_id in self._papers:
                raise ConflictError(f"Paper {paper_id} is there already: use replace.")
            return self._store(paper_id, texts, vectors, title)

    def replace(
        self,
        paper_id: int,
        texts: Sequence[str],
        *,
        vectors: np.ndarray | None = None,
        title: str = "",
    ) -> list[int]:
        """Gives a paper new chunks, with new ids. Raises NotFoundError for an unknown paper."""
        with self._lock:
            self._known(paper_id)
            return self._store(paper_id, texts, vectors, title)

    def remove(self, paper_id: int) -> None:
        """Removes a paper with its chunks and vectors. Raises NotFoundError for an unknown paper."""
        with self._lock:
            self._known(paper_id)
            del self._papers[paper_id]
            self._changed(paper_id)

    def serve(self, vectors: Mapping[int, np.ndarray], *, dimension: int) -> None:
        """Switches to the vectors of another embedder: those given, per paper, and no others."""
        with self._lock:
            generation = (self._serving[0] if self._serving else 0) + 1
            self._serving = (generation, dimension)
            for paper_id, paper in self._papers.items():
                new = self._checked(vectors.get(paper_id), len(paper.texts))
                self._papers[paper_id] = _StoredPaper(paper.title, paper.chunk_ids, paper.texts, new)
                self._changed(paper_id)

    def _store(
        self, paper_id: int, texts: Sequence[str], vectors: np.ndarray | None, title: str
    ) -> list[int]:
        array = self._checked(vectors, len(texts))
        chunk_ids = [next(self._next_chunk) for _ in texts]
        self._papers[paper_id] = _StoredPaper(title, tuple(chunk_ids), tuple(texts), array)
        self._changed(paper_id)
        return chunk_ids

    def _checked(self, vectors: np.ndarray | None, chunks: int) -> np.ndarray | None:
        if vectors is None:
            return None
        array = np.array(vectors, dtype=np.float32)
        dimension = self._serving[1] if self._serving else array.shape[-1]
        if array.shape != (chunks, dimension):
            raise InvalidInputError(f"Vectors of shape {array.shape} where {(chunks, dimension)} is needed.")
        if self._serving is None:
            self._serving = (1, dimension)
        return array

    def _known(self, paper_id: int) -> _StoredPaper:
        if paper_id not in self._papers:
            raise NotFoundError(f"There is no paper {paper_id}.")
        return self._papers[paper_id]

    def _changed(self, paper_id: int) -> None:
        self._revisions.append(self._revisions[-1] + 1 + secrets.randbelow(2**31))
        self._changes[paper_id] = self._revisions[-1]

    # --- reading it ------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All calls of this thread inside the block see the same state."""
        with self._lock:
            yield

    def revision(self) -> int:
        return self._revisions[-1]

    def has_been(self, revision: int) -> bool:
        return revision in self._revisions

    def changed_since(self, revision: int) -> dict[int, bool]:
        with self._lock:
            return {
                paper_id: paper_id in self._papers and bool(self._papers[paper_id].texts)
                for paper_id, changed in self._changes.items()
                if changed > revision
            }

    def chunk_ids(self, paper_id: int) -> list[int]:
        paper = self._papers.get(paper_id)
        return list(paper.chunk_ids) if paper else []

    def chunk_texts(self, paper_id: int) -> list[tuple[int, str, str]]:
        paper = self._papers.get(paper_id)
        if paper is None:
            return []
        return [
            (chunk_id, paper.title, text) for chunk_id, text in zip(paper.chunk_ids, paper.texts, strict=True)
        ]

    def vectors(self, paper_id: int) -> tuple[list[int], np.ndarray]:
        with self._lock:
            paper = self._papers.get(paper_id)
            if paper is None or paper.vectors is None:
                return [], np.empty((0, self._serving[1] if self._serving else 0), dtype=np.float32)
            return list(paper.chunk_ids), paper.vectors

    def generation(self) -> tuple[int, int] | None:
        return self._serving

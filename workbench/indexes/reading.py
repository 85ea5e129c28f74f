"""What indexes read from the library, in readings short enough that its writers are not kept waiting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from workbench.errors import EmbedderMismatchError
from workbench.indexes.ranking import best_rows, merged, ranked_hits, unit_rows
from workbench.interfaces import IndexSource
from workbench.records import Hit

PAPERS_PER_READING = 32


class LibraryState(NamedTuple):
    """What the library says of itself. ``serving``: (generation, dimension), ``None`` before vectors."""

    revision: int
    serving: tuple[int, int] | None


class PaperRows(NamedTuple):
    """One paper's vectors: chunk ids, shape (n,), and rows of length 1, shape (n, dimension)."""

    paper_id: int
    chunk_ids: np.ndarray
    vectors: np.ndarray


def library_state(source: IndexSource) -> LibraryState:
    """Revision and serving generation, read together."""
    with source.reading():
        return LibraryState(source.revision(), source.generation())


def paper_rows(source: IndexSource, papers: Sequence[int]) -> Iterator[PaperRows]:
    """The papers' vectors in the order given; none for papers that have none or are gone."""
    for group in _groups(papers):
        with source.reading():
            read = [(paper, *source.vectors(paper)) for paper in group]
        for paper, chunk_ids, vectors in read:
            if chunk_ids:
                yield PaperRows(paper, np.asarray(chunk_ids, dtype=np.int64), unit_rows(vectors))


def paper_texts(
    source: IndexSource, papers: Sequence[int]
) -> Iterator[tuple[int, list[tuple[int, str, str]]]]:
    """Each paper with its (chunk id, title and heading, text) rows, in the order given."""
    for group in _groups(papers):
        with source.reading():
            read = [(paper, source.chunk_texts(paper)) for paper in group]
        yield from read


def search_library(source: IndexSource, query: np.ndarray, *, papers: Sequence[int], limit: int) -> list[Hit]:
    """The best chunks of ``papers`` by cosine, straight from the library.

    Raises EmbedderMismatchError where the library switches its embedder meanwhile.
    """
    best: list[Hit] = []
    for rows in paper_rows(source, papers):
        if rows.vectors.shape[1] != len(query):
            raise EmbedderMismatchError("The library has just switched its embedder: search again.")
        scores = np.vecdot(rows.vectors, query)
        top = best_rows(scores, limit)
        owners = np.full(len(top), rows.paper_id)
        best = merged([best, ranked_hits(rows.chunk_ids[top], owners, scores[top], limit)], limit)
    return best


def _groups(papers: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(papers), PAPERS_PER_READING):
        yield papers[start : start + PAPERS_PER_READING]

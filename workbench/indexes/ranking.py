"""Cosine scores to ranked hits, the same way wherever the vectors come from.

``numpy.vecdot`` scores each row by itself: a chunk's score does not depend on the rows around it, as it
would in a matrix product, so a file, a scope and the library itself give equal numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.errors import EmbedderMismatchError, InvalidInputError
from workbench.records import Hit


def checked_query(vector: np.ndarray, dimension: int) -> np.ndarray:
    """``vector`` as float32 of length 1, shape (dimension,).

    Raises EmbedderMismatchError for another dimension, InvalidInputError where it has no direction.
    """
    query = np.asarray(vector, dtype=np.float32)
    if query.shape != (dimension,):
        raise EmbedderMismatchError(
            f"The query's vector has shape {query.shape}, the library's vectors have {dimension} numbers: "
            "search with the embedder the library was indexed by, or reprocess its papers with the new one."
        )
    length = float(np.sqrt(np.vecdot(query, query)))
    if not np.isfinite(length) or length == 0.0:
        raise InvalidInputError("The query's vector is zero or not finite: embed the query again.")
    return query if abs(length - 1.0) < 1e-6 else query / np.float32(length)


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """The same rows with length 1, as contiguous float32, shape unchanged."""
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.vecdot(rows, rows))
    if np.allclose(lengths, 1.0, rtol=0.0, atol=1e-5):
        return rows
    scaled: np.ndarray = rows / np.maximum(lengths, np.finfo(np.float32).tiny)[:, np.newaxis]
    return scaled


def best_rows(scores: np.ndarray, limit: int) -> np.ndarray:
    """Positions of the ``limit`` best scores and of all that tie with the last of them, unordered."""
    if limit >= len(scores):
        return np.arange(len(scores))
    threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= threshold)


def ranked_hits(chunk_ids: np.ndarray, paper_ids: np.ndarray, scores: np.ndarray, limit: int) -> list[Hit]:
    """At most ``limit`` hits, best first, ties by chunk id; rounding never takes a score beyond -1 or 1."""
    order = np.lexsort((chunk_ids, -scores))[:limit]
    within = np.clip(scores[order], -1.0, 1.0)
    rows = zip(chunk_ids[order].tolist(), paper_ids[order].tolist(), within.tolist(), strict=True)
    return [Hit(chunk_id, paper_id, score) for chunk_id, paper_id, score in rows]


def merged(lists: Iterable[list[Hit]], limit: int) -> list[Hit]:
    """The best of several lists of hits, best first, ties by chunk id."""
    return sorted((hit for hits in lists for hit in hits), key=rank_key)[:limit]


def rank_key(hit: Hit) -> tuple[float, int]:
    """Sorts hits best first, ties by chunk id."""
    return -hit.score, hit.chunk_id

"""A paper's vectors in the library: checked before they are written, read back as one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from duckdb import DuckDBPyConnection

from workbench.errors import ProviderError
from workbench.storage.generations import Generation, all_generations, vector_table

if TYPE_CHECKING:
    import numpy


def checked(vectors: numpy.ndarray, *, count: int, generation: Generation) -> numpy.ndarray:
    """``vectors`` as float32 of shape (count, dimension). Raises ProviderError for any other shape, a number
    that is not finite, or a vector of length 0 (it has no direction to compare).
    """
    import numpy

    array = numpy.ascontiguousarray(vectors, dtype=numpy.float32)
    expected = (count, generation.dimension)
    if array.shape != expected:
        raise ProviderError(
            f"The embedder {generation.embedder} gave vectors of shape {array.shape} where {expected} was "
            "due: nothing was stored. Check the embedder's model and try again."
        )
    if not numpy.isfinite(array).all():
        raise ProviderError(
            f"The embedder {generation.embedder} gave a vector with a number that is not finite (NaN or "
            "infinity): nothing was stored. Try again, or choose another embedder."
        )
    if count and not array.any(axis=1).all():
        raise ProviderError(
            f"The embedder {generation.embedder} gave a vector of zeros: nothing was stored. "
            "Try again, or choose another embedder."
        )
    return array


def store(
    cursor: DuckDBPyConnection,
    paper_id: int,
    chunk_ids: Sequence[int],
    vectors: numpy.ndarray,
    *,
    generation: Generation,
) -> None:
    """Writes one paper's vectors, replacing those it had in this generation."""
    import numpy
    import pandas

    array = checked(vectors, count=len(chunk_ids), generation=generation)
    table = vector_table(generation.generation)
    cursor.execute(f"DELETE FROM {table} WHERE paper_id = ?", [paper_id])
    if not chunk_ids:
        return
    # Ten times faster than lists of Python floats.
    rows = pandas.DataFrame(
        {"chunk_id": numpy.asarray(chunk_ids, dtype=numpy.int64), "embedding": list(array)}
    )
    cursor.register("incoming_vectors", rows)
    try:
        cursor.execute(
            f"INSERT INTO {table} SELECT chunk_id, ?, embedding::FLOAT[{generation.dimension}]"
            " FROM incoming_vectors",
            [paper_id],
        )
    finally:
        cursor.unregister("incoming_vectors")


def remove(cursor: DuckDBPyConnection, paper_id: int) -> None:
    """Removes the paper's vectors from every generation."""
    for generation in all_generations(cursor):
        cursor.execute(f"DELETE FROM {vector_table(generation.generation)} WHERE paper_id = ?", [paper_id])


def of_paper(
    cursor: DuckDBPyConnection, paper_id: int, *, generation: Generation
) -> tuple[list[int], numpy.ndarray]:
    """Chunk ids of the paper, in order, and their float32 vectors, shape (n, dimension)."""
    import numpy

    found = cursor.execute(
        f"SELECT chunk_id, embedding FROM {vector_table(generation.generation)}"
        " WHERE paper_id = ? ORDER BY chunk_id",
        [paper_id],
    ).fetchnumpy()
    ids = [int(i) for i in found["chunk_id"]]
    if not ids:
        return [], numpy.empty((0, generation.dimension), dtype=numpy.float32)
    return ids, numpy.stack(list(found["embedding"])).astype(numpy.float32, copy=False)

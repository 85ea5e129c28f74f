"""What every embedder checks before and after its model runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import ProviderError, UnembeddableTextError

if TYPE_CHECKING:
    import numpy


def refuse_long_texts(token_counts: Sequence[int], max_tokens: int) -> None:
    """Raises UnembeddableTextError for the first text that does not fit the window: nothing is cut."""
    for index, count in enumerate(token_counts):
        if count > max_tokens:
            raise UnembeddableTextError(
                f"Text {index} has {count} tokens and the embedder reads at most {max_tokens}: split it.",
                index=index,
            )


def refuse_long_query(token_count: int, max_tokens: int) -> None:
    """The same for a query, in words for the person who asked."""
    if token_count > max_tokens:
        raise UnembeddableTextError(
            f"The question has {token_count} tokens and the embedder reads at most {max_tokens}: shorten it.",
            index=0,
        )


def unit_rows(rows: numpy.ndarray, indexes: Sequence[int]) -> numpy.ndarray:
    """The rows as float32 of length 1; ``indexes`` says which text each row belongs to.

    A row of zeros, NaN or infinity is an UnembeddableTextError that names its text.
    """
    import numpy

    rows = numpy.asarray(rows, numpy.float32)
    if rows.ndim != 2 or len(rows) != len(indexes):
        raise ProviderError(
            f"The embedder gave vectors of shape {rows.shape} for {len(indexes)} texts: use another model."
        )
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    bad = numpy.flatnonzero(~(numpy.isfinite(lengths[:, 0]) & (lengths[:, 0] > 0)))
    if len(bad):
        index = indexes[int(bad[0])]
        raise UnembeddableTextError(
            f"The embedder gave no usable vector (NaN or zero) for text {index}: leave it out.",
            index=index,
        )
    unit: numpy.ndarray = rows / lengths
    return unit

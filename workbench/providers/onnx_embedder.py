"""Sentence vectors from an ONNX model on this computer's processor. No server, no network."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.providers.onnx_files import folder_files, packaged_files
from workbench.providers.vectors import refuse_long_query, refuse_long_texts, unit_rows

if TYPE_CHECKING:
    import numpy

    from workbench.providers.onnx_session import SentenceSession

BATCH_TEXTS = 8
BATCH_TOKENS = 512  # padded; larger batches of long texts leave the processor's cache
MOST_THREADS = 8
REMEMBERED_QUERIES = 256


class OnnxEmbedder:
    """The packaged all-MiniLM-L6-v2, or the model of a ``folder``.

    The model loads on first use (0.2 to 1 s); one object serves any number of threads. ``threads`` bounds
    the batches that run at the same time: by default every core, on machines with four or more all but one.

    Each batch runs on one thread and the threads never wait for each other. On a quiet machine that is
    faster than threads inside the model's operators, and on a busy one it does not stall.
    """

    def __init__(self, folder: Path | None = None, *, threads: int | None = None) -> None:
        self._files = packaged_files() if folder is None else folder_files(folder)
        self.name = self._files.name
        self._threads = threads or _default_threads()
        self._remembered = functools.lru_cache(maxsize=REMEMBERED_QUERIES)(self._query_vector)

    @property
    def dimension(self) -> int:
        return self._files.dimension or self._loaded().dimension

    @property
    def max_tokens(self) -> int:
        if not self._files.document_prefix and not self._files.query_prefix:
            return self._files.window
        return self._files.window - self._prefix_tokens

    def count_tokens(self, text: str) -> int:
        return len(self._loaded().token_ids(text))

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._loaded().token_spans(text)

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        """float32 array of shape (len(texts), dimension); rows have length 1.

        Raises UnembeddableTextError for a text over ``max_tokens`` or without a finite vector.
        """
        return self._embed(texts, self._files.document_prefix)

    def embed_query(self, text: str) -> numpy.ndarray:
        """float32 array of shape (dimension,), length 1. The last few hundred are remembered."""
        return self._remembered(text).copy()

    def _query_vector(self, text: str) -> numpy.ndarray:
        refuse_long_query(self.count_tokens(text), self.max_tokens)
        vector: numpy.ndarray = self._embed([text], self._files.query_prefix)[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> numpy.ndarray:
        import numpy

        session = self._loaded()
        refuse_long_texts([self.count_tokens(text) for text in texts] if prefix else [], self.max_tokens)
        ids = [session.token_ids(prefix + text) for text in texts]
        refuse_long_texts([len(sequence) for sequence in ids], self._files.window)
        rows = numpy.empty((len(texts), self.dimension), numpy.float32)
        places = _places_of_equal(texts)
        first = [positions[0] for positions in places]
        for batch, vectors in self._run(session, _batches(first, ids), ids):
            rows[batch] = unit_rows(vectors, batch)
        for positions in places:
            rows[positions[1:]] = rows[positions[0]]
        return rows

    def _run(
        self, session: SentenceSession, batches: list[list[int]], ids: list[list[int]]
    ) -> list[tuple[list[int], numpy.ndarray]]:
        def vectors(batch: list[int]) -> numpy.ndarray:
            return session.vectors([ids[index] for index in batch])

        workers = min(self._threads, len(batches))
        if workers <= 1:
            return [(batch, vectors(batch)) for batch in batches]
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            # The generator of ``map`` cancels what has not begun when one batch fails or Ctrl+C comes.
            return list(zip(batches, pool.map(vectors, batches), strict=True))

    @functools.cached_property
    def _prefix_tokens(self) -> int:
        session = self._loaded()
        bare = len(session.token_ids(""))
        prefixes = (self._files.document_prefix, self._files.query_prefix)
        # One more, because the last token of a prefix may be cut differently before some texts.
        return max(len(session.token_ids(prefix)) - bare for prefix in prefixes) + 1

    def _loaded(self) -> SentenceSession:
        # Here, because onnxruntime and the tokenizer take their time to import.
        from workbench.providers.onnx_session import load_session

        return load_session(self._files)


def _default_threads() -> int:
    cores = os.cpu_count() or 1
    return min(cores if cores < 4 else cores - 1, MOST_THREADS)


def _places_of_equal(texts: Sequence[str]) -> list[list[int]]:
    """Indexes of each different text, so that a repeated text is computed once."""
    places: dict[str, list[int]] = {}
    for index, text in enumerate(texts):
        places.setdefault(text, []).append(index)
    return list(places.values())


def _batches(indexes: list[int], ids: list[list[int]]) -> list[list[int]]:
    """Indexes in batches of like lengths, longest first: little is padded, and threads end together."""
    batches: list[list[int]] = []
    for index in sorted(indexes, key=lambda i: -len(ids[i])):
        longest = len(ids[batches[-1][0]]) if batches else 0
        if batches and len(batches[-1]) < BATCH_TEXTS and (len(batches[-1]) + 1) * longest <= BATCH_TOKENS:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches

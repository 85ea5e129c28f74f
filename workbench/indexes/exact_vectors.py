"""Exact nearest chunks: every vector in scope is compared, from a mapped file or from the library."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from workbench.indexes.folders import LOCK_WAIT, writing
from workbench.indexes.ranking import checked_query, merged
from workbench.indexes.reading import LibraryState, library_state, paper_rows, search_library
from workbench.indexes.vector_catching_up import catch_up
from workbench.indexes.vector_file import (
    Manifest,
    UnusableIndexError,
    VectorFile,
    checksum,
    forget,
    read_manifest,
)
from workbench.interfaces import IndexSource
from workbench.records import Hit


class ExactVectorIndex:
    """Nearest chunks by cosine, over a float32 file in paper order. Implements ``interfaces.VectorIndex``.

    The file catches up with the library at the first search after a change. While it cannot (another
    process is at it, the folder cannot be written), papers it does not know are read from the library:
    an answer is never incomplete, only slower. Safe to share between threads.

    ``folder`` belongs to this index alone; ``lock_wait`` is the longest wait for another writer, in seconds.
    """

    name = "exact"

    def __init__(self, source: IndexSource, folder: Path, *, lock_wait: float = LOCK_WAIT) -> None:
        self._source = source
        self._folder = folder
        self._lock_wait = lock_wait
        self._file: VectorFile | None = None
        self._mutex = threading.Lock()

    def search(
        self,
        vector: np.ndarray,
        *,
        papers: Sequence[int] | None,
        limit: int,
        revision: int | None = None,
    ) -> list[Hit]:
        """At most ``limit`` hits, best first, ties by chunk id; the score is the cosine.

        ``papers=None``: the whole library; empty: nothing; unknown ids have no hits. ``revision``: the
        library's revision where the caller has just read it, which saves asking. Raises
        EmbedderMismatchError for a vector of another dimension, InvalidInputError for one of length 0.
        """
        if limit < 1 or (papers is not None and not len(papers)):
            return []
        file = self._at_hand(revision, np.shape(vector))
        if file is None:
            state = library_state(self._source)
            if state.serving is None:
                return []
            query = checked_query(vector, state.serving[1])
            file = self._fresh(state)
        if file is None:
            return self._search_both(query, papers, limit)
        query = checked_query(vector, file.manifest.serving[1])
        try:
            return file.search(query, papers=papers, limit=limit)
        except UnusableIndexError:
            self._forget(file)
            return self._search_both(query, papers, limit)

    def refresh(self) -> bool:
        """Brings the file up to date now; False where that is not possible at the moment."""
        state = library_state(self._source)
        return state.serving is None or self._fresh(state) is not None

    def problems(self) -> list[str]:
        """Where the file says something else than the library, one line each; empty where all is well.

        Changes nothing. A file that merely lags is no problem: it catches up at the next search.
        """
        state = library_state(self._source)
        manifest = read_manifest(self._folder)
        if manifest is None or (manifest.revision, manifest.serving) != state:
            return []
        try:
            file = VectorFile(self._folder, manifest)
            file.verify(manifest.blocks)
        except (OSError, UnusableIndexError) as error:
            return [f"The vector index is damaged ({error}) and is made again at the next search."]
        present = sorted(paper for paper, there in self._source.changed_since(0).items() if there)
        library = {
            rows.paper_id: checksum(rows.chunk_ids, rows.vectors)
            for rows in paper_rows(self._source, present)
        }
        held = {paper: block.checksum for paper, block in manifest.blocks.items()}
        return [
            f"The vector index does not hold paper {paper} as the library does: remove {self._folder}."
            for paper in sorted(library.keys() | held.keys())
            if library.get(paper) != held.get(paper)
        ]

    def _at_hand(self, revision: int | None, shape: tuple[int, ...]) -> VectorFile | None:
        """The mapped file where it is known to be right for this revision and this query's shape."""
        file = self._file
        if file is None or file.manifest.revision != revision or not file.intact():
            return None
        return file if file.manifest.serving[1:] == shape else None

    def _fresh(self, state: LibraryState) -> VectorFile | None:
        """A file that covers ``state``; ``None`` where it cannot catch up now."""
        if _covers(self._file, state):
            return self._file
        if not self._mutex.acquire(timeout=self._lock_wait):
            return None
        try:
            self._file = self._opened(read_manifest(self._folder))
            if not _covers(self._file, state):
                with writing(self._folder, wait=self._lock_wait):
                    base = self._opened(read_manifest(self._folder))
                    self._file = self._opened(catch_up(self._folder, self._source, base))
            return self._file
        except (OSError, UnusableIndexError):
            return None
        finally:
            self._mutex.release()

    def _opened(self, manifest: Manifest | None) -> VectorFile | None:
        """The file of ``manifest``, this object's own where it is that one; ``None`` if unusable."""
        mine = self._file
        if manifest is None:
            return None
        if mine is not None and mine.manifest == manifest and mine.intact():
            return mine
        try:
            return VectorFile(self._folder, manifest, before=mine)
        except (OSError, UnusableIndexError):
            return None

    def _forget(self, file: VectorFile) -> None:
        """Drops a damaged file, so that the next search makes it again."""
        with self._mutex:
            if self._file is file:
                self._file = None
            forget(self._folder, file.manifest)

    def _search_both(self, query: np.ndarray, papers: Sequence[int] | None, limit: int) -> list[Hit]:
        """The answer while the file cannot catch up: what it knows, and the rest from the library."""
        file = self._file
        with self._source.reading():
            if file is not None and not (
                file.intact()
                and file.manifest.serving == self._source.generation()
                and file.manifest.serving[1:] == query.shape
                and self._source.has_been(file.manifest.revision)
            ):
                file = None
            changed = self._source.changed_since(file.manifest.revision if file else 0)
        hits: list[Hit] = []
        if file is not None:
            known = file.manifest.blocks.keys() - changed.keys()
            try:
                hits = file.search(query, papers=_within(known, papers), limit=limit)
            except UnusableIndexError:
                self._forget(file)
                changed = self._source.changed_since(0)
        missing = _within((paper for paper, present in changed.items() if present), papers)
        return merged([hits, search_library(self._source, query, papers=sorted(missing), limit=limit)], limit)


def _covers(file: VectorFile | None, state: LibraryState) -> bool:
    return (
        file is not None
        and (file.manifest.revision, file.manifest.serving) == (state.revision, state.serving)
        and file.intact()
    )


def _within(papers: Iterable[int], scope: Sequence[int] | None) -> list[int]:
    """The papers that are in scope."""
    if scope is None:
        return list(papers)
    allowed = set(scope)
    return [paper for paper in papers if paper in allowed]

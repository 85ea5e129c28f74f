"""Approximate nearest chunks for searches of the whole library, over a graph that is built on request."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import numpy as np

from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.folders import LOCK_WAIT, read_note, remove, write_note, writing
from workbench.indexes.hnsw_graph import HnswGraph, build_graph
from workbench.indexes.ranking import checked_query, merged
from workbench.indexes.reading import LibraryState, library_state, paper_rows
from workbench.indexes.vector_file import UnusableIndexError
from workbench.interfaces import IndexSource
from workbench.records import Hit

FORMAT = 1
_NOTE = "graph.json"

SPARE = 64
"""Rows asked for beyond the limit, because some may have been replaced or removed since."""
ROWS_PER_HIT = 20
"""Below this many rows per wanted hit a graph walks most of them: comparing all is faster, and exact."""
MOST_CHANGED = 100
"""Changed papers that are looked up beside the graph; after more of them all is compared exactly."""


@dataclass(frozen=True, slots=True)
class _Note:
    """What the current graph was built from. ``engine``: only this DuckDB is known to read it."""

    number: int
    revision: int
    generation: int
    dimension: int
    rows: int
    engine: str = duckdb.__version__
    format: int = FORMAT

    @property
    def name(self) -> str:
        return f"graph-{self.number}.duckdb"

    @property
    def serving(self) -> tuple[int, int]:
        return self.generation, self.dimension


class HnswVectorIndex:
    """Nearest chunks by cosine, approximately, over an HNSW graph. Implements ``interfaces.VectorIndex``.

    Only searches of the whole library use the graph; within a scope ``exact`` answers. ``refresh`` builds
    the graph; a search never does and never waits for it. Papers changed since it was built are compared
    exactly beside it, and where it gives too few hits, is not built or is damaged, all of them are: an
    answer is never short. Scores are exact cosines. Safe to share between threads.

    ``folder`` belongs to this index alone. With fewer than ``rows_per_hit`` rows for each wanted hit the
    graph is not used.
    """

    name = "hnsw"

    def __init__(
        self,
        source: IndexSource,
        folder: Path,
        exact: ExactVectorIndex,
        *,
        rows_per_hit: int = ROWS_PER_HIT,
        lock_wait: float = LOCK_WAIT,
    ) -> None:
        self._source = source
        self._folder = folder
        self._exact = exact
        self._rows_per_hit = rows_per_hit
        self._lock_wait = lock_wait
        self._opened: tuple[_Note, HnswGraph | None] | None = None
        self._mutex = threading.Lock()

    def search(
        self,
        vector: np.ndarray,
        *,
        papers: Sequence[int] | None,
        limit: int,
        revision: int | None = None,
    ) -> list[Hit]:
        """As ``ExactVectorIndex.search``; some of the nearest chunks may be missed if ``papers`` is None."""
        hits = self._from_graph(vector, limit, revision) if papers is None and limit > 0 else None
        if hits is None:
            return self._exact.search(vector, papers=papers, limit=limit, revision=revision)
        return hits

    def refresh(self) -> bool:
        """Builds the graph again if the library has changed (1 to 2 ms per chunk).

        False where that is not possible: another process is at it, the folder cannot be written, or the
        vss extension is missing.
        """
        exact = self._exact.refresh()
        try:
            with writing(self._folder, wait=self._lock_wait):
                return self._built() and exact
        except (OSError, UnusableIndexError):
            return False

    def problems(self) -> list[str]:
        """What is wrong with the graph or the exact index, one line each; empty where all is well."""
        note = self._note()
        if note is None:
            return self._exact.problems()
        try:
            HnswGraph(self._folder / note.name, dimension=note.dimension, rows=note.rows).close()
        except UnusableIndexError as error:
            return [f"{error} Searches are exact until it is built again.", *self._exact.problems()]
        return self._exact.problems()

    def close(self) -> None:
        """Closes the graph's file; the next search opens it again."""
        with self._mutex:
            if self._opened is not None and self._opened[1] is not None:
                self._opened[1].close()
            self._opened = None

    # --- searching -------------------------------------------------------------------------------

    def _from_graph(self, vector: np.ndarray, limit: int, revision: int | None) -> list[Hit] | None:
        """Hits from the graph, and from ``exact`` for papers changed since; ``None``: leave all to it."""
        note = self._note()
        if note is None or limit * self._rows_per_hit > note.rows:
            return None
        changed: dict[int, bool] = {}
        if note.revision != revision:
            with self._source.reading():
                right = note.serving == self._source.generation() and self._source.has_been(note.revision)
                if not right:
                    return None
                changed = self._source.changed_since(note.revision)
        query = checked_query(vector, note.dimension)
        graph = self._graph(note) if len(changed) <= MOST_CHANGED else None
        if graph is None:
            return None
        try:
            near = graph.nearest(query, limit + SPARE)
        except UnusableIndexError:
            self._give_up(note)
            return None
        live = [hit for hit in near if hit.paper_id not in changed]
        if len(live) < limit:
            return None
        present = [paper for paper, there in changed.items() if there]
        return merged([live, self._exact.search(query, papers=present, limit=limit)], limit)

    def _note(self) -> _Note | None:
        read = read_note(self._folder / _NOTE) or {}
        try:
            note = _Note(**read)
        except TypeError:
            return None
        numbers = (note.number, note.revision, note.generation, note.dimension, note.rows)
        right = (note.engine, note.format) == (duckdb.__version__, FORMAT)
        return note if right and all(type(number) is int for number in numbers) else None

    def _graph(self, note: _Note) -> HnswGraph | None:
        with self._mutex:
            if self._opened is None or self._opened[0] != note:
                try:
                    path = self._folder / note.name
                    self._opened = (note, HnswGraph(path, dimension=note.dimension, rows=note.rows))
                except UnusableIndexError:
                    self._opened = (note, None)  # so that not every search tries again
            return self._opened[1]

    def _give_up(self, note: _Note) -> None:
        with self._mutex:
            self._opened = (note, None)

    # --- building --------------------------------------------------------------------------------

    def _built(self) -> bool:
        """Builds the graph unless the present one is right. Only for the one writer of the folder."""
        before = self._note()
        state = library_state(self._source)
        if before is not None and (before.revision, before.serving) == state and self._graph(before):
            return True
        if state.serving is None:
            remove(self._folder / _NOTE)
            return True
        note = self._write_graph(state, state.serving, above=before.number if before else 0)
        if library_state(self._source).serving != state.serving:
            return False
        write_note(self._folder / _NOTE, asdict(note))
        kept = {note.number, before.number if before else note.number}
        for number, path in self._files():
            if number not in kept:
                remove(path)
        return True

    def _files(self) -> list[tuple[int, Path]]:
        """Every graph's number and file, those of a writer that died included."""
        named = [(re.match(r"graph-(\d+)\.duckdb", path.name), path) for path in self._folder.iterdir()]
        return [(int(match[1]), path) for match, path in named if match]

    def _write_graph(self, state: LibraryState, serving: tuple[int, int], *, above: int) -> _Note:
        number = 1 + max([above, *(number for number, _ in self._files())])
        generation, dimension = serving
        path = self._folder / f"graph-{number}.duckdb"
        present = sorted(paper for paper, there in self._source.changed_since(0).items() if there)
        rows = build_graph(path, paper_rows(self._source, present), dimension=dimension)
        return _Note(number, state.revision, generation, dimension, rows)

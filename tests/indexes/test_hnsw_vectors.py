"""The graph beside the exact index: used when it is right, never waited for, never trusted blindly."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tests.contracts.index_libraries import MemoryLibrary, assert_nearest, axis, topic_rows, unit_rows
from workbench.indexes import hnsw_graph
from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.hnsw_graph import HnswGraph, build_graph, extension_file, nearest_sql
from workbench.indexes.hnsw_vectors import HnswVectorIndex
from workbench.indexes.reading import PaperRows
from workbench.indexes.vector_file import UnusableIndexError
from workbench.records import Hit

QUERY = unit_rows(999, 1)[0]


class CountingExact(ExactVectorIndex):
    """An exact index that notes the scopes it was asked for."""

    asked: list[object]

    def search(self, vector, *, papers, limit, revision=None):  # type: ignore[no-untyped-def]  # as the parent
        self.__dict__.setdefault("asked", []).append(None if papers is None else list(papers))
        return super().search(vector, papers=papers, limit=limit, revision=revision)

    def taken(self) -> list[object]:
        asked, self.__dict__["asked"] = self.__dict__.get("asked", []), []
        return asked


@pytest.fixture
def library() -> MemoryLibrary:
    library = MemoryLibrary()
    library.add_all((["text"] * 20, unit_rows(seed, 20)) for seed in range(30))
    return library


@pytest.fixture
def exact(library: MemoryLibrary, tmp_path: Path) -> CountingExact:
    return CountingExact(library.source, tmp_path / "vectors")


@pytest.fixture
def index(library: MemoryLibrary, exact: CountingExact, tmp_path: Path) -> HnswVectorIndex:
    return HnswVectorIndex(library.source, tmp_path / "hnsw", exact)


def nearest(index: HnswVectorIndex, limit: int = 15) -> list[Hit]:
    return index.search(QUERY, papers=None, limit=limit)


def test_before_it_is_built_and_for_a_scope_the_answer_is_exact(
    library: MemoryLibrary, exact: CountingExact, index: HnswVectorIndex
) -> None:
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken() == [None]
    assert index.refresh()
    assert_nearest(index.search(QUERY, papers=[4], limit=15), library.source, QUERY, scope=[4], limit=15)
    assert exact.taken() == [[4]]


def test_once_built_the_graph_answers_with_exact_scores(
    library: MemoryLibrary, exact: CountingExact, index: HnswVectorIndex
) -> None:
    index.refresh()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken() == [[]]
    assert nearest(index) == exact.search(QUERY, papers=None, limit=15)


def test_the_query_uses_the_graph(library: MemoryLibrary, tmp_path: Path) -> None:
    rows = [PaperRows(1, np.arange(1, 301), unit_rows(1, 300))]
    assert build_graph(tmp_path / "graph.duckdb", rows, dimension=16) == 300
    graph = HnswGraph(tmp_path / "graph.duckdb", dimension=16, rows=300)
    plan = graph._connection.execute(f"EXPLAIN {nearest_sql(16)}", [QUERY.tolist(), 5]).fetchall()
    assert "HNSW_INDEX_SCAN" in str(plan)


def test_removed_and_replaced_papers_are_never_found_through_the_graph(
    library: MemoryLibrary, exact: CountingExact, index: HnswVectorIndex
) -> None:
    index.refresh()
    best = nearest(index)[0].paper_id
    library.remove(best)
    other = nearest(index)[0].paper_id
    library.replace(other, ["text"] * 20, unit_rows(500, 20))
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken()[-1] == [other]
    new = library.add(["text"], QUERY[np.newaxis])
    assert nearest(index)[0].paper_id == new
    assert index.refresh()
    exact.taken()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken() == [[]]


def test_an_answer_the_graph_cannot_fill_is_filled_exactly(
    library: MemoryLibrary, exact: CountingExact, index: HnswVectorIndex
) -> None:
    near = library.add_all((["text"] * 20, topic_rows(0, 20, seed=seed)) for seed in range(6))
    index.refresh()
    for paper in near:
        library.remove(paper)
    exact.taken()
    hits = index.search(axis(0), papers=None, limit=30)
    assert_nearest(hits, library.source, axis(0), scope=None, limit=30)
    assert exact.taken() == [None]


def test_another_embedder_makes_the_graph_void(
    library: MemoryLibrary, exact: CountingExact, index: HnswVectorIndex
) -> None:
    index.refresh()
    library.serve({paper: unit_rows(700 + paper, 20) for paper in range(1, 31)}, 16)
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken()[-1] is None
    assert index.refresh()
    exact.taken()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken() == [[]]


def _open_without_the_extension(path: Path) -> None:
    with duckdb.connect(str(path)) as plain:
        plain.execute("CREATE TABLE note (n INTEGER)")


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _cut_to_sixty_percent(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 6 // 10])


def _scramble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


@pytest.mark.parametrize(
    "damage",
    [_open_without_the_extension, _halve, _cut_to_sixty_percent, _scramble, Path.unlink],
    ids=lambda damage: damage.__name__,
)
def test_a_damaged_graph_gives_exact_answers_and_is_built_again(
    library: MemoryLibrary,
    exact: CountingExact,
    index: HnswVectorIndex,
    tmp_path: Path,
    damage: Callable[[Path], None],
) -> None:
    index.refresh()
    index.close()
    [graph] = (tmp_path / "hnsw").glob("graph-*.duckdb")
    damage(graph)
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    again = HnswVectorIndex(library.source, tmp_path / "hnsw", exact)
    assert_nearest(nearest(again), library.source, QUERY, scope=None, limit=15)
    assert again.refresh()
    assert again.problems() == []
    exact.taken()
    assert_nearest(nearest(again), library.source, QUERY, scope=None, limit=15)
    assert exact.taken() == [[]]


@pytest.mark.parametrize(
    "change",
    [
        {"rows": 5},
        {"rows": "600"},
        {"engine": "1.0"},
        {"number": 7},
        {"generation": 9},
        {"revision": 10**9},
        {"x": 1},
    ],
)
def test_a_note_that_cannot_be_is_not_believed(
    library: MemoryLibrary, index: HnswVectorIndex, tmp_path: Path, change: dict[str, object]
) -> None:
    index.refresh()
    note = tmp_path / "hnsw" / "graph.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), **change}))
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert index.refresh()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)


def test_leftovers_of_a_writer_that_died_are_cleared_away(
    library: MemoryLibrary, index: HnswVectorIndex, tmp_path: Path
) -> None:
    (tmp_path / "hnsw").mkdir()
    (tmp_path / "hnsw" / "graph-4.duckdb").write_bytes(b"half a graph")
    (tmp_path / "hnsw" / "graph-4.duckdb.wal").write_bytes(b"half a log")
    assert index.refresh()
    assert sorted(path.name for path in (tmp_path / "hnsw").glob("graph-*")) == ["graph-5.duckdb"]
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)


@pytest.mark.parametrize("packaged", ["absent", "of another version"])
def test_without_the_extension_that_fits_the_answer_is_exact_and_nothing_is_fetched(
    library: MemoryLibrary,
    exact: CountingExact,
    index: HnswVectorIndex,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    packaged: str,
) -> None:
    """DuckDB would look for it in the network; what it is told here is one line for who asks."""
    other = tmp_path / "vss.duckdb_extension"
    other.write_bytes(b"of another version" * 100)
    monkeypatch.setattr(hnsw_graph, "extension_file", lambda: None if packaged == "absent" else other)
    assert not index.refresh()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)
    assert exact.taken() == [None]
    with pytest.raises(UnusableIndexError, match="is not installed|cannot be loaded"):
        build_graph(tmp_path / "graph.duckdb", [], dimension=16)


def test_an_empty_library_can_be_refreshed(tmp_path: Path) -> None:
    library = MemoryLibrary()
    exact = ExactVectorIndex(library.source, tmp_path / "vectors")
    index = HnswVectorIndex(library.source, tmp_path / "hnsw", exact)
    assert index.refresh()
    assert nearest(index) == []
    paper = library.add(["t"], unit_rows(1, 1))
    library.remove(paper)
    assert index.refresh()
    assert nearest(index) == []


def test_a_path_with_quotes_works(library: MemoryLibrary, tmp_path: Path) -> None:
    exact = ExactVectorIndex(library.source, tmp_path / "it's" / "vectors")
    index = HnswVectorIndex(library.source, tmp_path / "it's" / "hnsw", exact)
    assert index.refresh()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)


def test_a_folder_that_cannot_be_made_gives_exact_answers(library: MemoryLibrary, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    exact = ExactVectorIndex(library.source, tmp_path / "vectors")
    index = HnswVectorIndex(library.source, tmp_path / "a file" / "hnsw", exact)
    assert not index.refresh()
    assert_nearest(nearest(index), library.source, QUERY, scope=None, limit=15)


def test_the_extension_is_packaged_for_this_duckdb() -> None:
    assert extension_file() is not None

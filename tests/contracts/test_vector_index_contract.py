"""What every vector index promises, over a library in memory and over a real one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.contracts.index_libraries import (
    DuckDBLibrary,
    Library,
    MemoryLibrary,
    assert_nearest,
    axis,
    topic_rows,
    unit_rows,
)
from workbench.errors import EmbedderMismatchError, InvalidInputError
from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.hnsw_vectors import HnswVectorIndex
from workbench.interfaces import IndexSource, VectorIndex

Open = Callable[[], VectorIndex]


def hnsw_index(source: IndexSource, folder: Path) -> VectorIndex:
    exact = ExactVectorIndex(source, folder / "vectors")
    index = HnswVectorIndex(source, folder / "hnsw", exact, rows_per_hit=1)
    assert index.refresh()
    return index


KINDS = ["exact", "exact without a folder", "hnsw", "exact over DuckDB"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def library(kind: str, tmp_path: Path) -> Library:
    return DuckDBLibrary(tmp_path / "library.duckdb") if "DuckDB" in kind else MemoryLibrary()


@pytest.fixture
def open_index(kind: str, library: Library, tmp_path: Path) -> Open:
    """Opens one more index object over the same folder, as another process would."""
    if kind == "hnsw":
        return lambda: hnsw_index(library.source, tmp_path / "derived")
    if kind == "exact without a folder":
        (tmp_path / "a file").touch()
        return lambda: ExactVectorIndex(library.source, tmp_path / "a file" / "derived")
    return lambda: ExactVectorIndex(library.source, tmp_path / "derived")


def words(count: int) -> list[str]:
    return [f"chunk {n}" for n in range(count)]


def test_the_nearest_chunks_come_best_first(library: Library, open_index: Open) -> None:
    library.add_all((words(7), unit_rows(seed, 7)) for seed in range(12))
    index = open_index()
    for seed in range(100, 104):
        query = unit_rows(seed, 1)[0]
        for scope in (None, [1], [2, 5, 11], list(range(1, 13))):
            hits = index.search(query, papers=scope, limit=10)
            assert_nearest(hits, library.source, query, scope=scope, limit=10)


def test_a_scope_of_one_paper_is_filled_though_all_others_are_nearer(
    library: Library, open_index: Open
) -> None:
    library.add_all((words(5), topic_rows(0, 5, seed=seed)) for seed in range(99))
    far = library.add(words(5), topic_rows(1, 5))
    hits = open_index().search(axis(0), papers=[far], limit=5)
    assert {hit.paper_id for hit in hits} == {far}
    assert_nearest(hits, library.source, axis(0), scope=[far], limit=5)


def test_an_empty_scope_and_unknown_papers_have_no_hits(library: Library, open_index: Open) -> None:
    paper = library.add(words(3), topic_rows(0, 3))
    index = open_index()
    assert index.search(axis(0), papers=[], limit=5) == []
    assert index.search(axis(0), papers=[paper + 1000, -1, 0], limit=5) == []
    both = index.search(axis(0), papers=[paper + 1000, paper, paper], limit=5)
    assert_nearest(both, library.source, axis(0), scope=[paper], limit=5)


def test_the_limit_cuts_and_may_be_larger_than_the_library(library: Library, open_index: Open) -> None:
    library.add(words(4), unit_rows(1, 4))
    index = open_index()
    assert index.search(axis(0), papers=None, limit=0) == []
    assert len(index.search(axis(0), papers=None, limit=3)) == 3
    assert len(index.search(axis(0), papers=None, limit=1_000_000)) == 4


def test_an_empty_library_answers_and_the_first_paper_is_found_at_once(
    library: Library, open_index: Open
) -> None:
    index = open_index()
    assert index.search(axis(0), papers=None, limit=5) == []
    assert index.search(axis(0), papers=[1], limit=5) == []
    paper = library.add(words(2), topic_rows(0, 2))
    assert [hit.paper_id for hit in index.search(axis(0), papers=None, limit=5)] == [paper, paper]


def test_equal_scores_are_ordered_by_chunk_id(library: Library, open_index: Open) -> None:
    same = topic_rows(0, 1)
    library.add_all((words(copies), np.repeat(same, copies, axis=0)) for copies in (3, 9, 1, 30))
    index = open_index()
    everything = index.search(axis(0), papers=None, limit=43)
    assert [hit.chunk_id for hit in everything] == sorted(hit.chunk_id for hit in everything)
    for limit in (1, 5, 20):
        assert index.search(axis(0), papers=None, limit=limit) == everything[:limit]


@pytest.mark.parametrize("wrong", [np.ones(15), np.ones(17), np.ones((16, 1)), np.ones(0)])
def test_a_vector_of_another_shape_is_refused(library: Library, open_index: Open, wrong: np.ndarray) -> None:
    library.add(words(30), unit_rows(1, 30))
    index = open_index()
    for _ in range(2):
        with pytest.raises(EmbedderMismatchError):
            index.search(wrong, papers=None, limit=1)
        index.search(axis(0), papers=None, limit=1)


@pytest.mark.parametrize("wrong", [np.zeros(16), np.full(16, np.nan), np.full(16, np.inf)])
def test_a_vector_without_direction_is_refused(library: Library, open_index: Open, wrong: np.ndarray) -> None:
    library.add(words(30), unit_rows(1, 30))
    with pytest.raises(InvalidInputError):
        open_index().search(wrong, papers=None, limit=1)


def test_the_length_of_the_query_does_not_matter(library: Library, open_index: Open) -> None:
    library.add(words(30), unit_rows(1, 30))
    index = open_index()
    query = unit_rows(2, 1)[0]
    hits = index.search(query * 7, papers=None, limit=5)
    assert_nearest(hits, library.source, query, scope=None, limit=5)


def test_removed_papers_are_gone_and_the_answer_stays_full(library: Library, open_index: Open) -> None:
    doomed = library.add_all((words(10), topic_rows(0, 10, seed=seed)) for seed in range(3))
    library.add(words(20), topic_rows(1, 20))
    index = open_index()
    assert {hit.paper_id for hit in index.search(axis(0), papers=None, limit=30)} == set(doomed)
    for paper in doomed[:2]:
        library.remove(paper)
    hits = index.search(axis(0), papers=None, limit=15)
    assert_nearest(hits, library.source, axis(0), scope=None, limit=15)
    assert index.search(axis(0), papers=doomed[:2], limit=5) == []


def test_a_replaced_paper_is_found_by_its_new_vectors_only(library: Library, open_index: Open) -> None:
    library.add(words(10), topic_rows(1, 10))
    paper = library.add(words(3), topic_rows(0, 3))
    index = open_index()
    before = {hit.chunk_id for hit in index.search(axis(0), papers=[paper], limit=3)}
    library.replace(paper, words(5), topic_rows(2, 5))
    for scope in (None, [paper]):
        hits = index.search(axis(2), papers=scope, limit=5)
        assert {hit.paper_id for hit in hits} == {paper}
        assert before.isdisjoint(hit.chunk_id for hit in hits)
        assert_nearest(hits, library.source, axis(2), scope=scope, limit=5)


def test_a_removed_paper_can_be_added_again(library: Library, open_index: Open) -> None:
    library.add(words(20), topic_rows(1, 20))
    index = open_index()
    for _ in range(3):
        paper = library.add(words(2), topic_rows(0, 2))
        assert [hit.paper_id for hit in index.search(axis(0), papers=None, limit=2)] == [paper, paper]
        library.remove(paper)
        assert paper not in [hit.paper_id for hit in index.search(axis(0), papers=None, limit=2)]


def test_a_paper_without_vectors_has_no_hits_until_it_gets_them(library: Library, open_index: Open) -> None:
    library.add(words(2), topic_rows(1, 2))
    paper = library.add(words(2))
    index = open_index()
    assert index.search(axis(0), papers=[paper], limit=2) == []
    library.replace(paper, words(2), topic_rows(0, 2))
    assert len(index.search(axis(0), papers=[paper], limit=2)) == 2


@pytest.mark.parametrize("dimension", [16, 8])
def test_another_embedder_takes_over_at_once(library: Library, open_index: Open, dimension: int) -> None:
    first = library.add(words(3), topic_rows(0, 3))
    second = library.add(words(3), topic_rows(1, 3))
    index = open_index()
    assert index.search(axis(0), papers=None, limit=1)[0].paper_id == first
    library.serve({first: topic_rows(1, 3, dimension), second: topic_rows(0, 3, dimension)}, dimension)
    assert index.search(axis(0, dimension), papers=None, limit=1)[0].paper_id == second
    if dimension != 16:
        with pytest.raises(EmbedderMismatchError):
            index.search(axis(0), papers=None, limit=1)


def test_a_known_revision_saves_asking_and_changes_nothing(library: Library, open_index: Open) -> None:
    papers = library.add_all((words(5), unit_rows(seed, 5)) for seed in range(6))
    index = open_index()
    library.remove(papers[0])
    revision = library.source.revision()
    query = unit_rows(9, 1)[0]
    expected = index.search(query, papers=None, limit=8)
    for known in (revision, revision - 1, 0, None):
        hits = index.search(query, papers=None, limit=8, revision=known)
        assert hits == expected


def test_two_objects_over_one_folder_see_every_change(library: Library, open_index: Open) -> None:
    first, second = open_index(), open_index()
    papers = []
    for seed in range(8):
        papers.append(library.add(words(3), unit_rows(seed, 3)))
        if seed % 3 == 2:
            library.remove(papers.pop(0))
        query = unit_rows(50 + seed, 1)[0]
        one = first.search(query, papers=None, limit=6)
        assert_nearest(one, library.source, query, scope=None, limit=6)
        assert second.search(query, papers=None, limit=6) == one
        assert second.search(query, papers=papers[-1:], limit=6) == [
            hit for hit in first.search(query, papers=None, limit=100) if hit.paper_id == papers[-1]
        ]


def test_threads_get_complete_answers_while_the_library_changes(library: Library, open_index: Open) -> None:
    kept = library.add_all((words(4), unit_rows(seed, 4)) for seed in range(5))
    index = open_index()
    query = unit_rows(77, 1)[0]
    expected = index.search(query, papers=kept, limit=9)

    def search(_: int) -> bool:
        return index.search(query, papers=kept, limit=9) == expected

    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(search, range(24))
        for seed in range(3):
            library.remove(library.add(words(2), unit_rows(200 + seed, 2)))
        assert all(answers)

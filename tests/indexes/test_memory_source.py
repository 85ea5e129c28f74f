"""The index source for notebooks and tests keeps the promises the real one makes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.contracts.index_libraries import unit_rows
from workbench.errors import ConflictError, InvalidInputError, NotFoundError
from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.indexes.memory_source import MemorySource


def test_it_says_what_changed_since_a_revision() -> None:
    source = MemorySource()
    assert (source.revision(), source.changed_since(0), source.generation()) == (0, {}, None)
    source.add(7, ["one", "two"])
    source.add(8, ["three"])
    before = source.revision()
    source.remove(7)
    source.replace(8, ["four", "five"])
    assert source.changed_since(before) == {7: False, 8: True}
    assert source.changed_since(source.revision()) == {}


def test_it_gives_chunks_and_vectors_in_order() -> None:
    source = MemorySource()
    rows = unit_rows(1, 2, 4)
    ids = source.add(3, ["one", "two"], vectors=rows, title="A title")
    assert source.chunk_ids(3) == ids
    assert source.chunk_texts(3) == [(ids[0], "A title", "one"), (ids[1], "A title", "two")]
    chunk_ids, vectors = source.vectors(3)
    assert chunk_ids == ids
    assert np.array_equal(vectors, rows)
    assert source.generation() == (1, 4)


def test_an_unknown_paper_is_empty_to_read_and_an_error_to_change() -> None:
    source = MemorySource()
    assert (source.chunk_ids(1), source.chunk_texts(1), source.vectors(1)[0]) == ([], [], [])
    with pytest.raises(NotFoundError):
        source.remove(1)
    with pytest.raises(NotFoundError):
        source.replace(1, ["x"])


def test_a_paper_twice_and_vectors_of_another_shape_are_refused() -> None:
    source = MemorySource()
    source.add(1, ["x"], vectors=unit_rows(1, 1, 4))
    with pytest.raises(ConflictError):
        source.add(1, ["x"])
    for wrong in (unit_rows(1, 2, 4), unit_rows(1, 1, 5)):
        with pytest.raises(InvalidInputError):
            source.add(2, ["x"], vectors=wrong)
    assert source.changed_since(0) == {1: True}


def test_a_switch_of_embedders_is_a_change(tmp_path: Path) -> None:
    source = MemorySource()
    source.add(1, ["x"], vectors=unit_rows(1, 1, 4))
    index = ExactVectorIndex(source, tmp_path)
    index.refresh()
    source.serve({1: unit_rows(5, 1, 4)}, dimension=4)
    [hit] = index.search(unit_rows(5, 1, 4)[0], papers=None, limit=1, revision=source.revision())
    assert hit.score == pytest.approx(1.0)


def test_it_is_enough_for_a_search_in_a_notebook(tmp_path: Path) -> None:
    source = MemorySource()
    [_, second] = source.add(1, ["Mallards are ducks.", "Quasars are bright."])
    hits = KeywordTantivyIndex(source, tmp_path).search("quasar", papers=None, limit=5)
    assert [hit.chunk_id for hit in hits] == [second]

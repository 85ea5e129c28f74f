from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from tests.storage.small_papers import DIMENSION, draft, unit_vectors
from workbench.errors import ConflictError, NotFoundError, ProviderError
from workbench.storage import generations, maintenance, papers, revisions
from workbench.storage.database import Database
from workbench.storage.generations import Generation
from workbench.storage.index_source import LibraryIndexSource

AddPaper = Callable[..., int]


def test_the_first_generation_serves_and_is_found_again(database: Database) -> None:
    with database.write() as cursor:
        assert generations.serving(cursor) is None
        first = generations.begin(cursor, "model-a", 8)
        assert first == Generation(1, "model-a", 8, True)
        assert generations.begin(cursor, "model-a", 8) == first
        assert generations.serving(cursor) == first


@pytest.mark.parametrize("dimension", [0, -1, 100_000])
def test_an_impossible_dimension_is_refused(database: Database, dimension: int) -> None:
    with pytest.raises(ProviderError, match="choose another embedder"), database.write() as cursor:
        generations.begin(cursor, "model", dimension)


def test_a_new_generation_takes_over_only_when_it_is_complete(
    database: Database, add_paper: AddPaper
) -> None:
    one, two = add_paper("one"), add_paper("two")
    source = LibraryIndexSource(database)
    before = source.revision()
    with database.write() as cursor:
        second = generations.begin(cursor, "other", 5)
        assert second == Generation(2, "other", 5, False)
        papers.store_vectors(cursor, one, unit_vectors("one", 4, 5), generation=2)
        assert generations.papers_without(cursor, 2) == [two]
        with pytest.raises(ConflictError, match="1 papers have no vectors of the new embedder"):
            generations.serve(cursor, 2)
        assert revisions.latest(cursor) == before, (
            "today's searches are not touched by what is built beside them"
        )
    assert source.generation() == (1, DIMENSION)
    assert source.vectors(one)[1].shape == (4, DIMENSION)
    with database.write() as cursor:
        papers.store_vectors(cursor, two, unit_vectors("two", 4, 5), generation=2)
        generations.serve(cursor, 2)
        with pytest.raises(ConflictError, match="answer searches now"):
            generations.drop(cursor, 2)
        generations.drop(cursor, 1)
        assert generations.all_generations(cursor) == (Generation(2, "other", 5, True),)
        assert [p.state for p in papers.list_papers(cursor, "ann")] == ["ready", "ready"]
    assert source.generation() == (2, 5)
    assert source.changed_since(2) == {one: True, two: True}, "every index has to look again"
    numpy.testing.assert_array_equal(source.vectors(two)[1], unit_vectors("two", 4, 5))
    assert maintenance.doctor(database) == []


def test_a_number_is_not_given_twice_while_its_generation_lives(database: Database) -> None:
    with database.write() as cursor:
        for name in ("a", "b", "c"):
            generations.begin(cursor, name, 4)
        generations.drop(cursor, 2)
        assert generations.begin(cursor, "d", 4).generation == 4
        with pytest.raises(NotFoundError, match="no generation 2"):
            generations.serve(cursor, 2)


def test_an_index_catches_up_from_the_changes(database: Database, add_paper: AddPaper) -> None:
    source = LibraryIndexSource(database)
    assert (source.revision(), source.changed_since(0), source.generation()) == (0, {}, None)
    ids, empty = source.vectors(1)
    assert ids == []
    assert empty.shape == (0, 0)
    assert empty.dtype == numpy.float32
    one, two = add_paper("one"), add_paper("two")
    before = source.revision()
    assert source.changed_since(0) == {one: True, two: True}
    with database.write() as cursor:
        papers.unlink(cursor, "ann", one)
        papers.replace_index(cursor, two, draft("changed", chunks=2), generation=1)
    assert list(source.changed_since(before).items()) == [(one, False), (two, True)]
    assert source.changed_since(source.revision()) == {}
    assert source.chunk_ids(one) == []


def test_an_index_reads_chunks_texts_and_vectors_in_one_order(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("order")
    made = draft("order")
    source = LibraryIndexSource(database)
    with source.reading():
        ids = source.chunk_ids(paper_id)
        texts = source.chunk_texts(paper_id)
        vector_ids, vectors = source.vectors(paper_id)
    assert ids == sorted(ids) == vector_ids == [i for i, _, _ in texts]
    assert [(title, text) for _, title, text in texts] == [("On order\nResults", c.text) for c in made.chunks]
    assert vectors.dtype == numpy.float32
    numpy.testing.assert_array_equal(vectors, made.vectors)


def test_a_rolled_back_change_is_no_change(database: Database, add_paper: AddPaper) -> None:
    add_paper("one")
    source = LibraryIndexSource(database)
    before = source.revision()

    def fail() -> None:
        with database.write() as cursor:
            papers.insert(cursor, draft("two"), generation=1)
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert source.revision() == before
    paper_id = add_paper("three")
    assert source.changed_since(before) == {paper_id: True}

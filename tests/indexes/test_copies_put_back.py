"""A copy of the library file put back by hand, beside indexes of the library that it replaces."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contracts.index_libraries import DuckDBLibrary, unit_rows
from tests.torture.truth import Indexes, index_faults
from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.folders import writing
from workbench.indexes.hnsw_vectors import HnswVectorIndex
from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.storage import maintenance
from workbench.storage.restoring import restore

Change = Callable[[DuckDBLibrary], None]


def adding(*words: str) -> Change:
    def change(library: DuckDBLibrary) -> None:
        for word in words:
            library.add([f"The {word} beside a graphene sheet"] * 2, unit_rows(len(word), 2, 4))

    return change


def replacing(library: DuckDBLibrary) -> None:
    library.replace(1, ["A comet, and graphene"], unit_rows(9, 1, 4))
    library.remove(2)


def serving_others(library: DuckDBLibrary) -> None:
    library.serve({paper: unit_rows(paper + 20, 2, 4) for paper in (1, 2, 3)}, 4)


@pytest.fixture
def library(tmp_path: Path) -> DuckDBLibrary:
    """Three papers, and a folder for a graph."""
    made = DuckDBLibrary(tmp_path / "home" / "library.duckdb")
    adding("basalt", "willow", "lichen")(made)
    (made.database.derived / "hnsw").mkdir()
    return made


@pytest.fixture
def indexes(library: DuckDBLibrary) -> Indexes:
    """Built of the three papers, and open."""
    made = Indexes(library.database)
    assert made.refresh()
    return made


@pytest.mark.parametrize("before", [adding("isotope", "harbour"), replacing, serving_others])
@pytest.mark.parametrize(
    "after",
    [adding("comet", "ribosome"), adding("comet", "ribosome", "mallard")],
    ids=["as many changes", "more"],
)
def test_a_search_is_complete_after_a_copy_was_put_back_and_changed(
    library: DuckDBLibrary, indexes: Indexes, tmp_path: Path, before: Change, after: Change
) -> None:
    """The indexes that were open all the time, and those that the next process opens."""
    path = library.database.path
    shutil.copyfile(path, tmp_path / "aside.duckdb")
    before(library)
    assert indexes.refresh()
    assert index_faults(indexes) == []
    shutil.copyfile(tmp_path / "aside.duckdb", path)
    after(library)
    assert index_faults(indexes) == []
    fresh = Indexes(library.database)
    assert index_faults(fresh) == []
    assert fresh.refresh()
    assert index_faults(fresh) == index_faults(indexes) == fresh.problems() == []


def test_a_copy_put_back_is_searched_whole_while_the_folders_are_in_use(
    library: DuckDBLibrary, indexes: Indexes, tmp_path: Path
) -> None:
    """What is not on disk then comes from the library, and from what was kept in memory of the other one."""
    path, folder = library.database.path, library.database.derived
    indexes.exact = ExactVectorIndex(library.source, folder / "vectors", lock_wait=0.01)
    indexes.hnsw = HnswVectorIndex(library.source, folder / "hnsw", indexes.exact, rows_per_hit=1)
    indexes.keyword = KeywordTantivyIndex(library.source, folder / "keywords", lock_wait=0.01)
    shutil.copyfile(path, tmp_path / "aside.duckdb")
    with (
        writing(folder / "vectors", wait=1),
        writing(folder / "keywords", wait=1),
        writing(folder / "hnsw", wait=1),
    ):
        adding("isotope", "harbour")(library)
        assert index_faults(indexes) == []
        shutil.copyfile(tmp_path / "aside.duckdb", path)
        adding("comet", "ribosome", "mallard")(library)
        assert index_faults(indexes) == []


def test_an_index_of_what_both_have_is_not_made_again(
    library: DuckDBLibrary, indexes: Indexes, tmp_path: Path
) -> None:
    path, folder = library.database.path, library.database.derived
    shutil.copyfile(path, tmp_path / "aside.duckdb")
    adding("isotope")(library)
    shutil.copyfile(tmp_path / "aside.duckdb", path)
    adding("comet")(library)
    assert indexes.refresh()
    assert index_faults(indexes) == []
    kept = [next(folder.glob(name)).name for name in ("vectors/vectors-*.f32", "keywords/index-*")]
    assert kept == ["vectors-1.f32", "index-1"]


def test_a_restored_backup_is_searched_whole(
    library: DuckDBLibrary, indexes: Indexes, tmp_path: Path
) -> None:
    backup = maintenance.backup(library.database, tmp_path / "backup.duckdb")
    adding("isotope", "harbour")(library)
    assert indexes.refresh()
    restore(backup, library.database.path)
    assert index_faults(indexes) == []
    adding("comet", "ribosome")(library)
    assert index_faults(indexes) == index_faults(Indexes(library.database)) == []


def test_another_library_in_its_place_is_searched_whole(library: DuckDBLibrary, indexes: Indexes) -> None:
    """The file was removed, and its folder of indexes was not."""
    path = library.database.path
    path.unlink()
    other = DuckDBLibrary(path)
    assert index_faults(Indexes(other.database)) == []
    adding("comet", "ribosome", "mallard")(other)
    assert index_faults(indexes) == index_faults(Indexes(other.database)) == []

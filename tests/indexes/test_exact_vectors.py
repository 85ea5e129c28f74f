"""The vector file under damage, delay, death and contention: an answer may be slow, never short."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.index_libraries import MemoryLibrary, assert_nearest, axis, topic_rows, unit_rows
from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.vector_file import VectorFile, read_manifest
from workbench.records import Hit


@pytest.fixture
def library() -> MemoryLibrary:
    library = MemoryLibrary()
    library.add_all((["text"] * 5, unit_rows(seed, 5)) for seed in range(8))
    return library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


QUERY = unit_rows(999, 1)[0]


def answers(index: ExactVectorIndex) -> tuple[list[Hit], list[Hit]]:
    return index.search(QUERY, papers=None, limit=12), index.search(QUERY, papers=[2, 5], limit=12)


def assert_complete(library: MemoryLibrary, index: ExactVectorIndex) -> None:
    whole, scoped = answers(index)
    assert_nearest(whole, library.source, QUERY, scope=None, limit=12)
    assert_nearest(scoped, library.source, QUERY, scope=[2, 5], limit=12)


def test_the_file_and_the_library_itself_give_the_same_hits(library: MemoryLibrary, folder: Path) -> None:
    library.add(["scaled"] * 2, unit_rows(50, 2) * 3)
    (folder.parent / "a file").touch()
    from_file = answers(ExactVectorIndex(library.source, folder))
    assert from_file == answers(ExactVectorIndex(library.source, folder.parent / "a file" / "x"))


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scramble(path: Path) -> None:
    path.write_bytes(np.random.default_rng(1).bytes(path.stat().st_size))


def _flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x40
    path.write_bytes(bytes(content))


def _zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE = [_empty, _halve, _scramble, _flip_a_byte, _zero, Path.unlink, _to_folder]


@pytest.mark.parametrize("name", ["vectors-1.f32", "chunks-1.i64", "manifest.json"])
@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_noticed_and_made_again(
    library: MemoryLibrary, folder: Path, name: str, damage: Callable[[Path], None]
) -> None:
    ExactVectorIndex(library.source, folder).refresh()
    damage(folder / name)
    index = ExactVectorIndex(library.source, folder)
    assert_complete(library, index)
    assert_complete(library, index)
    if damage is not _to_folder:  # a folder in the manifest's place is left for a person to look at
        again = ExactVectorIndex(library.source, folder)
        again.refresh()
        assert again.problems() == []
        assert read_manifest(folder) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"papers": {}},
        {"papers": {"1": [0, 10**9, 0]}},
        {"papers": {"1": [-5, 5, 0]}},
        {"papers": []},
        {"dimension": 0},
        {"rows": "many"},
        {"number": -1},
        {"generation": 77},
        {"revision": 10**9},
        {"revision": None},
    ],
)
def test_a_manifest_that_cannot_be_is_not_believed(
    library: MemoryLibrary, folder: Path, change: dict[str, object]
) -> None:
    ExactVectorIndex(library.source, folder).refresh()
    path = folder / "manifest.json"
    library.add(["new"], topic_rows(0, 1))  # a manifest without papers is only wrong once something follows
    path.write_text(json.dumps({**json.loads(path.read_text()), "revision": 0, **change}))
    assert_complete(library, ExactVectorIndex(library.source, folder))


@pytest.mark.parametrize("damage", [_empty, _halve, Path.unlink], ids=lambda damage: damage.__name__)
def test_a_file_cut_short_while_it_is_mapped_does_not_kill_the_process(
    library: MemoryLibrary, folder: Path, damage: Callable[[Path], None]
) -> None:
    index = ExactVectorIndex(library.source, folder)
    index.refresh()
    revision = library.source.revision()
    for path in list(folder.glob("*-1.*")):
        damage(path)
    assert_nearest(
        index.search(QUERY, papers=None, limit=9, revision=revision),
        library.source,
        QUERY,
        scope=None,
        limit=9,
    )
    assert_complete(library, index)


def test_a_removed_folder_is_made_again(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder)
    assert_complete(library, index)
    shutil.rmtree(folder)
    assert_complete(library, index)
    library.add(["new"], topic_rows(0, 1))
    assert_complete(library, index)
    assert read_manifest(folder) is not None


def test_a_writer_that_died_before_its_manifest_is_no_harm(library: MemoryLibrary, folder: Path) -> None:
    ExactVectorIndex(library.source, folder).refresh()
    old = (folder / "manifest.json").read_bytes()
    library.add(["new"] * 3, topic_rows(0, 3))
    library.replace(2, ["other"] * 4, unit_rows(70, 4))
    reader = ExactVectorIndex(library.source, folder)
    reader.refresh()
    expected = answers(reader)

    (folder / "manifest.json").write_bytes(old)
    with (folder / "vectors-1.f32").open("ab") as file:
        file.write(b"half a row")
    assert answers(ExactVectorIndex(library.source, folder)) == expected
    assert answers(reader) == expected
    assert ExactVectorIndex(library.source, folder).problems() == []


def test_bytes_in_use_are_never_changed(library: MemoryLibrary, folder: Path) -> None:
    writer = ExactVectorIndex(library.source, folder)
    writer.refresh()
    manifest = read_manifest(folder)
    assert manifest is not None
    mapped = VectorFile(folder, manifest)
    before = mapped.search(QUERY, papers=None, limit=40)
    names = {path.name: path.read_bytes() for path in folder.glob("*-1.*")}
    library.add(["new"] * 3, topic_rows(0, 3))
    writer.refresh()
    for name, content in names.items():
        assert (folder / name).read_bytes().startswith(content)
    for paper in range(1, 8):
        library.replace(paper, ["other"] * 5, unit_rows(80 + paper, 5))
        writer.refresh()
    assert mapped.search(QUERY, papers=None, limit=40) == before


def test_the_file_is_compacted_once_most_of_it_is_dead(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder)
    index.refresh()
    sizes = []
    for round_ in range(40):
        library.replace(1 + round_ % 8, ["other"] * 5, unit_rows(100 + round_, 5))
        assert_complete(library, index)
        manifest = read_manifest(folder)
        assert manifest is not None
        assert manifest.live_rows == 40
        sizes.append(manifest.rows)
        assert len(list(folder.glob("vectors-*.f32"))) <= 2
    assert max(sizes) <= 2 * 40 + 5
    assert min(sizes) == 40


def test_a_compacted_file_stands_in_paper_order(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder)
    index.refresh()
    for paper in (7, 1, 4, 2, 3):
        library.replace(paper, ["other"] * 5, unit_rows(paper, 5))
    index.refresh()
    manifest = read_manifest(folder)
    assert manifest is not None
    assert [block.start for _, block in sorted(manifest.blocks.items())] == list(range(0, 40, 5))


def test_an_older_copy_of_the_library_put_back_is_noticed(folder: Path) -> None:
    newer, older = MemoryLibrary(), MemoryLibrary()
    for seed in range(8):
        newer.add(["text"] * 2, unit_rows(seed, 2))
    for seed in range(5):
        older.add(["text"] * 3, unit_rows(30 + seed, 3))
    ExactVectorIndex(newer.source, folder).refresh()
    assert_complete(older, ExactVectorIndex(older.source, folder))
    moved = ExactVectorIndex(newer.source, folder)
    moved.refresh()
    moved._source = older.source
    assert_complete(older, moved)


def test_a_search_does_not_wait_for_another_writer(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder, lock_wait=0.2)
    index.refresh()
    library.add(["new"] * 3, topic_rows(0, 3))
    library.remove(2)
    library.replace(5, ["other"] * 4, unit_rows(70, 4))
    with FileLock(folder / "lock"):
        for reader in (index, ExactVectorIndex(library.source, folder, lock_wait=0.2)):
            start = time.perf_counter()
            assert not reader.refresh()
            assert_complete(library, reader)
            assert time.perf_counter() - start < 5
    assert index.refresh()
    assert_complete(library, index)


def test_a_thread_does_not_wait_for_another_that_is_building(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder, lock_wait=0.2)
    with FileLock(folder.parent / "held"), index._mutex:
        done = threading.Thread(target=lambda: assert_complete(library, index))
        done.start()
        done.join(timeout=10)
        assert not done.is_alive()


def test_problems_names_papers_that_differ_from_the_library(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder)
    assert index.problems() == []
    index.refresh()
    assert index.problems() == []
    path = folder / "manifest.json"
    note = json.loads(path.read_text())
    del note["papers"]["3"]
    path.write_text(json.dumps(note))
    assert ["paper 3" in problem for problem in index.problems()] == [True]


def test_refresh_writes_once_and_then_nothing(library: MemoryLibrary, folder: Path) -> None:
    index = ExactVectorIndex(library.source, folder)
    assert index.refresh()
    written = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.*")}
    assert index.refresh()
    assert ExactVectorIndex(library.source, folder).refresh()
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob("*.*")} == written


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "replace", "remove", "search", "reopen"]), st.integers(0, 30)),
    max_size=25,
)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_any_history_gives_the_nearest_chunks(steps: list[tuple[str, int]], tmp_path_factory) -> None:  # type: ignore[no-untyped-def]  # hypothesis and fixtures
    folder = tmp_path_factory.mktemp("history")
    library, papers = MemoryLibrary(), []
    index = ExactVectorIndex(library.source, folder / "vectors")
    for step, number in steps:
        if step == "add":
            papers.append(library.add(["t"] * (number % 4), unit_rows(number, number % 4)))
        elif step == "replace" and papers:
            rows = unit_rows(100 + number, 1 + number % 3)
            library.replace(papers[number % len(papers)], ["t"] * len(rows), rows)
        elif step == "remove" and papers:
            library.remove(papers.pop(number % len(papers)))
        elif step == "reopen":
            index = ExactVectorIndex(library.source, folder / "vectors")
        else:
            scope = None if number % 3 == 0 else papers[: number % 7]
            hits = index.search(QUERY, papers=scope, limit=1 + number % 9)
            assert_nearest(hits, library.source, QUERY, scope=scope, limit=1 + number % 9)
    hits = index.search(axis(0), papers=None, limit=50)
    assert_nearest(hits, library.source, axis(0), scope=None, limit=50)
    assert index.problems() == []

"""The keyword index under damage, delay, death and contention: an answer may be slow, never short."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contracts.index_libraries import MemoryLibrary
from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.indexes.keyword_store import KeywordStore
from workbench.retrieval.terms import query_terms, terms


@pytest.fixture
def library() -> MemoryLibrary:
    library = MemoryLibrary()
    library.add_all(([f"graphene oxide {n}", f"part two of number{n}"], None) for n in range(12))
    return library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keywords"


def assert_complete(library: MemoryLibrary, index: KeywordTantivyIndex) -> None:
    """Every chunk with a term of the query, and no other, whole and scoped."""
    source = library.source
    present = [paper for paper, there in source.changed_since(0).items() if there]
    for query in ("graphene", "number3 mallard", "oxide part"):
        asked = set(query_terms(query))
        for scope in (None, [2, 4, 13]):
            papers = present if scope is None else [paper for paper in present if paper in scope]
            expected = {
                chunk_id
                for paper in papers
                for chunk_id, _, text in source.chunk_texts(paper)
                if asked & set(terms(text))
            }
            hits = index.search(query, papers=scope, limit=1000)
            assert {hit.chunk_id for hit in hits} == expected
            assert [(-h.score, h.chunk_id) for h in hits] == sorted((-h.score, h.chunk_id) for h in hits)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _scramble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def _flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x40
    path.write_bytes(bytes(content))


DAMAGE = [_empty, _halve, _scramble, _flip_a_byte, Path.unlink]
FILES = ["*.idx", "*.term", "*.fast", "*.fieldnorm", "meta.json", ".managed.json", "../keywords.json"]


@pytest.mark.parametrize("pattern", FILES)
@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_noticed_and_the_index_made_again(
    library: MemoryLibrary, folder: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    KeywordTantivyIndex(library.source, folder).refresh()
    inside = folder / "index-1"
    for path in [folder / pattern[3:]] if pattern.startswith("../") else list(inside.glob(pattern)):
        damage(path)
    index = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, index)
    library.add(["a mallard"])
    assert_complete(library, index)
    assert_complete(library, KeywordTantivyIndex(library.source, folder))
    assert index.problems() == []


def test_an_index_of_another_version_is_made_again(library: MemoryLibrary, folder: Path) -> None:
    KeywordTantivyIndex(library.source, folder).refresh()
    note = folder / "keywords.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), "engine": "tantivy 0.1"}))
    index = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, index)
    assert [path.name for path in folder.glob("index-*")] == ["index-2"]


@pytest.mark.parametrize(
    "change",
    [
        {"files": []},
        {"files": {"x": [1]}},
        {"revision": None},
        {"revision": 10**9},
        {"number": 99},
        {"documents": 3},
    ],
)
def test_a_note_that_cannot_be_is_not_believed(
    library: MemoryLibrary, folder: Path, change: dict[str, object]
) -> None:
    KeywordTantivyIndex(library.source, folder).refresh()
    note = folder / "keywords.json"
    note.write_text(json.dumps({**json.loads(note.read_text()), **change}))
    assert_complete(library, KeywordTantivyIndex(library.source, folder))


def test_files_cut_short_while_they_are_mapped_do_not_kill_the_process(
    library: MemoryLibrary, folder: Path
) -> None:
    index = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, index)
    for path in folder.glob("index-1/*.*"):
        if path.stat().st_size:
            _halve(path)
    assert_complete(library, index)


def test_what_is_deleted_or_broken_beside_an_open_index_is_made_again_by_refreshing(
    library: MemoryLibrary, folder: Path
) -> None:
    """The open index goes on with what it has mapped; the next process must find files, too."""
    index = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, index)
    next(iter(folder.glob("index-1/*.store"))).unlink()
    assert_complete(library, index)
    assert index.refresh()
    assert index.problems() == []
    assert_complete(library, KeywordTantivyIndex(library.source, folder))
    next(iter(folder.glob("index-*/.managed.json"))).write_bytes(b"[")
    assert index.refresh()
    assert index.problems() == []


def test_an_open_index_does_not_read_on_by_itself(library: MemoryLibrary, folder: Path) -> None:
    """An older library may be put back under it: what another process had indexed since is not in that."""
    store = KeywordStore.empty(folder / "held")
    store.write((), [(1, [(1, "", "mallard")])])
    held = KeywordStore.opened(folder / "held")
    store.write((), [(2, [(2, "", "mallard")])])
    time.sleep(1.0)  # more than tantivy takes to notice by itself
    assert [hit.paper_id for hit in held.search(["mallard"], papers=None, limit=10)] == [1]


def test_a_removed_folder_is_made_again(library: MemoryLibrary, folder: Path) -> None:
    index = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, index)
    shutil.rmtree(folder)
    assert_complete(library, index)
    library.add(["a mallard"])
    assert_complete(library, index)
    assert index.refresh()
    assert (folder / "keywords.json").is_file()


def test_a_writer_that_died_between_commit_and_note_is_no_harm(library: MemoryLibrary, folder: Path) -> None:
    KeywordTantivyIndex(library.source, folder).refresh()
    note = folder / "keywords.json"
    old = note.read_bytes()
    library.add(["a mallard with graphene"])
    library.replace(2, ["graphene again", "and number3"])
    library.remove(4)
    reader = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, reader)

    note.write_bytes(old)
    again = KeywordTantivyIndex(library.source, folder)
    assert_complete(library, again)
    assert_complete(library, reader)
    assert again.problems() == []
    assert [path.name for path in folder.glob("index-*")] == ["index-1"]


def test_an_older_copy_of_the_library_put_back_is_noticed(library: MemoryLibrary, folder: Path) -> None:
    older = MemoryLibrary()
    older.add_all(([f"graphene then {n}"], None) for n in range(5))
    KeywordTantivyIndex(library.source, folder).refresh()
    index = KeywordTantivyIndex(older.source, folder)
    assert_complete(older, index)


def test_a_search_does_not_wait_for_another_writer(library: MemoryLibrary, folder: Path) -> None:
    index = KeywordTantivyIndex(library.source, folder, lock_wait=0.1)
    index.refresh()
    library.add(["a mallard with graphene"])
    library.remove(2)
    with FileLock(folder / "lock"):
        for reader in (index, KeywordTantivyIndex(library.source, folder, lock_wait=0.1)):
            start = time.perf_counter()
            assert not reader.refresh()
            assert_complete(library, reader)
            library.replace(4, ["graphene replaced"])
            assert_complete(library, reader)
            assert time.perf_counter() - start < 10
    assert index.refresh()
    assert_complete(library, index)


def test_many_small_additions_leave_few_segments(library: MemoryLibrary, folder: Path) -> None:
    index = KeywordTantivyIndex(library.source, folder)
    for n in range(40):
        library.add([f"graphene more {n}"])
        assert index.refresh()
    assert len(list(folder.glob("index-1/*.idx"))) < 16
    assert_complete(library, index)


def test_problems_names_papers_that_differ_from_the_library(library: MemoryLibrary, folder: Path) -> None:
    index = KeywordTantivyIndex(library.source, folder)
    assert index.problems() == []
    index.refresh()
    assert index.problems() == []
    note = folder / "keywords.json"
    library.add(["a mallard"])
    note.write_text(json.dumps({**json.loads(note.read_text()), "revision": library.source.revision()}))
    assert ["paper 13" in problem for problem in index.problems()] == [True]


def test_refresh_writes_once_and_then_nothing(library: MemoryLibrary, folder: Path) -> None:
    index = KeywordTantivyIndex(library.source, folder)
    assert index.refresh()
    written = {path: path.stat().st_mtime_ns for path in folder.rglob("*.*") if "lock" not in path.name}
    assert index.refresh()
    assert KeywordTantivyIndex(library.source, folder).refresh()
    assert {path: path.stat().st_mtime_ns for path in written} == written


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "replace", "remove", "search", "reopen"]), st.integers(0, 30)),
    max_size=12,
)


@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_any_history_finds_what_is_there(steps: list[tuple[str, int]], tmp_path_factory) -> None:  # type: ignore[no-untyped-def]  # hypothesis and fixtures
    folder = tmp_path_factory.mktemp("history") / "keywords"
    library, papers = MemoryLibrary(), []
    index = KeywordTantivyIndex(library.source, folder)
    for step, number in steps:
        if step == "add":
            papers.append(library.add([f"graphene number{number}"] * (number % 4)))
        elif step == "replace" and papers:
            library.replace(papers[number % len(papers)], [f"oxide number{number}", "mallard part"])
        elif step == "remove" and papers:
            library.remove(papers.pop(number % len(papers)))
        elif step == "reopen":
            index = KeywordTantivyIndex(library.source, folder)
        else:
            assert_complete(library, index)
    assert_complete(library, index)
    assert index.problems() == []

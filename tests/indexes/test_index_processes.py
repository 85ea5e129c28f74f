"""Several processes over one library and one set of index folders, some of them killed at work."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from tests.contracts.index_libraries import DuckDBLibrary
from tests.indexes.index_worker import CHUNKS, Indexes, paper

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def library(tmp_path: Path) -> DuckDBLibrary:
    library = DuckDBLibrary(tmp_path / "library.duckdb")
    library.add_all(paper(seed) for seed in range(10))
    return library


def start(verb: str, library: DuckDBLibrary, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.indexes.index_worker",
            verb,
            str(library.database.path),
            *map(str, arguments),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out


def found(library: DuckDBLibrary) -> dict[str, list[list[int]]]:
    """What indexes opened afresh find, in the form another process prints it."""
    return dict(json.loads(json.dumps(Indexes(library).found(None, 10))))


def test_each_process_sees_what_another_added(library: DuckDBLibrary) -> None:
    mine = Indexes(library)
    mine.refresh()
    assert json.loads(result(start("search", library))) == found(library)
    new = int(result(start("add", library, 77)))
    for hits in mine.found([new], 1000).values():
        assert [paper_id for paper_id, _ in hits] == [new] * CHUNKS
    library.remove(new)
    assert json.loads(result(start("search", library))) == found(library)
    assert mine.problems() == []


def test_many_processes_get_complete_answers_while_one_adds_and_removes(library: DuckDBLibrary) -> None:
    watching = [start("watch", library, 10, 6) for _ in range(3)]
    mine = Indexes(library)
    for seed in range(4):
        new = library.add(*paper(100 + seed))
        mine.refresh()
        library.remove(new)
    assert [result(process) for process in watching] == ["complete\n"] * 3
    assert mine.refresh()
    assert mine.problems() == []


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15, 0.4])
def test_a_process_killed_while_it_writes_loses_nothing(library: DuckDBLibrary, seconds: float) -> None:
    if seconds > 0.1:
        Indexes(library).refresh()
        library.add_all(paper(seed) for seed in range(30, 40))
        library.remove(1)
    process = start("refresh", library)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    process.kill()
    process.communicate(timeout=60)

    begun = time.perf_counter()
    indexes = Indexes(library)
    present = [paper_id for paper_id, there in library.source.changed_since(0).items() if there]
    for hits in indexes.found(None, 10**6).values():
        assert sorted(hits) == sorted((p, chunk) for p in present for chunk in library.source.chunk_ids(p))
    assert indexes.refresh()
    assert indexes.problems() == []
    assert time.perf_counter() - begun < 60


def test_a_library_opened_by_plain_duckdb_after_a_crash_is_found_whole(library: DuckDBLibrary) -> None:
    Indexes(library).refresh()
    process = start("refresh", library)
    process.kill()
    process.communicate(timeout=60)
    for path in [library.database.path, *library.database.derived.rglob("*.duckdb")]:
        duckdb.connect(str(path)).close()
    indexes = Indexes(library)
    for hits in indexes.found(None, 10**6).values():
        assert len(hits) == 10 * CHUNKS
    assert [len(hits) for hits in indexes.found(None, 5).values()] == [5, 5, 5]

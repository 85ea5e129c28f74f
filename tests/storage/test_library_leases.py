"""Threads and blocks of one process sharing a library."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
import pytest

from tests.storage.small_papers import draft
from workbench.errors import LibraryError, LibraryLockedError
from workbench.storage import chunks, papers
from workbench.storage.database import Database

ONE = "INSERT INTO paper_changes VALUES (1, 1, false)"


def changes(database: Database) -> list[tuple[int, bool]]:
    with database.read() as cursor:
        return cursor.execute("SELECT paper_id, present FROM paper_changes ORDER BY 1").fetchall()


def opens_elsewhere(path: Path) -> bool:
    """Whether another process can have the file for writing at this moment."""
    code = "import duckdb, sys; duckdb.connect(sys.argv[1]).close()"
    return (
        subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False).returncode
        == 0
    )


def test_a_new_library_is_made_in_a_folder_for_its_owner_alone(tmp_path: Path) -> None:
    database = Database(tmp_path / "new" / "library.duckdb")
    assert database.path.is_file()
    assert database.path.parent.stat().st_mode & 0o777 == 0o700
    assert database.derived == database.path.with_name("library.duckdb.derived")
    assert database.derived.stat().st_mode & 0o777 == 0o700


def test_a_write_lease_commits_everything_at_its_end(database: Database) -> None:
    with database.write() as cursor:
        cursor.execute(ONE)
    assert changes(database) == [(1, False)]


@pytest.mark.parametrize("trouble", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_a_write_lease_that_fails_changes_nothing_and_frees_the_library(
    database: Database, trouble: type[BaseException]
) -> None:
    def work() -> None:
        with database.write() as cursor:
            cursor.execute(ONE)
            raise trouble

    with pytest.raises(trouble):
        work()
    assert changes(database) == []
    assert opens_elsewhere(database.path)


def test_a_statement_that_fails_leaves_nothing_of_its_lease(database: Database) -> None:
    def work() -> None:
        with database.write() as cursor:
            cursor.execute(ONE)
            cursor.execute("INSERT INTO paper_changes VALUES (1, 2, true)")

    with pytest.raises(duckdb.ConstraintException):
        work()
    assert changes(database) == []


def test_a_read_lease_cannot_write(database: Database) -> None:
    with pytest.raises(duckdb.Error), database.read() as cursor:
        cursor.execute(ONE)
    assert changes(database) == []


def test_a_read_lease_beside_a_writer_cannot_write_either(database: Database) -> None:
    def attempt() -> str:
        with pytest.raises(duckdb.Error, match="read-only"), database.read() as cursor:
            cursor.execute(ONE)
        return "refused"

    with database.write(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(attempt).result(timeout=10) == "refused"


def test_the_file_is_closed_between_leases(database: Database) -> None:
    with database.read():
        assert not opens_elsewhere(database.path)
    assert opens_elsewhere(database.path)
    with database.write():
        assert not opens_elsewhere(database.path)
    assert opens_elsewhere(database.path)


def test_a_block_inside_another_one_uses_its_lease(database: Database) -> None:
    with database.read() as outer:
        with database.read() as inner:
            assert inner is outer
        assert outer.execute("SELECT 1").fetchall() == [(1,)]
    with database.write() as outer:
        outer.execute(ONE)
        assert changes(database) == [(1, False)], "it sees what the outer block has not committed yet"
    assert changes(database) == [(1, False)]


def test_another_database_object_of_the_same_file_shares_the_lease(
    database: Database, tmp_path: Path
) -> None:
    link = tmp_path / "alias"
    link.symlink_to(database.path.parent)
    same = Database(link / database.path.name)
    with database.write() as cursor:
        cursor.execute(ONE)
        assert changes(same) == [(1, False)]


@pytest.mark.parametrize("outer", ["read", "write"])
def test_a_write_lease_inside_another_lease_is_a_mistake_that_says_so(database: Database, outer: str) -> None:
    with (
        getattr(database, outer)(),
        pytest.raises(RuntimeError, match="inside another lease of the same thread"),
        database.write(),
    ):
        pass
    with database.write() as cursor:
        cursor.execute(ONE)


def test_a_reader_sees_one_state_while_a_writer_commits(database: Database) -> None:
    """The reader has joined one writer's connection; that one's commit does not show in its lease."""
    reading, committed = threading.Event(), threading.Event()

    def read_twice() -> tuple[object, object]:
        with database.read() as cursor:
            before = cursor.execute("SELECT count(*) FROM paper_changes").fetchone()
            reading.set()
            assert committed.wait(10)
            return before, cursor.execute("SELECT count(*) FROM paper_changes").fetchone()

    with ThreadPoolExecutor(1) as pool:
        with database.write() as cursor:
            cursor.execute(ONE)
            seen = pool.submit(read_twice)
            assert reading.wait(10)
        committed.set()
        assert seen.result(timeout=10) == ((0,), (0,))
    assert changes(database) == [(1, False)]


def test_new_readers_wait_behind_a_writer_that_waits(database: Database) -> None:
    entered: list[str] = []
    reader_done = threading.Event()

    def write() -> None:
        with database.write():
            assert reader_done.wait(10)

    def read() -> None:
        with database.read() as cursor:
            row = cursor.execute("SELECT readonly FROM duckdb_databases() WHERE NOT internal").fetchone()
            entered.append("before the writer" if row == (True,) else "beside the writer")
        reader_done.set()

    writer, reader = threading.Thread(target=write), threading.Thread(target=read)
    with database.read():
        writer.start()
        time.sleep(0.2)
        reader.start()
        time.sleep(0.2)
        assert entered == []
    writer.join(10)
    reader.join(10)
    assert entered == ["beside the writer"]


def test_a_busy_process_still_closes_the_file_after_each_write(database: Database) -> None:
    """A reader that came during a write must not keep others out through the readers that follow it."""
    stop = threading.Event()

    def read_on() -> None:
        while not stop.is_set():
            with database.read() as cursor:
                cursor.execute("SELECT count(*) FROM papers").fetchone()
                time.sleep(0.02)

    readers = [threading.Thread(target=read_on) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        with database.write() as cursor:
            time.sleep(0.1)
            cursor.execute(ONE)
        code = (
            "import sys; from pathlib import Path; from workbench.storage.database import Database\n"
            "with Database(Path(sys.argv[1]), lock_timeout=10).write(): print('in')"
        )
        other = subprocess.run(
            [sys.executable, "-c", code, str(database.path)], capture_output=True, text=True, check=False
        )
        assert (other.stdout, other.stderr) == ("in\n", "")
    finally:
        stop.set()
        for reader in readers:
            reader.join(10)


def test_waiting_for_another_thread_is_bounded_and_names_this_process(database: Database) -> None:
    hurried = Database(database.path, lock_timeout=0.2)

    def write() -> str:
        begun = time.monotonic()
        with pytest.raises(LibraryLockedError) as raised, hurried.write():
            pass
        assert time.monotonic() - begun < 2
        return str(raised.value)

    with database.read(), ThreadPoolExecutor(1) as pool:
        text = pool.submit(write).result(timeout=10)
    assert "this very process" in text
    assert "another thread was reading" in text
    assert "\n" not in text
    with hurried.write() as cursor:
        cursor.execute(ONE)


def test_eight_threads_each_get_their_own_paper_every_time(
    database: Database, add_paper: Callable[..., int]
) -> None:
    words = [f"subject{n}" for n in range(8)]
    ids = {word: add_paper(word) for word in words}

    def ask(word: str) -> int:
        right = 0
        for _ in range(40):
            with database.read() as cursor:
                found = chunks.of_papers(cursor, [ids[word]])
                right += len(found) == 4 and all(word in chunk.text for chunk in found)
        return right

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, words)) == [40] * 8


def test_eight_threads_read_while_a_ninth_adds(database: Database, add_paper: Callable[..., int]) -> None:
    add_paper("first")
    done = threading.Event()

    def ask() -> set[int]:
        wrong: set[int] = set()
        while not done.is_set():
            with database.read() as cursor:
                known = papers.list_papers(cursor, "ann")
                paper = random.choice(known)
                found = chunks.of_papers(cursor, [paper.id])
                word = paper.title.removeprefix("On ")
                if len(found) != 4 or not all(word in chunk.text for chunk in found):
                    wrong.add(paper.id)
        return wrong

    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask) for _ in range(8)]
        for number in range(10):
            add_paper(f"later{number}")
        done.set()
        assert [job.result(timeout=30) for job in asking] == [set()] * 8


def test_eight_threads_write_without_losing_anything(database: Database) -> None:
    def write(number: int) -> None:
        with database.write() as cursor:
            cursor.execute("INSERT INTO paper_changes VALUES (?, 1, false)", [number])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(1, 25)))
    assert changes(database) == [(n, False) for n in range(1, 25)]


def test_leases_held_by_generators_may_end_in_any_order(database: Database) -> None:
    def rows() -> Iterator[int]:
        with database.read() as cursor:
            for _ in range(2):
                row = cursor.execute("SELECT 1").fetchone()
                assert row is not None
                yield int(row[0])

    first, second = rows(), rows()
    assert [next(first), next(second)] == [1, 1]
    assert list(first) == [1]
    assert list(second) == [1]
    abandoned = rows()
    next(abandoned)
    del abandoned
    assert opens_elsewhere(database.path)


def test_a_closed_database_starts_no_lease(database: Database) -> None:
    database.close()
    database.close()
    with pytest.raises(LibraryError, match="was closed: open it again"), database.read():
        pass


def test_a_library_that_was_taken_away_is_not_made_anew(database: Database) -> None:
    database.path.unlink()
    for lease in (database.read, database.write):
        with pytest.raises(LibraryError, match="no longer there"), lease():
            pass
    assert not database.path.exists()


def test_a_file_of_no_bytes_becomes_a_library(tmp_path: Path) -> None:
    (tmp_path / "library.duckdb").touch()
    assert changes(Database(tmp_path / "library.duckdb")) == []


def test_what_is_not_a_library_is_refused_in_one_line_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("Not a database. " * 1000)
    foreign = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(foreign)) as connection:
        connection.execute("CREATE TABLE theirs AS SELECT 1 AS a")
    for path, reason in (
        (text, "is not a library"),
        (foreign, "is not a library"),
        (tmp_path, "is a folder"),
    ):
        before = path.stat().st_size
        with pytest.raises(LibraryError, match=reason) as raised:
            Database(path)
        assert "\n" not in str(raised.value)
        assert path.stat().st_size == before


@pytest.mark.parametrize("share", [0.6, 0.3, 0.01])
def test_a_truncated_library_gives_an_error_in_one_line(
    database: Database, add_paper: Callable[..., int], share: float
) -> None:
    for word in ("one", "two", "three"):
        add_paper(word, chunks=200)
    with database.path.open("rb+") as file:
        file.truncate(int(database.path.stat().st_size * share))
    code = (
        "import sys; from pathlib import Path; from workbench.errors import LibraryError\n"
        "from workbench.storage import maintenance; from workbench.storage.database import Database\n"
        "try: problems = maintenance.doctor(Database(Path(sys.argv[1])))\n"
        "except LibraryError as error: problems = [str(error)]\n"
        "print(*problems, sep='\\n')"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(database.path)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "cannot be read or written" in run.stdout
    assert len(run.stdout.splitlines()) == 1


def test_a_file_this_process_opened_by_itself_is_named_as_the_reason(database: Database) -> None:
    with (
        duckdb.connect(str(database.path)),
        pytest.raises(LibraryError, match=r"already open in this process through duckdb\.connect"),
        database.read(),
    ):
        pass


def test_vectors_are_stored_uncompressed(database: Database, add_paper: Callable[..., int]) -> None:
    for number in range(6):
        add_paper(f"many{number}", chunks=500)
    with database.write() as cursor:
        cursor.execute("CHECKPOINT")
        kinds = cursor.execute(
            "SELECT DISTINCT compression FROM pragma_storage_info('vectors_1') WHERE segment_type = 'FLOAT'"
        ).fetchall()
    assert kinds == [("Uncompressed",)]


def test_the_library_reaches_no_file_and_no_extension(database: Database, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with database.read() as cursor, pytest.raises(duckdb.PermissionException):
        cursor.execute(f"SELECT * FROM read_csv('{secret}')")
    with database.write() as cursor, pytest.raises(duckdb.Error):
        cursor.execute("SET enable_external_access = true")


def test_an_interrupted_insert_leaves_no_half_paper(database: Database) -> None:
    def work() -> None:
        with database.write() as cursor:
            papers.insert(cursor, draft("half", dimension=None), generation=None)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    with database.read() as cursor:
        tables = ("papers", "pages", "chunks", "sources", "paper_changes")
        counts = [cursor.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]
    assert counts == [(0,)] * 5


@pytest.mark.parametrize(
    "lease",
    [Database.read, Database.write, lambda database: database.alone(read_only=True)],
    ids=["read", "write", "alone"],
)
def test_an_interrupt_from_the_keyboard_during_a_query_is_one_and_leaves_the_library_free(
    database: Database, lease: Callable[[Database], AbstractContextManager[duckdb.DuckDBPyConnection]]
) -> None:
    """DuckDB itself tells it as a RuntimeError, which a person was asked to report."""

    def long_query() -> None:
        with lease(database) as cursor:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            cursor.execute("SELECT sum(sin(range)) FROM range(100000000000)").fetchall()

    with pytest.raises(KeyboardInterrupt):
        long_query()
    with database.write() as cursor:
        cursor.execute(ONE)
    assert changes(database) == [(1, False)]
    assert opens_elsewhere(database.path)

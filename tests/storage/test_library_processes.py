"""Several processes working on one library at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.storage.small_papers import draft
from workbench.errors import LibraryError, LibraryLockedError
from workbench.storage import maintenance, papers
from workbench.storage.database import Database

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str, wait: float = 60) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.storage.library_worker", *arguments],
        cwd=ROOT,
        env={**os.environ, "WAIT": str(wait)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_one_process_adds_twenty_papers_while_another_asks_fifty_questions(database: Database) -> None:
    path = str(database.path)
    adding, asking = start("add", path, "ann", "20", "topic"), start("ask", path, "ann", "50")
    assert finish(adding) == (0, "added 20\n", "")
    code, out, err = finish(asking)
    assert (code, err) == (0, "")
    assert out.startswith("asked 50")
    assert maintenance.doctor(database) == []


def test_two_processes_add_and_two_ask_and_nobody_loses(database: Database) -> None:
    path = str(database.path)
    running = [
        start("add", path, "ann", "8", "left"),
        start("add", path, "ann", "8", "right"),
        start("ask", path, "ann", "20"),
        start("ask", path, "ann", "20"),
    ]
    assert [(code, err) for code, _, err in map(finish, running)] == [(0, "")] * 4
    with database.read() as cursor:
        titles = sorted(paper.title for paper in papers.list_papers(cursor, "ann"))
    assert titles == sorted(f"On {side}{n}" for side in ("left", "right") for n in range(8))
    assert maintenance.doctor(database) == []


def test_the_same_files_added_by_two_processes_at_once_are_stored_once_with_two_links(
    database: Database,
) -> None:
    path = str(database.path)
    running = [start("add", path, user, "10", "same") for user in ("ann", "bob")]
    assert [finish(process) for process in running] == [(0, "added 10\n", "")] * 2
    with database.read() as cursor:
        mine, theirs = (papers.list_papers(cursor, user) for user in ("ann", "bob"))
        stored = cursor.execute("SELECT count(*) FROM papers").fetchone()
    assert stored == (10,)
    assert {paper.id for paper in mine} == {paper.id for paper in theirs}


def test_processes_that_meet_at_a_new_library_make_it_once(tmp_path: Path) -> None:
    path = str(tmp_path / "shelf" / "library.duckdb")
    running = [start("add", path, "ann", "2", f"from{n}x") for n in range(3)]
    assert [finish(process) for process in running] == [(0, "added 2\n", "")] * 3
    with Database(Path(path)).read() as cursor:
        applied = cursor.execute("SELECT number FROM migrations ORDER BY number").fetchall()
        assert applied == [(number,) for number in range(1, len(applied) + 1)]
        assert len(papers.list_papers(cursor, "ann")) == 6


@pytest.mark.parametrize(("held", "wanted"), [("write", "read"), ("write", "write"), ("read", "write")])
def test_a_wait_that_is_too_long_ends_with_the_holders_name(
    database: Database, held: str, wanted: str
) -> None:
    holder = start("hold", str(database.path), held, "60")
    assert first_line(holder) == "holding\n"
    try:
        hurried = Database.__new__(Database)
        hurried.path, hurried.lock_timeout, hurried._closed = database.path, 0.5, False
        begun = time.monotonic()
        with pytest.raises(LibraryLockedError) as raised, getattr(hurried, wanted)():
            pass
        assert time.monotonic() - begun < 5
    finally:
        holder.kill()
        holder.communicate()
    text = str(raised.value)
    assert f"process {holder.pid} (" in text
    assert "tests.storage.library_worker hold" in text
    assert "within 0.5 s" in text
    assert "\n" not in text
    with database.write():
        pass


def test_readers_of_several_processes_work_side_by_side(database: Database) -> None:
    holder = start("hold", str(database.path), "read", "60")
    assert first_line(holder) == "holding\n"
    try:
        with Database(database.path, lock_timeout=2).read() as cursor:
            assert cursor.execute("SELECT count(*) FROM papers").fetchone() == (0,)
    finally:
        holder.kill()
        holder.communicate()


@pytest.mark.parametrize(("verb", "processes"), [("poll", 3), ("crowd", 1), ("crowd", 2)])
def test_a_writer_gets_its_turn_beside_processes_that_never_stop_reading(
    database: Database, verb: str, processes: int
) -> None:
    readers = [start(verb, str(database.path), "100") for _ in range(processes)]
    assert [first_line(reader) for reader in readers] == [f"{verb}ing\n"] * processes
    for number in range(3):
        with database.write() as cursor:
            paper_id = papers.insert(cursor, draft(f"w{number}", dimension=None), generation=None)
            papers.link(cursor, "ann", paper_id, file="f")
    still_reading = [reader.poll() is None for reader in readers]
    for reader in readers:
        reader.kill()
        reader.communicate()
    assert still_reading == [True] * processes


def test_a_killed_writer_leaves_whole_papers_and_a_library_that_opens(database: Database) -> None:
    path = str(database.path)
    assert finish(start("add", path, "ann", "2", "kept"))[0] == 0
    assert finish(start("die", path))[0] == -signal.SIGKILL
    with database.read() as cursor:
        assert [paper.title for paper in papers.list_papers(cursor, "ann")] == ["On kept0", "On kept1"]
        assert papers.find_by_hash(cursor, draft("doomed").sha256) is None
    assert maintenance.doctor(database) == []
    assert finish(start("add", path, "ann", "1", "after")) == (0, "added 1\n", "")


def test_what_a_killed_process_had_committed_is_kept_though_not_yet_in_the_file(
    database: Database, tmp_path: Path
) -> None:
    """The write-ahead log is then still beside the file: readers, backups and compaction must see it."""
    code = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1])\n"
        'c.execute("INSERT INTO paper_changes VALUES (7, 1, false)"); os._exit(9)'
    )
    subprocess.run([sys.executable, "-c", code, str(database.path)], check=False)
    assert database.path.with_name("library.duckdb.wal").exists()
    copy = Database(maintenance.backup(database, tmp_path / "copy.duckdb"))
    for library in (database, copy):
        with library.read() as cursor:
            assert cursor.execute("SELECT paper_id FROM paper_changes").fetchall() == [(7,)]
    maintenance.compact(database)
    with database.read() as cursor:
        assert cursor.execute("SELECT paper_id FROM paper_changes").fetchall() == [(7,)]
    assert not database.path.with_name("library.duckdb.wal").exists()


def test_a_full_disk_gives_one_line_and_loses_nothing(database: Database) -> None:
    """A limit on the size of files stands for the disk that has no room left."""
    assert finish(start("add", str(database.path), "ann", "1", "kept"))[0] == 0
    code = (
        "import os, resource, sys; from pathlib import Path; from dataclasses import replace\n"
        "from tests.storage.small_papers import draft; from workbench.errors import LibraryError\n"
        "from workbench.storage import papers; from workbench.storage.database import Database\n"
        "database = Database(Path(sys.argv[1]))\n"
        "big = replace(draft('big', dimension=None), source=os.urandom(20 << 20))\n"
        "size = database.path.stat().st_size + 1_000_000\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    with database.write() as cursor: papers.insert(cursor, big, generation=None)\n"
        "except LibraryError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(database.path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert "File too large" in run.stdout
    assert "Check the disk" in run.stdout
    assert len(run.stdout.splitlines()) == 1
    with database.read() as cursor:
        assert [paper.title for paper in papers.list_papers(cursor, "ann")] == ["On kept0"]
    assert maintenance.doctor(database) == []
    assert finish(start("add", str(database.path), "ann", "1", "after"))[0] == 0


def test_a_process_killed_at_any_moment_of_adding_leaves_whole_papers(database: Database) -> None:
    for delay in (0.5, 0.7, 0.9):
        adding = start("add", str(database.path), "ann", "500", f"run{int(delay * 10)}x")
        time.sleep(delay)
        adding.kill()
        adding.communicate()
        assert maintenance.doctor(database) == []


def test_an_interrupt_from_the_keyboard_frees_the_library(database: Database) -> None:
    holder = start("hold", str(database.path), "write", "60")
    assert first_line(holder) == "holding\n"
    holder.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in finish(holder)[2]
    with Database(database.path, lock_timeout=2).write():
        pass


def test_an_interrupt_while_waiting_ends_the_wait_and_leaves_nothing_locked(database: Database) -> None:
    holder = start("hold", str(database.path), "write", "60")
    assert first_line(holder) == "holding\n"
    waiting = start("hold", str(database.path), "write", "0")
    time.sleep(1.5)
    waiting.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in finish(waiting)[2]
    holder.kill()
    holder.communicate()
    with Database(database.path, lock_timeout=2).write():
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_between_leases_works_on_its_own(database: Database) -> None:
    def work() -> None:
        with database.write() as cursor:
            papers.link(
                cursor,
                "ann",
                papers.insert(cursor, draft("child", dimension=None), generation=None),
                file="f",
            )

    assert _forked(work) == 0
    with database.read() as cursor:
        assert [paper.title for paper in papers.list_papers(cursor, "ann")] == ["On child"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_forked_inside_a_lease_leaves_that_lease_to_its_parent(database: Database) -> None:
    def work() -> None:
        with pytest.raises(LibraryError, match="forked while the library"), database.read():
            pass

    with database.write() as cursor:
        papers.link(
            cursor, "ann", papers.insert(cursor, draft("parent", dimension=None), generation=None), file="f"
        )
        assert _forked(work) == 0
    with database.read() as cursor:
        assert [paper.title for paper in papers.list_papers(cursor, "ann")] == ["On parent"]


def _forked(work: Callable[[], None]) -> int:
    """Exit status of a forked child that runs ``work``."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(30)
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

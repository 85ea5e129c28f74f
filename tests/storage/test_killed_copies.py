"""Copies as large as the library that killed work leaves, and who clears them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.scratch import PREFIX
from workbench.storage import maintenance, papers
from workbench.storage.database import Database
from workbench.storage.restoring import restore

AddPaper = Callable[..., int]

COPY_ON = """
import sys
from itertools import count
from pathlib import Path
from workbench.storage import maintenance
from workbench.storage.database import Database
from workbench.storage.restoring import restore
verb, library, target = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
for n in count():
    if verb == "backup":
        maintenance.backup(Database(library), target / f"{n}.duckdb").unlink()
    elif verb == "compact":
        maintenance.compact(Database(library))
    else:
        restore(target, library).unlink()
"""


@pytest.fixture
def stocked(database: Database, add_paper: AddPaper) -> Database:
    for word in ("one", "two", "three"):
        add_paper(word, pages=20, chunks=400)
    return database


def copying(verb: str, database: Database, target: Path) -> subprocess.Popen[bytes]:
    """A process that makes one copy after another."""
    command = [sys.executable, "-c", COPY_ON, verb, str(database.path), str(target)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def halfway(process: subprocess.Popen[bytes], folder: Path, how: signal.Signals) -> Path:
    """Signals the process while it has a copy in ``folder``, and returns the scratch folder of that."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert process.poll() is None
        if not list(folder.glob(f"{PREFIX}*/*.duckdb")):
            time.sleep(0.0005)
            continue
        process.send_signal(signal.SIGSTOP)
        while status(process.pid) != "T":
            time.sleep(0.001)
        for copy in folder.glob(f"{PREFIX}*/*.duckdb"):  # still there, and it stays now
            process.send_signal(how)
            return copy.parent
        process.send_signal(signal.SIGCONT)
    raise AssertionError("no copy was seen")


def status(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a process is watched by /proc")
@pytest.mark.parametrize("to_folder", [False, True])
def test_the_next_backup_to_a_folder_clears_what_a_killed_one_left_there(
    stocked: Database, tmp_path: Path, *, to_folder: bool
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    process = copying("backup", stocked, backups)
    left = halfway(process, backups, signal.SIGKILL)
    process.communicate()
    assert left.is_dir()
    made = maintenance.backup(stocked, backups if to_folder else backups / "0.duckdb")
    assert list(backups.iterdir()) == [made]
    assert maintenance.doctor(Database(made)) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a process is watched by /proc")
def test_a_backup_leaves_the_copy_alone_that_another_process_is_writing_and_that_one_does_not_overwrite_it(
    stocked: Database, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir()
    process = copying("backup", stocked, backups)
    try:
        used = halfway(process, backups, signal.SIGSTOP)
        (writing,) = used.glob("*.duckdb")
        made = maintenance.backup(Database(stocked.path), backups / writing.name)
        whole = made.read_bytes()
        assert set(backups.iterdir()) == {made, used}
        assert writing.exists()
        process.send_signal(signal.SIGCONT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert f"{writing.name} exists already: a backup never overwrites" in told.decode()
    assert list(backups.iterdir()) == [made]
    assert made.read_bytes() == whole


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="a process is watched by /proc")
@pytest.mark.parametrize("verb", ["backup", "compact", "restore"])
def test_opening_the_library_clears_what_a_killed_process_left_beside_it(
    stocked: Database, tmp_path: Path, verb: str
) -> None:
    home = stocked.path.parent
    made = maintenance.backup(stocked, tmp_path / "copy.duckdb")
    process = copying(verb, stocked, home if verb == "backup" else made)
    left = halfway(process, home, signal.SIGKILL)
    process.communicate()
    assert left.is_dir()
    opened = Database(stocked.path)
    assert list(home.glob(f"{PREFIX}*")) == []
    with opened.read() as cursor:
        assert [p.title for p in papers.list_papers(cursor, "ann")] == ["On one", "On two", "On three"]
    assert maintenance.doctor(opened) == []


def test_two_restorings_at_once_do_not_write_into_each_others_copy(stocked: Database, tmp_path: Path) -> None:
    made = maintenance.backup(stocked, tmp_path / "copy.duckdb")
    code = "import sys; from pathlib import Path; from workbench.storage.restoring import restore\n"
    code += "restore(Path(sys.argv[1]), Path(sys.argv[2]))"
    others = [subprocess.Popen([sys.executable, "-c", code, str(made), str(stocked.path)]) for _ in range(2)]
    assert [process.wait(60) for process in others] == [0, 0]
    assert restore(made, stocked.path) is not None
    assert maintenance.doctor(stocked) == []
    assert len(list(stocked.path.parent.glob("library-before-*"))) == 3

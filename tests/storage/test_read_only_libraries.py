"""A library in a place that cannot be written to, and files that are no library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.errors import LibraryError
from workbench.storage import maintenance, papers
from workbench.storage.database import Database


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """The administrator may write where permissions say no, so for that user the folder is mounted so."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        return
    mounts = (["mount", "--bind", folder, folder], ["mount", "-o", "remount,ro,bind", folder])
    if shutil.which("mount") is None or any(
        subprocess.run(command, capture_output=True, check=False).returncode for command in mounts
    ):
        subprocess.run(["umount", folder], capture_output=True, check=False)
        pytest.skip("the administrator runs this, and nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions as on Unix are needed")
@pytest.mark.parametrize("used_before", [True, False])
def test_a_library_that_cannot_be_written_to_is_read_checked_and_backed_up(
    database: Database, add_paper: Callable[..., int], tmp_path: Path, used_before: bool
) -> None:
    add_paper("one")
    folder = database.path.parent
    if used_before:
        (database.derived / "old").mkdir()
    else:
        (folder / "library.duckdb.lock").unlink()
    with unwritable(folder):
        only_read = Database(database.path)
        assert not only_read.writable
        with only_read.read() as cursor:
            assert [p.id for p in papers.list_papers(cursor, "ann", None)] == [1]
        (only_read.derived / "an index").mkdir()
        assert maintenance.doctor(only_read) == []
        maintenance.backup(only_read, tmp_path / "copy.duckdb")
        with pytest.raises(LibraryError, match="can only be read here"), only_read.write():
            pass
    assert database.writable
    with Database(tmp_path / "copy.duckdb").read() as cursor:
        assert [p.id for p in papers.list_papers(cursor, "ann", None)] == [1]


OPEN = """
import sys
from pathlib import Path
from workbench.storage.database import Database
database = Database(Path(sys.argv[1]))
print(database.derived, flush=True)
input()
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions as on Unix are needed")
def test_the_indexes_of_a_killed_program_beside_a_library_that_can_only_be_read_go_with_the_next_one(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.derived.rmdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    def reading() -> tuple[subprocess.Popen[str], Path]:
        command = [sys.executable, "-c", OPEN, str(database.path)]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    with unwritable(database.path.parent):
        (killed, left), (working, used) = reading(), reading()
        killed.kill()
        killed.communicate()
        assert {left, used} == set((tmp_path / "temporary").iterdir())
        only_read = Database(database.path)
        assert {only_read.derived, used} == set((tmp_path / "temporary").iterdir())
        working.communicate("\n")
        del only_read
        assert list((tmp_path / "temporary").iterdir()) == []


def test_nothing_is_left_beside_a_file_that_is_no_library(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader, this is a letter and no library.", "utf-8")
    with pytest.raises(LibraryError, match=r"letter\.txt is not a library"):
        Database(letter)
    assert list(tmp_path.iterdir()) == [letter]


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="a device is needed")
def test_a_device_is_no_library() -> None:
    with pytest.raises(LibraryError, match="/dev/null is a device or a pipe"):
        Database(Path("/dev/null"))
    assert not Path("/dev/null.lock").exists()

"""Copies of papers that work in progress makes: gone at its end, and after a kill at the next start."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from workbench.scratch import HELD, LOCK, PREFIX, remove_abandoned, scratch_folder

HOLD = """
from workbench.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "paper").write_text("text of a paper")
    print(folder, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def holding() -> tuple[subprocess.Popen[str], Path]:
    """A process with a scratch folder in use, and the folder."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_private_and_gone_at_the_end(temporary: Path) -> None:
    with scratch_folder() as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "paper").write_text("text of a paper")
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_goes_at_the_next_start_and_what_is_in_use_stays(temporary: Path) -> None:
    killed, left = holding()
    working, used = holding()
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert (left / "paper").exists()
    with scratch_folder() as folder:
        assert set(temporary.iterdir()) == {used, folder}
        assert (used / "paper").exists()
    working.communicate("\n")
    assert list(temporary.iterdir()) == []


def test_a_folder_whose_maker_has_not_locked_it_yet_stays(temporary: Path) -> None:
    made = temporary / f"{PREFIX}new"
    made.mkdir(mode=0o700)
    (made / LOCK).touch()
    remove_abandoned(temporary)
    assert made.is_dir()
    (made / HELD).touch()
    remove_abandoned(temporary)
    assert not made.exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="other users' folders are told by their number")
def test_a_folder_that_others_may_write_to_and_a_link_are_left_alone(temporary: Path, tmp_path: Path) -> None:
    (temporary / "kept").mkdir()
    (temporary / "kept" / LOCK).write_text("precious")
    (temporary / "kept" / HELD).touch()
    (temporary / f"{PREFIX}open").mkdir()
    (temporary / f"{PREFIX}open").chmod(0o777)
    (temporary / f"{PREFIX}open" / HELD).touch()
    (temporary / f"{PREFIX}open" / LOCK).symlink_to(temporary / "kept" / LOCK)
    (temporary / f"{PREFIX}link").symlink_to(temporary / "kept")
    with scratch_folder():
        pass
    assert (temporary / "kept" / LOCK).read_text() == "precious"
    assert (temporary / f"{PREFIX}open").is_dir()


def test_a_disk_without_room_for_a_temporary_file_is_told_in_a_sentence() -> None:
    filled = """
import resource
from workbench.errors import LibraryError
from workbench.scratch import scratch_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # the system refuses every byte of a file
try:
    with scratch_folder():
        pass
except LibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", filled], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("No temporary file can be made (No usable temporary directory found")
    assert done.stdout.endswith("or name a folder with space in the variable TMPDIR.\n")
    assert done.stderr == ""

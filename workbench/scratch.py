"""Folders for work in progress, with copies of papers: gone at its end, after a kill at the next start."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from workbench.errors import LibraryError

PREFIX = "workbench-scratch-"
LOCK = "in-use.lock"
HELD = "was-locked"
"""Stands in a folder from when its lock is held: till then a remover could take the lock before its maker."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of its own (0700) in the system's temporary one, removed at the end.

    It is held by a lock, so that folders whose process was killed are told from those in use: whoever makes
    the next one removes them. Raises LibraryError where no temporary file can be made, as on a full disk.
    """
    with contextlib.ExitStack() as held:
        try:
            folder = held.enter_context(scratch_folder_in(Path(tempfile.gettempdir())))
        except OSError as error:
            raise LibraryError(
                f"No temporary file can be made ({error.strerror}): free some space on the disk, or name a "
                "folder with space in the variable TMPDIR."
            ) from error
        yield folder


@contextlib.contextmanager
def scratch_folder_in(parent: Path) -> Iterator[Path]:
    """The same in another folder, for a file that is to be moved from it to its place there in one step.
    Raises OSError where nothing can be written there."""
    remove_abandoned(parent)
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent, ignore_cleanup_errors=True) as made,
        FileLock(Path(made) / LOCK, thread_local=False),  # whichever thread ends it
    ):
        (Path(made) / HELD).touch()
        yield Path(made)


def remove_abandoned(parent: Path) -> None:
    """Removes from ``parent`` the scratch folders whose process has died, and never one that is in use."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, Timeout):
            # One that was never locked was made this moment, or the kill came before anything was in it.
            if _is_own(folder) and (folder / HELD).exists():
                with FileLock(folder / LOCK, timeout=0):
                    pass
                shutil.rmtree(folder, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    """Whether it is a folder that nobody else could have put there: everyone may write beside it.

    Others may be able to read it: on a stick without permissions each folder is shown so.
    """
    known = folder.lstat()
    mine = not hasattr(os, "getuid") or (known.st_uid == os.getuid() and not known.st_mode & 0o022)
    return mine and stat.S_ISDIR(known.st_mode)

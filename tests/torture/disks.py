"""Disks that fail for real: one that is full, one that has become read-only, a limit on the size of files.

The first two are small file systems in memory, which only the administrator can make. The third needs no
right: from then on the system refuses every byte of a file.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Failure = Literal["full", "read-only", "limit"]
FAILURES: tuple[Failure, ...] = ("full", "read-only", "limit")
SIZE_MB = 96


@dataclass(frozen=True)
class Disk:
    """A place that can be made to fail by the process that works there, and mended by another."""

    place: Path
    failure: Failure

    @property
    def _filler(self) -> Path:
        return self.place / "filler"

    def fail(self) -> bool:
        """From now on nothing can be written. False where that cannot be at this very moment, because a
        file is open for writing: then a disk does not become read-only either."""
        if self.failure == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
            return True
        if self.failure == "read-only":
            return _run("mount", "-o", "remount,ro", self.place)
        if not self._filler.exists():
            _fill(self._filler)
        return True

    def release(self) -> None:
        """Lifts what only this process is forbidden."""
        if self.failure == "limit":
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    def mend(self) -> None:
        """It can be written to again, by a process that has no limit of its own."""
        if self.failure == "read-only":
            _run("mount", "-o", "remount,rw", self.place)
        self._filler.unlink(missing_ok=True)


def why_not(failure: Failure) -> str | None:
    """Why this failure cannot be had on this machine, or None where it can."""
    if not sys.platform.startswith("linux"):
        return "disks that fail are made by Linux alone"
    if failure == "limit":
        return None
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return "only the administrator can make a file system"
    return None if _can_mount() else "this machine lets nobody make a file system (a container, perhaps)"


def make(place: Path, failure: Failure) -> Disk:
    """A disk of ``SIZE_MB`` at ``place``; an ordinary folder where a limit will do."""
    place.mkdir(parents=True, exist_ok=True)
    if failure != "limit" and not _run(
        "mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m,mode=700", "torture", place
    ):
        raise OSError(f"no file system could be made at {place}")
    return Disk(place, failure)


def remove(disk: Disk) -> None:
    """Takes the disk away with everything on it."""
    if disk.failure != "limit":
        _run("umount", "--lazy", disk.place)
    shutil.rmtree(disk.place, ignore_errors=True)


def _fill(path: Path) -> None:
    """Takes what is left of the disk, to the last byte."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    size = 1 << 20
    try:
        while size:
            try:
                os.write(handle, b"\0" * size)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                size //= 2
    finally:
        os.close(handle)


def _can_mount() -> bool:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        if not _run("mount", "-t", "tmpfs", "torture", Path(folder)):
            return False
        return _run("umount", Path(folder))


def _run(*command: str | Path) -> bool:
    return subprocess.run(list(map(str, command)), capture_output=True, check=False).returncode == 0

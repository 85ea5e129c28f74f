"""An index's folder: one writer at a time, and a small file that is always whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

LOCK_WAIT = 1.0
"""Seconds a search waits for another process or thread that is catching up, before it does without."""


@contextmanager
def writing(folder: Path, *, wait: float) -> Iterator[None]:
    """The right to write in ``folder``, which is made where missing.

    Raises OSError where the folder cannot be written, and filelock.Timeout, which is an OSError too, where
    another writer keeps it for longer than ``wait`` seconds.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder / "lock", timeout=wait)
    try:
        lock.acquire()
    except NotImplementedError as error:
        raise OSError("This file system has no locks.") from error
    try:
        yield
    finally:
        lock.release()


def read_note(path: Path) -> dict[str, Any] | None:
    """The JSON object in ``path``; ``None`` where there is none or it is damaged."""
    try:
        note = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return note if isinstance(note, dict) else None


def write_note(path: Path, note: dict[str, Any]) -> None:
    """Replaces ``path`` in one step: a reader sees the old object or the new one."""
    draft = path.with_name(path.name + ".new")
    draft.write_bytes(json.dumps(note, separators=(",", ":")).encode())
    draft.replace(path)


def clear(folder: Path, *, wait: float = 10 * LOCK_WAIT) -> None:
    """Removes everything of the index but its lock, so that it is made again from the library. Raises
    OSError as ``writing`` does."""
    with writing(folder, wait=wait):
        for path in folder.iterdir():
            if path.name != "lock":
                remove(path)


def remove(path: Path) -> None:
    """Removes a file or folder of the index; one that cannot be removed now is left for the next time."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        return

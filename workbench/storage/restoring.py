"""Putting a backup in the library's place, and keeping what was there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from workbench.errors import InvalidInputError, LibraryError, LibraryLockedError, NotFoundError
from workbench.scratch import scratch_folder_in
from workbench.storage.database import Database
from workbench.storage.examining import examine_apart


def restore(backup: Path, library: Path, *, lock_timeout: float = 30.0) -> Path | None:
    """Makes a copy of ``backup`` the library at ``library``; returns where the one that was there is now.

    The backup is examined first, in a process of its own, and stays as it is. A kill at any moment leaves the
    library as it was or the backup in its place. Raises NotFoundError, InvalidInputError for the library
    itself, LibraryError for a backup that is not sound, LibraryLockedError.
    """
    source, target = Path(backup).expanduser().resolve(), Path(library).expanduser().resolve()
    if not source.is_file():
        raise NotFoundError(f"There is no backup {source}: give the path of a file that a backup wrote.")
    if source == target:
        raise InvalidInputError(f"{source} is the library itself: give a backup of it.")
    problems = examine_apart(source)
    if problems:
        raise LibraryError(f"{source} is no sound backup ({problems[0].rstrip('.')}). Nothing was changed.")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with scratch_folder_in(target.parent) as folder:
            draft = folder / target.name
            _copy(source, draft)
            with _to_itself(target, lock_timeout):
                kept = _set_aside(target) if target.exists() else None
                draft.replace(target)
    except OSError as error:
        raise LibraryError(
            f"The backup cannot be written to {target}: {error.strerror or error}. "
            "Check the disk, and try again."
        ) from error
    return kept


@contextmanager
def _to_itself(target: Path, lock_timeout: float) -> Iterator[None]:
    """Nobody else has the library meanwhile. One that is too damaged to open is nobody's."""
    if not target.exists():
        yield
        return
    with ExitStack() as held:
        try:
            database = Database(target, lock_timeout=lock_timeout)
            cursor = held.enter_context(database.alone(read_only=False))
        except LibraryLockedError:
            raise
        except LibraryError:
            pass
        else:
            cursor.execute("CHECKPOINT library")
        yield


def _set_aside(target: Path) -> Path:
    """The library's file under another name beside it, as well as under its own until that is replaced."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    kept = target.with_name(f"{target.stem}-before-{stamp}{target.suffix}")
    try:
        os.link(target, kept)
    except OSError:  # a file system without links
        shutil.copyfile(target, kept)
    kept.chmod(0o600)
    log = target.with_name(target.name + ".wal")
    if log.exists():
        log.replace(kept.with_name(kept.name + ".wal"))
    return kept


def _copy(source: Path, draft: Path) -> None:
    shutil.copyfile(source, draft)
    draft.chmod(0o600)
    with draft.open("rb+") as file:
        os.fsync(file.fileno())

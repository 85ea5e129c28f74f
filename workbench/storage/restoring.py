"""Putting a backup in the library's place, and keeping what was there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from workbench.errors import InvalidInputError, LibraryError, LibraryLockedError, NotFoundError
from workbench.scratch import scratch_folder_in
from workbench.storage.database import Database
from workbench.storage.examining import examine_apart
from workbench.storage.opening import ADVICE_TO_RESTORE, log_of, opening_error, take_in_log


def restore(backup: Path, library: Path, *, lock_timeout: float = 30.0) -> Path | None:
    """Makes a copy of ``backup`` the library at ``library``; returns where the one that was there is now.

    The backup is examined first, in a process of its own, and stays as it is. A kill at any moment leaves the
    library as it was or the backup in its place. Raises NotFoundError, InvalidInputError for the library
    itself, LibraryError for a backup that is not sound or a place that takes no file, LibraryLockedError.
    """
    source, target = backup_file(backup), Path(library).expanduser().resolve()
    if source == target:
        raise InvalidInputError(f"{source} is the library itself: give a backup of it.")
    problems = examine_apart(source)
    if problems:
        raise _unsound(source, problems[0])
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with scratch_folder_in(target.parent) as folder:
            draft = folder / target.name
            _copy(source, draft)
            with _to_itself(target, lock_timeout):
                kept = _set_aside(target)
                draft.replace(target)
    except OSError as error:
        raise LibraryError(
            f"The backup cannot be written to {target}: {error.strerror or error}. "
            "Check the disk, and try again."
        ) from error
    return kept


def _unsound(source: Path, problem: str) -> LibraryError:
    """What is said of a library, as said of a backup."""
    for name in (f"The library {source} ", f"{source} "):
        if problem.startswith(name):
            problem = f"it {problem.removeprefix(name)}"
    for advice in ADVICE_TO_RESTORE:
        problem = problem.removesuffix(advice)
    told = problem.rstrip(". ")
    return LibraryError(f"{source} is no sound backup ({told}). Nothing was changed. Choose another backup.")


def backup_file(named: Path) -> Path:
    """The file that is meant, as a whole path. Raises NotFoundError."""
    try:
        source = Path(named).expanduser().resolve()
        if source.is_file():
            return source
    except (OSError, RuntimeError, ValueError):  # no name that a file can have, no home, a link to itself
        source = Path(named)
    raise NotFoundError(f"There is no backup {source}: give the path of a file that a backup wrote.")


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


def _set_aside(target: Path) -> Path | None:
    """The library's file under another name beside it, as well as under its own until that is replaced; None
    where there is none. A log goes even then: DuckDB would take it for one of the file that comes there."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    kept = target.with_name(f"{target.stem}-before-{stamp}{target.suffix}")
    there = target.exists()
    if there:
        try:
            os.link(target, kept)
        except OSError:  # a file system without links
            shutil.copyfile(target, kept)
        kept.chmod(0o600)
    if log_of(target).exists():
        log_of(target).replace(log_of(kept))
    return kept if there else None


def _copy(source: Path, draft: Path) -> None:
    """The file with what its log has besides, as of a copied library that a killed program left."""
    shutil.copyfile(source, draft)
    draft.chmod(0o600)
    if log_of(source).exists():
        shutil.copyfile(log_of(source), log_of(draft))
        try:
            take_in_log(draft)
        except duckdb.Error as error:
            raise _unsound(source, str(opening_error(source, error))) from error
    with draft.open("rb+") as file:
        os.fsync(file.fileno())

"""Looking after the library file: is it sound, can it be smaller, is there a copy."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, InvalidInputError, LibraryError, LibraryLockedError
from workbench.scratch import scratch_folder_in
from workbench.storage import soundness
from workbench.storage.database import Database
from workbench.storage.opening import disk_full, log_of, opening_error, quoted
from workbench.storage.soundness import Finding

__all__ = ["Compaction", "Finding", "backup", "compact", "doctor", "examine"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """Size of the library file before and after, in bytes."""

    before: int
    after: int


def doctor(database: Database) -> list[str]:
    """What is wrong with the library, one line each; empty for a sound one. It repairs nothing.

    Raises LibraryLockedError where the library could not be had.
    """
    try:
        found = examine(database)
    except LibraryLockedError:
        raise
    except LibraryError as error:
        return [str(error)]
    return [f"{finding.check}: {finding.detail}" for finding in found if not finding.ok]


def examine(database: Database) -> list[Finding]:
    """Every check of the library file with its count, sound or not."""
    with database.read() as cursor:
        return soundness.findings(cursor)


def compact(database: Database) -> Compaction:
    """Rewrites the library without the room that replaced and removed papers left, and puts it in place.

    Other threads and processes wait meanwhile. A failure or a kill at any moment leaves the old file as it
    was.
    """
    path = database.path
    with database.alone(read_only=False) as cursor:
        before = path.stat().st_size
        cursor.execute("CHECKPOINT library")
        if log_of(path).exists():
            raise LibraryError(f"The library {path} could not be settled before compacting: try again.")
        with _copied(cursor, path, path) as copy:
            copy.chmod(path.stat().st_mode)
            # The old file is still open, and locked, while the new one takes its name.
            copy.replace(path)
        after = path.stat().st_size
    return Compaction(before, after)


def backup(database: Database, target: Path) -> Path:
    """A copy of the library as it is now, opened once to see that it is whole. Returns its path.

    ``target`` is a file that does not exist yet, or a folder, where the copy is named after the library and
    the time (UTC). Other processes may go on reading. Raises ConflictError where the file exists,
    InvalidInputError for a name that the system's files cannot have.
    """
    place = _free_place(database, target)
    with (
        database.alone(read_only=True) as cursor,
        _copied(cursor, database.path, place) as copy,
    ):
        copy.chmod(0o600)  # it may lie where others can look, and the library's own folder is closed to them
        _put_in_free_place(copy, place)
    return place


def _free_place(database: Database, target: Path) -> Path:
    """Where a backup to ``target`` goes; nothing is there yet, and its folder is."""
    try:
        place = Path(target).expanduser().absolute()
        if place.is_dir():
            stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
            place = place / f"{database.path.stem}-{stamp}{database.path.suffix or '.duckdb'}"
        os.fsencode(place).decode("utf-8")
        # A log beside the name, left of another library, would be taken for the backup's own.
        taken = [name for name in (place, log_of(place)) if os.path.lexists(name)]
        folder = place.parent.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # too long, not of this system's letters, no home
        reason = getattr(error, "strerror", None) or "it is no name that a file can have"
        raise InvalidInputError(f"A backup cannot go there: {reason}. Choose another name.") from error
    if taken:
        raise _taken(taken[0])
    if not folder:
        raise LibraryError(f"There is no folder {place.parent} for the backup: make it first.")
    return place


def _put_in_free_place(copy: Path, place: Path) -> None:
    """Moves a file there unless another process has put one there meanwhile."""
    try:
        os.link(copy, place)
    except FileExistsError as error:
        raise _taken(place) from error
    except OSError:  # a file system without links
        copy.replace(place)


def _taken(place: Path) -> ConflictError:
    return ConflictError(f"{place} exists already: a backup never overwrites. Choose another name.")


@contextmanager
def _copied(cursor: DuckDBPyConnection, source: Path, place: Path) -> Iterator[Path]:
    """A verified copy of ``source``, attached as ``library``, for the block to move to ``place``.

    It lies in a folder beside that, which is gone at the end; one that a killed process left goes before.
    Raises LibraryError, also for what the block itself cannot write.
    """
    try:
        with scratch_folder_in(place.parent) as folder:
            copy = folder / place.name
            try:
                cursor.execute(f"ATTACH {quoted(str(copy))} AS copy")
                cursor.execute("COPY FROM DATABASE library TO copy")
                wanted = _contents(cursor, "library")
                cursor.execute("DETACH copy")
            except duckdb.Error as error:
                at_fault = place if str(copy) in str(error) else source
                raise opening_error(at_fault, error) from error
            if _rows(copy) != wanted:
                raise LibraryError(
                    f"The copy {place} is not complete: nothing was changed. Check the disk and try again."
                )
            _flush(copy)
            yield copy
    except OSError as error:
        raise _unwritable(place, error) from error


def _unwritable(copy: Path, error: OSError) -> LibraryError:
    if error.errno == errno.ENOSPC:
        return disk_full(copy)
    return LibraryError(
        f"The copy {copy} cannot be written: {error.strerror or error}. Nothing was changed: check the disk, "
        "or choose another folder."
    )


def _contents(cursor: DuckDBPyConnection, catalog: str) -> dict[str, int]:
    """Number of rows of each table."""
    tables = cursor.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY table_name", [catalog]
    ).fetchall()
    name = catalog.replace('"', '""')
    counts = {}
    for (table,) in tables:
        row = cursor.execute(f'SELECT count(*) FROM "{name}".main."{table}"').fetchone()
        assert row is not None
        counts[str(table)] = int(row[0])
    return counts


def _rows(copy: Path) -> dict[str, int]:
    """The same of a copy that is opened like any reader does it."""
    with duckdb.connect(str(copy), read_only=True) as connection:
        row = connection.execute("SELECT current_database()").fetchone()
        assert row is not None
        return _contents(connection, row[0])


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())

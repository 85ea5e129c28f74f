"""Opening the library file: bounded waiting behind other processes, and errors in plain words."""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection
from filelock import FileLock, Timeout

from workbench.errors import LibraryError, LibraryLockedError, LibraryVersionError

Configuration = dict[str, str | bool | int | float | list[str]]

_RESOURCES: Configuration = {"threads": str(min(2, os.cpu_count() or 1)), "memory_limit": "1GB"}
# Every connection of a process to one file must have the same configuration: DuckDB refuses a mix.
_CONFIGURATION: Configuration = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    **_RESOURCES,
}

# What DuckDB raises when the trouble is the file's and not the caller's.
_OTHER_FILE = "Choose another file, or restore it from a backup."
_AFTER_A_FAULT = "Check the disk, and restore a backup if it happens again."
ADVICE_TO_RESTORE = (_OTHER_FILE, _AFTER_A_FAULT)
"""How errors about a library end; of no use for a backup, which is restored already."""

FILE_TROUBLE = (
    duckdb.IOException,
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.SerializationException,
)

_LOCKED = ("Could not set lock on file", "being used by another process", "File is already open in")
_HOLDER = re.compile(r"(?:held in|open in)\s+(?P<program>.+?) \(PID (?P<pid>\d+)\)", re.DOTALL)
_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_TURNSTILE_POLL = 0.01
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.05

# Free bytes on the disk below which nothing is written. A commit writes at most 16 MB (DuckDB's
# wal_autocheckpoint) before it settles the file; one that fails half way can end the whole process.
DISK_RESERVE = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for others: ``seconds`` in all, until ``deadline`` on ``time.monotonic()``."""

    seconds: float
    deadline: float

    @classmethod
    def of(cls, seconds: float) -> Patience:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())


@contextmanager
def turnstile(path: Path, patience: Patience, *, writing: bool) -> Iterator[bool]:
    """The place in the queue of processes that want the file; False where it could not be had in time.

    Whoever wants in keeps it until DuckDB lets it in, so a waiting writer is not overtaken for ever by
    readers that come and go. DuckDB's own lock stays the one that decides. A reader of a library that cannot
    be written to needs no place: nobody waits to write there.
    """
    lock = FileLock(f"{path}.lock", thread_local=False)
    try:
        lock.acquire(timeout=patience.left, poll_interval=_TURNSTILE_POLL)
    except Timeout:
        yield False
        return
    except OSError as error:
        if not writing and error.errno in _UNWRITABLE:
            yield False
            return
        if writing and error.errno in _UNWRITABLE and path.exists():
            raise LibraryError(
                f"The library {path} can only be read here: its folder cannot be written to. "
                "Copy it, or make a backup of it, to a folder you may write to."
            ) from error
        if error.errno == errno.ENOSPC:
            raise disk_full(path) from error
        raise LibraryError(
            f"The library {path} cannot be opened: {error.strerror or error}. "
            "Choose a folder you may write to."
        ) from error
    try:
        yield True
    finally:
        lock.release()


def turnstile_is_taken(path: Path) -> bool:
    """Whether some process is in line for the file at this moment."""
    lock = FileLock(f"{path}.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


def open_connection(
    path: Path, *, read_only: bool, patience: Patience, create: bool = False
) -> DuckDBPyConnection:
    """A connection to the library at ``path``, as every lease uses it.

    Raises LibraryLockedError, LibraryVersionError or LibraryError.
    """
    with turnstile(path, patience, writing=not read_only) as first_in_line:
        if create and first_in_line:
            _drop_empty_file(path)
        return when_unlocked(path, patience, lambda: _connect(path, read_only=read_only, create=create))


def open_attached(path: Path, *, read_only: bool, patience: Patience) -> DuckDBPyConnection:
    """A connection of its own kind for maintenance: it may write other files, and has the library attached
    as ``library``. The caller sees to it that this process has no other connection to the file.
    """
    connection = duckdb.connect(":memory:", config=_RESOURCES)
    try:
        _refuse_compression(connection)
        how = "READ_ONLY" if read_only else "READ_WRITE"
        statement = f"ATTACH {quoted(str(path))} AS library ({how})"
        when_unlocked(path, patience, lambda: connection.execute(statement))
    except BaseException:
        connection.close()
        raise
    return connection


def when_unlocked(
    path: Path, patience: Patience, attempt: Callable[[], DuckDBPyConnection]
) -> DuckDBPyConnection:
    """What ``attempt`` returns, tried again while another process has the file locked.

    It is tried once even when no time is left: DuckDB's refusal names the holder.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            return attempt()
        except duckdb.Error as error:
            if not any(phrase in str(error) for phrase in _LOCKED):
                raise opening_error(path, error) from error
            if pause > patience.left:
                raise LibraryLockedError(_locked_text(path, str(error), patience)) from error
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(pause * 2, _LONGEST_PAUSE)


def check_is_library(path: Path) -> None:
    """Raises LibraryError for what is there and is no DuckDB file, before anything is made beside it."""
    if path.is_dir():
        raise LibraryError(f"{path} is a folder: give the name of a file for the library.")
    if not path.is_file():
        if path.exists():
            raise LibraryError(f"{path} is a device or a pipe: give the name of a file for the library.")
        return
    try:
        with path.open("rb") as file:
            start = file.read(12)
    except OSError as error:
        raise LibraryError(
            f"The library {path} cannot be read: {error.strerror}. Check its permissions."
        ) from error
    if start and start[8:] != b"DUCK":
        raise LibraryError(f"{path} is not a library. {_OTHER_FILE}")


def check_room(path: Path, reserve: int) -> None:
    """Raises LibraryError where less than ``reserve`` bytes are free on the library's disk."""
    if shutil.disk_usage(path.parent).free < reserve:
        raise disk_full(path)


def disk_full(path: Path) -> LibraryError:
    return LibraryError(f"The disk of {path} is full: free some space, and try again. Nothing was changed.")


def log_of(path: Path) -> Path:
    """Where DuckDB keeps what is committed to the file at ``path`` and not yet written into it."""
    return path.with_name(path.name + ".wal")


def quoted(text: str) -> str:
    """``text`` as a literal of SQL, for the statements that take no bound values."""
    return "'" + text.replace("'", "''") + "'"


def _connect(path: Path, *, read_only: bool, create: bool) -> DuckDBPyConnection:
    if not create and not path.exists():
        # A read-write connect would quietly make an empty library in its place.
        raise LibraryError(f"The library {path} is no longer there. Put it back, or open another one.")
    try:
        connection = duckdb.connect(str(path), read_only=read_only, config=_CONFIGURATION)
    except duckdb.InternalException as error:
        if "replaying WAL" not in str(error):
            raise
        take_in_log(path)
        connection = duckdb.connect(str(path), read_only=read_only, config=_CONFIGURATION)
    _refuse_compression(connection)
    connection.execute("SET GLOBAL TimeZone='UTC'")  # a library gives the same answers wherever it is read
    connection.execute("SET lock_configuration=true")
    return connection


def take_in_log(path: Path) -> None:
    """Writes the log of a process that died into the file.

    DuckDB 1.5 cannot replay a column that was added to a table with computed defaults when it opens the file
    as its main database ("GetDefaultDatabase with no default database set"); beside another one it can.
    Without this a process killed just after a migration would leave a library that never opens again.
    """
    with duckdb.connect(":memory:", config=_RESOURCES) as connection:
        _refuse_compression(connection)
        connection.execute(f"ATTACH {quoted(str(path))} AS library (READ_WRITE)")
        connection.execute("CHECKPOINT library")


def _refuse_compression(connection: DuckDBPyConnection) -> None:
    """DuckDB's own choice for vectors, ALPRD, makes the file bigger and scans 3 to 10 times slower.

    As configuration at connect the setting is ignored without a word; and it holds for the open
    connection only, so every one that writes needs it.
    """
    connection.execute("SET disabled_compression_methods='alp,alprd'")


def _drop_empty_file(path: Path) -> None:
    """A file of no bytes is what a crash at creation leaves; DuckDB refuses it, and it holds nothing."""
    if path.is_file() and path.stat().st_size == 0:
        path.unlink()


def _locked_text(path: Path, message: str, patience: Patience) -> str:
    """One line that names the process in DuckDB's lock error and says what to do."""
    found = _HOLDER.search(message)
    holder = "another process"
    if found:
        holder = f"process {found['pid']} ({_command(found['pid'], found['program'])})"
    return (
        f"The library {path} is in use by {holder} and did not become free within {patience.seconds:g} s. "
        "Wait for it to finish, or close that program, and try again."
    )


def _command(pid: str, program: str) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return program.strip()
    line = " ".join(b" ".join(words).decode("utf-8", "replace").split())
    return (line if len(line) <= 200 else line[:199] + "…") or program.strip()


def opening_error(path: Path, error: duckdb.Error) -> LibraryError:
    """DuckDB's error at opening or while reading, as ours."""
    message = str(error).strip()
    first = message.splitlines()[0] if message else type(error).__name__
    if "different configuration" in message or "Unique file handle conflict" in message:
        return LibraryError(
            f"The library {path} is already open in this process through duckdb.connect(). "
            "Close that connection; wb.sql(…) gives the same data."
        )
    if "No space left on device" in message:
        return disk_full(path)
    if "read-only file system" in message.lower():
        return LibraryError(f"The folder of {path} can only be read: choose another place to write to.")
    if "not a valid DuckDB database file" in message:
        return LibraryError(f"{path} is not a library. {_OTHER_FILE}")
    if "version number" in message or "newer version of DuckDB" in message:
        return LibraryVersionError(
            f"The library {path} was written by a newer program: {first.rstrip('.')}. "
            "Update this one to open it."
        )
    return LibraryError(
        f"The library {path} cannot be read or written: {first.rstrip('.')}. {_AFTER_A_FAULT}"
    )

"""Opening the library file: bounded waiting behind other processes, and errors in plain words."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection
from filelock import FileLock, Timeout

from workbench.errors import LibraryError, LibraryLockedError, LibraryVersionError

# Every connection of a process to one file must have the same configuration: DuckDB refuses a mix.
CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "threads": str(min(2, os.cpu_count() or 1)),
    "memory_limit": "1GB",
}

_LOCKED = ("Could not set lock on file", "being used by another process", "File is already open in")
_HOLDER = re.compile(r"(?:held in|open in)\s+(?P<program>.+?) \(PID (?P<pid>\d+)\)", re.DOTALL)
_TURNSTILE_POLL = 0.01
_FIRST_PAUSE = 0.002
_LONGEST_PAUSE = 0.05


def open_connection(
    path: Path, *, read_only: bool, deadline: float, waited: float, create: bool = False
) -> DuckDBPyConnection:
    """A connection to the library at ``path``, waiting for other processes until ``deadline``.

    ``deadline`` is a ``time.monotonic()`` value; ``waited`` is the whole wait in seconds, for the error.
    Whoever wants in takes the turnstile (a lock file) and keeps it until DuckDB lets it in, so a waiting
    writer is not overtaken for ever by readers that come and go. DuckDB's own lock stays the one that
    decides. Raises LibraryLockedError, LibraryVersionError or LibraryError.
    """
    turnstile = FileLock(f"{path}.lock")
    try:
        turnstile.acquire(timeout=max(0.0, deadline - time.monotonic()), poll_interval=_TURNSTILE_POLL)
    except Timeout:
        # One knock at the door itself, for the holder's name; getting in here is safe as well.
        return _connect_waiting(path, read_only=read_only, deadline=0.0, waited=waited)
    except OSError as error:
        raise LibraryError(
            f"The library {path} cannot be opened: {error.strerror or error}. "
            "Choose a folder you may write to."
        ) from error
    try:
        if create:
            _drop_empty_file(path)
        return _connect_waiting(path, read_only=read_only, deadline=deadline, waited=waited, create=create)
    finally:
        turnstile.release()


def _connect_waiting(
    path: Path, *, read_only: bool, deadline: float, waited: float, create: bool = False
) -> DuckDBPyConnection:
    pause = _FIRST_PAUSE
    while True:
        try:
            return _connect(path, read_only=read_only, create=create)
        except duckdb.Error as error:
            if not any(phrase in str(error) for phrase in _LOCKED):
                raise opening_error(path, error) from error
            if time.monotonic() + pause > deadline:
                raise LibraryLockedError(locked_text(path, str(error), waited=waited)) from error
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(pause * 2, _LONGEST_PAUSE)


def _connect(path: Path, *, read_only: bool, create: bool) -> DuckDBPyConnection:
    if not create and not path.exists():
        # A read-write connect would quietly make an empty library in its place.
        raise LibraryError(f"The library {path} is no longer there. Put it back, or open another one.")
    connection = duckdb.connect(str(path), read_only=read_only, config=CONFIGURATION)
    # DuckDB's own choice for vectors, ALPRD, makes the file bigger and scans 3 to 10 times slower. As
    # configuration at connect it is ignored without a word; and it holds only while this is open.
    connection.execute("SET disabled_compression_methods='alp,alprd'")
    connection.execute("SET lock_configuration=true")
    return connection


def _drop_empty_file(path: Path) -> None:
    """A file of no bytes is what a crash at creation leaves; DuckDB refuses it, and it holds nothing."""
    if path.is_file() and path.stat().st_size == 0:
        path.unlink()


def locked_text(path: Path, message: str, *, waited: float) -> str:
    """One line that names the process in DuckDB's lock error and says what to do."""
    found = _HOLDER.search(message)
    holder = (
        f"process {found['pid']} ({_command(found['pid'], found['program'])})" if found else "another process"
    )
    return (
        f"The library {path} is in use by {holder} and did not become free within {waited:g} s. "
        "Wait for it to finish, or close that program, and try again."
    )


def _command(pid: str, program: str) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return program.strip()
    line = b" ".join(w for w in words if w).decode("utf-8", "replace")
    line = " ".join(line.split())
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
    if "not a valid DuckDB database file" in message:
        return LibraryError(f"{path} is not a library. Choose another file, or restore it from a backup.")
    if "version number" in message or "newer version of DuckDB" in message:
        return LibraryVersionError(
            f"The library {path} was written by a newer program: {first} Update this one to open it."
        )
    return LibraryError(
        f"The library {path} cannot be read or written: {first} "
        "Check the disk, then run `workbench doctor`, or restore a backup."
    )

"""The library file and the two ways to work on it: a read lease and a write lease.

The file is open only while a lease runs (see ``leases``), so several notebooks, the dashboard and the
command line can use one library at the same time.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from workbench.errors import LibraryError
from workbench.scratch import remove_abandoned, scratch_folder
from workbench.storage import migrate
from workbench.storage.leases import Lease, LibraryFile, library_file
from workbench.storage.opening import (
    DISK_RESERVE,
    FILE_TROUBLE,
    Patience,
    check_is_library,
    check_room,
    open_attached,
    open_connection,
    opening_error,
    turnstile,
)

_substitutes = threading.Lock()

DERIVED = ".derived"
"""What the name of the folder of derived indexes has behind the library's own."""


class Database:
    """One library file.

    Opening creates the file and its folder (readable by the owner alone) where they are missing, and
    brings the schema up to date. Objects of this class are cheap, and safe to share between threads. A lease
    belongs to its thread: in asynchronous code do not await inside one.

    ``lock_timeout`` is the longest wait, in seconds, for other processes and threads; after it
    LibraryLockedError names the holder. Nothing is written while fewer than ``reserve`` bytes are free on
    the disk. A library in a folder that cannot be written to can be read and backed up.
    """

    def __init__(self, path: Path, *, lock_timeout: float = 30.0, reserve: int = DISK_RESERVE) -> None:
        self.path = _absolute(Path(path))
        self.lock_timeout = lock_timeout
        self.reserve = reserve
        self._substitute: Path | None = None
        self._held = ExitStack()
        weakref.finalize(self, self._held.close)
        self._closed = False
        self._prepare()

    def __repr__(self) -> str:
        return f"Database({str(self.path)!r})"

    @property
    def writable(self) -> bool:
        """Whether the file and its folder may be written to."""
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)

    @property
    def derived(self) -> Path:
        """The folder for whatever can be computed again, beside the file; made where missing.

        Where nothing can be written beside the file: a temporary one, gone with this object. Raises
        LibraryError where that cannot be made either.
        """
        folder = self.path.with_name(self.path.name + DERIVED)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            writable = os.access(folder, os.W_OK | os.X_OK)
        except OSError:
            writable = False
        if writable:
            return folder
        with _substitutes:
            if self._substitute is None:
                self._substitute = self._held.enter_context(scratch_folder())
        return self._substitute

    def require_open(self) -> None:
        """Raises LibraryError after ``close``, before work that would fail item by item."""
        if self._closed:
            raise LibraryError(f"The library {self.path} was closed: open it again to go on.")

    def close(self) -> None:
        """No lease starts any more; those that run end in peace. Twice does no harm."""
        self._closed = True

    @contextmanager
    def read(self) -> Iterator[DuckDBPyConnection]:
        """A cursor that sees one unchanging state of the library and cannot write.

        Inside another lease of the same thread: that lease's cursor. Fetch results whole before calling
        anything else that reads.
        """
        with self._lease(Lease(writing=False)) as (cursor, outermost):
            if not outermost:
                yield cursor
                return
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield cursor

    @contextmanager
    def write(self) -> Iterator[DuckDBPyConnection]:
        """A cursor inside one transaction: committed at the end, rolled back on any exception.

        Inside another lease of the same thread this is a mistake of the program: RuntimeError.
        """
        lease = Lease(writing=True)
        with self._lease(lease) as (cursor, _):
            check_room(self.path, self.reserve)
            cursor.execute("BEGIN TRANSACTION")
            try:
                yield cursor
                check_room(self.path, self.reserve)
            except BaseException:
                if lease.is_ours:
                    _roll_back(cursor)
                raise
            if lease.is_ours:
                self._commit(cursor)

    def _commit(self, cursor: DuckDBPyConnection) -> None:
        try:
            cursor.execute("COMMIT")
        except duckdb.TransactionException as error:  # a full disk, for one
            raise opening_error(self.path, error) from error

    @contextmanager
    def alone(self, *, read_only: bool) -> Iterator[DuckDBPyConnection]:
        """For maintenance: a cursor that has the library attached as ``library`` and may write other files.

        This process does nothing else with the library meanwhile; other processes may read it beside a
        ``read_only`` one, and wait for the other kind.
        """
        self.require_open()
        file, lease, block = library_file(self.path), Lease(writing=True, alone=True), object()
        if file.held_by_this_thread() is not None:
            raise RuntimeError("Maintenance was asked for inside a lease of the same thread: end that first.")
        patience = Patience.of(self.lock_timeout)
        queue = ExitStack()

        def opener() -> DuckDBPyConnection:
            queue.enter_context(turnstile(self.path, patience, writing=not read_only))
            return open_attached(self.path, read_only=read_only, patience=patience)

        try:
            cursor = file.enter(lease, block, opener, patience)
            if read_only:
                queue.close()
            yield cursor
        except FILE_TROUBLE as error:
            raise opening_error(self.path, error) from error
        except RuntimeError as error:
            _interrupted(error, lease)
            raise
        finally:
            # The file first: until it is closed nobody else may open what stands in its place.
            file.leave(lease, block)
            queue.close()

    @contextmanager
    def _lease(self, lease: Lease, *, create: bool = False) -> Iterator[tuple[DuckDBPyConnection, bool]]:
        """The cursor, and whether the lease is new rather than an outer block's."""
        self.require_open()
        file = library_file(self.path)
        outer = file.held_by_this_thread()
        if outer is not None and outer.alone:
            raise RuntimeError("A lease was asked for inside maintenance: end that first.")
        if outer is not None and lease.writing:
            raise RuntimeError(
                "A write lease was asked for inside another lease of the same thread: "
                "end the outer one first, or use its cursor."
            )
        shared = outer if outer is not None else lease
        block = object()
        try:
            if outer is not None:
                cursor = file.join(outer, block)
            else:
                cursor = self._enter(file, lease, block, create=create)
            yield cursor, outer is None
        except FILE_TROUBLE as error:
            raise opening_error(self.path, error) from error
        except RuntimeError as error:
            _interrupted(error, shared)
            raise
        finally:
            file.leave(shared, block)

    def _enter(self, file: LibraryFile, lease: Lease, block: object, *, create: bool) -> DuckDBPyConnection:
        patience = Patience.of(self.lock_timeout)

        def opener() -> DuckDBPyConnection:
            return open_connection(self.path, read_only=not lease.writing, patience=patience, create=create)

        return file.enter(lease, block, opener, patience)

    def _prepare(self) -> None:
        try:
            os.fsencode(self.path).decode("utf-8")
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except UnicodeError as error:
            raise LibraryError("The library's path is not valid text: choose another name.") from error
        except OSError as error:
            raise LibraryError(
                f"The folder {self.path.parent} cannot be made: {error.strerror}. "
                "Choose another place for the library."
            ) from error
        check_is_library(self.path)
        self._bring_up_to_date()
        remove_abandoned(self.path.parent)

    def _bring_up_to_date(self) -> None:
        if self.path.exists() and self.path.stat().st_size > 0:
            with self.read() as cursor:
                if not migrate.pending(cursor):
                    return
        with self._lease(Lease(writing=True), create=True) as (cursor, _):
            # Asked again under the write lease: another process may have done it meanwhile.
            for migration in migrate.pending(cursor):
                check_room(self.path, self.reserve)
                try:
                    migrate.apply(cursor, migration)
                except duckdb.TransactionException as error:  # its commit, as in ``_commit``
                    raise opening_error(self.path, error) from error


def _absolute(path: Path) -> Path:
    """The path with its links resolved. Raises LibraryError for one that no file can have."""
    try:
        resolved = path.expanduser().resolve()
        resolved.exists()  # a name that is too long
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a home nobody has, a link to itself
        reason = (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).rstrip(".")
        raise LibraryError(
            f"The library's path {path} cannot be used: {reason}. Choose another name."
        ) from error
    return resolved


def _interrupted(error: RuntimeError, lease: Lease) -> None:
    """Raises KeyboardInterrupt where it was that: for Ctrl+C in a query DuckDB has no type of its own."""
    if str(error) == "Query interrupted":
        if lease.cursor is not None:
            lease.cursor.interrupt()  # or the engine's own threads go on with the query to its end
        raise KeyboardInterrupt from error


def _roll_back(cursor: DuckDBPyConnection) -> None:
    cursor.interrupt()  # after Ctrl+C in a query the engine's own threads are still at it
    try:
        cursor.execute("ROLLBACK")
    except duckdb.Error:
        # DuckDB has ended the transaction itself (a fatal error); the error on its way says why.
        return

"""Who may use a library file when, inside one process.

DuckDB lets a process hold a file read-write (and shuts out every other process) or read-only (shared), but
never both at once. So the file is open only while some unit of work runs, and the units of one process share
one connection:

* read-only leases share a read-only connection; a waiting writer goes before new ones;
* a write lease waits until the connection is closed, then opens it read-write; writers are serial;
* readers that come while a writer works run beside it, on a cursor of the same connection;
* when the writer is done the connection is closed as soon as its last reader leaves; and when another
  process has been in line for a moment no new reader joins either. So other processes get their turn
  however busy this one is.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from duckdb import DuckDBPyConnection

from workbench.errors import LibraryError, LibraryLockedError
from workbench.storage.opening import Patience, turnstile_is_taken

# How often to look whether another process is in line for the file, and for how long it must have been seen
# there: a reader in line passes at once, a writer stays until everybody has left. Seconds.
_LOOK_EVERY = 0.02
_GIVE_WAY_AFTER = 0.1
# At the end of the program: how long other threads' work may go on, and when it is given up. Seconds.
_END_IN_PEACE = 2.0
_END_AT_LAST = 7.0
_END_OF_THREADS = 1.0  # for what threads that have just left do next: to let go of a cursor is DuckDB's too

Opener = Callable[[], DuckDBPyConnection]


class Lease:
    """One unit of work on the file, with a cursor of its own.

    A block inside another one of the same thread takes no lease of its own: ``blocks`` are those that
    share this one, and the last of them to end gives it back. An ``alone`` lease lets no reader in beside it.
    """

    __slots__ = ("alone", "blocks", "cursor", "pid", "thread", "writing")

    def __init__(self, *, writing: bool, alone: bool = False) -> None:
        self.writing = writing
        self.alone = alone
        self.thread = threading.get_ident()
        self.pid = os.getpid()
        self.blocks: set[object] = set()
        self.cursor: DuckDBPyConnection | None = None

    @property
    def is_ours(self) -> bool:
        """False in a child process forked while the lease ran: the work is the parent's alone."""
        return self.pid == os.getpid()


class LibraryFile:
    """One library file as this process uses it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._changed = threading.Condition()
        self._connection: DuckDBPyConnection | None = None
        self._for_writing = False
        self._leases: set[Lease] = set()
        self._waiting_writers: set[Lease] = set()
        self._writer: Lease | None = None
        self._opening: Lease | None = None
        self._giving_way = False
        self._next_look = 0.0
        self._in_line_since: float | None = None
        self._ending = False
        self._left: dict[threading.Thread, float] = {}  # other threads, and when, on time.monotonic()

    def held_by_this_thread(self) -> Lease | None:
        """The lease that an outer block of this thread has."""
        thread = threading.get_ident()
        with self._changed:
            return next((x for x in self._leases if x.thread == thread and x.cursor is not None), None)

    def join(self, lease: Lease, block: object) -> DuckDBPyConnection:
        """The cursor of an outer block's lease, for one more block."""
        with self._changed:
            if lease.cursor is None:
                raise LibraryError("This unit of work has ended already: start a new one.")
            lease.blocks.add(block)
            return lease.cursor

    def enter(self, lease: Lease, block: object, opener: Opener, patience: Patience) -> DuckDBPyConnection:
        """The lease's cursor, once its turn has come. ``leave`` must follow, whatever happens here."""
        with self._changed:
            self._wait_for_turn(lease, patience)
            lease.blocks.add(block)
            self._leases.add(lease)
            if lease.writing:
                self._writer = lease
            if self._connection is None:
                self._opening = lease
        if self._opening is lease:
            connection = opener()  # outside the lock: this may wait long for other processes
            with self._changed:
                self._connection = connection
                self._for_writing = lease.writing
                self._opening = None
                self._changed.notify_all()
        with self._changed:
            assert self._connection is not None
            lease.cursor = self._connection.cursor()
            return lease.cursor

    def leave(self, lease: Lease, block: object) -> None:
        """Ends one block of the lease; the last one out closes the file. Once more does no harm."""
        try:
            self._leave(lease, block)
        except KeyboardInterrupt:
            self._leave(lease, block)  # a second Ctrl-C must not leave the library locked
            raise

    def _leave(self, lease: Lease, block: object) -> None:
        if not lease.is_ours:
            return
        with self._changed:
            lease.blocks.discard(block)
            if lease.blocks:
                return
            if self._writer is lease:
                self._writer = None
            if self._opening is lease:
                self._opening = None
            self._leases.discard(lease)
            self._note_end()
            closing, lease.cursor = [lease.cursor], None
            if not self._leases:
                closing.append(self._connection)
                self._connection = None
                self._giving_way, self._in_line_since = False, None
            self._changed.notify_all()
            # Still inside the lock, so that nobody opens the file before it is closed.
            for connection in closing:
                if connection is not None:
                    connection.close()

    def end(self, *, peace: float, last: float) -> None:
        """No other thread begins a lease any more. Those that have one may go on for ``peace`` seconds, then
        what they do is interrupted, until ``last`` seconds have passed."""
        started = time.monotonic()
        with self._changed:
            self._ending = True
            self._changed.notify_all()
            while others := [x for x in self._leases if x.is_ours and x.thread != threading.get_ident()]:
                spent = time.monotonic() - started
                if spent >= last:
                    return
                for cursor in [*(x.cursor for x in others), *_own_cursors] if spent >= peace else ():
                    if cursor is not None:
                        cursor.interrupt()
                self._changed.wait(0.05)
            while any(
                thread.is_alive() and time.monotonic() - left < _END_OF_THREADS
                for thread, left in self._left.items()
            ):
                self._changed.wait(0.02)

    def _note_end(self) -> None:
        thread, now = threading.current_thread(), time.monotonic()
        if thread is not threading.main_thread():
            self._left = {t: left for t, left in self._left.items() if now - left < _END_OF_THREADS}
            self._left[thread] = now

    def _wait_for_turn(self, lease: Lease, patience: Patience) -> None:
        if lease.writing:
            self._waiting_writers.add(lease)
        try:
            while not self._may_enter(lease):
                self._refuse_at_the_end()
                if patience.left <= 0:
                    raise LibraryLockedError(self._busy_text(patience.seconds))
                self._changed.wait(patience.left)
        finally:
            self._waiting_writers.discard(lease)
            self._changed.notify_all()
        self._refuse_at_the_end()

    def _refuse_at_the_end(self) -> None:
        if self._ending and threading.current_thread() is not threading.main_thread():
            raise LibraryError("The program is ending: nothing new is read from the library or written.")

    def _may_enter(self, lease: Lease) -> bool:
        if self._opening is not None:
            return False
        if lease.writing:
            return not self._leases
        if self._writer is not None:
            return not self._writer.alone
        if self._waiting_writers:
            return False
        if self._connection is None:
            return True
        return not self._for_writing and not self._gives_way()

    def _gives_way(self) -> bool:
        """Whether new readers keep out, so that a process in line gets the file once the others leave."""
        now = time.monotonic()
        if self._giving_way or now < self._next_look:
            return self._giving_way
        self._next_look = now + _LOOK_EVERY
        if not turnstile_is_taken(self.path):
            self._in_line_since = None
        elif self._in_line_since is None:
            self._in_line_since = now
        else:
            self._giving_way = now - self._in_line_since >= _GIVE_WAY_AFTER
        return self._giving_way

    def _busy_text(self, seconds: float) -> str:
        doing = "writing" if self._writer is not None else "reading"
        return (
            f"The library {self.path} is in use by this very process ({os.getpid()}): another thread "
            f"was {doing} for longer than {seconds:g} s. Wait for that work, or stop it, and try again."
        )

    def abandon_after_fork(self) -> bool:
        """Leaks what a forked child inherited: closing it there would hang on threads it does not have.

        True where there was something.
        """
        cursors = [lease.cursor for lease in self._leases]
        inherited = [x for x in [self._connection, *cursors] if x is not None]
        for connection in inherited:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
        return bool(inherited) or self._opening is not None


_files: dict[Path, LibraryFile] = {}
_own_cursors: list[DuckDBPyConnection] = []
_files_lock = threading.Lock()
# Open in the parent at the moment of a fork. DuckDB would give the child the parent's connection, whose
# lock on the file the child does not have.
_inherited: set[Path] = set()


def library_file(path: Path) -> LibraryFile:
    """This process's one ``LibraryFile`` for ``path`` (absolute, links resolved)."""
    with _files_lock:
        if path in _inherited:
            raise LibraryError(
                f"This process was forked while the library {path} was in use: start it with the "
                "“spawn” method of multiprocessing instead."
            )
        return _files.setdefault(path, LibraryFile(path))


def _start_afresh_in_child() -> None:
    global _files_lock
    _files_lock = threading.Lock()
    _inherited.update(path for path, file in _files.items() if file.abandon_after_fork())
    _files.clear()


@contextmanager
def interruptible(cursor: DuckDBPyConnection) -> Iterator[None]:
    """Lets the end of the program interrupt work on a cursor that is no lease's own."""
    _own_cursors.append(cursor)
    try:
        yield
    finally:
        _own_cursors.remove(cursor)


@atexit.register
def _end_at_exit() -> None:
    """Python ends threads that nobody waits for wherever they are, and inside DuckDB that aborts the whole
    process: "terminate called without an active exception". So they leave it first."""
    for file in list(_files.values()):
        file.end(peace=_END_IN_PEACE, last=_END_AT_LAST)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh_in_child)

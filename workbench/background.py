"""Work that nobody waits for: one small thread per workbench that does one thing after another."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable

CAPACITY = 256  # pieces of work waiting; more than that means that nobody will miss the next one
PATIENCE = 2.0  # s, for which ``close`` lets waiting work go on
IDLE = 10.0  # s without work, after which the thread ends until there is some

_logger = logging.getLogger(__name__)
_all: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """Runs pieces of work in the order given, on one daemon thread that is there while there is work.

    A piece of work that fails is logged at debug level and forgotten: nothing of this is ever an error for
    the user. Long work should look at ``closing`` now and then, and end where it is True.
    """

    def __init__(self, *, capacity: int = CAPACITY, idle: float = IDLE) -> None:
        self._capacity, self._idle = capacity, idle
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Hashable, Callable[[], object]]] = deque()
        self._thread: threading.Thread | None = None
        self._running = False
        self._closing = False
        self._dropped = False
        _all.add(self)

    @property
    def closing(self) -> bool:
        """Whether ``close`` was called: work that can be done another time should end now."""
        return self._closing

    def start(self, work: Callable[[], object], *, key: Hashable = None) -> bool:
        """Puts ``work`` at the end of the queue and returns at once.

        False where it will not be done: the queue is full or closed. Where work with the same ``key`` is
        waiting already (not running: that may have looked at things too early), that one does for both.
        """
        with self._changed:
            if self._closing or len(self._waiting) >= self._capacity:
                return False
            if key is None or all(key != waiting for waiting, _ in self._waiting):
                self._waiting.append((key, work))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="workbench-background", daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return True

    def wait(self, timeout: float | None = None) -> bool:
        """Until nothing waits or runs, at most ``timeout`` seconds. False where the time was too short.

        Asked from a piece of work itself, which would wait for its own end: False at once.
        """
        with self._changed:
            if threading.current_thread() is self._thread:
                return False
            return self._changed.wait_for(lambda: not self._waiting and not self._running, timeout)

    def close(self, *, patience: float = PATIENCE) -> None:
        """Takes no more work, lets the rest go on for ``patience`` seconds and drops what is left then.

        Work that runs at that moment is not torn apart; it ends by itself or with the process.
        """
        until = time.monotonic() + patience
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self.wait(patience)
        with self._changed:
            self._waiting.clear()
            self._dropped = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None and threading.current_thread() is not thread:
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except Exception:  # whatever it is, it must not end the thread that the next work needs
                _logger.debug("work in the background failed", exc_info=True)
            finally:
                del work  # it may hold on to a workbench
                with self._changed:
                    self._running = False
                    self._changed.notify_all()

    def _next(self) -> Callable[[], object] | None:
        """The next piece of work, now running; None where there will be none any more."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self._closing, self._idle)
            if self._dropped or not self._waiting:
                self._thread = None
                return None
            self._running = True
            return self._waiting.popleft()[1]


@atexit.register
def _close_at_exit() -> None:
    """A script may end without closing its workbench. A thread that Python ends inside a library of C++ or
    Rust takes the process down with it, exit status and all."""
    for background in list(_all):
        background.close()


if hasattr(os, "register_at_fork"):  # the threads are the parent's, and so may be their locks
    os.register_at_fork(after_in_child=_all.clear)

"""An answer while it is being written, which any thread may stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator

from workbench.errors import ProviderError
from workbench.interfaces import ChatUsage

Pieces = Generator[str | ChatUsage, None, None]


def _nothing() -> None:
    return None


class AnswerStream(Iterator[str | ChatUsage]):
    """The pieces of one answer. ``close`` ends it, also while another thread waits for the next piece.

    A generator alone cannot do that: closing it while it runs is a ValueError. So ``cut`` ends the
    request underneath (it must be safe to call at any time, twice, from any thread), and the failure that the
    waiting thread then meets is the end of the answer.
    """

    def __init__(self, pieces: Pieces, *, cut: Callable[[], None] = _nothing) -> None:
        self._pieces = pieces
        self._cut = cut
        self._running = threading.Lock()
        self._closed = threading.Event()

    def __next__(self) -> str | ChatUsage:
        with self._running:
            if self._closed.is_set():
                self._pieces.close()
                raise StopIteration
            try:
                piece = next(self._pieces)
            except ProviderError:
                if self._closed.is_set():
                    raise StopIteration from None
                raise
            if self._closed.is_set():
                self._pieces.close()
                raise StopIteration
            return piece

    def close(self) -> None:
        """No further piece comes; the server's work ends. Nothing happens the second time."""
        self._closed.set()
        self._cut()
        if self._running.acquire(blocking=False):
            try:
                self._pieces.close()
            finally:
                self._running.release()

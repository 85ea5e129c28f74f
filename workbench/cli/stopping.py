"""Ctrl+C on the command line."""

from __future__ import annotations

import signal
import time
from types import FrameType, TracebackType
from typing import Any, Self

_AT_ONCE = 1.0  # seconds: a second press so soon would interrupt the tidying up after the first
_SOON = 10.0


class Stopping:
    """While this context manager runs, Ctrl+C raises KeyboardInterrupt once a second at most.

    Where Ctrl+C is not Python's own to handle, as in a job that a script has put into the background, it
    stays so.
    """

    def __init__(self) -> None:
        self._pressed: float | None = None
        self._before: Any = None

    def __enter__(self) -> Self:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    @property
    def asked(self) -> bool:
        """Whether Ctrl+C came a moment ago. An error after it is most likely its work: an import that it
        interrupts in a library's own code raises ImportError or AttributeError instead."""
        return self._pressed is not None and time.monotonic() - self._pressed < _SOON

    def _stop(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._pressed is None or now - self._pressed > _AT_ONCE:
            self._pressed = now
            raise KeyboardInterrupt

"""Reading in a process of its own: no file can stop, bloat or end the process that asks.

One child process reads files, and another draws pages, so that a page is shown while a long file is read.
Each is started when first needed, kept for the next file, ended when it takes too long or too much memory,
and started again.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import workbench
from workbench.errors import DocumentError, InvalidInputError, ReaderCrashedError
from workbench.ingest.document import Document
from workbench.ingest.frames import document_from_wire, packed, read_frame
from workbench.ingest.worker import OUT_OF_MEMORY
from workbench.records import PageView, TextRun

_PAGE_SHARE = 1 / 3  # of the time limit: one page that takes longer is given up
_MAX_BAD_PAGES = 5
_STOP_SECONDS = 5.0
_DRAWING_SECONDS = 10.0  # somebody waits for the page

WORKER = ("-m", "workbench.ingest.worker")


class _Stopped(Exception):
    """The child ended or was ended. ``page`` is the one it was reading, if it had said so."""

    def __init__(self, reason: str, page: int | None, *, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.page, self.hopeless = page, hopeless


class Reader:
    """Reads documents and draws pages in one warm child process; safe to use from several threads.

    ``timeout`` is the longest one call may take, in seconds, and ``memory_mb`` the most memory the child
    may hold. A context manager; ``close`` ends the child. ``worker`` is the program it runs, given to
    Python before the memory limit; a test's stand-in for the usual one.
    """

    def __init__(
        self, *, timeout: float = 60.0, memory_mb: int = 1536, worker: Sequence[str] = WORKER
    ) -> None:
        self._timeout = timeout
        self._reading = _Seat(tuple(worker), memory_mb)
        self._drawing = _Seat(tuple(worker), memory_mb)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the child processes. The next call would start another."""
        for seat in (self._reading, self._drawing):
            with seat.lock:
                seat.end()

    def read(self, path: Path, *, name: str) -> Document:
        """The document in ``path``, known to the user as ``name``.

        A page of a PDF that hangs or crashes the reader is left out, with a warning in the document.
        Raises DocumentError with the reason, ReaderCrashedError where no attempt came to an end.
        """
        deadline = time.monotonic() + self._timeout
        bad_pages: list[int] = []
        while True:
            request = {"do": "read", "path": str(path.resolve()), "name": name, "skip": bad_pages}
            try:
                message, _ = self._reading.call(request, deadline, self._timeout * _PAGE_SHARE)
            except _Stopped as stopped:
                page = stopped.page
                too_many = len(bad_pages) >= _MAX_BAD_PAGES or time.monotonic() >= deadline
                if page is None or page in bad_pages or stopped.hopeless or too_many:
                    raise ReaderCrashedError(str(stopped)) from stopped
                bad_pages.append(page)
                continue
            return document_from_wire(message["document"])

    def render(self, path: Path, page: int, *, width: int, highlight: str | None = None) -> bytes:
        """A PNG of page ``page`` (from 1) of a PDF, with the quote ``highlight`` marked if it is certain."""
        return self.page_view(path, page, width=width, quote=highlight).png

    def page_view(
        self,
        path: Path,
        page: int,
        *,
        width: int,
        quote: str | None = None,
        between: tuple[str, str] | None = None,
        paint: bool = True,
        with_text: bool = False,
    ) -> PageView:
        """The page's image and where ``quote`` stands on it; see ``page_images.page_view``.

        Raises InvalidInputError for a page that is not there, DocumentError for one that cannot be drawn,
        ReaderCrashedError for one that takes more than ten seconds.
        """
        request = {
            "do": "view",
            "path": str(path.resolve()),
            "page": page,
            "width": width,
            "quote": quote,
            "between": between,
            "paint": paint,
            "with_text": with_text,
        }
        limit = min(self._timeout, _DRAWING_SECONDS)
        try:
            with self._drawing.lock:  # the time begins with this page's turn
                message, png = self._drawing.call(request, time.monotonic() + limit, limit)
        except _Stopped as stopped:
            slow = "this page takes too long to draw"
            raise ReaderCrashedError(slow if stopped.hopeless else str(stopped)) from stopped
        view = message["view"]
        boxes = tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in view["boxes"])
        runs = tuple(
            TextRun(text, tuple(box), turn, glued) for text, box, turn, glued in view.get("runs", ())
        )
        return PageView(png, int(view["width"]), int(view["height"]), boxes, bool(view["found"]), runs)


class _Seat:
    """The place of one child process, taken by one request at a time."""

    def __init__(self, worker: Sequence[str], memory_mb: int) -> None:
        self.lock = threading.RLock()
        self.child: _Child | None = None
        self._worker, self._memory_mb = worker, memory_mb

    def call(
        self, request: dict[str, Any], deadline: float, page_limit: float
    ) -> tuple[dict[str, Any], bytes]:
        """The child's answer. Raises what the child reports, and _Stopped."""
        with self.lock:
            child = self._ready()
            try:
                message, payload = child.ask(request, deadline, page_limit)
            except BaseException:  # an interrupt too: the answer to come would be taken for the next one's
                self.end()
                raise
        if message.get("error") == "input":
            raise InvalidInputError(str(message["reason"]))
        if "error" in message:
            raise DocumentError(str(message["reason"]))
        return message, payload

    def _ready(self) -> _Child:
        if self.child is None or not self.child.alive():
            self.end()
            self.child = _Child(self._worker, self._memory_mb)
        return self.child

    def end(self) -> None:
        if self.child is not None:
            self.child.end()
            self.child = None


class _Child:
    """One child process, and the thread that takes in its answers."""

    def __init__(self, worker: Sequence[str], memory_mb: int) -> None:
        self._memory_mb = memory_mb
        package_parent = str(Path(workbench.__file__).resolve().parent.parent)
        known = os.environ.get("PYTHONPATH")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([package_parent, known]) if known else package_parent,
            "PYTHONIOENCODING": "utf-8",
            "OMP_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", *worker, str(memory_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        self._answers: queue.Queue[tuple[dict[str, Any], bytes] | None] = queue.Queue()
        threading.Thread(target=self._take_in, name="workbench-reader", daemon=True).start()

    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(
        self, request: dict[str, Any], deadline: float, page_limit: float
    ) -> tuple[dict[str, Any], bytes]:
        """The answer to one request; reports of pages on the way are taken note of."""
        assert self._process.stdin is not None
        page: int | None = None
        try:
            self._process.stdin.write(packed(request))
            self._process.stdin.flush()
        except OSError as error:
            raise _Stopped(self._why_it_ended(), None) from error
        while True:
            patience = deadline - time.monotonic()
            if page is not None:
                patience = min(patience, page_limit)
            try:
                answer = self._answers.get(timeout=max(patience, 0.0))
            except queue.Empty:
                where = f" at page {page}" if page is not None else ""
                over = time.monotonic() >= deadline
                raise _Stopped(f"reading took too long and was stopped{where}", page, hopeless=over) from None
            if answer is None:
                raise _Stopped(self._why_it_ended(), page)
            message, payload = answer
            if "page" not in message:
                return message, payload
            page = int(message["page"])

    def end(self) -> None:
        """Ends the process, by force if need be, and leaves nothing behind."""
        with contextlib.suppress(OSError):
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _why_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP_SECONDS)
        if self._process.returncode == OUT_OF_MEMORY:
            return f"reading needed more than {self._memory_mb} MB of memory and was stopped"
        return "the file crashed the reader: it is damaged, or made to do harm"

    def _take_in(self) -> None:
        """Puts each answer on the queue, and ``None`` when there will be no more."""
        stream = self._process.stdout
        assert stream is not None

        def read_exactly(count: int) -> bytes:
            data = stream.read(count) if count else b""
            if len(data) < count:
                raise EOFError
            return data

        try:
            while True:
                self._answers.put(read_frame(read_exactly))
        except (EOFError, ValueError, OSError):
            self._answers.put(None)

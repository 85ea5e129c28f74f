"""The reading process with a fault, for tests: its first argument names it, ``PAGE`` its place.

``hang:3`` loops for ever on page 3, ``crash:3`` ends the process there, ``grow`` fills the memory,
``draw:3`` never ends drawing page 3, ``print`` writes to standard output, and ``garbage`` answers with
nonsense.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.ingest import page_images, reading, worker

fault, _, place = sys.argv.pop(1).partition(":")
read_document = reading.read_document


def faulty(
    path: Path, *, name: str, skip_pages: Any = (), at_page: Callable[[int], None] | None = None
) -> Any:
    def watched(number: int) -> None:
        assert at_page is not None
        at_page(number)
        if str(number) == place and number not in skip_pages:
            if fault == "crash":
                os.kill(os.getpid(), 11)
            while True:
                time.sleep(0.05)

    if fault == "grow":
        hoard = []
        while True:
            hoard.append(bytearray(b"x") * 10_000_000)
    if fault == "print":
        print("a library's chatter", flush=True)
    if fault == "garbage":
        os.write(9, b"\xff" * 100)
    return read_document(path, name=name, skip_pages=skip_pages, at_page=watched)


draw = page_images.page_view


def slow_view(path: Path, page: int, **wanted: Any) -> Any:
    while str(page) == place:
        time.sleep(0.05)
    return draw(path, page, **wanted)


reading.read_document = faulty
if fault == "draw":
    page_images.page_view = slow_view
if fault == "garbage":
    os.dup2(sys.stdout.fileno(), 9)
worker.main()

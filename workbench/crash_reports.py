"""What to attach when the workbench itself fails: where in the code, with which versions, and no word of a
paper.

A message of Python's may quote what it failed on, so messages, values and source lines stay out.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "research-workbench duckdb tantivy onnxruntime llama-index-core ollama pypdfium2 pandas numpy anywidget "
    "ipywidgets voila jupyterlab"
).split()
KEPT = 20
"""Reports; older ones are removed."""


def write_crash_report(error: BaseException, *, doing: str, folder: Path | None = None) -> Path | None:
    """Write a report of ``error`` to a file and return its path; ``None`` where no file can be written.

    ``doing`` says in words of the program's own what failed. The report is plain text: time, versions,
    kinds of error, and the functions they passed through, with file names below the packages alone. Its
    folder is the user's log folder if no other is given.
    """
    now = datetime.now(UTC)
    try:
        place = folder if folder is not None else _log_folder()
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = place / f"crash-{now:%Y%m%d-%H%M%S-%f}.txt"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("\n".join(_lines(error, doing, now)) + "\n")
        for old in sorted(place.glob("crash-*.txt"))[:-KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path


def _log_folder() -> Path:
    from platformdirs import user_log_path

    return user_log_path("research-workbench")


def _lines(error: BaseException, doing: str, now: datetime) -> Iterator[str]:
    yield "Research Workbench: a report of a failure. It holds no text of papers, questions or answers."
    yield f"Time     {now:%Y-%m-%d %H:%M:%S} UTC"
    yield f"Doing    {doing}"
    yield f"Python   {platform.python_version()} on {platform.system()} {platform.machine()}"
    yield f"Packages {', '.join(_versions())}"
    for number, raised in enumerate(_chain(error)):
        kind = type(raised)
        yield ""
        yield f"{'Caused by' if number else 'Failed with'} {kind.__module__}.{kind.__qualname__}"
        for frame in traceback.extract_tb(raised.__traceback__, limit=-60):
            yield f"  {_place(frame.filename)}:{frame.lineno} {frame.name}"


def _versions() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            yield f"{name} absent"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, as Python would show them."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)


def _place(file: str) -> str:
    """A source file's name without the folders of this machine."""
    path = Path(file)
    for root in sorted((p for p in sys.path if p), key=len, reverse=True):
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return path.name

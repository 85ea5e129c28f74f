"""The papers panel's state: the papers of the chosen scope, and adding more with progress and outcomes."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from traitlets import Dict, Int, List

from widgets.panel import PanelState, action
from widgets.wording import byline, counted, one_line
from workbench import InvalidInputError, Scope

if TYPE_CHECKING:
    from widgets.uploads.state import Upload
    from workbench import FileOutcome, Paper, Progress, Workbench

PROGRESS_EVERY = 0.1
"""Seconds between two updates of the bar: a browser shows no more, and messages are not free."""

STAGES = ("read", "chunk", "embed", "index")
_STAGE_SHARE = {"read": (0.0, 0.25), "chunk": (0.25, 0.3), "embed": (0.3, 0.95), "index": (0.95, 1.0)}
_STAGE_WORDS = {"read": "reading", "chunk": "cutting", "embed": "embedding", "index": "indexing"}


class PapersState(PanelState):
    """``papers`` are rows to show; ``job`` is empty or the work under way; ``outcomes`` what became of files.

    A row is ``{"id", "title", "byline", "pages", "chip"}``. A job is ``{"file", "doing", "percent", "nth",
    "files", "stopping"}``. An outcome is ``{"file", "status", "detail"}`` with status ready, duplicate,
    failed or cancelled.
    """

    papers = List(Dict()).tag(sync=True)
    limit = Int(0).tag(sync=True)
    job = Dict().tag(sync=True)
    outcomes = List(Dict()).tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_change: Callable[[], None],
        on_read: Callable[[int], None],
        **options: Any,
    ) -> None:
        """``on_change`` is called when the library holds other papers, ``on_read`` with a paper to show."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_change = on_change
        self._on_read = on_read
        self._scope = Scope.ORPHANS
        self._cancelled = threading.Event()
        self._adding = threading.Lock()
        self._shown_at = 0.0

    def show(self, scope: Scope) -> None:
        """Show the papers of ``scope``, and add new ones to it from now on."""
        self._scope = scope
        self.refresh()

    def refresh(self) -> None:
        """Read the papers of the scope again."""
        scope = self._scope
        self.limit = self._workbench.settings.project_max_papers if scope.project_id else 0
        rows = [_row(paper) for paper in self._workbench.papers.list(scope=scope)]
        if scope == self._scope:
            self.papers = rows

    @action
    def add_path(self, *, path: str) -> None:
        """Add the file, or every file of the folder, that ``path`` names."""
        files = files_at(path)
        self._add([(file.name, file) for file in files])

    def add_uploads(self, uploads: Sequence[Upload]) -> None:
        """Add files that the browser sent, and remove the copies afterwards."""

        def discard() -> None:
            for upload in uploads:
                upload.discard()

        self._add([(upload.label, upload.path) for upload in uploads], afterwards=discard)

    @action
    def cancel(self) -> None:
        """Stop after the piece of work in hand; what is complete stays."""
        if self.job:
            self._cancelled.set()
            self.job = {**self.job, "stopping": True}

    @action
    def clear_outcomes(self) -> None:
        self.outcomes = []

    @action
    def read_paper(self, *, id: int) -> None:
        self._on_read(id)

    def _add(
        self, files: Sequence[tuple[str, Path]], *, afterwards: Callable[[], None] | None = None
    ) -> None:
        if not self._adding.acquire(blocking=False):
            if afterwards:
                afterwards()
            raise InvalidInputError("Papers are being added already. Wait for them, or cancel first.")
        self._cancelled.clear()
        self.outcomes = []
        scope = self._scope

        def work() -> None:
            try:
                for nth, (label, path) in enumerate(files, start=1):
                    if self._cancelled.is_set():
                        rest = counted(len(files) - nth + 1, "more file")
                        self.outcomes = [*self.outcomes, _outcome(rest, "cancelled", "not added")]
                        return
                    outcome = self._add_one(label, path, scope, nth=nth, files=len(files))
                    self.outcomes = [*self.outcomes, outcome]
                    self._on_change()
                    self.refresh()
            finally:
                self.job = {}
                self._adding.release()
                if afterwards:
                    afterwards()

        self.in_background("adding papers", work)

    def _add_one(self, label: str, path: Path, scope: Scope, *, nth: int, files: int) -> dict[str, str]:
        """What became of one file; each is a batch of its own, so that its outcome shows at once."""
        self._show_progress(label, None, nth=nth, files=files)

        def progress(step: Progress) -> None:
            if self._cancelled.is_set():
                raise _Cancelled
            self._show_progress(label, step, nth=nth, files=files)

        try:
            with _labelled(label, path) as source:
                report = self._workbench.papers.add_many(
                    [source],
                    project=scope.project_id,
                    progress=progress,
                    cancelled=self._cancelled.is_set,
                )
        except _Cancelled:
            return _outcome(label, "cancelled", "not added")
        return _described(label, report.files)

    def _show_progress(self, label: str, step: Progress | None, *, nth: int, files: int) -> None:
        now = time.monotonic()
        if step is not None and now - self._shown_at < PROGRESS_EVERY and step.done < step.total:
            return
        self._shown_at = now
        self.job = {
            "file": label,
            "doing": _doing(step) if step else "starting",
            "percent": round(100 * _share(step)) if step else 0,
            "nth": nth,
            "files": files,
            "stopping": self._cancelled.is_set(),
        }


class _Cancelled(Exception):
    """The person at the panel cancelled: how a progress callback leaves the work."""


@contextmanager
def _labelled(label: str, path: Path) -> Iterator[Path | BinaryIO]:
    """A source that goes by ``label``: the path itself, or an open file of that name."""
    if path.name == label:
        yield path
        return
    with io.FileIO(path) as raw:
        raw.name = label
        yield io.BufferedReader(raw)


def files_at(path: str) -> list[Path]:
    """The file that ``path`` names, or the visible files of that folder and those below it, in order.

    Links inside a folder are not followed: they may lead to files the person did not mean to add.
    Raises InvalidInputError where there is nothing to add.
    """
    given = path.strip().strip("\"'")
    if not given:
        raise InvalidInputError("Name a file or a folder.")
    try:
        place = Path(given).expanduser()
        found = [place] if place.is_file() else _visible_files(place) if place.is_dir() else None
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{one_line(given, 120)} cannot be read: {error}.") from error
    if found is None:
        raise InvalidInputError(f"There is no file or folder {one_line(given, 120)}.")
    if not found:
        raise InvalidInputError(f"There is no file in {one_line(given, 120)}.")
    return found


def _visible_files(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file()
        and not file.is_symlink()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )


def _row(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.id,
        "title": paper.title,
        "byline": byline(paper.authors, paper.year),
        "pages": counted(paper.pages, paper.page_unit),
        "chip": "" if paper.state == "ready" else paper.state,
    }


def _described(label: str, outcomes: Sequence[FileOutcome]) -> dict[str, str]:
    if not outcomes:
        return _outcome(label, "cancelled", "not added")
    outcome = outcomes[0]
    if outcome.status == "failed":
        return _outcome(label, "failed", one_line(outcome.error or "unknown reason"))
    if outcome.status == "duplicate":
        return _outcome(label, "duplicate", "already in the library; linked, not indexed again")
    warnings = "".join(f"; {one_line(w, 120)}" for w in outcome.warnings)
    held = f"{counted(outcome.pages, 'page')}, {counted(outcome.chunks, 'passage')}"
    return _outcome(label, "ready", held + warnings)


def _outcome(label: str, status: str, detail: str) -> dict[str, str]:
    return {"file": label, "status": status, "detail": detail}


def _share(step: Progress) -> float:
    start, end = _STAGE_SHARE.get(step.stage, (0.0, 1.0))
    return start + (end - start) * (step.done / step.total if step.total else 1.0)


def _doing(step: Progress) -> str:
    return _STAGE_WORDS.get(step.stage, step.stage)

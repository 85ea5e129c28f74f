"""One file on its way into the library: what is known of it, and what each stage took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.records import FileOutcome, Progress
from workbench.storage import ledger

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

OnProgress = Callable[[Progress], None]


@dataclass(slots=True)
class FileWork:
    """``stage`` is the one at work, ``seconds`` holds those that are done. The file is the ``number``-th of
    ``files``. ``file_title`` is what the user's file is called, to go by where it states no title."""

    name: str
    user: str
    project_id: int | None = None
    title: str | None = None
    file_title: str | None = None
    source_id: str | None = None
    sha256: str | None = None
    progress: OnProgress | None = None
    number: int = 1
    files: int = 1
    stage: str = "read"
    seconds: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Notes how long the block takes, unless it fails."""
        self.stage = stage
        start = time.perf_counter()
        yield
        self.seconds.append((stage, time.perf_counter() - start))

    def tell(self, done: int, total: int) -> None:
        """Reports ``done`` of ``total`` units of the stage at work."""
        if self.progress is not None:
            self.progress(Progress(self.stage, self.name, done, total, self.number, self.files))

    def write_ledger(self, cursor: DuckDBPyConnection, *, paper_id: int | None) -> None:
        """A row for each stage that is done."""
        for stage, seconds in self.seconds:
            ledger.record(
                cursor,
                self.user,
                file=self.name,
                stage=stage,
                state="done",
                seconds=seconds,
                sha256=self.sha256,
                paper_id=paper_id,
            )

    def write_failure(self, cursor: DuckDBPyConnection, reason: str, *, paper_id: int | None) -> FileOutcome:
        """The stages that are done and the one that failed; the outcome to report."""
        line = " ".join(reason.split())
        self.write_ledger(cursor, paper_id=paper_id)
        ledger.record(
            cursor,
            self.user,
            file=self.name,
            stage=self.stage,
            state="failed",
            seconds=0.0,
            sha256=self.sha256,
            paper_id=paper_id,
            error=line,
        )
        return FileOutcome(self.name, "failed", paper_id, error=line)

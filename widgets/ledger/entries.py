"""What became of each paper and each stage, from the ledger that the library keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from widgets.papers.work import STAGES
from widgets.wording import one_line
from workbench import Scope

if TYPE_CHECKING:
    from workbench import StageEnd, Workbench

LONGEST_ERROR = 240


@dataclass(slots=True)
class Entry:
    """A paper (``id`` above 0), or a file that became none. ``state`` is the paper's: ready, indexing, or
    failed for such a file. ``stages`` are those that ever ended."""

    id: int
    title: str
    file: str
    state: str
    added: datetime
    stages: dict[str, StageEnd] = field(default_factory=dict)

    @property
    def error(self) -> str:
        """Why the stage that failed last did, empty where none did."""
        failed = [end for end in self.stages.values() if end.state == "failed"]
        last = max(failed, key=lambda end: end.finished_at, default=None)
        return one_line((last and last.error) or "", LONGEST_ERROR)

    @property
    def is_problem(self) -> bool:
        return self.state != "ready" or any(end.state == "failed" for end in self.stages.values())

    @property
    def at(self) -> datetime:
        """When something last happened to it."""
        return max((end.finished_at for end in self.stages.values()), default=self.added)


def read_entries(workbench: Workbench) -> list[Entry]:
    """Every paper and failed file of the user, problems first, then the newest."""
    papers = {
        paper.id: Entry(paper.id, one_line(paper.title), paper.file, paper.state, paper.added_at)
        for paper in workbench.papers.list(Scope.ALL)
    }
    files: dict[str, Entry] = {}
    for end in workbench.papers.stage_ends():
        entry = papers.get(end.paper_id or 0)
        if end.paper_id is None:
            new = Entry(0, one_line(end.file), end.file, "failed", end.finished_at)
            entry = files.setdefault(end.file, new)
        if entry is not None:
            entry.stages[end.stage] = end
    failed = [entry for entry in files.values() if entry.error]
    newest = sorted([*papers.values(), *failed], key=lambda e: (e.at, e.id), reverse=True)
    return sorted(newest, key=lambda e: not e.is_problem)


def shown_entry(entry: Entry) -> dict[str, Any]:
    """What the front end draws of an entry. Times are ISO 8601 in UTC."""
    return {
        "id": entry.id,
        "title": entry.title or "Untitled",
        "file": one_line(entry.file),
        "state": entry.state,
        "problem": entry.is_problem,
        "error": entry.error,
        "at": entry.at.isoformat() if entry.stages else "",
        "stages": [_shown_stage(entry.stages.get(stage)) for stage in STAGES],
    }


def _shown_stage(end: StageEnd | None) -> dict[str, str]:
    if end is None:
        return {"state": "", "took": "", "at": ""}
    return {
        "state": end.state,
        "took": duration(end.seconds) if end.state == "done" else "",
        "at": end.finished_at.isoformat(),
    }


def duration(seconds: float) -> str:
    """ "8 ms", "1.4 s", "3 min 5 s", "2 h 10 min"."""
    if seconds < 1:
        return f"{max(1, round(seconds * 1000))} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(number: int) -> str:
    """Bytes in words: "812 kB", "14.2 MB", "3.1 GB"."""
    if number < 1_000_000:
        return f"{max(1, round(number / 1000))} kB"
    return f"{number / 1e6:.1f} MB" if number < 1e9 else f"{number / 1e9:.1f} GB"

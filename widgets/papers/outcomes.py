"""What became of files, in words a person at the dashboard can act on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from widgets.wording import counted, one_line

if TYPE_CHECKING:
    from workbench import FileOutcome, Paper

Outcome = dict[str, str]
"""``{"file", "status", "detail"}`` with status ready, duplicate, failed or cancelled."""


def outcome(label: str, status: str, detail: str) -> Outcome:
    return {"file": label, "status": status, "detail": detail}


def just_ready(file: str, papers: Iterable[Paper]) -> Outcome:
    """A file that is complete while its batch goes on; ``papers`` are those of the library."""
    found = [paper for paper in papers if paper.file == file]
    return outcome(file, "ready", _held(found[-1]) if found else "added")


def described(outcomes: Iterable[FileOutcome], papers: Iterable[Paper]) -> list[Outcome]:
    """The outcomes of a whole batch, each paper in its own units."""
    known = {paper.id: paper for paper in papers}
    return [_described(file, known.get(file.paper_id or 0)) for file in outcomes]


def _described(file: FileOutcome, paper: Paper | None) -> Outcome:
    if file.status == "failed":
        return outcome(file.file, "failed", reason(file.error or "unknown reason"))
    if file.status == "duplicate":
        return outcome(file.file, "duplicate", "already in the library; linked, not indexed again")
    warnings = "".join(f"; {one_line(w, 160)}" for w in file.warnings)
    return outcome(file.file, "ready", (_held(paper) if paper else "added") + warnings)


def reason(error: str) -> str:
    """An error in one line. At a project's limit it says what can be done here."""
    line = one_line(error)
    before, limit, _ = line.partition(": remove one, or raise WORKBENCH_PROJECT_MAX_PAPERS")
    return f"{before}. Take one out with its ⋯ menu, or choose another project." if limit else line


def _held(paper: Paper) -> str:
    return f"{counted(paper.pages, paper.page_unit)}, {counted(paper.chunks, 'passage')}"

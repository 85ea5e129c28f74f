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


MANY = 40
"""Outcomes that are told one by one; of more, those that went well are told as one."""


def folded(outcomes: list[Outcome]) -> list[Outcome]:
    """The outcomes to show: all of a few; of many one line for those that are ready, and the last others."""
    if len(outcomes) <= MANY:
        return outcomes
    others = [o for o in outcomes if o["status"] != "ready"]
    ready, left = len(outcomes) - len(others), len(others) - MANY
    lines = [outcome(counted(ready, "file"), "ready", "added")] if ready else []
    if left > 0:
        lines.append(outcome(f"{left} more", "failed", "see the Ledger tab for each"))
    return [*lines, *others[-MANY:]]


def without(outcomes: list[Outcome], index: int) -> list[Outcome]:
    """The outcomes once the ``index``-th of those shown is dismissed."""
    shown = folded(outcomes)
    if not 0 <= index < len(shown):
        return outcomes
    line = shown[index]
    if any(o is line for o in outcomes):
        return [o for o in outcomes if o is not line]
    if line["status"] == "ready":
        return [o for o in outcomes if o["status"] != "ready"]
    others = [o for o in outcomes if o["status"] != "ready"][:-MANY]
    return [o for o in outcomes if not any(o is other for other in others)]


def reason(error: str) -> str:
    """An error in one line. At a project's limit it says what can be done here."""
    line = one_line(error)
    before, limit, _ = line.partition(": remove one, or raise WORKBENCH_PROJECT_MAX_PAPERS")
    return f"{before}. Take one out with its ⋯ menu, or choose another project." if limit else line


def _held(paper: Paper) -> str:
    return f"{counted(paper.pages, paper.page_unit)}, {counted(paper.chunks, 'passage')}"

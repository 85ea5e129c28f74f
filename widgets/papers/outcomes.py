"""What became of files, in words a person at the dashboard can act on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from widgets.wording import counted, one_line

if TYPE_CHECKING:
    from workbench import FileOutcome, Paper

Outcome = dict[str, str]
"""``{"file", "status", "detail"}`` with status ready, duplicate, failed or cancelled."""


def outcome(label: str, status: str, detail: str) -> Outcome:
    return {"file": label, "status": status, "detail": detail}


def described(file: FileOutcome, paper: Paper | None) -> Outcome:
    """What became of one file; its paper, where there is one, in its own units."""
    if file.status == "failed":
        return outcome(file.file, "failed", reason(file.error or "unknown reason"))
    if file.status == "duplicate":
        return outcome(file.file, "duplicate", "already in the library; linked, not indexed again")
    warnings = "".join(f"; {one_line(w, 160)}" for w in file.warnings)
    return outcome(file.file, "ready", (_held(paper) if paper else "added") + warnings)


MANY = 40
"""Outcomes that are told one by one; of more, those that went well are told as one."""

_IN_SUM = {
    "ready": "added",
    "duplicate": "already in the library; linked, not indexed again",
    "failed": "not added; the Ledger tab has the reason of each that was read",
}


class Told:
    """What became of files that were added to one place, as it is told there: all of a few; of many one line
    for those that went well, and the last others. It stays as small however many files there are."""

    def __init__(self) -> None:
        self._single: list[Outcome] = []
        self._sums: Counter[str] = Counter()  # by status: those that are told as one

    def add(self, one: Outcome) -> None:
        if self._sums[one["status"]] and one["status"] != "failed":
            self._sums[one["status"]] += 1
            return
        self._single.append(one)
        if len(self._single) > MANY:
            self._fold()

    def _fold(self) -> None:
        well = [o for o in self._single if o["status"] in ("ready", "duplicate")]
        others = [o for o in self._single if o not in well]
        self._sums.update(o["status"] for o in well)
        self._sums["failed"] += len(others[:-MANY])
        self._single = others[-MANY:]

    def lines(self) -> list[Outcome]:
        """What to show, in the order in which ``dismiss`` counts."""
        return [*self._summed(), *self._single]

    def _summed(self) -> list[Outcome]:
        named = {status: "file" if status != "failed" else "more file" for status in _IN_SUM}
        return [
            outcome(counted(self._sums[status], named[status]), status, detail)
            for status, detail in _IN_SUM.items()
            if self._sums[status]
        ]

    def dismiss(self, index: int) -> None:
        """No longer tell what the ``index``-th line says."""
        summed = self._summed()
        if 0 <= index < len(summed):
            del self._sums[summed[index]["status"]]
        elif 0 <= index - len(summed) < len(self._single):
            del self._single[index - len(summed)]


def reason(error: str) -> str:
    """An error in one line. At a project's limit it says what can be done here."""
    line = one_line(error)
    before, limit, _ = line.partition(": remove one, or raise WORKBENCH_PROJECT_MAX_PAPERS")
    return f"{before}. Take one out with its ⋯ menu, or choose another project." if limit else line


def _held(paper: Paper) -> str:
    return f"{counted(paper.pages, paper.page_unit)}, {counted(paper.chunks, 'passage')}"

"""The Ledger tab's state: what became of each paper's stages, and how the library is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, List, Unicode

from widgets.ledger.entries import Entry, read_entries, shown_entry, size
from widgets.ledger.health import explained
from widgets.listing import ListingState
from widgets.panel import action
from widgets.papers.paths import typed_path
from widgets.papers.work import Work
from widgets.wording import counted, one_line, place_label

if TYPE_CHECKING:
    from workbench import Workbench

CHECKED_UNASKED = 100
"""Papers up to which the library is checked without being asked: it takes about 10 ms for each."""


class LedgerState(ListingState):
    """``page`` has rows as ``shown_entry`` makes them, and the numbers of ``papers``, ``problems`` and those
    that are ``resumable``; ``query`` and ``only`` ("all" or "problems") say which rows.

    ``facts`` are ``{"label", "value", "note"}``, ``notices`` lines that say what to do. ``health`` is
    ``{"state", "at", "findings"}`` with state "", "checking", "good" or "bad", and findings as ``explained``
    makes them. ``saving`` is true while a backup is written.
    """

    only = Unicode("all").tag(sync=True)
    facts = List(Dict()).tag(sync=True)
    notices = List(Unicode()).tag(sync=True)
    health = Dict().tag(sync=True)
    saving = Bool(False).tag(sync=True)

    looks = frozenset({"query", "only"})

    def __init__(
        self,
        workbench: Workbench,
        work: Work,
        *,
        on_change: Callable[[], None] = lambda: None,
        on_read: Callable[[int], None] = lambda _: None,
        **options: Any,
    ) -> None:
        super().__init__(workbench, work, on_change=on_change, on_read=on_read, **options)
        self._entries: list[Entry] = []
        self._checking = threading.Lock()
        self.health = {"state": "", "at": "", "findings": []}
        self._arrange()

    # --- reading and showing -----------------------------------------------------------------

    def shown(self) -> None:
        """The tab comes into view: read the ledger again, and check a small library if nobody has yet."""

        def look_in() -> None:
            self.refresh()
            if not self.health["state"] and self.page["papers"] <= CHECKED_UNASKED:
                self.check()

        self.in_background("reading the ledger", look_in)

    def _read(self) -> None:
        """Read the ledger and the library's state."""
        entries = read_entries(self._workbench)
        with self._arranging:
            self._entries = entries
            self._arrange()
        status = self._workbench.status()
        self.facts = _facts(status)
        self.notices = [one_line(notice) for notice in status["warnings"]]

    def _arrange(self) -> None:
        with self._arranging:
            words = self.query.casefold().split()
            found = [
                entry
                for entry in self._entries
                if (self.only == "all" or entry.is_problem)
                and all(word in f"{entry.title} {entry.file} {entry.error}".casefold() for word in words)
            ]
            self.page = {
                **self._cut(found, shown_entry),
                "papers": sum(entry.id > 0 for entry in self._entries),
                "problems": sum(entry.is_problem for entry in self._entries),
                "resumable": len(self._resumable()),
            }

    def _resumable(self) -> list[Entry]:
        return [entry for entry in self._entries if entry.id and entry.is_problem]

    def _failed_files(self) -> list[str]:
        return [entry.file for entry in self._entries if not entry.id]

    # --- what can be done --------------------------------------------------------------------

    @action
    def resume(self, *, ids: Sequence[int]) -> None:
        """Process papers again from their stored files; what they have stays until the new is complete."""
        chosen = set(ids) - set(self.waiting)
        self._process_again([(entry.id, entry.title) for entry in self._entries if entry.id in chosen])

    @action
    def resume_all(self) -> None:
        """Process every paper with a problem again."""
        self.resume(ids=[entry.id for entry in self._resumable()])

    @action
    def check(self) -> None:
        """Ask the library whether all of it is as it must be, beside everything else."""

        def work() -> None:
            if not self._checking.acquire(blocking=False):
                return  # somebody has asked already; the answer comes
            before = self.health
            self.health = {**before, "state": "checking"}
            try:
                findings = [explained(line) for line in self._workbench.doctor()]
                before = {
                    "state": "bad" if findings else "good",
                    "at": datetime.now(UTC).isoformat(),
                    "findings": findings,
                }
            finally:
                self._checking.release()
                self.health = before

        self.in_background("checking the library", work)

    @action
    def back_up(self, *, path: str) -> None:
        """Write a checked copy of the library to a new file, or into a folder."""
        target = typed_path(path)
        if self.saving:
            return
        self.saving, self.told = True, ""

        def work() -> None:
            try:
                written = self._workbench.backup(target)
            finally:
                self.saving = False
            self.told = f"A checked copy is at {one_line(str(written), 1000)}"

        self.in_background("writing the backup", work)


def _facts(status: dict[str, Any]) -> list[dict[str, str]]:
    """The library in a few facts, each with a word on what it means."""
    waiting = status["indexing"]
    embedder, generation = status["embedder"], status["generation"]
    named = embedder.split("@")[0] if embedder else "none at hand"  # without the hash of its weights
    searched = "Searches go by meaning and by words." if embedder else "Searches go by words only."
    if waiting:
        searched += f" {counted(waiting, 'paper')} still {'lacks' if waiting == 1 else 'lack'} vectors."
    return [
        {"label": "Library", "value": size(status["bytes"]), "note": place_label(status["library"])},
        {
            "label": "Papers",
            "value": f"{status['papers']:,}",
            "note": f"{status['chunks']:,} passages, {counted(status['projects'], 'project')}",
        },
        {"label": "Embedder", "value": one_line(named, 120), "note": searched},
        {
            "label": "Generation",
            "value": str(generation) if generation else "none yet",
            "note": "The set of vectors in use. Each embedder has its own.",
        },
    ]

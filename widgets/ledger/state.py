"""The Ledger tab's state: what became of each paper's stages, and how the library is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.ledger.entries import Entry, read_entries, shown_entry, size
from widgets.ledger.health import explained
from widgets.library.telling import of_reprocessing
from widgets.panel import PanelState, action
from widgets.papers.paths import typed_path
from widgets.papers.work import Work, reprocess
from widgets.wording import counted, one_line
from workbench import NotFoundError

if TYPE_CHECKING:
    from workbench import Workbench

PAGE = 50
"""Rows that the page shows at a time, whatever the library holds."""

CHECKED_UNASKED = 100
"""Papers up to which the library is checked without being asked: it takes about 10 ms for each."""

REFRESH_EVERY = 2.0
"""Seconds between two readings of the ledger while work goes on."""


class LedgerState(PanelState):
    """``page`` is what is shown, ``{"rows", "start", "size", "matches", "papers", "problems", "resumable"}``,
    rows as ``shown_entry`` makes them; ``query`` and ``only`` ("all" or "problems") say which.

    ``facts`` are ``{"label", "value", "note"}``, ``notices`` lines that say what to do. ``health`` is
    ``{"state", "at", "findings"}`` with state "", "checking", "good" or "bad", and findings as ``explained``
    makes them. ``saving`` is true while a backup is written. ``job`` and ``waiting`` are the work's.
    """

    page = Dict().tag(sync=True)
    loaded = Bool(False).tag(sync=True)
    query = Unicode("").tag(sync=True)
    only = Unicode("all").tag(sync=True)
    facts = List(Dict()).tag(sync=True)
    notices = List(Unicode()).tag(sync=True)
    health = Dict().tag(sync=True)
    saving = Bool(False).tag(sync=True)
    told = Unicode("").tag(sync=True)
    job = Dict().tag(sync=True)
    waiting = List(Int()).tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        work: Work,
        *,
        on_change: Callable[[], None] = lambda: None,
        on_read: Callable[[int], None] = lambda _: None,
        **options: Any,
    ) -> None:
        """``work`` is what long work goes through. ``on_change`` is called when papers were processed,
        ``on_read`` with a paper to show."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_change, self._on_read = on_change, on_read
        self._entries: list[Entry] = []
        self._start = 0
        self._read_at = 0.0
        self._arranging = threading.RLock()
        self._checking = threading.Lock()
        self.work = work
        self.health = {"state": "", "at": "", "findings": []}
        self._arrange()
        self.work.observe(lambda change: self.set_trait("job", change["new"]), "job")
        self.work.observe(lambda change: self.set_trait("waiting", change["new"]), "waiting")

    # --- reading and showing -----------------------------------------------------------------

    def shown(self) -> None:
        """The tab comes into view: read the ledger again, and check a small library if nobody has yet."""

        def look_in() -> None:
            self.refresh()
            if not self.health["state"] and self.page["papers"] <= CHECKED_UNASKED:
                self.check()

        self.in_background("reading the ledger", look_in)

    def refresh(self) -> None:
        """Read the ledger and the library's state again."""
        self._read_at = time.monotonic()
        entries = read_entries(self._workbench)
        with self._arranging:
            self._entries = entries
            self._arrange()
        status = self._workbench.status()
        self.facts = _facts(status)
        self.notices = [one_line(notice) for notice in status["warnings"]]
        self.loaded = True

    def library_changed(self) -> None:
        """Something changed papers: follow, not more often than is of use while work goes on."""
        if self.loaded and (not self.work.job or time.monotonic() - self._read_at >= REFRESH_EVERY):
            self.refresh()

    def _arrange(self) -> None:
        with self._arranging:
            words = self.query.casefold().split()
            found = [
                entry
                for entry in self._entries
                if (self.only == "all" or entry.is_problem)
                and all(word in f"{entry.title} {entry.file} {entry.error}".casefold() for word in words)
            ]
            self._start = max(0, min(self._start, (len(found) - 1) // PAGE * PAGE))
            self.page = {
                "rows": [shown_entry(entry) for entry in found[self._start : self._start + PAGE]],
                "start": self._start,
                "size": PAGE,
                "matches": len(found),
                "papers": sum(entry.id > 0 for entry in self._entries),
                "problems": sum(entry.is_problem for entry in self._entries),
                "resumable": len(self._resumable()),
            }

    def _resumable(self) -> list[Entry]:
        return [entry for entry in self._entries if entry.id and entry.is_problem]

    @action
    def look(self, **how: Any) -> None:
        """Show other rows: any of ``query``, ``only`` and ``start``."""
        with self._arranging:
            self._start = int(how.pop("start", 0))
            for name in {"query", "only"} & how.keys():
                self.set_trait(name, how[name])
            self._arrange()

    # --- what can be done --------------------------------------------------------------------

    @action
    def resume(self, *, ids: Sequence[int]) -> None:
        """Process papers again from their stored files; what they have stays until the new is complete."""
        wanted = [(e.id, e.title) for e in self._entries if e.id in set(ids) and e.id not in self.waiting]

        def work() -> None:
            try:
                outcomes, left = reprocess(self._workbench, self.work, wanted, done=self.library_changed)
            finally:
                self.refresh()
                self._on_change()
            self.told = of_reprocessing(outcomes, left=left)

        if wanted:
            self.in_background("processing again", work)

    @action
    def resume_all(self) -> None:
        """Process every paper with a problem again."""
        self.resume(ids=[entry.id for entry in self._resumable()])

    @action
    def forget_file(self, *, name: str) -> None:
        """Let go of a file that did not become a paper, by the name its row shows."""
        files = [e.file for e in self._entries if not e.id and one_line(e.file) == name]

        def work() -> None:
            for file in files:
                with suppress(NotFoundError):
                    self._workbench.papers.forget_file(file)
            self.refresh()
            self._on_change()

        self.in_background("forgetting the file", work)

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

    @action
    def cancel(self) -> None:
        self.work.cancel()

    @action
    def read_paper(self, *, id: int) -> None:
        self._on_read(id)

    @action
    def dismiss_told(self) -> None:
        self.told = ""


def _facts(status: dict[str, Any]) -> list[dict[str, str]]:
    """The library in a few facts, each with a word on what it means."""
    waiting = status["indexing"]
    embedder, generation = status["embedder"], status["generation"]
    searched = "Searches go by meaning and by words." if embedder else "Searches go by words only."
    if waiting:
        searched += f" {counted(waiting, 'paper')} still {'lacks' if waiting == 1 else 'lack'} vectors."
    return [
        {"label": "Library", "value": size(status["bytes"]), "note": one_line(status["library"], 1000)},
        {
            "label": "Papers",
            "value": f"{status['papers']:,}",
            "note": f"{status['chunks']:,} passages, {counted(status['projects'], 'project')}",
        },
        {"label": "Embedder", "value": one_line(embedder or "none at hand", 120), "note": searched},
        {
            "label": "Generation",
            "value": str(generation) if generation else "none yet",
            "note": "The set of vectors in use. Each embedder has its own.",
        },
    ]

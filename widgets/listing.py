"""What tabs with long lists share: pages of rows, long work on papers, a line about what was done last."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.library.telling import of_reprocessing
from widgets.messages import MISFIT
from widgets.panel import PanelState, action
from widgets.papers.work import Work, reprocess
from widgets.wording import one_line
from workbench import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from workbench import Workbench

PAGE = 50
"""Rows that the page shows at a time, whatever the library holds."""

REFRESH_EVERY = 2.0
"""Seconds between two readings of a list while work goes on."""

Row = TypeVar("Row")


class ListingState(PanelState):
    """``page`` is what is shown, ``{"rows", "start", "size", "matches"}`` and what the tab adds: rows from
    ``start`` on, ``size`` at the most, of all that match. ``query`` are words that each row holds. ``told``
    is one line about what was done last; ``job`` and ``waiting`` are the work's.
    """

    page = Dict().tag(sync=True)
    loaded = Bool(False).tag(sync=True)
    query = Unicode("").tag(sync=True)
    told = Unicode("").tag(sync=True)
    job = Dict().tag(sync=True)
    waiting = List(Int()).tag(sync=True)

    looks: ClassVar[frozenset[str]] = frozenset({"query"})
    """The traits that say which rows are shown and in what order."""

    def __init__(
        self,
        workbench: Workbench,
        work: Work,
        *,
        on_change: Callable[[], None],
        on_read: Callable[[int], None],
        **options: Any,
    ) -> None:
        """``work`` is what long work goes through. ``on_change`` is called when library or projects hold
        other papers, ``on_read`` with a paper to show."""
        super().__init__(**options)
        self._workbench = workbench
        self.work = work
        self._on_change, self._on_read = on_change, on_read
        self._start = 0
        self._read_at = 0.0
        self._arranging = threading.RLock()
        self.work.observe(lambda change: self.set_trait("job", change["new"]), "job")
        self.work.observe(lambda change: self.set_trait("waiting", change["new"]), "waiting")

    # --- what a tab adds ---------------------------------------------------------------------

    def _read(self) -> None:
        """Read the list from the library, and show it."""

    def _arrange(self) -> None:
        """Find, sort and cut what is to be shown."""

    def _failed_files(self) -> list[str]:
        """Names of the files in the list that did not become papers."""
        return []

    # --- reading and showing -----------------------------------------------------------------

    def refresh(self) -> None:
        """Read the list again."""
        with self._refreshing:
            self._read_at = time.monotonic()
            self._read()
            self.loaded = True

    def library_changed(self) -> None:
        """Something changed papers or projects elsewhere: follow, not more often than is of use."""
        if self.loaded and (not self.work.job or time.monotonic() - self._read_at >= REFRESH_EVERY):
            self.refresh()

    def _cut(self, found: Sequence[Row], shown: Callable[[Row], dict[str, Any]]) -> dict[str, Any]:
        """The page of ``found`` on which the first row wanted stands; beyond the end, the last page."""
        self._start = max(0, min(self._start, (len(found) - 1) // PAGE * PAGE))
        rows = [shown(row) for row in found[self._start : self._start + PAGE]]
        return {"rows": rows, "start": self._start, "size": PAGE, "matches": len(found)}

    @action
    def look(self, *, start: int = 0, **how: str | bool) -> None:
        """Show other rows or another order: any of ``looks``. All but ``start`` lead back to the first row.
        Raises InvalidInputError for what is none of them, or of another kind."""
        if any(name not in self.looks or type(how[name]) is not type(getattr(self, name)) for name in how):
            raise InvalidInputError(MISFIT)
        with self._arranging:
            self._start = start
            for name, value in how.items():
                self.set_trait(name, value)
            self._arrange()

    # --- what can be done --------------------------------------------------------------------

    def _process_again(self, wanted: Sequence[tuple[int, str]]) -> None:
        """Read papers, given as id and name, again from their stored files; until each is complete the old
        index answers."""

        def work() -> None:
            try:
                outcomes, left = reprocess(self._workbench, self.work, wanted, done=self.library_changed)
            finally:
                self._changed()
            self.told = of_reprocessing(outcomes, left=left)

        if wanted:
            self.in_background("processing again", work)

    @action
    def forget_file(self, *, name: str) -> None:
        """Let go of a file that did not become a paper, by the name its row shows: the row is taken out."""
        files = [file for file in self._failed_files() if one_line(file) == name]

        def work() -> None:
            for file in files:
                with suppress(NotFoundError):
                    self._workbench.papers.forget_file(file)
            self._changed()

        self.in_background("forgetting the file", work)

    @action
    def cancel(self) -> None:
        self.work.cancel()

    @action
    def read_paper(self, *, id: int) -> None:
        self._on_read(id)

    @action
    def dismiss_told(self) -> None:
        self.told = ""

    def _changed(self) -> None:
        self.refresh()
        self._on_change()

"""The papers panel's state: the papers of the chosen scope, adding more with progress and outcomes, and
taking papers out.
"""

from __future__ import annotations

import io
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.panel import PanelState, action
from widgets.papers.outcomes import Outcome, Told, described, outcome, reason
from widgets.papers.paths import existing_path
from widgets.papers.work import Cancelled, Work, is_last
from widgets.wording import byline, counted, one_line
from workbench import ConflictError, Scope, WorkbenchError

if TYPE_CHECKING:
    from widgets.uploads.state import Upload
    from workbench import FileOutcome, Paper, Progress, Workbench


SHOWN = 200
"""Rows of the list at most; the Library tab has the rest."""

CHANGES_EVERY = 1.0
"""Seconds between two readings of what a batch has added so far."""


class PapersState(PanelState):
    """``papers`` are the rows to show, at most ``SHOWN`` of ``count``; ``job`` is empty or the work under
    way; ``outcomes`` what became of files added to the scope shown. ``library`` are rows of papers that its
    project does not hold.

    A row is ``{"id", "title", "author", "year", "pages", "chip"}``. A job is as ``Work`` tells it.
    ``project`` is the project's id, 0 where the scope is none. ``told`` is one line about what was done last.
    """

    papers = List(Dict()).tag(sync=True)
    count = Int(0).tag(sync=True)
    loaded = Bool(False).tag(sync=True)
    limit = Int(0).tag(sync=True)
    project = Int(0).tag(sync=True)
    library = List(Dict()).tag(sync=True)
    told = Unicode("").tag(sync=True)
    job = Dict().tag(sync=True)
    outcomes = List(Dict()).tag(sync=True)
    batch = Dict()
    """The last finished batch, for other panels: ``{"number", "outcomes"}``."""

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_change: Callable[[], None],
        on_read: Callable[[int], None],
        on_ask: Callable[[int], None] = lambda _: None,
        work: Work | None = None,
        **options: Any,
    ) -> None:
        """``on_change`` is called when the library holds other papers, ``on_read`` with a paper to show,
        ``on_ask`` with one to ask alone. ``work`` is what long work goes through where other panels share
        it."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_change = on_change
        self._on_read, self._on_ask = on_read, on_ask
        self._scope = Scope.ORPHANS
        self._outcomes: dict[Scope, Told] = defaultdict(Told)
        self._telling = threading.Lock()
        self._changed_at = 0.0
        self.work = Work() if work is None else work
        self.work.observe(lambda change: self.set_trait("job", change["new"]), "job")

    @property
    def scope(self) -> Scope:
        """The scope shown."""
        return self._scope

    def show(self, scope: Scope) -> None:
        """Show the papers of ``scope``, and add new ones to it from now on."""
        self._scope = scope
        self.told = ""
        self.library = []
        self._tell(scope, lambda told: None)
        self.refresh()

    def refresh(self) -> None:
        """Read the papers of the scope again."""
        with self._refreshing:
            scope = self._scope
            self.limit = self._workbench.settings.project_max_papers if scope.project_id else 0
            papers = self._workbench.papers.list(scope=scope)
            if scope == self._scope:
                self.project = scope.project_id or 0
                self.count = len(papers)
                self.papers = [_row(paper) for paper in papers[:SHOWN]]
                self.loaded = True

    @action
    def add_path(self, *, path: str) -> None:
        """Add the file, or every file of the folder, that ``path`` names, from the folder in which the
        dashboard was started."""
        self.add_from(path)

    def add_from(self, path: str, scope: Scope | None = None) -> None:
        """The same into ``scope``, whatever is shown."""
        self._add([existing_path(path)], scope=scope)

    def add_uploads(self, uploads: Sequence[Upload]) -> None:
        """Add files that the browser sent to the scope they set out for, and remove the copies afterwards."""
        with ExitStack() as opened:
            for upload in uploads:
                opened.callback(upload.discard)
            sources = [opened.enter_context(_labelled(upload)) for upload in uploads]
            scope = next((upload.scope for upload in uploads), None)
            self._add(sources, scope=scope, afterwards=opened.pop_all().close)

    @action
    def cancel(self) -> None:
        """Stop after the piece of work in hand; what is complete stays."""
        self.work.cancel()

    @action
    def clear_outcomes(self) -> None:
        self.forget(self._scope)

    @action
    def dismiss_outcome(self, *, index: int) -> None:
        self._tell(self._scope, lambda told: told.dismiss(index))

    def forget(self, scope: Scope) -> None:
        """Tell no more what became of files added to ``scope``."""
        with self._telling:
            self._outcomes.pop(scope, None)
        self._tell(scope, lambda told: None)

    @action
    def take_out(self, *, id: int) -> None:
        """Take a paper out of the project shown; it stays in the library."""
        scope = self._scope

        def work() -> str:
            title = self._workbench.papers.get(id).title
            self._workbench.projects.remove(scope.project_id or 0, id)
            return f"“{title}” is out of this project. It stays in the library."

        self._change("taking the paper out", work)

    @action
    def remove(self, *, id: int) -> None:
        """Remove a paper from the library and from every project."""

        def work() -> str:
            title = self._workbench.papers.get(id).title
            self._workbench.papers.remove(id)
            return f"“{title}” is removed from the library."

        self._change("removing the paper", work)

    @action
    def offer_library(self) -> None:
        """List the papers that the project shown does not hold."""

        def work() -> None:
            here = {paper.id for paper in self._workbench.papers.list(self._scope)}
            self.library = [_row(p) for p in self._workbench.papers.list(Scope.ALL) if p.id not in here]

        self.in_background("listing the library", work)

    @action
    def add_from_library(self, *, ids: Sequence[int]) -> None:
        """Put papers of the library into the project shown, all of them or none."""
        project = self._scope.project_id
        if project is None or not ids:
            return

        def work() -> str:
            try:
                self._workbench.projects.add(project, *ids)
            except ConflictError as error:
                raise ConflictError(reason(str(error))) from error
            return ""

        self._change("adding papers from the library", work)

    def _change(self, doing: str, change: Callable[[], str]) -> None:
        """Carry out ``change`` and show what it tells."""

        def work() -> None:
            told = change()
            self._changed()
            self.told = told

        self.in_background(doing, work)

    def _tell(self, scope: Scope, change: Callable[[Told], None]) -> None:
        """Change what is told of files added to ``scope``, and show it where that is the scope shown."""
        with self._telling:
            told = self._outcomes[scope]
            change(told)
            if scope == self._scope:
                self.outcomes = told.lines()

    @action
    def read_paper(self, *, id: int) -> None:
        self._on_read(id)

    @action
    def ask_paper(self, *, id: int) -> None:
        self._on_ask(id)

    def _add(
        self,
        sources: Sequence[Any],
        *,
        scope: Scope | None = None,
        afterwards: Callable[[], None] = lambda: None,
    ) -> None:
        """Add ``sources`` to ``scope``, or the one shown now; a batch waits for the one before it."""
        target = self._scope if scope is None else scope
        self.told = ""

        def work() -> None:
            try:
                with self.work.turn():
                    self._add_batch(_Batch(target), sources)
            finally:
                afterwards()
                self._changed()

        self.in_background("adding papers", work)

    def _add_batch(self, batch: _Batch, sources: Sequence[Any]) -> None:
        try:
            self._workbench.papers.add_many(
                sources,
                project=batch.scope.project_id,
                progress=lambda step: self._progressed(batch, step),
                cancelled=lambda: self.work.cancelled,
                done=lambda file: self._done(batch, file),
            )
        except Cancelled:
            self._ended(batch, outcome(batch.rest(), "cancelled", "not added"))
        self.batch = {"number": self.batch.get("number", 0) + 1, "outcomes": batch.outcomes}

    def _ended(self, batch: _Batch, one: Outcome) -> None:
        batch.outcomes.append(one)
        self._tell(batch.scope, lambda told: told.add(one))

    def _done(self, batch: _Batch, file: FileOutcome) -> None:
        """Tell what became of a file, and list its paper, at once."""
        paper = None
        with suppress(WorkbenchError):  # a paper removed meanwhile, a busy library: neither ends the batch
            paper = self._workbench.papers.get(file.paper_id) if file.paper_id else None
        self._ended(batch, described(file, paper))
        if file.status != "failed" and time.monotonic() - self._changed_at >= CHANGES_EVERY:
            self._changed()

    def _progressed(self, batch: _Batch, step: Progress) -> None:
        """Show one step; leave where the person cancelled."""
        another = batch.step is None or step.number != batch.step.number
        batch.step = step
        if self.work.cancelled and not is_last(step):
            raise Cancelled
        self.work.show(step, always=another)

    def _changed(self) -> None:
        self._on_change()
        self.refresh()
        self._changed_at = time.monotonic()  # its end: in a large library reading takes long itself


@dataclass(slots=True)
class _Batch:
    """Files on their way into one scope: what became of those before, and the last step."""

    scope: Scope
    outcomes: list[Outcome] = field(default_factory=list)
    step: Progress | None = None

    def rest(self) -> str:
        """The files that are not complete, in words."""
        if self.step is None:
            return "all files"
        more = self.step.files - self.step.number
        return f"{self.step.file} and {more} more" if more else self.step.file


@contextmanager
def _labelled(upload: Upload) -> Iterator[BinaryIO]:
    """The upload's bytes as an open file that goes by its label."""
    with io.FileIO(upload.path) as raw:
        raw.name = upload.label
        yield io.BufferedReader(raw)


def _row(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.id,
        "title": one_line(paper.title),
        "author": byline(paper.authors, None),
        "year": str(paper.year or ""),
        "pages": counted(paper.pages, paper.page_unit),
        "chip": "" if paper.state == "ready" else paper.state,
    }

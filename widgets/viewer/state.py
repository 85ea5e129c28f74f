"""The page viewer's state: one page of one paper, as an image or as text, with the cited passage marked."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Bytes, Float, Int, List, Unicode

from widgets.panel import PanelState, action
from widgets.viewer.pages import Content, Mark, PageSource, Shown
from widgets.viewer.quoting import quotation, reference
from widgets.wording import byline, one_line
from workbench import WorkbenchError

if TYPE_CHECKING:
    from workbench import Workbench

ZOOMS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
IMAGE_WIDTH = 1000
"""Pixels of a page's image until the front end has told how wide its column is."""
LARGEST_WIDTH = 4000
QUICK = 1.0
"""Seconds: only after a page that took less are its neighbours fetched ahead."""


class ViewerState(PanelState):
    """``image`` is the page as PNG, or empty where there is none to draw; then ``text`` is what is shown.

    ``shape`` is the image's height by its width, ``boxes`` are fractions of it, ``runs`` its text with its
    places ``[text, x0, y0, x1, y1, turn, glued]`` (see ``TextRun``), ``spans`` characters of the text.
    ``marked`` is "yes", "no" where the passage could not be placed with certainty, or "" where none was asked
    for. ``citation`` counts from 0 and is −1 for a page opened without one; ``marker`` is its number in the
    answer, and ``cited_as`` "citation" or "passage". ``label`` is the page's printed label, or a section's
    name.
    ``notice`` is a line about the page; ``trouble`` stands where the page would, if it cannot be shown.
    ``quotation`` is the citation's quote as Markdown, ``selection`` the same of what is selected on the page.
    """

    paper = Int(0).tag(sync=True)
    title = Unicode("").tag(sync=True)
    byline = Unicode("").tag(sync=True)
    unit = Unicode("page").tag(sync=True)
    label = Unicode("").tag(sync=True)
    page = Int(0).tag(sync=True)
    pages = Int(0).tag(sync=True)
    image = Bytes(b"").tag(sync=True)
    shape = Float(0.0).tag(sync=True)
    boxes = List(List(Float())).tag(sync=True)
    runs = List(List()).tag(sync=True)
    text = Unicode("").tag(sync=True)
    spans = List(List(Int())).tag(sync=True)
    marked = Unicode("").tag(sync=True)
    notice = Unicode("").tag(sync=True)
    trouble = Unicode("").tag(sync=True)
    quote = Unicode("").tag(sync=True)
    quotation = Unicode("").tag(sync=True)
    selection = Unicode("").tag(sync=True)
    citation = Int(-1).tag(sync=True)
    citations = Int(0).tag(sync=True)
    marker = Int(0).tag(sync=True)
    cited_as = Unicode("citation").tag(sync=True)
    zoom = Float(1.0).tag(sync=True)
    loading = Bool(False).tag(sync=True)
    drawn = Int(0).tag(sync=True)

    def __init__(self, workbench: Workbench, **options: Any) -> None:
        super().__init__(**options)
        self._workbench = workbench
        self._source = PageSource(workbench)
        self._list: Sequence[dict[str, Any]] = ()
        self._wanted: Shown | None = None
        self._drawing = threading.Lock()
        self._cited: tuple[Sequence[str], int | None] = ((), None)  # authors and year of the paper
        self._column = 0.0  # device pixels of the page at zoom 1

    def show_citation(self, citations: Sequence[dict[str, Any]], k: int) -> None:
        """Open the page of the k-th of an answer's citations, with its passage marked."""
        self._list = citations
        self.citations = len(citations)
        self.citation = k
        chosen = citations[k]
        self.marker = chosen.get("n", 0)
        self.cited_as = "passage" if "score" in chosen or not chosen["quote"] else "citation"
        self.quote = chosen["quote"]
        self._open(Shown(chosen["paper"], chosen["page"], self._mark(chosen["paper"]), self._width()))

    def show_paper(self, paper: int) -> None:
        """Open a paper at its first page."""
        self._list = ()
        self.citations = 0
        self._leave_citation()
        self._open(Shown(paper, 1, None, self._width()))

    def prepare(self, citations: Sequence[dict[str, Any]]) -> None:
        """Fetch the page of an answer's first citation, so that it is there when somebody asks for it."""
        first = next((cited for cited in citations if cited["quote"]), None)
        if first is None or self._wanted is not None:
            return
        ahead = Shown(first["paper"], first["page"], _mark_of(first), self._width())
        self.in_background("fetching the first page", lambda: self._fetch_unseen(ahead))

    def _fetch_unseen(self, ahead: Shown) -> None:
        with self._drawing, suppress(WorkbenchError):  # told when somebody wants to see it
            self._source.fetch(ahead)

    def clear(self) -> None:
        """Show nothing, as at the start."""
        self._wanted = None
        self._list = ()
        self._leave_citation()
        self.citations = 0
        self.paper = 0
        self.image, self.text, self.title, self.trouble, self.notice = b"", "", "", "", ""
        self.loading = False
        self.drawn += 1

    @action
    def close_page(self) -> None:
        self.clear()

    @action
    def turn_to(self, *, page: int) -> None:
        """Show another page of the same paper; the cited passage is marked on the pages it stands on."""
        wanted = self._wanted
        if wanted is not None and 1 <= page <= self.pages and page != wanted.page:
            self._open(Shown(wanted.paper, page, self._mark(wanted.paper), self._width()))

    @action
    def go_to(self, *, where: str) -> None:
        """Show the page with this number, or with this printed label."""
        name = where.strip()
        if self._wanted is None or not name:
            return
        if name.isdecimal() and 1 <= int(name) <= self.pages:
            self.turn_to(page=int(name))
        else:
            paper = self._wanted.paper
            self.in_background("finding the page", lambda: self._turn_to_label(paper, name))

    def _turn_to_label(self, paper: int, name: str) -> None:
        labels = self._workbench.papers.page_labels(paper)
        if self._wanted is None or self._wanted.paper != paper:
            return
        same = [n for n, label in enumerate(labels, 1) if (label or "").casefold() == name.casefold()]
        if same:
            self.turn_to(page=same[0])
        else:
            self.error = f"There is no {self.unit} “{one_line(name, 20)}”: they count from 1 to {self.pages}."

    @action
    def step_citation(self, *, by: int) -> None:
        """Go to the next or the previous citation of the same answer, round the end."""
        if self._list:
            self.show_citation(self._list, (max(self.citation, 0) + by) % len(self._list))

    @action
    def zoom_by(self, *, steps: int) -> None:
        """Larger or smaller by steps; with none, as wide as the column."""
        nearest = min(range(len(ZOOMS)), key=lambda i: abs(ZOOMS[i] - self.zoom))
        self.zoom = ZOOMS[max(0, min(len(ZOOMS) - 1, nearest + steps))] if steps else 1.0
        self._sharpen()

    @action
    def fit(self, *, width: float, ratio: float) -> None:
        """The page is ``width`` CSS pixels wide at zoom 1, each ``ratio`` pixels of the screen."""
        if math.isfinite(width * ratio) and width > 0 and ratio > 0:
            self._column = width * min(ratio, 4.0)
            self._sharpen()

    @action
    def select(self, *, text: str) -> None:
        """What is selected on the page now, so that its quotation is ready when it is asked for."""
        self.selection = quotation(one_line(text, 5000), self._reference(0)) if text.strip() else ""

    def _sharpen(self) -> None:
        """Draw the page anew where its image has not one pixel for each of the screen's."""
        wanted, width = self._wanted, self._width()
        if wanted is not None and (self.image or self.loading) and abs(wanted.width - width) > 1:
            self._open(Shown(wanted.paper, wanted.page, wanted.mark, width))

    def _mark(self, paper: int) -> Mark | None:
        """The passage of the open citation, where it is of this paper."""
        cited = self._open_citation()
        return _mark_of(cited) if cited.get("paper") == paper else None

    def _open_citation(self) -> dict[str, Any]:
        """The citation that is open, empty where none is. The page may be closed while another is drawn."""
        citations, k = self._list, self.citation
        return citations[k] if 0 <= k < len(citations) else {}

    def _leave_citation(self) -> None:
        self.citation = -1
        self.quote = self.quotation = self.selection = ""
        self.marked = ""

    def _width(self) -> int:
        if not self._column:
            return IMAGE_WIDTH
        return max(200, min(LARGEST_WIDTH, round(self._column * self.zoom)))

    def _open(self, shown: Shown) -> None:
        self._wanted = shown
        self.loading = True
        self.in_background("opening the page", lambda: self._draw(shown))

    def _draw(self, shown: Shown) -> None:
        """Fetch and show; a page that is no longer wanted when its turn comes is skipped."""
        try:
            with self._drawing:
                if shown is not self._wanted:
                    return
                started = time.monotonic()
                try:
                    content = self._source.fetch(shown)
                except WorkbenchError as error:
                    self._show_trouble(shown, str(error))
                    return
                quick = time.monotonic() - started < QUICK
            if shown is self._wanted:
                self._show(shown, content)
                if quick and content.image:
                    self.in_background("fetching the next pages", lambda: self._fetch_ahead(shown))
        finally:
            if shown is self._wanted:
                self.loading = False

    def _fetch_ahead(self, shown: Shown) -> None:
        """The page that is likely to be asked for next: the next citation's, and the one that follows."""
        for ahead in self._likely(shown):
            if shown is not self._wanted:
                return
            self._fetch_unseen(ahead)

    def _likely(self, shown: Shown) -> list[Shown]:
        likely = []
        citations, k = self._list, self.citation
        if len(citations) > 1 and k >= 0:
            near = citations[(k + 1) % len(citations)]
            likely.append(Shown(near["paper"], near["page"], _mark_of(near), shown.width))
        if shown.page < self.pages:
            likely.append(Shown(shown.paper, shown.page + 1, shown.mark, shown.width))
        return likely

    def _show(self, shown: Shown, content: Content) -> None:
        paper, page = content.paper, content.page
        with self.hold_trait_notifications():
            self.paper = paper.id
            self.title = paper.title
            self.byline = byline(paper.authors, paper.year)
            self.unit = paper.page_unit
            self.pages = paper.pages
            self.page = shown.page
            self.label = page.label or ""
            self.image, self.shape = content.image, content.shape
            self.boxes = [list(map(float, box)) for box in content.boxes]
            self.runs = [list(run) for run in content.runs]
            self.text, self.spans = page.text, [list(span) for span in content.spans]
            self.marked = ("yes" if content.found else "no") if content.asked else ""
            self.notice, self.trouble = one_line(content.notice), ""
            self._cited = (paper.authors, paper.year)
            self.selection = ""
            self.quotation = quotation(self.quote, self._reference(self.marker)) if self.quote else ""
        self.drawn += 1

    def _show_trouble(self, shown: Shown, reason: str) -> None:
        """Say in the page's place why it is not there; the way to the next citation stays."""
        if shown is not self._wanted:
            return
        cited = self._open_citation()
        with self.hold_trait_notifications():
            if self.paper != shown.paper:
                self.title, self.byline = cited.get("title", ""), cited.get("byline", "")
                self.pages = 0
            self.paper, self.page, self.label = shown.paper, shown.page, ""
            self.image, self.text, self.boxes, self.runs, self.spans = b"", "", [], [], []
            self.marked = self.notice = self.quotation = self.selection = ""
            self.trouble = one_line(reason)
        self.drawn += 1

    def _reference(self, marker: int) -> str:
        authors, year = self._cited
        return reference(
            authors=authors,
            year=year,
            title=self.title,
            unit=self.unit,
            page=self.page,
            label=self.label,
            marker=marker,
        )


def _mark_of(cited: dict[str, Any]) -> Mark | None:
    """The passage that a citation marks; None where it quotes nothing."""
    quoted = cited["quote"]
    return Mark(quoted, cited["start"], cited["end"], cited["page"]) if quoted else None

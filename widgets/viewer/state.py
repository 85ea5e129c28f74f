"""The page viewer's state: one page of one paper, as an image or as text, with the cited passage marked."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Bytes, Float, Int, List, Unicode

from widgets.panel import PanelState, action
from widgets.wording import byline

if TYPE_CHECKING:
    from workbench import Paper, Workbench

ZOOMS = (0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
IMAGE_WIDTH = 1200
SHARP_WIDTH = 2200
"""Pixels of a page's image: the first serves a column on a dense screen, the second a zoomed page."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What to show: ``mark`` is the citation's quote and its place, or None for a page as it is."""

    paper: int
    page: int
    mark: tuple[str, int, int] | None
    width: int


class ViewerState(PanelState):
    """``image`` is the page as PNG, or empty where the format has no pages to draw; then ``text`` is shown.

    ``boxes`` are fractions of the image, ``spans`` characters of the text. ``marked`` is "yes", "no" where
    the passage could not be placed with certainty, or "" where none was asked for. ``citation`` counts
    from 0 and is −1 for a page opened without one; ``marker`` is its number in the answer, and ``cited_as``
    "citation" or "passage". ``label`` is the page's printed label, or a section's name.
    """

    paper = Int(0).tag(sync=True)
    title = Unicode("").tag(sync=True)
    byline = Unicode("").tag(sync=True)
    unit = Unicode("page").tag(sync=True)
    label = Unicode("").tag(sync=True)
    page = Int(0).tag(sync=True)
    pages = Int(0).tag(sync=True)
    image = Bytes(b"").tag(sync=True)
    boxes = List(List(Float())).tag(sync=True)
    text = Unicode("").tag(sync=True)
    spans = List(List(Int())).tag(sync=True)
    marked = Unicode("").tag(sync=True)
    quote = Unicode("").tag(sync=True)
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
        self._list: Sequence[dict[str, Any]] = ()
        self._wanted: _Shown | None = None
        self._drawing = threading.Lock()
        self._labels: tuple[int, list[str]] = (0, [])

    def show_citation(self, citations: Sequence[dict[str, Any]], k: int) -> None:
        """Open the page of the k-th of an answer's citations, with its passage marked."""
        self._list = citations
        self.citations = len(citations)
        self.citation = k
        chosen = citations[k]
        self.marker = chosen.get("n", 0)
        self.cited_as = "passage" if "score" in chosen else "citation"
        self.quote = chosen["quote"]
        mark = (chosen["quote"], chosen["start"], chosen["end"]) if chosen["quote"] else None
        self._open(_Shown(chosen["paper"], chosen["page"], mark, self._width()))

    def show_paper(self, paper: int) -> None:
        """Open a paper at its first page."""
        self._list = ()
        self.citations = 0
        self._leave_citation()
        self._open(_Shown(paper, 1, None, self._width()))

    def clear(self) -> None:
        """Show nothing, as at the start."""
        self._wanted = None
        self._list = ()
        self._leave_citation()
        self.citations = 0
        self.paper = 0
        self.image, self.text, self.title = b"", "", ""
        self.drawn += 1

    @action
    def close_page(self) -> None:
        self.clear()

    @action
    def turn_to(self, *, page: int) -> None:
        """Show another page of the same paper; its passage stays marked where the citation is on it."""
        if self._wanted is None or not 1 <= page <= self.pages or page == self._wanted.page:
            return
        cited = self._list[self.citation] if self.citation >= 0 else None
        here = cited is not None and cited["paper"] == self._wanted.paper and cited["page"] == page
        mark = (cited["quote"], cited["start"], cited["end"]) if cited and here else None
        self._open(_Shown(self._wanted.paper, page, mark, self._width()))

    @action
    def step_citation(self, *, by: int) -> None:
        """Go to the next or the previous citation of the same answer, round the end."""
        if self._list:
            self.show_citation(self._list, (max(self.citation, 0) + by) % len(self._list))

    @action
    def zoom_by(self, *, steps: int) -> None:
        nearest = min(range(len(ZOOMS)), key=lambda i: abs(ZOOMS[i] - self.zoom))
        self.zoom = ZOOMS[max(0, min(len(ZOOMS) - 1, nearest + steps))] if steps else 1.0
        wanted = self._wanted
        if wanted is not None and self.image and wanted.width != self._width():
            self._open(_Shown(wanted.paper, wanted.page, wanted.mark, self._width()))

    def _leave_citation(self) -> None:
        self.citation = -1
        self.quote = ""
        self.marked = ""

    def _width(self) -> int:
        return IMAGE_WIDTH if self.zoom <= 1.25 else SHARP_WIDTH

    def _open(self, shown: _Shown) -> None:
        self._wanted = shown
        self.loading = True
        self.in_background("opening the page", lambda: self._draw(shown))

    def _draw(self, shown: _Shown) -> None:
        """Fetch and show; a page that is no longer wanted when its turn comes is skipped."""
        try:
            with self._drawing:
                if shown is not self._wanted:
                    return
                paper = self._workbench.papers.get(shown.paper)
                content = self._image(paper, shown) if paper.kind == "pdf" else self._text(paper, shown)
                content["label"] = self._label(paper, shown.page)
            if shown is self._wanted:
                self._show(paper, shown, content)
        finally:
            if shown is self._wanted:
                self.loading = False

    def _image(self, paper: Paper, shown: _Shown) -> dict[str, Any]:
        quote = shown.mark[0] if shown.mark else None
        view = self._workbench.papers.page_view(paper, shown.page, quote=quote, width=shown.width)
        boxes = [list(map(float, box)) for box in view.boxes] if view.found else []
        return {"image": view.png, "boxes": boxes, "text": "", "spans": [], "found": bool(boxes)}

    def _text(self, paper: Paper, shown: _Shown) -> dict[str, Any]:
        page = self._workbench.papers.pages(paper)[shown.page - 1]
        span = None
        if shown.mark:
            quote, start, end = shown.mark
            span = place_quote(page.text, quote, (start - page.char_start, end - page.char_start))
        spans = [list(span)] if span else []
        return {"image": b"", "boxes": [], "text": page.text, "spans": spans, "found": bool(span)}

    def _label(self, paper: Paper, page: int) -> str:
        if self._labels[0] != paper.id:
            self._labels = paper.id, [p.label or "" for p in self._workbench.papers.pages(paper)]
        labels = self._labels[1]
        return labels[page - 1] if page <= len(labels) else ""

    def _show(self, paper: Paper, shown: _Shown, content: dict[str, Any]) -> None:
        with self.hold_trait_notifications():
            self.paper = paper.id
            self.title = paper.title
            self.byline = byline(paper.authors, paper.year)
            self.unit = paper.page_unit
            self.pages = paper.pages
            self.page = shown.page
            self.label = content["label"]
            self.image, self.boxes = content["image"], content["boxes"]
            self.text, self.spans = content["text"], content["spans"]
            self.marked = ("yes" if content["found"] else "no") if shown.mark else ""
        self.drawn += 1


def place_quote(text: str, quote: str, expected: tuple[int, int]) -> tuple[int, int] | None:
    """Where ``quote`` stands in ``text``: at the expected place, or at its only one; else None.

    White space may differ between the two.
    """
    words = quote.split()
    if not words:
        return None
    start, end = expected
    if 0 <= start < end and text[start:end].split() == words:
        return start, end
    found = list(re.finditer(r"\s+".join(map(re.escape, words)), text))
    return (found[0].start(), found[0].end()) if len(found) == 1 else None

"""What the viewer shows of one page, fetched from the workbench; the pages next to it are kept at hand."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from widgets.viewer.placing import part_on_page, place_quote
from workbench import DocumentError, InvalidInputError, ReaderCrashedError

if TYPE_CHECKING:
    from workbench import Page, PageView, Paper, Workbench

KEPT_BYTES = 6_000_000
KEPT_PAGES = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation's quote, where it stands in the paper's text, and the page it was cited on."""

    quote: str
    start: int
    end: int
    page: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What to show: ``mark`` is None for a page as it is; ``width`` is that of its image, in pixels."""

    paper: int
    page: int
    mark: Mark | None
    width: int


@dataclass(frozen=True, slots=True)
class Content:
    """One page. ``image`` is empty where there is none to draw; then the text is what is shown, and ``spans``
    are the marks in it. ``notice`` says why a page of a PDF has no image, or no text."""

    paper: Paper
    page: Page
    image: bytes = b""
    shape: float = 0.0
    boxes: tuple[tuple[float, ...], ...] = ()
    runs: tuple[tuple[Any, ...], ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    asked: bool = False
    notice: str = ""

    @property
    def found(self) -> bool:
        """Whether the passage that was asked for is marked."""
        return bool(self.boxes or self.spans)


class PageSource:
    """Fetches pages. Images come from a few that are kept; everything else is read anew, so that a paper that
    has gone is not shown from memory. Not for several threads at once."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._kept: OrderedDict[tuple[Any, ...], PageView] = OrderedDict()

    def fetch(self, shown: Shown) -> Content:
        """The page as it is to be shown. Raises what the workbench does of a paper or page that is not
        there; a page that cannot be drawn comes as its text."""
        paper = self._workbench.papers.get(shown.paper)
        page = self._workbench.papers.page(paper, shown.page)
        quote = _quote_here(page, shown)
        if paper.kind != "pdf":
            return _as_text(paper, page, shown, quote)
        try:
            view = self._view(paper, page, shown, quote)
        except (DocumentError, ReaderCrashedError, InvalidInputError) as error:
            notice = f"This page cannot be drawn ({error}), so its text is shown."
            return _as_text(paper, page, shown, quote, notice=notice)
        return Content(
            paper,
            page,
            image=view.png,
            shape=view.height / view.width,
            boxes=view.boxes if view.found else (),
            runs=tuple((r.text, *(round(side, 5) for side in r.box), r.turn, r.glued) for r in view.runs),
            asked=quote is not None,
            notice="" if page.text.strip() or view.runs else "This page has no text: it is a picture.",
        )

    def _view(self, paper: Paper, page: Page, shown: Shown, quote: str | None) -> PageView:
        place = (shown.mark.start, shown.mark.end) if shown.mark and quote else None
        key = (paper.sha256, page.page, shown.width, quote, place)
        view = self._kept.pop(key, None)
        if view is None:
            view = self._workbench.papers.page_view(
                paper,
                page.page,
                quote=quote,
                place=place,
                width=shown.width,
                paint=False,
                with_text=True,
            )
        self._kept[key] = view
        while len(self._kept) > KEPT_PAGES or sum(len(v.png) for v in self._kept.values()) > KEPT_BYTES:
            self._kept.popitem(last=False)
        return view


def _quote_here(page: Page, shown: Shown) -> str | None:
    """What of the mark is to be found on this page; None where nothing is asked for."""
    if shown.mark is None:
        return None
    quote, start, end = shown.mark.quote, shown.mark.start, shown.mark.end
    part = part_on_page(page.text, quote, (start - page.char_start, end - page.char_start))
    return part or (quote if shown.mark.page == shown.page else None)


def _as_text(paper: Paper, page: Page, shown: Shown, quote: str | None, *, notice: str = "") -> Content:
    span = None
    if quote and shown.mark:
        start = max(shown.mark.start - page.char_start, 0)
        end = min(shown.mark.end - page.char_start, len(page.text))
        span = place_quote(page.text, quote, (start, end))
    spans = (span,) if span else ()
    return Content(paper, page, spans=spans, asked=quote is not None, notice=notice)

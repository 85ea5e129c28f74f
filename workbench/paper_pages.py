"""What stands in one paper of ``wb.papers``: its pages as text and as images, and its chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import InvalidInputError
from workbench.naming import PaperLike, paper_id_of
from workbench.records import Chunk, Page, PageView
from workbench.rendering import Listing
from workbench.storage import chunks as chunk_store
from workbench.storage import papers as paper_store
from workbench.storage.database import Database
from workbench.stored_files import StoredFiles

if TYPE_CHECKING:
    from workbench.ingest.sandbox import Reader


class PaperPages:
    """The part of ``wb.papers`` that reads in papers. ``reader`` gives the process that draws pages."""

    def __init__(self, database: Database, user: str, *, reader: Callable[[], Reader]) -> None:
        self._database, self._user, self._reader = database, user, reader
        self._files = StoredFiles(database, user)

    def pages(self, paper: PaperLike) -> Listing[Page]:
        """The paper's pages (or sections, where its format has no pages), in order, with their texts."""
        with self._database.read() as cursor:
            found = paper_store.get(cursor, self._user, paper_id_of(paper))
            return Listing(Page, paper_store.pages(cursor, found.id))

    def page(self, paper: PaperLike, page: int) -> Page:
        """One page (or section), counted from 1. Raises NotFoundError for one that is not there."""
        _check_view(page, None, 1)
        with self._database.read() as cursor:
            found = paper_store.get(cursor, self._user, paper_id_of(paper))
            return paper_store.page(cursor, found.id, page)

    def page_labels(self, paper: PaperLike) -> list[str | None]:
        """What is printed on each page (or a section's name), in order; None where it is its number."""
        with self._database.read() as cursor:
            found = paper_store.get(cursor, self._user, paper_id_of(paper))
            return paper_store.page_labels(cursor, found.id)

    def chunks(self, paper: PaperLike) -> Listing[Chunk]:
        """The paper's chunks, in order."""
        with self._database.read() as cursor:
            found = paper_store.get(cursor, self._user, paper_id_of(paper))
            return Listing(Chunk, chunk_store.of_papers(cursor, [found.id]))

    def page_image(
        self, paper: PaperLike, page: int, *, highlight: str | None = None, width: int = 1000
    ) -> bytes:
        """A PNG of one PDF page, ``width`` pixels wide, with the quote ``highlight`` marked.

        Nothing is marked where the quote cannot be placed on the page with certainty. Raises
        NotFoundError for a page that is not there, InvalidInputError for a paper without page images.
        """
        _check_view(page, highlight, width)
        path = self._files.with_page(paper_id_of(paper), page)
        return self._reader().render(path, page, width=width, highlight=highlight)

    def page_view(
        self,
        paper: PaperLike,
        page: int,
        *,
        quote: str | None = None,
        place: tuple[int, int] | None = None,
        width: int = 1000,
        paint: bool = True,
        with_text: bool = False,
    ) -> PageView:
        """A page's PNG together with where the quote stands on it, as fractions of width and height.

        ``place`` is where the quote begins and ends in the paper's text, a citation's ``char_start`` and
        ``char_end``: it tells which is meant where the quote stands on the page more than once. A quote whose
        place is not certain is not marked. With ``paint`` the quote is marked in the image too; ``with_text``
        adds the page's text with its places. Highlights and notes that readers left in the file are not
        drawn.
        """
        _check_view(page, quote, width)
        _check_place(place)
        path = self._files.with_page(paper_id_of(paper), page)
        between = None
        if quote is not None and place is not None:
            between = _beside(self.page(paper, page), quote, place)
        return self._reader().page_view(
            path, page, width=width, quote=quote, between=between, paint=paint, with_text=with_text
        )


def _beside(page: Page, quote: str, place: tuple[int, int]) -> tuple[str, str] | None:
    """The page's text before and after the quote; None where the quote does not stand at the place."""
    start, end = (min(max(where - page.char_start, 0), len(page.text)) for where in place)
    if page.text[start:end].split() != quote.split():
        return None
    return page.text[:start], page.text[end:]


def _check_place(place: Any) -> None:
    pair = isinstance(place, tuple | list) and len(place) == 2
    if place is not None and not (pair and all(type(where) is int for where in place)):
        raise InvalidInputError(f"A quote's place is two whole numbers, not {place!r}.")


def _check_view(page: object, quote: object, width: object) -> None:
    for name, value in (("page", page), ("width", width)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidInputError(f"The {name} must be a whole number, not {value!r}.")
    if not (quote is None or isinstance(quote, str)):
        raise InvalidInputError(f"The quote to mark must be text, not {quote!r}.")

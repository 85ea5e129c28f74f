"""What reading a file gives: its text page by page, its headings, and what it says about itself."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.records import PAGE_BREAK


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page's repaired text; ``label`` is the printed page number or the section's name, if it has one."""

    text: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A section heading: ``page`` counts from 1, ``char_in_page`` is where its text starts on that page."""

    page: int
    char_in_page: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read.

    ``title``, ``authors``, ``year`` and ``doi`` are only what the file itself says; what it does not say
    stays ``None`` or empty. ``page_unit`` is ``"page"`` for formats with pages, else ``"section"``.
    ``warnings`` are single lines for the person who added the file.
    """

    kind: str
    pages: tuple[ReadPage, ...]
    page_unit: str = "page"
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    headings: tuple[Heading, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole text: pages joined by ``PAGE_BREAK``. All character offsets count in it."""
        return PAGE_BREAK.join(page.text for page in self.pages)

    def page_starts(self) -> list[int]:
        """Where each page begins in ``text``."""
        starts, position = [], 0
        for page in self.pages:
            starts.append(position)
            position += len(page.text) + len(PAGE_BREAK)
        return starts

"""A paper that is not in the library yet: what ingest hands to storage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


@dataclass(frozen=True, slots=True)
class PageDraft:
    """One page's text, and where it stands in the paper's whole text (pages joined by ``PAGE_BREAK``)."""

    page: int
    label: str | None
    text: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of the paper: ``text`` is its whole text from ``char_start`` to ``char_end``."""

    ordinal: int
    heading: str | None
    blurb: str
    text: str
    page_start: int
    page_end: int
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True, eq=False)
class PaperDraft:
    """Everything one paper brings.

    ``vectors`` is a float32 array of shape (len(chunks), dimension), or ``None`` while no embedder is at
    hand. ``source`` is the file itself: a path (read in pieces, checked against ``sha256``) or its bytes.
    """

    sha256: str
    kind: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    doi: str | None
    page_unit: str
    pages: tuple[PageDraft, ...]
    chunks: tuple[ChunkDraft, ...]
    vectors: numpy.ndarray | None
    source: Path | bytes

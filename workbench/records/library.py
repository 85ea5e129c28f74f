"""What is in a library, and what became of the files that were added to it.

Offsets: ``char_start`` and ``char_end`` always count characters of the paper's whole text, which is
its pages' texts joined by ``PAGE_BREAK``. Pages count from 1 in file order; the printed label, where
it differs, is ``page_label``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

from workbench.rendering.display import Displayed, Listing, frame_of

if TYPE_CHECKING:
    import pandas

PAGE_BREAK = "\n\n"
FileStatus = Literal["ready", "duplicate", "failed"]


@dataclass(frozen=True, slots=True, repr=False)
class Project(Displayed):
    """A user's private, named group of papers."""

    shown = ("id", "name", "status", "paper_count", "description", "goal")

    id: int
    name: str
    description: str | None
    goal: str | None
    status: str
    paper_count: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, repr=False)
class ProjectSummary(Displayed):
    """What a project is about, in three to four sentences, when that was written, and by whom: a chat
    model's name, or ``"extractive"``. All are None until the first summary is ready; ``updated_at`` is also
    None where the text of a paper has changed since, until the summary is written anew."""

    shown = ("project_id", "name", "text", "written_by", "updated_at")

    project_id: int
    name: str
    text: str | None
    updated_at: datetime | None
    written_by: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ProjectMatch(Displayed):
    """A project that a search found. A higher ``score`` is better; ``summary_snippet`` is the beginning of
    its summary, else of its description."""

    id: int
    title: str
    summary_snippet: str
    score: float


@dataclass(frozen=True, slots=True, repr=False)
class Paper(Displayed):
    """One document of any kind, as one user sees it.

    ``file`` is the name it was added under, without its folder. ``page_unit`` is ``"page"`` where the
    format has pages, else ``"section"``; ``pages`` counts that unit. ``state`` is ``"ready"`` or
    ``"indexing"``.
    """

    shown = ("id", "title", "authors", "year", "file", "pages", "state", "shared")

    id: int
    title: str
    file: str
    kind: str
    pages: int
    chunks: int
    page_unit: str
    state: str
    authors: tuple[str, ...]
    year: int | None
    doi: str | None
    source_id: str | None
    sha256: str
    shared: bool
    added_at: datetime


@dataclass(frozen=True, slots=True, repr=False)
class Note(Displayed):
    """A note of the user's own, in Markdown: a paper of kind "note" with the same id.

    ``projects`` are the ids of the projects it is in; ``state`` is that of a paper; ``warnings`` are of the
    call that made or changed it.
    """

    shown = ("id", "title", "body", "projects", "state", "updated_at")

    id: int
    title: str
    body: str
    projects: tuple[int, ...]
    state: str
    created_at: datetime
    updated_at: datetime
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Page(Displayed):
    """One page's repaired text and where it stands in the paper's whole text."""

    shown = ("paper_id", "page", "label", "text")

    paper_id: int
    page: int
    label: str | None
    text: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True, repr=False)
class TextRun(Displayed):
    """Words that stand together on one line of a page. ``box`` is (x0, y0, x1, y1) as fractions of the
    image's width and height; ``turn`` how far they are turned clockwise, in degrees (0, 90, 180, 270).
    ``glued``: the next line goes on with the same word."""

    text: str
    box: tuple[float, float, float, float]
    turn: int = 0
    glued: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class PageView(Displayed):
    """A page's image, where its text stands on it, and where a quote does.

    ``png`` is ``width`` × ``height`` pixels. ``boxes`` are (x0, y0, x1, y1) as fractions of width and
    height from the top left, one per line of the quote; empty, with ``found`` False, where the quote
    cannot be placed with certainty. ``runs`` is the page's text in the order of the file.
    """

    shown = ("width", "height", "found", "boxes")

    png: bytes
    width: int
    height: int
    boxes: tuple[tuple[float, float, float, float], ...]
    found: bool
    runs: tuple[TextRun, ...] = ()

    def _repr_png_(self) -> bytes:
        return self.png


@dataclass(frozen=True, slots=True, repr=False)
class Chunk(Displayed):
    """A piece of a paper: an exact substring of its text, with the pages it stands on."""

    shown = ("id", "paper_id", "page_start", "page_end", "text")

    id: int
    paper_id: int
    ordinal: int
    text: str
    blurb: str
    page_start: int
    page_end: int
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True, repr=False)
class FileOutcome(Displayed):
    """What became of one file of a batch."""

    shown = ("file", "status", "paper_id", "pages", "chunks", "error", "warnings")

    file: str
    status: FileStatus
    paper_id: int | None = None
    pages: int = 0
    chunks: int = 0
    error: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class StageEnd(Displayed):
    """How one stage of the work on a file ended last: read, chunk, embed or index. ``seconds`` is what it
    took, ``error`` one line where it failed. ``paper_id`` is None for a file that did not become a paper."""

    shown = ("file", "stage", "state", "error", "seconds", "finished_at")

    paper_id: int | None
    file: str
    stage: str
    state: Literal["done", "failed"]
    error: str | None
    seconds: float
    finished_at: datetime


@dataclass(frozen=True, slots=True, repr=False)
class IngestReport(Displayed):
    """What became of every file of a batch, in the order given."""

    files: tuple[FileOutcome, ...]

    def __repr__(self) -> str:
        counts = Counter(f.status for f in self.files)
        said = ", ".join(f"{counts[status]} {status}" for status in get_args(FileStatus) if counts[status])
        return f"<IngestReport: {said or 'no files'}>"

    @property
    def failed(self) -> tuple[FileOutcome, ...]:
        return tuple(f for f in self.files if f.status == "failed")

    def to_frame(self) -> pandas.DataFrame:
        return frame_of(self.files, FileOutcome)

    def _repr_markdown_(self) -> str:
        return Listing(FileOutcome, self.files)._repr_markdown_()

    def _repr_html_(self) -> str:
        return Listing(FileOutcome, self.files)._repr_html_()


@dataclass(frozen=True, slots=True, repr=False)
class Progress(Displayed):
    """One step of long work: ``done`` of ``total`` units of ``stage`` for ``file``, the ``number``-th of
    ``files``."""

    stage: str
    file: str
    done: int
    total: int
    number: int = 1
    files: int = 1

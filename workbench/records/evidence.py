"""What a search finds, chooses and leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.rendering.display import Displayed, frame_of
from workbench.rendering.html import evidence_html
from workbench.rendering.markdown import evidence_markdown, passage_markdown
from workbench.rendering.wording import asked, label
from workbench.scope import Scope

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk found by one index. A higher score is better; its scale is the index's own."""

    chunk_id: int
    paper_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chunk with its fused relevance (0 to 1) and its place in each list (from 1)."""

    chunk_id: int
    paper_id: int
    relevance: float
    vector_score: float | None = None
    vector_rank: int | None = None
    keyword_score: float | None = None
    keyword_rank: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Dropped(Displayed):
    """A candidate that is not in the evidence, and why. The ranks are its places (from 1) by meaning and by
    words, None where that list does not have it; ``page_start`` and ``title`` are empty where not told.
    ``kind`` is the reason without what it says of one paper, empty where it says nothing of one."""

    shown = ("title", "page_start", "relevance", "vector_rank", "keyword_rank", "reason")

    chunk_id: int
    paper_id: int
    relevance: float
    reason: str
    vector_rank: int | None = None
    keyword_rank: int | None = None
    page_start: int | None = None
    title: str = ""
    page_unit: str = "page"
    kind: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Passage(Displayed):
    """One numbered piece of evidence. ``score`` is its relevance, 0 to 1; ``shared`` says that its paper is
    not the user's own, but shared by another. ``heading`` is that of the section it stands in."""

    shown = ("n", "title", "page_start", "page_end", "score", "text")

    n: int
    chunk_id: int
    paper_id: int
    title: str
    file: str
    page_start: int
    page_end: int
    text: str
    score: float
    vector_rank: int | None
    keyword_rank: int | None
    char_start: int
    char_end: int
    page_unit: str = "page"
    authors: tuple[str, ...] = ()
    year: int | None = None
    shared: bool = False
    heading: str | None = None

    def _repr_markdown_(self) -> str:
        return passage_markdown(self)


@dataclass(frozen=True, slots=True, repr=False)
class SilentPaper(Displayed):
    """A paper of the scope that gave no passage."""

    id: int
    title: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbered passages chosen for one question, what was dropped, and how it was found.

    ``papers_silent`` of the ``papers_in_scope`` gave no passage; ``silent`` names the first of them, and
    ``silent_because`` says of each of those, in the same order, what became of its best passage. ``dropped``
    are the nearest that were left out, at most 100, and ``dropped_reasons`` counts all by their reason.

    ``summaries`` are stored summaries of the scope's projects, each behind its project's name: there only
    where passages could not be searched for by meaning and words found none. They are no evidence.
    """

    query: str
    scope: Scope
    scope_label: str
    passages: tuple[Passage, ...]
    dropped: tuple[Dropped, ...] = ()
    papers_in_scope: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    timing: dict[str, float] = field(default_factory=dict)
    summaries: tuple[str, ...] = ()
    papers_silent: int = 0
    silent: tuple[SilentPaper, ...] = ()
    silent_because: tuple[str, ...] = ()
    dropped_reasons: dict[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        count = "1 passage" if len(self.passages) == 1 else f"{len(self.passages)} passages"
        return f"<Evidence for {asked(self.query)}: {count}, {label(self.scope_label)}>"

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    def passage(self, n: int) -> Passage | None:
        """The passage numbered ``n``, or ``None``."""
        return self.passages[n - 1] if 1 <= n <= len(self.passages) else None

    def to_frame(self) -> pandas.DataFrame:
        return frame_of(self.passages, Passage)

    def _repr_html_(self) -> str:
        return evidence_html(self)

    def _repr_markdown_(self) -> str:
        return evidence_markdown(self)

"""Answers with their citations and audits, and the events they come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from workbench.records.evidence import Evidence, SilentPaper
from workbench.rendering.display import Displayed, frame_of
from workbench.rendering.html import answer_html
from workbench.rendering.markdown import answer_markdown, citation_markdown
from workbench.rendering.wording import asked, label, listed_titles

if TYPE_CHECKING:
    import pandas

Support = Literal["supported", "partly", "unsupported"]
Verdict = Literal["supported", "partly", "unsupported", "uncited"]


@dataclass(frozen=True, slots=True, repr=False)
class Citation(Displayed):
    """One claim's source: the page that supports it, and a verbatim quote that stands on that page.

    ``char_start`` and ``char_end`` place the quote in the paper's text, ``claim_start`` and ``claim_end``
    the sentence it supports in the answer's text. One passage may back several sentences, each with its
    own quote: then several citations share its ``n``. ``shared``: the paper is not the user's own.
    """

    shown = ("n", "title", "page", "support", "quote")

    n: int
    paper_id: int
    title: str
    file: str
    page: int
    quote: str
    char_start: int
    char_end: int
    support: Support
    claim_start: int = 0
    claim_end: int = 0
    page_label: str | None = None
    page_unit: str = "page"
    authors: tuple[str, ...] = ()
    year: int | None = None
    shared: bool = False

    def _repr_markdown_(self) -> str:
        return citation_markdown(self)


@dataclass(frozen=True, slots=True, repr=False)
class SentenceVerdict(Displayed):
    """What the audit says of one sentence of an answer."""

    shown = ("verdict", "sentence", "n", "quote", "reason")

    sentence: str
    verdict: Verdict
    reason: str
    n: int | None
    quote: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True, repr=False)
class Coverage(Displayed):
    """How much of its scope an answer rests on: papers in the scope, those with a passage in the evidence,
    and those that the answer cites (none, where it is a refusal). Shared papers from outside the scope do not
    count. ``silent`` names the papers without a passage, the first 100 of them."""

    papers_in_scope: int
    papers_retrieved: int
    papers_cited: int
    silent: tuple[SilentPaper, ...] = ()

    @property
    def papers_silent(self) -> int:
        """How many papers of the scope gave no passage."""
        return self.papers_in_scope - self.papers_retrieved

    def __str__(self) -> str:
        """``12 papers in scope, 9 retrieved, 4 cited``."""
        papers = "1 paper" if self.papers_in_scope == 1 else f"{self.papers_in_scope} papers"
        return f"{papers} in scope, {self.papers_retrieved} retrieved, {self.papers_cited} cited"

    def silent_titles(self, most: int = 10) -> str:
        """The silent papers by title, those beyond ``most`` as a number; empty where there are none."""
        return listed_titles([paper.title for paper in self.silent[:most]], self.papers_silent)


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, or a refusal with the nearest passages.

    ``text`` holds ``[N]`` markers; each N is a key of ``citations`` and of ``evidence``. ``timing`` is
    in seconds. ``stopped``: the reader ended it before it was complete. ``coverage`` is None where no papers
    were asked. ``unread``: how many of the evidence's last passages the chat model's window had no room for.
    """

    question: str
    text: str
    citations: tuple[Citation, ...]
    evidence: Evidence
    refused: bool
    provider: str
    scope_label: str
    audit: tuple[SentenceVerdict, ...] = ()
    warnings: tuple[str, ...] = ()
    timing: dict[str, float] = field(default_factory=dict)
    stopped: bool = False
    coverage: Coverage | None = None
    unread: int = 0

    def __repr__(self) -> str:
        # The whole record would fill pages of a notebook, and all of it once more in the saved file.
        count = "1 citation" if len(self.citations) == 1 else f"{len(self.citations)} citations"
        kind = "refused" if self.refused else count
        return f"<Answer to {asked(self.question)}: {kind}, {label(self.provider)}>"

    def to_frame(self) -> pandas.DataFrame:
        """One row per citation."""
        return frame_of(self.citations, Citation)

    def _repr_html_(self) -> str:
        return answer_html(self)

    def _repr_markdown_(self) -> str:
        return answer_markdown(self)


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Event: retrieval is done; the answer follows."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Event: more of the answer's text. Markers in it are whole and known."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Event: something the reader should know, in one line."""

    text: str


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """The scope that a tool set while an answer was made. ``rag_project_id`` may be None: orphans."""

    rag_project_id: int | None
    label: str


@dataclass(frozen=True, slots=True)
class AnswerDone:
    """Event, always the last: the complete answer.

    ``message_id`` is the stored message's where a conversation asked; ``scope_change`` is there only
    where a tool changed the conversation's scope.
    """

    answer: Answer
    message_id: int | None = None
    scope_change: ScopeChange | None = None


Event = EvidenceFound | TextDelta | Notice | AnswerDone

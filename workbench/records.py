"""The values that travel between the rooms. All are frozen; none touches the database.

Offsets: ``char_start`` and ``char_end`` always count characters of the paper's whole text, which is
its pages' texts joined by ``PAGE_BREAK``. Pages count from 1 in file order; the printed label, where
it differs, is ``page_label``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from workbench.rendering import answer_html, evidence_html, listed_titles, record_html, titled
from workbench.scope import Scope

if TYPE_CHECKING:
    import pandas

PAGE_BREAK = "\n\n"

Support = Literal["supported", "partly", "unsupported"]
Verdict = Literal["supported", "partly", "unsupported", "uncited"]
FileStatus = Literal["ready", "duplicate", "failed"]


class _Displayed:
    """Gives a record its table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return record_html(self)


# --- library ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Project(_Displayed):
    """A user's private, named group of papers."""

    id: int
    name: str
    description: str | None
    goal: str | None
    status: str
    paper_count: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ProjectSummary(_Displayed):
    """What a project is about, in three to four sentences, when that was written, and by whom: a chat
    model's name, or ``"extractive"``. All are None until the first summary is ready; ``updated_at`` is also
    None where the text of a paper has changed since, until the summary is written anew."""

    project_id: int
    name: str
    text: str | None
    updated_at: datetime | None
    written_by: str | None = None


@dataclass(frozen=True, slots=True)
class ProjectMatch(_Displayed):
    """A project that a search found. A higher ``score`` is better; ``summary_snippet`` is the beginning of
    its summary, else of its description."""

    id: int
    title: str
    summary_snippet: str
    score: float


@dataclass(frozen=True, slots=True)
class Paper(_Displayed):
    """One document of any kind, as one user sees it.

    ``file`` is the name it was added under, without its folder. ``page_unit`` is ``"page"`` where the
    format has pages, else ``"section"``; ``pages`` counts that unit. ``state`` is ``"ready"`` or
    ``"indexing"``.
    """

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


@dataclass(frozen=True, slots=True)
class Note(_Displayed):
    """A note of the user's own, in Markdown: a paper of kind "note" with the same id.

    ``projects`` are the ids of the projects it is in; ``state`` is that of a paper; ``warnings`` are of the
    call that made or changed it.
    """

    id: int
    title: str
    body: str
    projects: tuple[int, ...]
    state: str
    created_at: datetime
    updated_at: datetime
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page(_Displayed):
    """One page's repaired text and where it stands in the paper's whole text."""

    paper_id: int
    page: int
    label: str | None
    text: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class PageView:
    """A page's image and where a quote stands on it.

    ``png`` is ``width`` × ``height`` pixels. ``boxes`` are (x0, y0, x1, y1) as fractions of width and
    height from the top left, one per line of the quote; empty, with ``found`` False, where the quote
    cannot be placed with certainty.
    """

    png: bytes
    width: int
    height: int
    boxes: tuple[tuple[float, float, float, float], ...]
    found: bool


@dataclass(frozen=True, slots=True)
class Chunk(_Displayed):
    """A piece of a paper: an exact substring of its text, with the pages it stands on."""

    id: int
    paper_id: int
    ordinal: int
    text: str
    blurb: str
    page_start: int
    page_end: int
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file of a batch."""

    file: str
    status: FileStatus
    paper_id: int | None = None
    pages: int = 0
    chunks: int = 0
    error: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReport(_Displayed):
    """What became of every file of a batch, in the order given."""

    files: tuple[FileOutcome, ...]

    @property
    def failed(self) -> tuple[FileOutcome, ...]:
        return tuple(f for f in self.files if f.status == "failed")

    def to_frame(self) -> pandas.DataFrame:
        return _frame(self.files)


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work: ``done`` of ``total`` units of ``stage`` for ``file``, the ``number``-th of
    ``files``."""

    stage: str
    file: str
    done: int
    total: int
    number: int = 1
    files: int = 1


@dataclass(frozen=True, slots=True)
class Reference(_Displayed):
    """A paper as a ``.bib`` or ``.ris`` file describes it.

    ``files`` are names of linked files, without folders; ``fields`` hold what has no place of its own here
    (journal, volume, pages, url …), by BibTeX's names, as plain text.
    """

    key: str | None
    entry_type: str
    title: str | None
    authors: tuple[str, ...]
    year: int | None
    doi: str | None
    files: tuple[str, ...]
    fields: dict[str, str]


@dataclass(frozen=True, slots=True)
class MatchedReference:
    """A reference and the paper it describes; ``by`` says what matched: doi, file or title."""

    key: str | None
    title: str | None
    paper_id: int
    paper_title: str
    by: str


@dataclass(frozen=True, slots=True)
class UnmatchedReference:
    """A reference that describes none of the user's papers for certain, and why."""

    key: str | None
    title: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ReferenceReport(_Displayed):
    """What became of the references of one file."""

    matched: tuple[MatchedReference, ...]
    unmatched: tuple[UnmatchedReference, ...]
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pandas.DataFrame:
        """One row per reference; those without a paper have a reason instead."""
        import pandas

        return pandas.DataFrame([*map(asdict, self.matched), *map(asdict, self.unmatched)])


@dataclass(frozen=True, slots=True)
class ExportedConversation:
    """A conversation as Markdown with pandoc's citation keys, and the BibTeX they stand for, which the
    Markdown expects beside it under ``bibliography``."""

    markdown: str
    bibtex: str
    bibliography: str


# --- retrieval -------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not in the evidence, and why."""

    chunk_id: int
    paper_id: int
    relevance: float
    reason: str


@dataclass(frozen=True, slots=True)
class Passage(_Displayed):
    """One numbered piece of evidence. ``score`` is its relevance, 0 to 1; ``shared`` says that its paper is
    not the user's own, but shared by another. ``heading`` is that of the section it stands in."""

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


@dataclass(frozen=True, slots=True)
class SilentPaper:
    """A paper of the scope that gave no passage."""

    id: int
    title: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbered passages chosen for one question, what was dropped, and how it was found.

    ``papers_silent`` of the ``papers_in_scope`` gave no passage; ``silent`` names the first of them.

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

    def __repr__(self) -> str:
        return f"<Evidence for {self.query!r}: {len(self.passages)} passages, {self.scope_label}>"

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    def passage(self, n: int) -> Passage | None:
        """The passage numbered ``n``, or ``None``."""
        return self.passages[n - 1] if 1 <= n <= len(self.passages) else None

    def to_frame(self) -> pandas.DataFrame:
        return _frame(self.passages)

    def _repr_html_(self) -> str:
        return evidence_html(self)


# --- answers ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Citation(_Displayed):
    """One claim's source: the page that supports it, and a verbatim quote that stands on that page.

    ``char_start`` and ``char_end`` place the quote in the paper's text, ``claim_start`` and ``claim_end``
    the sentence it supports in the answer's text. One passage may back several sentences, each with its
    own quote: then several citations share its ``n``. ``shared``: the paper is not the user's own.
    """

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


@dataclass(frozen=True, slots=True)
class SentenceVerdict(_Displayed):
    """What the audit says of one sentence of an answer."""

    sentence: str
    verdict: Verdict
    reason: str
    n: int | None
    quote: str
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True)
class Coverage(_Displayed):
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
    were asked.
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

    def __repr__(self) -> str:
        # The whole record would fill pages of a notebook, and all of it once more in the saved file.
        kind = "refused" if self.refused else f"{len(self.citations)} citations"
        return f"<Answer to {self.question!r}: {kind}, {self.provider}>"

    def to_frame(self) -> pandas.DataFrame:
        """One row per citation."""
        return _frame(self.citations)

    def _repr_html_(self) -> str:
        return answer_html(self)

    def _repr_markdown_(self) -> str:
        sources = [
            f"- [{c.n}] {titled(c)}, {c.page_unit} {c.page_label or c.page}: “{c.quote}”"
            for c in self.citations
        ]
        covered = ["", f"*{self.coverage}*"] if self.coverage is not None else []
        return "\n".join([self.text, "", *sources, *covered])


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


# --- conversations ---------------------------------------------------------------------------

ConversationKind = Literal["thread", "project", "paper"]


@dataclass(frozen=True, slots=True)
class ConversationInfo(_Displayed):
    """A persistent thread. ``title`` is its first question until it is given one; a paper's chat expires
    24 hours after ``used_at``."""

    id: int
    kind: ConversationKind
    title: str
    scope: Scope
    scope_label: str
    paper_id: int | None
    messages: int
    created_at: datetime
    used_at: datetime


@dataclass(frozen=True, slots=True)
class Message(_Displayed):
    """One turn. ``answer`` is the whole record behind an assistant's text; ``changed`` says, a line each,
    which papers that it cites have changed or left since."""

    id: int
    conversation_id: int
    role: Literal["user", "assistant"]
    text: str
    scope: Scope
    answer: Answer | None
    created_at: datetime
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory(_Displayed):
    """Something the user said that is worth remembering, when it was said and last seen, and the message of
    the turn that it came from."""

    id: int
    text: str
    project_id: int | None
    created_at: datetime
    seen_at: datetime
    message_id: int | None = None


def _frame(rows: tuple[Any, ...]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows])

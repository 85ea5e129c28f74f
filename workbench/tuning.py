"""Values of measuring and tuning: labelled questions, presets, replayed retrievals. All are frozen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from workbench.rendering.display import Displayed, Listing
from workbench.rendering.html import replay_html
from workbench.rendering.markdown import replay_markdown
from workbench.rendering.wording import asked, label
from workbench.scope import Scope

if TYPE_CHECKING:
    import pandas

UNANSWERABLE = "unanswerable"


@dataclass(frozen=True, slots=True, repr=False)
class Gold(Displayed):
    """Where an answer stands: a page of a file, and a few words of that page where they are known.

    ``file`` is the name a paper was added under; pages count from 1 in file order. ``paper_id`` is there
    where the label was made in this library.
    """

    file: str
    page: int
    phrase: str = ""
    paper_id: int | None = None

    def __str__(self) -> str:
        return f"{self.file}, {self.page}" + (f": “{self.phrase}”" if self.phrase else "")


@dataclass(frozen=True, slots=True, repr=False)
class Question(Displayed):
    """A labelled question. Without ``gold`` it is one that the papers do not answer.

    ``type`` is ``"single"`` (one file answers it), ``"cross"`` (it needs several), ``"unanswerable"``, or a
    word of your own. ``answer`` is a short right answer in any words. ``project_id`` is that of the project
    that it belongs to, where it is kept in the library.
    """

    shown = ("id", "question", "type", "gold", "answer")

    id: str
    question: str
    gold: tuple[Gold, ...] = ()
    type: str = ""
    answer: str = ""
    note: str = ""
    project_id: int | None = None

    def __post_init__(self) -> None:
        if not self.type:
            object.__setattr__(self, "type", type_of(self.gold))

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it needs, each once."""
        return tuple(dict.fromkeys(gold.file for gold in self.gold))


def type_of(gold: tuple[Gold, ...]) -> str:
    """What a question with these labels is called where nobody says otherwise."""
    return UNANSWERABLE if not gold else "single" if len({g.file for g in gold}) == 1 else "cross"


@dataclass(frozen=True, slots=True, repr=False)
class Preset(Displayed):
    """A named set of search parameters of one project. Where it is ``chosen`` it takes effect in the
    project's searches and answers, below what a call gives and above the settings."""

    shown = ("name", "parameters", "chosen", "project_id")

    name: str
    project_id: int
    parameters: dict[str, float]
    chosen: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Displayed):
    """One evaluation that is kept: of which scope, as it was called then, on how many questions, with which
    options, and how long it took, in seconds."""

    shown = ("id", "scope_label", "questions", "options", "seconds", "created_at")

    id: int
    scope: Scope
    scope_label: str
    questions: int
    options: dict[str, Any]
    seconds: float
    created_at: datetime


# --- replay ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class PastSearch(Displayed):
    """A search that chose passages, made by itself or for an answer. ``Workbench.replay`` takes its ``id``,
    which is the ``retrieval_id`` of ``sql``."""

    id: int
    query: str
    scope: Scope
    searched_at: datetime


Change = Literal["enters", "leaves", "stays"]

_WHOLE = (
    "old_n", "new_n", "page_start", "page_end", "vector_rank", "keyword_rank", "char_start", "char_end",
)  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class ReplayedPassage(Displayed):
    """One passage before and after. ``old_n`` and ``new_n`` are its numbers, None where it has none;
    ``reason`` says why it left, ``held_back`` what kept one that enters out before, where that is known.
    ``text`` is empty, and its place in the paper's text None, where it is not in the library any more.

    ``vector_rank`` and ``keyword_rank`` are its places by meaning and by words in the search made now, None
    where that list does not have it.
    """

    shown = ("change", "old_n", "new_n", "title", "page_start", "reason")

    change: Change
    old_n: int | None
    new_n: int | None
    paper_id: int
    chunk_id: int
    title: str
    file: str
    page_start: int | None
    page_end: int | None
    old_score: float | None
    new_score: float | None
    reason: str
    text: str
    held_back: str = ""
    vector_rank: int | None = None
    keyword_rank: int | None = None
    page_unit: str = "page"
    char_start: int | None = None
    char_end: int | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A stored retrieval, chosen again with other numbers: what enters, leaves and stays.

    ``before`` and ``after`` are the parameters. ``passages`` come in their new order, then those that left.
    ``changed`` says, a line each, which papers have changed, come or left since. ``timing`` is in seconds.
    """

    query: str
    scope: Scope
    scope_label: str
    before: dict[str, Any]
    after: dict[str, Any]
    passages: tuple[ReplayedPassage, ...]
    changed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    timing: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = f"{len(self.entered)} enter, {len(self.left)} leave, {len(self.stayed)} stay"
        return f"<Replay of {asked(self.query)}: {counts}, {label(self.scope_label)}>"

    def __iter__(self) -> Iterator[ReplayedPassage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)

    @property
    def entered(self) -> tuple[ReplayedPassage, ...]:
        return self._those("enters")

    @property
    def left(self) -> tuple[ReplayedPassage, ...]:
        return self._those("leaves")

    @property
    def stayed(self) -> tuple[ReplayedPassage, ...]:
        return self._those("stays")

    def _those(self, change: Change) -> tuple[ReplayedPassage, ...]:
        return tuple(p for p in self.passages if p.change == change)

    def to_frame(self) -> pandas.DataFrame:
        """One row per passage, with the fields of ``ReplayedPassage`` as columns."""
        frame = Listing(ReplayedPassage, self.passages).to_frame()
        return frame.astype(dict.fromkeys(_WHOLE, "Int64"))

    def _repr_html_(self) -> str:
        return replay_html(self)

    def _repr_markdown_(self) -> str:
        return replay_markdown(self)

"""A research workbench for Jupyter: papers in projects, cited answers, every claim on its page.

>>> import workbench
>>> with workbench.open("library.duckdb") as wb:
...     wb.papers.add("paper.pdf")
...     answer = wb.ask("What did they measure?")

Heavy libraries load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.errors import (
    ConflictError,
    DocumentError,
    EmbedderMismatchError,
    InvalidInputError,
    LibraryError,
    LibraryLockedError,
    LibraryVersionError,
    NotFoundError,
    ProviderError,
    ProviderUnavailableError,
    ReaderCrashedError,
    SettingsError,
    WorkbenchError,
)
from workbench.matrix import Matrix, MatrixInfo, MatrixRow
from workbench.records import (
    Answer,
    AnswerDone,
    Chunk,
    Citation,
    ConversationInfo,
    Coverage,
    Dropped,
    Event,
    Evidence,
    EvidenceFound,
    ExportedConversation,
    FileOutcome,
    IngestReport,
    MatchedReference,
    Memory,
    Message,
    Note,
    Notice,
    Page,
    PageView,
    Paper,
    Passage,
    Progress,
    Project,
    ProjectMatch,
    ProjectSummary,
    Reference,
    ReferenceReport,
    ScopeChange,
    SentenceVerdict,
    SilentPaper,
    StageEnd,
    TextDelta,
    TextRun,
    UnmatchedReference,
)
from workbench.scope import Scope

if TYPE_CHECKING:
    from workbench.api import Workbench, open
    from workbench.chat.coverage import asked_line
    from workbench.chat.suggestions import suggestions
    from workbench.chat.tool_loop import scope_line
    from workbench.conversing import Conversation
    from workbench.evaluation.charts import plot_figures
    from workbench.retrieval.formulas import formula_end
    from workbench.retrieval.parameters import SearchParameters
    from workbench.settings import Settings
    from workbench.tuning import Evaluation, Gold, PastSearch, Preset, Question, Replay, ReplayedPassage

__version__ = "0.1.0"

_LAZY = {
    "Conversation": "workbench.conversing",
    "Evaluation": "workbench.tuning",
    "Gold": "workbench.tuning",
    "PastSearch": "workbench.tuning",
    "Preset": "workbench.tuning",
    "Question": "workbench.tuning",
    "Replay": "workbench.tuning",
    "ReplayedPassage": "workbench.tuning",
    "SearchParameters": "workbench.retrieval.parameters",
    "Settings": "workbench.settings",
    "Workbench": "workbench.api",
    "asked_line": "workbench.chat.coverage",
    "formula_end": "workbench.retrieval.formulas",
    "open": "workbench.api",
    "plot_figures": "workbench.evaluation.charts",
    "scope_line": "workbench.chat.tool_loop",
    "suggestions": "workbench.chat.suggestions",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext workbench`` calls: gives the notebook ``%%ask``, ``%%wbsql`` and ``%scope``."""
    import_module("workbench.magics").load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Answer",
    "AnswerDone",
    "Chunk",
    "Citation",
    "ConflictError",
    "Conversation",
    "ConversationInfo",
    "Coverage",
    "DocumentError",
    "Dropped",
    "EmbedderMismatchError",
    "Evaluation",
    "Event",
    "Evidence",
    "EvidenceFound",
    "ExportedConversation",
    "FileOutcome",
    "Gold",
    "IngestReport",
    "InvalidInputError",
    "LibraryError",
    "LibraryLockedError",
    "LibraryVersionError",
    "MatchedReference",
    "Matrix",
    "MatrixInfo",
    "MatrixRow",
    "Memory",
    "Message",
    "NotFoundError",
    "Note",
    "Notice",
    "Page",
    "PageView",
    "Paper",
    "Passage",
    "PastSearch",
    "Preset",
    "Progress",
    "Project",
    "ProjectMatch",
    "ProjectSummary",
    "ProviderError",
    "ProviderUnavailableError",
    "Question",
    "ReaderCrashedError",
    "Reference",
    "ReferenceReport",
    "Replay",
    "ReplayedPassage",
    "Scope",
    "ScopeChange",
    "SearchParameters",
    "SentenceVerdict",
    "Settings",
    "SettingsError",
    "SilentPaper",
    "StageEnd",
    "TextDelta",
    "TextRun",
    "UnmatchedReference",
    "Workbench",
    "WorkbenchError",
    "asked_line",
    "formula_end",
    "open",
    "plot_figures",
    "scope_line",
    "suggestions",
]

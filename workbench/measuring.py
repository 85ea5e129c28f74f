"""``wb.evaluate``, ``wb.past_searches``, ``wb.replay``: measuring, and what other numbers would do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.asking import Asking
from workbench.errors import InvalidInputError
from workbench.naming import ProjectLike
from workbench.projects import Projects
from workbench.records import Answer, Evidence, Message, Progress
from workbench.rendering import Listing
from workbench.scope import Scope, as_scope
from workbench.storage import retrievals
from workbench.tuning import PastSearch, Question, Replay

if TYPE_CHECKING:
    import pandas

    from workbench.ingest.sandbox import Reader
    from workbench.interfaces import Embedder

Grid = Mapping[str, Iterable[Any]]
Questions = str | Path | Iterable[Question | Mapping[str, Any]]
Replayable = int | Message | Answer | Evidence

AUTOMATIC = "automatic"


class Measuring:
    """One user's measuring. What it needs loads when first used."""

    def __init__(
        self,
        asking: Asking,
        projects: Projects,
        *,
        reader: Callable[[], Reader],
        embedder: Callable[[], Embedder | None],
    ) -> None:
        self._asking, self._projects, self._reader, self._embedder = asking, projects, reader, embedder

    def evaluate(
        self,
        questions: Questions | None = None,
        *,
        scope: Scope | None = None,
        project: ProjectLike | None = None,
        grid: Grid | None = None,
        answers: bool = False,
        provider: str | None = None,
        confidence: float = 0.95,
        resamples: int = 2000,
        seed: int = 0,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> pandas.DataFrame:
        """How well searches (with ``answers`` also answers) of a scope do on labelled questions: one row per
        set of parameters and metric.

        ``questions`` are ``Question`` records, mappings with the fields of a file's line, a file, or None for
        those kept for the scope. The first set (``set`` 0) is what the scope searches with now; ``grid``
        maps parameters (``top_k``, ``max_per_paper``, ``min_relevance``, ``qualify_fraction``,
        ``keyword_weight``) to values, and every combination is one more. Each question is searched once and
        chosen from by every set.

        ``mean`` has a bootstrap interval from ``low`` to ``high``; ``difference`` is to set 0 on the same
        questions, with its interval and the ``p`` of a paired test. The metrics are described in
        ``workbench.evaluation.metrics``. The figures are kept in the library (``evaluations``,
        ``evaluation_results`` and, question by question, ``evaluation_scores`` in ``sql``); the frame's
        ``attrs`` have the evaluation's number and the warnings.
        """
        from workbench.evaluating import Options, evaluate

        options = Options(answers, provider, confidence, resamples, seed, progress, cancelled)
        return evaluate(
            self._asking, questions, scope=self._scope_of(scope, project), grid=grid, options=options
        )

    def evaluate_chunk_sizes(
        self,
        sizes: Sequence[int],
        questions: Questions | None = None,
        *,
        scope: Scope | None = None,
        project: ProjectLike | None = None,
        answers: bool = False,
        provider: str | None = None,
        confidence: float = 0.95,
        resamples: int = 2000,
        seed: int = 0,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> pandas.DataFrame:
        """The same for chunks of other sizes, in tokens of the embedder: the scope's papers are read, cut and
        embedded again in a scratch library for each size, which takes as long as adding them does.

        The first set is the library as it is. The other options are those of ``evaluate``.
        """
        from workbench.evaluating import Options
        from workbench.rechunking import evaluate_chunk_sizes

        options = Options(answers, provider, confidence, resamples, seed, progress, cancelled)
        return evaluate_chunk_sizes(
            self._asking,
            self._reader(),
            self._embedder(),
            sizes,
            questions,
            scope=self._scope_of(scope, project),
            options=options,
        )

    def evaluate_audit(
        self,
        *,
        scope: Scope | None = None,
        project: ProjectLike | None = None,
        per_kind: int = 20,
        confidence: float = 0.95,
        resamples: int = 2000,
        seed: int = 0,
    ) -> pandas.DataFrame:
        """How well the citation audit tells true sentences from false ones of a scope's papers.

        Sentences of the papers are taken as they are, or made false in a known way (a number or unit changed,
        negated, a name exchanged, another passage cited), at most ``per_kind`` of each. ``audit_precision``
        is the share of the flagged ones that are false, ``audit_recall`` the share of the false ones that
        are flagged, ``false_alarms`` the share of the true ones that are; a row for each way follows. A
        sentence is flagged where the audit calls it unsupported.
        """
        from workbench.audit_figures import evaluate_audit

        return evaluate_audit(
            self._asking,
            scope=self._scope_of(scope, project),
            per_kind=per_kind,
            seed=seed,
            confidence=confidence,
            resamples=resamples,
        )

    def past_searches(self, scope: Scope = Scope.ORPHANS, *, limit: int = 200) -> Listing[PastSearch]:
        """The newest searches of a scope that chose passages, the newest first: what ``replay`` takes. Raises
        InvalidInputError for a limit below 1."""
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInputError(f"limit={limit!r}: give a whole number from 1.")
        with self._asking.database.read() as cursor:
            found = retrievals.past_searches(cursor, self._asking.user, as_scope(scope), limit=limit)
        return Listing(PastSearch, found)

    def replay(
        self,
        what: Replayable,
        *,
        top_k: int | None = None,
        max_per_paper: int | None = None,
        min_relevance: float | None = None,
        qualify_fraction: float | None = None,
        keyword_weight: float | Literal["automatic"] | None = None,
    ) -> Replay:
        """What an earlier search would choose with other numbers: which passages enter, leave and stay.

        ``what`` is a retrieval's id (``retrieval_id`` in ``sql``), an ``Evidence``, an ``Answer`` or the
        ``Message`` of a conversation that holds one. Numbers that are not given stay as they were;
        ``keyword_weight="automatic"`` is the search mode's own weight. No chat model is asked and nothing is
        recorded. Raises NotFoundError for a retrieval or project that is not there, InvalidInputError where
        no passages were chosen.
        """
        from workbench.replaying import replay

        numbers = {
            "top_k": top_k,
            "max_per_paper": max_per_paper,
            "min_relevance": min_relevance,
            "qualify_fraction": qualify_fraction,
            "keyword_weight": keyword_weight,
        }
        given: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
        if given.get("keyword_weight") == AUTOMATIC:
            given["keyword_weight"] = None
        return replay(self._asking, what, given)

    def _scope_of(self, scope: Scope | None, project: ProjectLike | None) -> Scope:
        if scope is not None and project is not None:
            raise InvalidInputError("scope and project exclude each other: give one.")
        if project is not None:
            return Scope.project(self._projects.get(project))
        return Scope.ORPHANS if scope is None else as_scope(scope)

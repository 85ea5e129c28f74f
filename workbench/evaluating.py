"""``wb.evaluate``: searches and answers measured on labelled questions, for one or many sets of numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.asking import Asking
from workbench.chat.engine import answer_events
from workbench.chat.task import AnswerTask
from workbench.errors import EmbedderMismatchError, InvalidInputError
from workbench.evaluation.intervals import check_options
from workbench.evaluation.metrics import Share, answer_shares, evidence_shares
from workbench.evaluation.question_files import read_questions
from workbench.evaluation.sweep import COLUMNS, Result, parameter_sets, results
from workbench.gathering import Found
from workbench.labelling import list_of_questions
from workbench.records import Answer, AnswerDone, Passage, Progress
from workbench.retrieval.parameters import SearchParameters
from workbench.scope import Scope
from workbench.storage import evaluations, papers, scopes
from workbench.storage import questions as question_store
from workbench.tuning import Question

if TYPE_CHECKING:
    import pandas
    from duckdb import DuckDBPyConnection

    from workbench.interfaces import ChatModel

Grid = Mapping[str, Iterable[Any]]
Questions = str | Path | Iterable[Question | Mapping[str, Any]]

NO_QUESTIONS = (
    "There is no labelled question here: add some with wb.questions.add(question, paper, page), or give a "
    "file of questions."
)


@dataclass(frozen=True)
class Measured:
    """Scores by set of parameters and then by question, and how the work ended."""

    questions: Sequence[Question]
    sets: Sequence[SearchParameters]
    scores: list[list[dict[str, Share]]]
    provider: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Options:
    """How to measure. ``answers`` asks for an answer too, by ``provider``; ``cancelled`` is asked before each
    question and ends the work, with the questions so far measured."""

    answers: bool = False
    provider: str | None = None
    confidence: float = 0.95
    resamples: int = 2000
    seed: int = 0
    progress: Callable[[Progress], None] | None = None
    cancelled: Callable[[], bool] | None = None

    def stored(self) -> dict[str, Any]:
        kept = ("answers", "provider", "confidence", "resamples", "seed")
        return {name: getattr(self, name) for name in kept}


def evaluate(
    asking: Asking, questions: Questions | None, *, scope: Scope, grid: Grid | None, options: Options
) -> pandas.DataFrame:
    """See ``Workbench.evaluate``."""
    started = time.perf_counter()
    searcher = asking.searcher()  # which may load an embedder: not while the library is held open
    with asking.database.read() as cursor:
        label = scopes.label(cursor, asking.user, scope)
        current, _ = searcher.in_effect(cursor, scope)
    check_options(options.confidence, options.resamples)
    asked = questions_of(asking, questions, scope)
    sets = parameter_sets(current, grid)
    measured = measure(asking, asked, scope=scope, sets=sets, options=options)
    found = results(
        sets,
        measured.scores,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    evaluation_id = store(
        asking,
        [(r, r.parameters.values()) for r in found],
        [(index, measured) for index in range(len(sets))],
        scope=scope,
        label=label,
        options=options,
        seconds=time.perf_counter() - started,
    )
    return frame_of([r.row() for r in found], COLUMNS, evaluation_id, measured.warnings)


def questions_of(asking: Asking, questions: Questions | None, scope: Scope) -> list[Question]:
    """The questions given, or of a file, or those kept for the scope. Raises InvalidInputError for none."""
    if questions is None:
        with asking.database.read() as cursor:
            found = question_store.list_questions(cursor, asking.user, scope)
    elif isinstance(questions, str | Path):
        found = read_questions(questions)
    else:
        found = list_of_questions(questions)
    if not found:
        raise InvalidInputError(NO_QUESTIONS)
    return found


def measure(
    asking: Asking,
    questions: Sequence[Question],
    *,
    scope: Scope,
    sets: Sequence[SearchParameters],
    options: Options,
) -> Measured:
    """Every question searched once, and chosen from by every set; nothing is recorded as a retrieval."""
    model, notes = asking.chat_model(options.provider, scope) if options.answers else (None, ())
    warnings = [*notes, *_not_in_scope(asking, questions, scope)]
    scores: list[list[dict[str, Share]]] = [[] for _ in sets]
    done: list[Question] = []
    for number, question in enumerate(questions, start=1):
        if options.cancelled is not None and options.cancelled():
            warnings.append(f"Cancelled: {len(done)} of {len(questions)} questions were measured.")
            break
        if options.progress is not None:
            options.progress(Progress("measure", question.id, number - 1, len(questions)))
        for of_set, shares in zip(
            scores, _scored(asking, question, scope, sets, model, options), strict=True
        ):
            of_set.append(shares)
        done.append(question)
    if options.progress is not None:
        options.progress(Progress("measure", "", len(done), len(questions)))
    provider = None if not options.answers else model.name if model is not None else "extractive"
    return Measured(done, sets, scores, provider, tuple(dict.fromkeys(warnings)))


def _scored(
    asking: Asking,
    question: Question,
    scope: Scope,
    sets: Sequence[SearchParameters],
    model: ChatModel | None,
    options: Options,
) -> list[dict[str, Share]]:
    """The question's scores under each set. The search itself is done once."""
    try:
        found = _chosen(asking, question, scope, sets, answers=options.answers)
    except EmbedderMismatchError:  # another process has given the library other vectors since
        asking.forget_embedder()
        found = _chosen(asking, question, scope, sets, answers=options.answers)
    scored = []
    known: dict[tuple[int, ...], dict[str, Share]] = {}  # the same passages have the same scores
    for passages, of_answer in found:
        key = tuple(p.chunk_id for p in passages)
        if key not in known:
            shares = evidence_shares(question, passages)
            more = _answer_scores(asking, question, of_answer, model) if of_answer is not None else {}
            known[key] = shares | more
        scored.append(known[key])
    return scored


def _chosen(
    asking: Asking, question: Question, scope: Scope, sets: Sequence[SearchParameters], *, answers: bool
) -> list[tuple[Sequence[Passage], Found | None]]:
    """The passages that each set chooses, and for answers all that an answer needs."""
    with asking.searcher().gather(question.question, scope=scope, sets=sets) as gathered:
        if not answers:
            return [(gathered.passages(gathered.choose(each)), None) for each in sets]
        found = [gathered.found(each) for each in sets]
    return [(each.evidence.passages, each) for each in found]


def _answer_scores(
    asking: Asking, question: Question, found: Found, model: ChatModel | None
) -> dict[str, Share]:
    answer = _answer(asking, found, model)
    with asking.database.read() as cursor:
        return answer_shares(question, answer, page_text=_page_texts(cursor, answer))


def _answer(asking: Asking, found: Found, model: ChatModel | None) -> Answer:
    task = AnswerTask(
        question=found.evidence.query,
        evidence=found.evidence,
        pages_of=found.pages_of,
        chat_model=model,
        answerable=found.answerable,
        similarity=asking.similarity(found.evidence.query),
    )
    for event in answer_events(task):
        if isinstance(event, AnswerDone):
            return event.answer
    raise AssertionError("the stream of an answer ends with AnswerDone")


def _page_texts(cursor: DuckDBPyConnection, answer: Answer) -> Callable[[int, int], str]:
    cited = sorted({(c.paper_id, c.page, c.page) for c in answer.citations})
    texts = {(p.paper_id, p.page): p.text for p in papers.page_ranges(cursor, cited)}
    return lambda paper_id, page: texts.get((paper_id, page), "")


def _not_in_scope(asking: Asking, questions: Sequence[Question], scope: Scope) -> list[str]:
    """Which labelled files the scope does not hold: their questions cannot be answered from it."""
    with asking.database.read() as cursor:
        ids = scopes.paper_ids(cursor, asking.user, scope)
        held = papers.list_papers(cursor, asking.user, ids)
    names, known = {p.file for p in held}, {p.id for p in held}
    missing = {g.file for q in questions for g in q.gold if g.file not in names and g.paper_id not in known}
    if not missing:
        return []
    shown = ", ".join(sorted(missing)[:5]) + (" …" if len(missing) > 5 else "")
    where = " Give a project, or all papers, to measure elsewhere." if scope == Scope.ORPHANS else ""
    if len(missing) == 1:
        return [f"1 labelled file is not in the scope, so that nothing of it can be found: {shown}.{where}"]
    what = f"{len(missing)} labelled files are not in the scope"
    return [f"{what}, so that nothing of them can be found: {shown}.{where}"]


# --- keeping ---------------------------------------------------------------------------------


def store(
    asking: Asking,
    found: Sequence[tuple[Result, Mapping[str, Any]]],
    measured: Sequence[tuple[int, Measured]],
    *,
    scope: Scope,
    label: str,
    options: Options,
    seconds: float,
) -> int | None:
    """Keeps the figures in the library; None where it cannot be written to. ``measured`` has for each set its
    number among the sets of what was measured with it."""
    if not asking.database.writable:
        return None
    rows = [
        {**_figures(result), "set": result.set, "parameters": dict(parameters), "metric": result.metric}
        for result, parameters in found
    ]
    scores = [
        (number, question.id, question.question, metric, share.part, share.whole)
        for number, (index, of) in enumerate(measured)
        for question, shares in zip(of.questions, of.scores[index], strict=True)
        for metric, share in shares.items()
        if share.whole > 0
    ]
    provider = measured[0][1].provider if measured else None
    with asking.database.write() as cursor:
        return evaluations.record(
            cursor,
            asking.user,
            scope=scope,
            scope_label=label,
            questions=len(measured[0][1].questions) if measured else 0,
            options=options.stored() | {"provider": provider},
            seconds=seconds,
            results=rows,
            scores=scores,
        )


def _figures(result: Result) -> dict[str, Any]:
    estimate = result.estimate
    return {name: getattr(estimate, name) for name in estimate.__dataclass_fields__}


def frame_of(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    evaluation_id: int | None,
    warnings: Sequence[str],
) -> pandas.DataFrame:
    """The rows as a frame, whose ``attrs`` hold the evaluation's id and the warnings."""
    import pandas

    frame = pandas.DataFrame(list(rows), columns=list(columns))
    frame["keyword_weight"] = frame["keyword_weight"].astype("float64")  # NaN: what the mode has
    frame.attrs = {"evaluation": evaluation_id, "warnings": tuple(warnings)}
    return frame

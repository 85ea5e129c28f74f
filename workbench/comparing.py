"""``wb.matrix``: the same questions put to each paper of a scope, one paper at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from workbench.answering import answer_stream
from workbench.asking import Asking
from workbench.chat.small_talk import small_talk_reply
from workbench.chat.task import EXTRACTIVE
from workbench.errors import InvalidInputError, NotFoundError
from workbench.matrix import NOT_SAID, Matrix, MatrixInfo, MatrixRow, Support
from workbench.naming import ProjectLike
from workbench.projects import Projects
from workbench.records import Answer, AnswerDone, Paper, Progress
from workbench.rendering import Listing
from workbench.retrieval.markers import MarkerStream
from workbench.scope import Scope, as_scope
from workbench.searching import checked_query
from workbench.storage import matrices as store
from workbench.storage import papers, revisions, scopes

MOST_QUESTIONS = 20
MOST_SENTENCES = 3  # of a paper's own, in a cell


@dataclass(frozen=True)
class _Work:
    """One call: what to ask of whom, and how."""

    questions: tuple[str, ...]
    scope: Scope
    label: str
    papers: tuple[Paper, ...]
    given: dict[str, int | float]
    provider: str | None
    matrix_id: int | None


class Matrices:
    """``wb.matrices``: what was asked of each paper, kept for this user. Another user's do not exist here."""

    def __init__(self, asking: Asking, projects: Projects) -> None:
        self._asking, self._projects = asking, projects

    def ask(
        self,
        question: str | Sequence[str],
        *,
        scope: Scope | None = None,
        project: ProjectLike | None = None,
        top_k: int | None = None,
        min_relevance: float | None = None,
        provider: str | None = None,
        fresh: bool = False,
        progress: Callable[[Progress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Matrix:
        """One question, or several, put to each paper of the scope alone: answer, quote, page, support.

        Each answer is found, written and audited like every other; where the paper does not say, the cell
        says so. Answers are kept as they come: the same call again goes on where it was stopped, and asks
        only papers that are new or have changed, or all of them with ``fresh``. ``progress`` is called before
        each answer; ``cancelled`` is asked meanwhile and ends the work. Raises InvalidInputError,
        NotFoundError.
        """
        work = self._begin(
            _checked(question),
            self._scope(scope, project),
            self._asking.given(top_k, None, min_relevance),
            provider,
        )
        model, _ = self._asking.chat_model(provider, work.scope)
        asker = _Asker(self._asking, work, EXTRACTIVE if model is None else model.name, cancelled)
        return asker.run(fresh=fresh, progress=progress)

    def list(self) -> Listing[MatrixInfo]:
        """Every stored matrix, the newest first. ``get`` opens one."""
        with self._asking.database.read() as cursor:
            return Listing(MatrixInfo, store.list_matrices(cursor, self._asking.user))

    def get(self, matrix: Matrix | MatrixInfo | int) -> Matrix:
        """A stored matrix as it is, with the papers that its scope has now; nothing is asked. Raises
        NotFoundError."""
        with self._asking.database.read() as cursor:
            info = store.get(cursor, self._asking.user, _id(matrix))
            found = _papers(self._asking, cursor, info.scope)
            kept, now = store.cells(cursor, info.id), revisions.of_papers(cursor, [p.id for p in found])
        rows = {
            place: replace(row, changed=now.get(place[1]) != revision)
            for place, (row, revision, _) in kept.items()
        }
        work = _Work(info.questions, info.scope, info.scope_label, found, {}, None, info.id)
        return _matrix(work, rows, asked=0)

    def delete(self, matrix: Matrix | MatrixInfo | int) -> None:
        """Removes a stored matrix with its answers. Raises NotFoundError."""
        with self._asking.database.write() as cursor:
            store.delete(cursor, self._asking.user, _id(matrix))

    def _scope(self, scope: Scope | None, project: ProjectLike | None) -> Scope:
        if project is None:
            return Scope.ORPHANS if scope is None else as_scope(scope)
        if scope is not None:
            raise InvalidInputError("Give a scope or a project, not both.")
        return Scope.project(self._projects.get(project))

    def _begin(
        self, questions: tuple[str, ...], scope: Scope, given: dict[str, int | float], provider: str | None
    ) -> _Work:
        database, user = self._asking.database, self._asking.user
        with database.read() as cursor:
            found, label = _papers(self._asking, cursor, scope), scopes.label(cursor, user, scope)
        matrix_id = None
        if found and database.writable:
            with database.write() as cursor:
                options = {**given, "provider": provider}
                matrix_id = store.begin(cursor, user, scope, questions, options)
        return _Work(questions, scope, label, found, given, provider, matrix_id)


class _Asker:
    """Asks what is not answered yet, paper by paper."""

    def __init__(
        self, asking: Asking, work: _Work, provider: str, cancelled: Callable[[], bool] | None
    ) -> None:
        self._asking, self._work, self._provider = asking, work, provider
        self._cancelled = cancelled or (lambda: False)
        self._rows: dict[store.Place, MatrixRow] = {}

    def run(self, *, fresh: bool, progress: Callable[[Progress], None] | None) -> Matrix:
        work, asked = self._work, 0
        if not fresh:
            self._rows = self._kept()
        places = list(self._places())
        for number, (index, paper) in enumerate(places, start=1):
            if (index, paper.id) in self._rows:
                continue
            if self._cancelled():
                break
            if progress is not None:
                progress(Progress("ask", paper.title, index, len(work.questions), number, len(places)))
            row = self._ask(index, paper)
            if row is None:
                continue
            self._rows[index, paper.id] = row
            asked += 1
        return _matrix(work, self._rows, asked=asked)

    def _places(self) -> Iterator[tuple[int, Paper]]:
        return ((index, paper) for paper in self._work.papers for index in range(len(self._work.questions)))

    def _kept(self) -> dict[store.Place, MatrixRow]:
        """Answers of before that would be the same again: of this provider, to the paper as it is now."""
        if self._work.matrix_id is None:
            return {}
        with self._asking.database.read() as cursor:
            now = revisions.of_papers(cursor, [p.id for p in self._work.papers])
            kept = store.cells(cursor, self._work.matrix_id)
        return {
            place: row
            for place, (row, revision, provider) in kept.items()
            if now.get(place[1]) == revision and provider == self._provider
        }

    def _ask(self, index: int, paper: Paper) -> MatrixRow | None:
        """None where it was cancelled, or the paper has left meanwhile."""
        question = self._work.questions[index]
        with self._asking.database.read() as cursor:
            revision = revisions.of_papers(cursor, [paper.id]).get(paper.id)
        try:
            answer = self._answer(question, paper)
        except NotFoundError:
            return None
        if answer is None or revision is None:
            return None
        row = _row(answer, question, paper)
        if self._work.matrix_id is not None:
            with self._asking.database.write() as cursor:
                store.put(cursor, self._work.matrix_id, index, row, revision=revision)
        return row

    def _answer(self, question: str, paper: Paper) -> Answer | None:
        work = self._work
        stream = answer_stream(
            self._asking, question, scope=work.scope, given=work.given, provider=work.provider, paper=paper.id
        )
        with closing(stream) as events:
            for event in events:
                if isinstance(event, AnswerDone):
                    return event.answer
                if self._cancelled():
                    return None
        return None


def _matrix(work: _Work, rows: dict[store.Place, MatrixRow], *, asked: int) -> Matrix:
    places = [(i, paper) for paper in work.papers for i in range(len(work.questions))]
    shown = tuple(rows[i, paper.id] for i, paper in places if (i, paper.id) in rows)
    warnings = () if work.papers else (f"There are no papers in this scope ({work.label}).",)
    return Matrix(
        id=work.matrix_id,
        questions=work.questions,
        scope=work.scope,
        scope_label=work.label,
        rows=shown,
        papers=len(work.papers),
        asked=asked,
        complete=len(shown) == len(places),
        warnings=tuple(dict.fromkeys([*warnings, *(w for row in shown for w in row.warnings)])),
    )


def _row(answer: Answer, question: str, paper: Paper) -> MatrixRow:
    about = {"question": question, "paper_id": paper.id, "title": paper.title, "file": paper.file}
    kept = [w for w in answer.warnings if not w.startswith("No passage found mentions")]
    common: dict[str, Any] = {**about, "provider": answer.provider, "warnings": tuple(kept)}
    ranked = sorted(answer.citations, key=lambda c: ("supported", "partly", "unsupported").index(c.support))
    if answer.refused or not ranked:
        return MatrixRow(
            answer=NOT_SAID,
            quote="",
            page=None,
            page_label=None,
            page_unit=paper.page_unit,
            char_start=None,
            char_end=None,
            support=None,
            refused=True,
            **common,
        )
    best = ranked[0]
    return MatrixRow(
        answer=_plain(answer),
        quote=best.quote,
        page=best.page,
        page_label=best.page_label,
        page_unit=best.page_unit,
        char_start=best.char_start,
        char_end=best.char_end,
        support=_support(answer),
        refused=False,
        **common,
    )


def _plain(answer: Answer) -> str:
    """The answer without numbers: those of its passages mean nothing in a table."""
    if answer.provider == EXTRACTIVE:
        return " ".join(verdict.sentence for verdict in answer.audit[:MOST_SENTENCES])
    markers = MarkerStream(())
    return " ".join((markers.feed(answer.text) + markers.close()).split())


def _support(answer: Answer) -> Support:
    """Supported if every sentence is, unsupported if none is even partly."""
    verdicts = {verdict.verdict for verdict in answer.audit}
    if verdicts == {"supported"}:
        return "supported"
    return "partly" if verdicts & {"supported", "partly"} else "unsupported"


def _papers(asking: Asking, cursor: Any, scope: Scope) -> tuple[Paper, ...]:
    ids = scopes.paper_ids(cursor, asking.user, scope)
    return tuple(papers.list_papers(cursor, asking.user, ids))


def _checked(question: str | Sequence[str]) -> tuple[str, ...]:
    given = [question] if isinstance(question, str) else list(question)
    checked = tuple(dict.fromkeys(checked_query(each) for each in given))
    if not checked:
        raise InvalidInputError("There is no question: give one, or several in a list.")
    if len(checked) > MOST_QUESTIONS:
        raise InvalidInputError(f"{len(checked)} questions at once: at most {MOST_QUESTIONS} work.")
    talk = next((each for each in checked if small_talk_reply(each)), None)
    if talk is not None:
        raise InvalidInputError(f"“{talk}” asks nothing of a paper.")
    return checked


def _id(matrix: Matrix | MatrixInfo | int) -> int:
    if not isinstance(matrix, Matrix | MatrixInfo | int):
        raise InvalidInputError(f"{matrix!r} is no matrix: give one of wb.matrices.list(), or its id.")
    found = matrix if isinstance(matrix, int) else matrix.id
    if found is None:
        raise NotFoundError("This matrix was not kept: the library could not be written to.")
    return found

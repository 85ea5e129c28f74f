"""``wb.questions``: labelled questions of this user, to measure searches and answers on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.errors import InvalidInputError, NotFoundError
from workbench.evaluation.metrics import letters
from workbench.evaluation.question_files import (
    question_fields,
    question_from,
    question_lines,
    read_questions,
)
from workbench.named_files import write_named
from workbench.naming import PaperLike, ProjectLike, paper_id_of, project_key
from workbench.rendering import Listing
from workbench.scope import Scope, as_scope
from workbench.storage import papers, projects
from workbench.storage import questions as store
from workbench.storage.database import Database
from workbench.tuning import UNANSWERABLE, Gold, Question, type_of

Listed = list  # inside the class below the name ``list`` means its method


class Questions:
    """``wb.questions``: this user's labelled questions. Another user's do not exist here."""

    def __init__(self, database: Database, user: str) -> None:
        self._database, self._user = database, user

    def add(
        self,
        question: str,
        paper: PaperLike | None = None,
        page: int | None = None,
        *,
        phrase: str = "",
        answer: str = "",
        project: ProjectLike | None = None,
    ) -> Question:
        """Says "this page answers this question", and returns the question with all its labels.

        The same question again, with another page, gets that page too. Without a paper it is a question that
        the papers do not answer. ``phrase`` is a few words of the page that answer it, ``answer`` a short
        right answer. Raises NotFoundError for an unknown paper, page or project, InvalidInputError for a
        phrase that does not stand on the page.
        """
        if (paper is None) != (page is None):
            raise InvalidInputError("A label needs both: the paper, and the page that answers the question.")
        asked = question_from({"id": "new", "question": question, "answer": answer}, where="This question")
        with self._database.write() as cursor:
            project_id = None
            if project is not None:
                project_id = projects.get(cursor, self._user, project_key(project)).id
            gold: tuple[Gold, ...] = ()
            if paper is not None and page is not None:
                found = papers.get(cursor, self._user, paper_id_of(paper))
                text = papers.page(cursor, found.id, _checked_page(page)).text
                gold = (Gold(found.file, page, _checked_phrase(phrase, text, found.file, page), found.id),)
            known = store.with_text(cursor, self._user, asked.question, project_id=project_id)
            if known is None:
                made = replace(asked, id="", gold=gold, type=type_of(gold))
                return store.add(cursor, self._user, made, project_id=project_id)
            kept = tuple(g for g in known.gold if not _same_place(g, gold))
            merged = (*kept, *gold)
            own_word = known.type not in (type_of(known.gold), UNANSWERABLE)
            changed = replace(
                known,
                gold=merged,
                type=known.type if own_word else type_of(merged),
                answer=asked.answer or known.answer,
            )
            store.put(cursor, self._user, changed, project_id=project_id)
            return store.get(cursor, self._user, known.id, project_id=project_id)

    def get(self, question: str | Question, *, project: ProjectLike | None = None) -> Question:
        """The question of this id in a project, or in none. Raises NotFoundError."""
        with self._database.read() as cursor:
            project_id = self._project_id(question, project)
            return store.get(cursor, self._user, _label(question), project_id=project_id)

    def list(self, scope: Scope = Scope.ALL) -> Listing[Question]:
        """All questions in the order they came; with a project's scope those of the project, with
        ``Scope.ORPHANS`` those of no project."""
        with self._database.read() as cursor:
            return Listing(Question, store.list_questions(cursor, self._user, as_scope(scope)))

    def delete(self, *questions: str | Question, project: ProjectLike | None = None) -> None:
        """Deletes questions, given or by id (in ``project``, else in none), all or none of them. Raises
        NotFoundError."""
        named = [(_label(q), self._project_id(q, project)) for q in questions]
        with self._database.write() as cursor:
            for label, project_id in named:
                store.delete(cursor, self._user, [label], project_id=project_id)

    def import_file(self, path: str | Path, *, project: ProjectLike | None = None) -> Listed[Question]:
        """Keeps the questions of a JSON-lines file and returns them; one whose id is there already takes the
        other's place. All of them are kept or, where one line is wrong, none.

        Raises InvalidInputError in one line that names the file's line.
        """
        return self.put(read_questions(path), project=project)

    def put(
        self, questions: Iterable[Question | Mapping[str, Any]], *, project: ProjectLike | None = None
    ) -> Listed[Question]:
        """The same for questions at hand, as records or as mappings with a line's fields."""
        given = list_of_questions(questions)
        project_id = None if project is None else self._owned(project)
        with self._database.write() as cursor:
            for question in given:
                store.put(cursor, self._user, question, project_id=project_id)
            return [store.get(cursor, self._user, q.id, project_id=project_id) for q in given]

    def lines(self, scope: Scope = Scope.ALL) -> str:
        """The questions as the JSON lines that ``import_file`` reads. Files go by the names the papers have
        now. Raises InvalidInputError where two projects have a question of one id."""
        found = self.list(scope)
        seen: set[str] = set()
        for question in found:
            if question.id in seen:
                raise InvalidInputError(
                    f"Two projects have a question of the id “{question.id}”: export one project at a time."
                )
            seen.add(question.id)
        return question_lines(found)

    def export(self, path: str | Path, scope: Scope = Scope.ALL) -> int:
        """Writes ``lines`` to a file, whole or not at all, and returns how many questions there are. Raises
        InvalidInputError where it cannot be written."""
        text = self.lines(scope)
        write_named(path, text.encode("utf-8"))
        return text.count("\n")

    def _project_id(self, question: str | Question, project: ProjectLike | None) -> int | None:
        if project is None:
            return question.project_id if isinstance(question, Question) else None
        return self._owned(project)

    def _owned(self, project: ProjectLike) -> int:
        with self._database.read() as cursor:
            return projects.get(cursor, self._user, project_key(project)).id


def list_of_questions(questions: Iterable[Question | Mapping[str, Any]]) -> Listed[Question]:
    """The questions, each checked as one of a file is; a mapping is read as a line of a file would be. Raises
    InvalidInputError for what is none."""
    if not isinstance(questions, Iterable):
        raise InvalidInputError(f"{questions!r} is no list of labelled questions.")
    listed: list[Question] = []
    seen: set[str] = set()
    for number, given in enumerate(questions, start=1):
        where = f"Question {number}"
        if not isinstance(given, Question | Mapping):
            raise InvalidInputError(f"{given!r} is no labelled question, but a workbench.Question is.")
        if isinstance(given, Question):
            question_from(question_fields(given), where=where)
            question = replace(given, gold=tuple(_in_range(gold) for gold in given.gold))
        else:
            question = question_from(given, where=where)
        if question.id in seen:
            raise InvalidInputError(f"{where}: the id “{question.id}” is there twice.")
        seen.add(question.id)
        listed.append(question)
    return listed


def _in_range(gold: Gold) -> Gold:
    """Without a paper's id that the library cannot even ask for."""
    return gold if gold.paper_id is None or paper_id_of(gold.paper_id) else replace(gold, paper_id=None)


def _label(question: str | Question) -> str:
    if isinstance(question, Question):
        return question.id
    if not isinstance(question, str):
        raise InvalidInputError(f"{question!r} is neither a question nor its id: list them to see the ids.")
    return question


def _checked_page(page: object) -> int:
    if isinstance(page, bool) or not isinstance(page, int):
        raise InvalidInputError(f"The page must be a whole number, not {page!r}.")
    if not 0 < page < 2**31:
        raise NotFoundError(f"There is no page {page}: pages count from 1.")
    return page


def _checked_phrase(phrase: object, text: str, file: str, page: int) -> str:
    if not isinstance(phrase, str):
        raise InvalidInputError(f"The phrase must be text, not {phrase!r}.")
    wanted = " ".join(phrase.split())
    if wanted and (not letters(wanted) or letters(wanted) not in letters(text)):
        raise InvalidInputError(f"“{wanted[:80]}” does not stand on page {page} of {file}.")
    return wanted


def _same_place(one: Gold, gold: tuple[Gold, ...]) -> bool:
    """A label of the page that is labelled now, with the same phrase or none."""
    return any(
        one.file == g.file and one.page == g.page and (one.phrase == g.phrase or not one.phrase) for g in gold
    )

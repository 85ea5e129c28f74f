from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.mineral_papers import Mineral
from workbench import InvalidInputError, Matrix, NotFoundError, Progress, Scope, Workbench
from workbench.matrix import NOT_SAID
from workbench.providers.fake_chat import FakeChat

Open = Callable[..., Workbench]
MELTING = "What is the melting point of this mineral?"
ARVENITE = "What is the melting point of arvenite?"


def test_each_paper_answers_for_itself_with_its_own_quote_and_page(
    wb: Workbench, five: list[Mineral]
) -> None:
    found = wb.matrix(MELTING, scope=Scope.ALL)
    assert [row.file for row in found] == [m.file for m in five[:3]]
    for row, mineral in zip(found, five, strict=False):
        assert str(mineral.melting_point) in row.answer
        assert (row.refused, row.support) == (False, "supported")
        page = next(p for p in wb.papers.pages(row.paper_id) if p.page == row.page)
        assert row.quote in page.text
    assert (found.papers, found.asked, found.complete) == (3, 3, True)


def test_a_paper_that_does_not_say_says_so(wb: Workbench) -> None:
    rows = wb.matrix(ARVENITE, scope=Scope.ALL).rows
    assert [row.refused for row in rows] == [False, True, True]
    assert {(r.answer, r.quote, r.page, r.support) for r in rows[1:]} == {(NOT_SAID, "", None, None)}


def test_the_same_call_again_asks_nobody_and_a_new_paper_alone(wb: Workbench) -> None:
    first = wb.matrix(MELTING, project="Minerals")
    again = wb.matrix(MELTING, project="Minerals")
    assert (again.id, again.asked, again.rows) == (first.id, 0, first.rows)
    wb.projects.add("Minerals", 3)
    grown = wb.matrix(MELTING, project="Minerals")
    assert (grown.asked, len(grown), grown.rows[:2]) == (1, 3, first.rows)
    assert wb.matrix(MELTING, project="Minerals", fresh=True).asked == 3


def test_a_cancelled_matrix_keeps_what_it_has_and_goes_on(wb: Workbench) -> None:
    seen: list[Progress] = []
    stopped = wb.matrix(MELTING, scope=Scope.ALL, progress=seen.append, cancelled=lambda: len(seen) > 1)
    assert (len(stopped), stopped.complete) == (1, False)
    rest = wb.matrix(MELTING, scope=Scope.ALL)
    assert (rest.id, rest.asked, len(rest), rest.complete) == (stopped.id, 2, 3, True)


def test_several_questions_make_a_table_of_papers_and_questions(wb: Workbench) -> None:
    table = wb.matrix([MELTING, ARVENITE], project="Minerals").table()
    assert list(table.columns) == [MELTING, ARVENITE]
    assert table.loc[table.index[1], ARVENITE] == NOT_SAID


def test_a_stored_matrix_opens_again_and_tells_of_a_paper_that_changed(wb: Workbench) -> None:
    note = wb.notes.create("Furnace", "The melting point of arvenite is 900 degrees.", project="Minerals")
    made = wb.matrix(ARVENITE, project="Minerals")
    assert wb.matrices.get(made.id) == replace(made, asked=0)
    wb.notes.update(note, body="The melting point of arvenite is 901 degrees.")
    opened = wb.matrices.get(made.id)
    assert [row.changed for row in opened] == [False, False, True]
    assert wb.matrix(ARVENITE, project="Minerals").asked == 1


def test_a_paper_that_left_takes_its_answers_along_and_a_project_its_matrices(wb: Workbench) -> None:
    made, other = wb.matrix(MELTING, project="Minerals"), wb.matrix(MELTING, scope=Scope.ALL)
    wb.papers.remove(1)
    assert {row.paper_id for row in wb.matrices.get(made)} == {2}
    wb.projects.delete("Minerals")
    assert [m.id for m in wb.matrices.list()] == [other.id]
    with pytest.raises(NotFoundError, match="Matrix not found"):
        wb.matrices.get(made)
    assert wb.doctor() == []


def test_a_chat_models_answer_is_audited_and_its_numbers_do_not_show(open_as: Open) -> None:
    chat = FakeChat("The melting point of arvenite is 5 degrees Celsius. [1]")
    [row] = [r for r in open_as("ann", chat_model=chat).matrix(ARVENITE, scope=Scope.ALL) if r.paper_id == 1]
    assert row.answer == NOT_SAID or (row.support == "unsupported" and "[1]" not in row.answer)


def test_nothing_of_a_paper_is_a_formula_html_or_markdown_in_an_export(wb: Workbench) -> None:
    wb.notes.create('=HYPERLINK("http://evil.example")', "The melting point of arvenite is 900 degrees.")
    wb.notes.create("<img src=x onerror=alert(1)> ![x](http://evil.example/i.png)", "Arvenite melts at 900.")
    found = wb.matrix(ARVENITE, scope=Scope.ORPHANS)
    rows = list(csv.reader(io.StringIO(found.to_csv())))
    assert rows[0] == ["paper", "answer", "quote", "page", "support", "refused"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert "<img" not in found._repr_html_() + found.to_markdown()
    assert "![x](" not in found.to_markdown()


def test_an_empty_scope_and_wrong_questions_are_told_in_one_line(wb: Workbench) -> None:
    empty = wb.matrix(MELTING, project=wb.projects.create("Empty"))
    assert (len(empty), empty.id) == (0, None)
    assert empty.warnings == ("There are no papers in this scope (Empty).",)
    for wrong in ("", [], "hello", [MELTING] * 0):
        with pytest.raises(InvalidInputError):
            wb.matrix(wrong, scope=Scope.ALL)
    with pytest.raises(InvalidInputError, match="is no matrix"):
        wb.matrices.get("1")  # type: ignore[arg-type]  # a wrong call
    with pytest.raises(InvalidInputError, match="not both"):
        wb.matrix(MELTING, scope=Scope.ALL, project="Minerals")


def test_it_prints_in_one_line_and_as_a_table(wb: Workbench) -> None:
    found = wb.matrix(MELTING, project="Minerals")
    assert repr(found) == "<Matrix of 1 × 2 papers, Minerals>"
    assert isinstance(found, Matrix)
    assert found.frame()["paper_id"].tolist() == [1, 2]
    assert found._repr_html_().count("<tr>") == 3

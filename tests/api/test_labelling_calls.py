"""wb.questions: what is labelled, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import Gold, InvalidInputError, NotFoundError, Question, Scope, Workbench

MELTING = "What is the melting point of arvenite?"


def test_a_page_that_answers_a_question_is_kept_with_the_papers_name(wb: Workbench) -> None:
    made = wb.questions.add(MELTING, 1, 2, phrase="melting point  of\narvenite", answer="Hot.", project=1)
    label = Gold("arvenite.pdf", 2, "melting point of arvenite", 1)
    assert made == Question("q-1", MELTING, (label,), "single", "Hot.", "", 1)
    assert wb.questions.list() == wb.questions.list(Scope.project(1)) == [made]
    assert wb.questions.get("q-1", project="Minerals") == wb.questions.get(made) == made
    assert wb.questions.list(Scope.ORPHANS) == []
    joined = "SELECT label, question, file, page FROM questions JOIN question_gold USING (question_id)"
    [row] = wb.sql(joined).to_numpy().tolist()
    assert row == ["q-1", MELTING, "arvenite.pdf", 2]


def test_the_same_question_with_more_pages_is_one_question(wb: Workbench) -> None:
    wb.questions.add("Which melt?")
    wb.questions.add("Which melt?", 1, 2)
    wb.questions.add("Which melt?", 2, 2, answer="Both.")
    wb.questions.add(" Which melt? ", wb.papers.get(1), 2, phrase="melting point")
    [found] = wb.questions.list()
    assert (found.type, found.answer) == ("cross", "Both.")
    assert [(g.file, g.page, g.phrase) for g in found.gold] == [
        ("bolmarite.pdf", 2, ""),
        ("arvenite.pdf", 2, "melting point"),
    ]


def test_a_label_goes_by_the_name_its_paper_has_now_and_stays_when_the_paper_leaves(
    wb: Workbench, mineral_files: list[Path], tmp_path: Path
) -> None:
    made = wb.questions.add(MELTING, 1, 2)
    with wb._database.write() as cursor:
        cursor.execute("UPDATE library_links SET file = 'renamed.pdf' WHERE paper_id = 1")
    assert wb.questions.get(made).gold == (Gold("renamed.pdf", 2, "", 1),)
    wb.papers.remove(1)
    assert wb.questions.get(made).gold == (Gold("arvenite.pdf", 2, "", 1),)
    assert wb.questions.lines().startswith('{"id": "q-1", "type": "single", "question": "What is the melting')


def test_questions_of_a_deleted_project_stay_and_its_presets_go(wb: Workbench) -> None:
    wb.questions.add("Which melt?")
    wb.questions.add("Why?", project=1)
    wb.questions.add("Where?", project=1)
    wb.presets.save(1, "Narrow", top_k=3)
    wb.projects.delete(1)
    assert [(q.id, q.question, q.project_id) for q in wb.questions.list()] == [
        ("q-1", "Which melt?", None),
        ("q-1-2", "Why?", None),
        ("q-2", "Where?", None),
    ]
    assert wb.sql("SELECT count(*) AS n FROM presets")["n"].tolist() == [0]
    assert wb.doctor() == []


def test_a_file_is_kept_whole_or_not_at_all_and_a_second_time_replaces(wb: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text('{"id": "a", "question": "One?"}\n{"id": "b", "question": ""}\n', encoding="utf-8")
    with pytest.raises(InvalidInputError, match="questions.jsonl, line 2: there is no “question”"):
        wb.questions.import_file(path)
    assert wb.questions.list() == []
    path.write_text(
        '{"id": "a", "question": "One?", "gold": [{"file": "arvenite.pdf", "page": 2, "phrase": ""}]}\n'
        '{"id": "b", "question": "Two?"}\n',
        encoding="utf-8",
    )
    first = wb.questions.import_file(path, project=1)
    assert wb.questions.import_file(path, project=1) == first == wb.questions.list()
    target = tmp_path / "out.jsonl"
    assert wb.questions.export(target) == 2
    assert wb.questions.import_file(target, project=1) == first
    assert [p.name for p in tmp_path.glob("*.part")] == [p.name for p in tmp_path.glob(".*")] == []
    with pytest.raises(InvalidInputError, match="cannot be written"):
        wb.questions.export(tmp_path / "no folder" / "out.jsonl")


def test_a_question_and_a_preset_show_in_a_notebook_with_every_text_escaped(wb: Workbench) -> None:
    asked = wb.questions.add("Is <b>this</b> hot?", 1, 2, phrase="melting point")
    html = asked._repr_html_()
    assert "<b>this" not in html
    assert "arvenite.pdf, 2: “melting point”" in html
    assert "&lt;i&gt;" in wb.presets.save(1, "<i>", top_k=3)._repr_html_()


def test_a_papers_id_that_no_library_has_is_left_out(wb: Workbench) -> None:
    [kept] = wb.questions.put([Question("a", "?", (Gold("a.pdf", 1, "", 2**70),))])
    assert kept.gold == (Gold("a.pdf", 1),)


def test_several_are_deleted_all_or_none(wb: Workbench) -> None:
    kept = [wb.questions.add(text) for text in ("One?", "Two?")]
    with pytest.raises(NotFoundError, match="Question not found: “nine”"):
        wb.questions.delete("q-1", "nine")
    assert wb.questions.list() == kept
    wb.questions.delete(kept[0], "q-2")
    assert wb.questions.list() == []
    assert wb.doctor() == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda wb: wb.questions.add(""), "there is no “question”"),
        (lambda wb: wb.questions.add(7), "“question” is a text, not a number"),
        (lambda wb: wb.questions.add("Why?", 1), "A label needs both"),
        (lambda wb: wb.questions.add("Why?", 1, True), "The page must be a whole number"),
        (
            lambda wb: wb.questions.add("Why?", 1, 2, phrase="nowhere"),
            "“nowhere” does not stand on page 2 of",
        ),
        (lambda wb: wb.questions.add("Why?", 1, 2, phrase="…"), "does not stand on page 2"),
        (lambda wb: wb.questions.add("Why?", 1, 2, phrase=3), "The phrase must be text"),
        (lambda wb: wb.questions.put(7), "7 is no list of labelled questions"),
        (lambda wb: wb.questions.put(["Why?"]), "is no labelled question"),
        (lambda wb: wb.questions.put([Question("a", "?"), Question("a", "!")]), "the id “a” is there twice"),
        (lambda wb: wb.questions.put([Question("", "?")]), "Question 1: there is no “id”"),
        (lambda wb: wb.questions.put([Question("a", "?", (Gold("a", 1, "", "x"),))]), "neither a paper nor"),
        (lambda wb: wb.questions.delete(3), "is neither a question nor its id"),
    ],
)
def test_what_is_no_label_is_refused_in_one_line(
    wb: Workbench, call: Callable[[Workbench], object], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        call(wb)
    assert len(str(caught.value).splitlines()) == 1
    assert wb.questions.list() == []


@pytest.mark.parametrize("page", [0, -1, 4, 2**40])
def test_a_page_that_is_not_there_is_not_found(wb: Workbench, page: int) -> None:
    with pytest.raises(NotFoundError, match="no page"):
        wb.questions.add("Why?", 1, page)

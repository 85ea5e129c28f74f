from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest

from workbench import Evidence, InvalidInputError, NotFoundError, Passage, Scope, Settings, Workbench

MELTING = "What is the melting point of arvenite?"


def test_evidence_is_numbered_and_says_where_each_passage_stands_and_how_it_was_found(wb: Workbench) -> None:
    evidence = wb.search(MELTING, scope=Scope.project(1))
    [chunk] = wb.papers.chunks(1)
    assert evidence.passages[0] == Passage(
        n=1,
        chunk_id=chunk.id,
        paper_id=1,
        title="A study of arvenite",
        file="arvenite.pdf",
        page_start=1,
        page_end=3,
        text=chunk.text,
        score=evidence.passages[0].score,
        vector_rank=1,
        keyword_rank=1,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
    )
    assert [p.n for p in evidence] == [1, 2]
    assert 1 >= evidence.passages[0].score > evidence.passages[1].score > 0
    assert (evidence.query, evidence.scope, evidence.scope_label, evidence.papers_in_scope) == (
        MELTING,
        Scope.project(1),
        "Minerals",
        2,
    )
    assert evidence.warnings == ()
    assert {"scope", "vectors", "keywords", "selection", "passages", "embedding"} <= set(evidence.timing)
    assert {k: evidence.parameters[k] for k in ("top_k", "max_per_paper", "min_relevance", "mode")} == {
        "top_k": 15,
        "max_per_paper": 5,
        "min_relevance": 0.05,
        "mode": "hybrid",
    }
    assert (len(evidence), evidence.passage(2), evidence.passage(3), evidence.passage(0)) == (
        2,
        evidence.passages[1],
        None,
        None,
    )


def test_evidence_becomes_a_frame_and_a_table(wb: Workbench) -> None:
    evidence = wb.search(MELTING, scope=Scope.ALL)
    frame = evidence.to_frame()
    assert list(frame.columns) == [f.name for f in fields(Passage)]
    assert list(frame["paper_id"]) == [p.paper_id for p in evidence]
    assert "A study of arvenite" in evidence._repr_html_()


def test_the_same_question_gives_the_same_evidence(wb: Workbench) -> None:
    first, second = wb.search(MELTING, scope=Scope.ALL), wb.search(MELTING, scope=Scope.ALL)
    assert (first.passages, first.dropped, first.parameters) == (
        second.passages,
        second.dropped,
        second.parameters,
    )


def test_every_search_is_stored(wb: Workbench) -> None:
    evidence = wb.search(MELTING, scope=Scope.project(1), top_k=1)
    [row] = wb.sql("SELECT * FROM retrievals").to_dict("records")
    assert (row["query"], row["rag_project_id"]) == (MELTING, 1)
    stored = wb.sql("SELECT n, chunk_id, paper_id, reason FROM retrieval_passages ORDER BY n NULLS LAST")
    assert [int(i) for i in stored["chunk_id"]] == [
        evidence.passages[0].chunk_id,
        *[d.chunk_id for d in evidence.dropped],
    ]
    assert len(evidence.dropped) == 1
    assert list(stored["reason"])[1] == evidence.dropped[0].reason


# --- scopes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_search_sees_its_scope_and_nothing_else(wb: Workbench, mode: Any) -> None:
    question = "melting point of arvenite, bolmarite and cendrite"
    seen = {
        scope: {p.paper_id for p in found} | {d.paper_id for d in found.dropped}
        for scope in (Scope.ORPHANS, Scope.project(1), Scope.ALL)
        for found in [wb.search(question, scope=scope, mode=mode)]
    }
    assert seen == {Scope.ORPHANS: {3}, Scope.project(1): {1, 2}, Scope.ALL: {1, 2, 3}}


def test_orphans_are_the_default_everywhere(wb: Workbench) -> None:
    assert wb.search("melting point").scope_label == "Orphan notes only"
    answer = wb.ask("What is the melting point of cendrite?")
    assert (answer.scope_label, {c.paper_id for c in answer.citations}) == ("Orphan notes only", {3})
    assert [n.metadata["paper_id"] for n in wb.retriever().retrieve("melting point")] == [3]


def test_orphans_that_hold_nothing_point_to_the_projects(wb: Workbench) -> None:
    wb.papers.remove(3)
    evidence = wb.search(MELTING)
    hint = (
        "2 papers of yours are in projects, where this search did not look: choose a project, or all notes."
    )
    assert (evidence.passages, evidence.papers_in_scope, evidence.warnings) == ((), 0, (hint,))
    answer = wb.ask(MELTING)
    assert (answer.refused, answer.citations, answer.warnings) == (True, (), (hint,))
    assert "There are no papers in it (Orphan notes only)" in answer.text


def test_an_empty_project_says_that_it_holds_no_papers(wb: Workbench) -> None:
    empty = wb.projects.create("Empty")
    answer = wb.ask(MELTING, scope=Scope.project(empty))
    assert (answer.refused, answer.scope_label, answer.evidence.papers_in_scope) == (True, "Empty", 0)
    assert "There are no papers in it (Empty)" in answer.text


def test_a_project_of_nobody_and_a_project_of_somebody_else_are_the_same_error(
    wb: Workbench, open_as: Callable[..., Workbench]
) -> None:
    theirs = open_as("bob").projects.create("Bob's own")
    errors = []
    for project_id in (theirs.id, 99):
        for call in (wb.search, wb.ask, wb.stream):
            with pytest.raises(NotFoundError) as caught:
                call(MELTING, scope=Scope.project(project_id))
            errors.append(str(caught.value).replace(str(project_id), "ID"))
    assert set(errors) == {"Project not found: ID. List your projects to see their names."}


@pytest.mark.parametrize("scope", [None, -1, 1, "all", "Minerals", 0, True, object()])
def test_what_is_no_scope_is_an_error_and_never_everything(wb: Workbench, scope: Any) -> None:
    for call in (wb.search, wb.ask, wb.stream, wb.papers.list, wb.chunks.list, wb.chunks.frame):
        arguments = () if call in (wb.papers.list, wb.chunks.list, wb.chunks.frame) else (MELTING,)
        with pytest.raises(InvalidInputError, match="is not a scope: use Scope.ORPHANS, Scope.ALL or"):
            call(*arguments, scope=scope)  # type: ignore[operator]  # any of six signatures


@pytest.mark.parametrize("value", [0, -2, True, "1", 1.0])
def test_a_scope_cannot_be_made_of_anything_else(value: Any) -> None:
    with pytest.raises(InvalidInputError):
        Scope(value)
    with pytest.raises(InvalidInputError):
        Scope.project(value)


def test_a_misspelt_argument_is_an_error_and_not_ignored(wb: Workbench) -> None:
    for call in (wb.search, wb.ask, wb.stream):
        with pytest.raises(TypeError, match="scop"):
            call(MELTING, scop=Scope.project(1))  # type: ignore[call-arg]  # the point of the test


# --- limits, modes and questions ----------------------------------------------------------------


def test_the_limits_of_a_call_win_over_those_of_the_settings(
    open_as: Callable[..., Workbench], library: Path
) -> None:
    wb = open_as("ann", settings=Settings.load(library=library, user="ann", top_k=1, chat="extractive"))
    assert len(wb.search("melting point", scope=Scope.ALL)) == 1
    assert len(wb.search("melting point", scope=Scope.ALL, top_k=2)) == 2
    assert len(wb.ask("melting point of cendrite", scope=Scope.ALL, top_k=3).evidence) == 3
    nothing = wb.search("melting point", scope=Scope.ALL, min_relevance=1.0, top_k=15)
    assert all(p.score == 1.0 for p in nothing)
    assert {d.paper_id for d in nothing.dropped} | {p.paper_id for p in nothing} == {1, 2, 3}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"top_k": 0}, "top_k and max_per_paper must be at least 1"),
        ({"max_per_paper": -1}, "top_k and max_per_paper must be at least 1"),
        ({"min_relevance": 1.5}, "between 0 and 1"),
        ({"min_relevance": float("nan")}, "between 0 and 1"),
        ({"mode": "magic"}, "mode='magic': allowed are hybrid, vector, keyword"),
    ],
)
def test_a_limit_that_cannot_be_is_an_error(wb: Workbench, options: dict[str, Any], says: str) -> None:
    for call in (wb.search, wb.ask, wb.stream):
        with pytest.raises(InvalidInputError, match=says):
            call(MELTING, scope=Scope.ALL, **options)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("", "The question is empty"),
        (" \n\t\x00", "The question is empty"),
        ("a " * 3000, "at most 4000 work"),
    ],
)
def test_a_question_that_cannot_be_asked_is_an_error(wb: Workbench, question: str, says: str) -> None:
    for call in (wb.search, wb.ask, wb.stream):
        with pytest.raises(InvalidInputError, match=says):
            call(question)


@pytest.mark.parametrize(
    "question", ["(", '"', "a AND (b OR", "%_';--", "?" * 50, "\ud83d half", "熔点", "🪨"]
)
def test_any_other_text_can_be_asked(wb: Workbench, question: str) -> None:
    evidence = wb.search(question, scope=Scope.ALL)
    assert isinstance(evidence, Evidence)
    assert wb.ask(question, scope=Scope.ALL).evidence.scope == Scope.ALL


def test_a_library_without_papers_finds_nothing_in_any_mode(wb: Workbench) -> None:
    for paper in wb.papers.list():
        wb.papers.remove(paper)
    for mode in ("hybrid", "vector", "keyword"):
        found = wb.search(MELTING, scope=Scope.ALL, mode=mode)  # type: ignore[arg-type]  # one of the three
        assert (found.passages, found.dropped, found.papers_in_scope, found.warnings) == ((), (), 0, ())


def test_passages_are_plain_data(wb: Workbench) -> None:
    import json

    [first, *_] = wb.search(MELTING, scope=Scope.ALL)
    assert json.loads(json.dumps(asdict(first)))["file"] == "arvenite.pdf"


@pytest.mark.parametrize(
    "call",
    [
        lambda wb: wb.search(None),
        lambda wb: wb.ask(5),
        lambda wb: wb.search(MELTING, top_k=1.5),
        lambda wb: wb.search(MELTING, top_k="5"),
        lambda wb: wb.search(MELTING, top_k=True),
        lambda wb: wb.search(MELTING, min_relevance="5"),
        lambda wb: wb.search(MELTING, min_relevance=float("nan")),
        lambda wb: wb.search(MELTING, max_per_paper=float("nan")),
        lambda wb: wb.search(MELTING, max_per_paper=1.5),
        lambda wb: wb.projects.create(None),
        lambda wb: wb.projects.create("A new one", description=5),
        lambda wb: wb.projects.update(1, name=5),
        lambda wb: wb.sql(None),
        lambda wb: wb.sql("select ?", 5),
        lambda wb: wb.papers.page_image(1, "1"),
        lambda wb: wb.papers.page_image(1, None),
        lambda wb: wb.papers.page_image(1, 1.5),
        lambda wb: wb.papers.page_image(1, 1, highlight=5),
        lambda wb: wb.papers.page_view(1, 1, width="wide"),
        lambda wb: wb.papers.page_view(1, 1, quote="arvenite", place=(3,)),
        lambda wb: wb.papers.page_view(1, 1, quote="arvenite", place=3),
        lambda wb: wb.papers.page_view(1, 1, place=(3, "4")),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused_in_one_line(
    wb: Workbench, call: Callable[[Workbench], Any]
) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        call(wb)
    assert len(str(refusal.value).splitlines()) == 1

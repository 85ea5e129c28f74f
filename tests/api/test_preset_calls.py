"""A project's own numbers: below those of a call, above the settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench import InvalidInputError, NotFoundError, Scope, Settings, Workbench

MINES = "minerals of the northern mines"


@pytest.fixture
def project() -> Scope:
    return Scope.project(1)


def numbers(evidence: Any) -> tuple[Any, ...]:
    return tuple(evidence.parameters.get(n) for n in ("top_k", "max_per_paper", "min_relevance", "preset"))


def test_a_call_wins_over_the_project_and_the_project_over_the_settings(
    library: Path, open_as: Callable[..., Workbench], project: Scope
) -> None:
    settings = Settings.load(library=library, user="ann", chat="extractive", top_k=9, max_chunks_per_paper=4)
    wb = open_as("ann", settings=settings)
    assert numbers(wb.search(MINES, scope=project)) == (9, 4, 0.05, None)
    saved = wb.presets.save("Minerals", "Narrow", top_k=1, min_relevance=0.2)
    assert (saved.parameters, saved.chosen) == ({"top_k": 1, "min_relevance": 0.2}, True)
    found = wb.search(MINES, scope=project)
    assert (numbers(found), len(found)) == ((1, 4, 0.2, "Narrow"), 1)
    given = wb.search(MINES, scope=project, top_k=2)
    assert (numbers(given), len(given)) == ((2, 4, 0.2, "Narrow"), 2)
    for elsewhere in (Scope.ALL, Scope.ORPHANS):
        assert numbers(wb.search(MINES, scope=elsewhere)) == (9, 4, 0.05, None)
    wb.presets.choose("Minerals", None)
    assert numbers(wb.search(MINES, scope=project)) == (9, 4, 0.05, None)


def test_answers_conversations_and_retrievers_of_the_project_go_by_its_preset(
    wb: Workbench, project: Scope
) -> None:
    wb.presets.save(1, "One", top_k=1)
    thread = wb.conversations.create(Scope.ALL)
    assert len(thread.ask(MINES).evidence) == 3
    wb.conversations.update(thread, scope=project)
    asked = [
        wb.ask(MINES, scope=project).evidence,
        thread.ask(MINES).evidence,
        wb.project_chat(1).ask(MINES).evidence,
    ]
    assert [numbers(e) for e in asked] == [(1, 5, 0.05, "One")] * 3
    assert len(wb.retriever(project).retrieve(MINES)) == 1
    assert numbers(thread.ask(MINES, top_k=2).evidence) == (2, 5, 0.05, "One")


def test_words_can_be_weighed_per_project(wb: Workbench, project: Scope) -> None:
    words = wb.search(MINES, scope=project, mode="keyword")
    wb.presets.save(1, "Words alone", keyword_weight=1)
    found = wb.search(MINES, scope=project)
    assert [p.chunk_id for p in found] == [p.chunk_id for p in words]
    assert [p.score for p in found] == [p.score for p in words]
    assert found.parameters["keyword_weight"] == 1


def test_presets_are_saved_over_listed_chosen_and_deleted(wb: Workbench) -> None:
    wb.presets.save(1, "Wide", top_k=30, choose=False)
    narrow = wb.presets.save(1, "Narrow", top_k=3)
    again = wb.presets.save(1, "NARROW", max_per_paper=2, choose=False)
    assert (again.name, again.parameters, again.chosen, again.created_at) == (
        "Narrow",
        {"max_per_paper": 2},
        True,
        narrow.created_at,
    )
    assert [(p.name, p.chosen) for p in wb.presets.list("minerals")] == [("Narrow", True), ("Wide", False)]
    chosen = wb.presets.choose(1, "wide")
    assert chosen == wb.presets.chosen(1) == wb.presets.get(1, "WIDE")
    wb.presets.delete(1, "Wide")
    assert (wb.presets.chosen(1), [p.name for p in wb.presets.list(1)]) == (None, ["Narrow"])
    assert wb.doctor() == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "A preset needs a parameter"),
        ({"topk": 3}, "No such search parameter: topk"),
        ({"top_k": 0}, "at least 1"),
        ({"top_k": "3"}, "top_k must be a whole number"),
        ({"min_relevance": 1.5}, "between 0 and 1"),
        ({"keyword_weight": -1}, "keyword_weight must be a number from 0 to 1"),
    ],
)
def test_numbers_that_cannot_be_are_refused(wb: Workbench, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        wb.presets.save(1, "Bad", **parameters)
    assert wb.presets.list(1) == []


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 201, 7])
def test_what_is_no_name_is_refused(wb: Workbench, name: Any) -> None:
    with pytest.raises(InvalidInputError):
        wb.presets.save(1, name, top_k=3)


def test_what_is_not_there_is_not_found(wb: Workbench) -> None:
    for call in (wb.presets.get, wb.presets.choose, wb.presets.delete):
        with pytest.raises(NotFoundError, match="Preset not found: “none”. List the presets of “Minerals”"):
            call(1, "none")
    with pytest.raises(NotFoundError, match="Project not found"):
        wb.presets.list("Ores")

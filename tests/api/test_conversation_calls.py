"""Conversations found by their words, questions asked again, and conversations as notebooks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
import pytest

from workbench import (
    AnswerDone,
    InvalidInputError,
    NotFoundError,
    Notice,
    Scope,
    ScopeChange,
    Workbench,
    scope_line,
)
from workbench.chat.tool_loop import scope_set_line
from workbench.interfaces import ChatMessage, ToolCall, ToolDecision
from workbench.providers.fake_chat import FakeChat

MELTING = "What is the melting point of arvenite?"
FOLLOW_UP = "And of bolmarite?"
WRITTEN = "The melting point of arvenite is 1013 degrees Celsius [1]."
SET_MINERALS = ToolDecision((ToolCall("set_rag_scope", {"project_id": 1}),))

Open = Callable[..., Workbench]


# --- found ---------------------------------------------------------------------------------------


def test_conversations_are_found_by_every_word_of_title_question_or_answer(
    wb: Workbench, open_as: Open
) -> None:
    melting = wb.conversations.create(Scope.project(1))
    melting.ask(MELTING)
    named = wb.conversations.create(title="Café à la mine 100% _")
    open_as("bob").conversations.create(title="Café of Bob")

    def found(words: str) -> list[int]:
        return [info.id for info in wb.conversations.find(words)]

    assert found("  ") == found("\n") == [named.id, melting.id]
    assert found("CAFE mine") == found("café") == found("cafe\u0301") == [named.id]
    assert found("1013 arvenite") == [melting.id], "a word of the answer and one of the question"
    assert found("minerals") == [melting.id], "the project by its name"
    assert found("arvenite café") == []
    assert found("100% _") == [named.id]
    assert found("%") == [named.id]
    assert found("' OR 1=1 --") == []
    with pytest.raises(InvalidInputError):
        wb.conversations.find(7)  # type: ignore[arg-type]


def test_chats_of_projects_and_papers_are_found_by_their_names_when_asked_for(wb: Workbench) -> None:
    project, paper = wb.project_chat(1), wb.paper_chat(3)
    assert wb.conversations.find("minerals") == []
    assert [info.id for info in wb.conversations.find("minerals", None)] == [project.id]
    assert [info.id for info in wb.conversations.find("cendrite", "paper")] == [paper.id]
    with pytest.raises(InvalidInputError):
        wb.conversations.find("x", "other")  # type: ignore[arg-type]


# --- asked again -----------------------------------------------------------------------------------


def test_a_question_asked_again_gets_another_turn_and_the_answer_before_stays(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1))
    first = talk.ask(MELTING)
    again = talk.ask_again()
    assert (again.question, again.evidence.query) == (MELTING, first.evidence.query)
    assert [(m.role, m.answer) for m in talk.messages] == [
        ("user", None),
        ("assistant", first),
        ("user", None),
        ("assistant", again),
    ]


def test_a_follow_up_asked_again_is_understood_from_the_turn_before_it_not_from_itself(open_as: Open) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        return WRITTEN

    model = FakeChat(reply)
    wb = open_as("ann", chat_model=model)
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING)
    talk.ask("What is the density of bolmarite?")
    before = [message.content for message in model.received[-1]]
    talk.ask_again()
    assert [message.content for message in model.received[-1]] == before


def test_a_question_is_asked_again_by_any_of_its_messages_and_in_the_scope_of_now(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING)
    question, answer = talk.messages
    talk.ask("What is the density of cendrite?")
    wb.conversations.update(talk, scope=Scope.ALL)
    for message in (question, answer.id):
        again = talk.ask_again(message)
        assert (again.question, again.scope_label) == (MELTING, "All notes")


def test_nothing_can_be_asked_again_where_nothing_was_asked(wb: Workbench) -> None:
    talk, other = wb.conversations.create(), wb.conversations.create()
    other.ask(MELTING)
    for message in (None, other.messages[0], 10**9):
        with pytest.raises(NotFoundError, match="no such question"):
            talk.ask_again(message)
    assert talk.messages == ()


# --- a scope that a tool sets ------------------------------------------------------------------------


def test_an_answer_keeps_the_line_that_says_that_the_chat_model_set_the_scope(open_as: Open) -> None:
    wb = open_as("ann", chat_model=FakeChat(WRITTEN, decisions=[SET_MINERALS]))
    talk = wb.conversations.create()
    told = talk.ask(f"{MELTING} Look into my minerals.")
    stored = talk.messages[-1].answer
    assert stored is not None
    assert scope_line(stored.warnings) == scope_line(told.warnings) == scope_set_line("Minerals")
    assert scope_line(talk.ask(MELTING).warnings) == ""


@pytest.mark.parametrize("before", [Scope.ORPHANS, Scope.ALL])
def test_a_project_deleted_the_moment_a_tool_chose_it_leaves_an_answer_from_the_orphans(
    open_as: Open, before: Scope
) -> None:
    wb: Workbench
    asked: list[int] = []

    def decide(messages: Sequence[ChatMessage]) -> ToolDecision:
        asked.append(1)
        if len(asked) == 1:
            return SET_MINERALS
        wb.projects.delete(1)
        return ToolDecision(text="READ")

    wb = open_as("ann", chat_model=FakeChat("Cendrite is a mineral [1].", decisions=decide))
    talk = wb.conversations.create(before)
    events = list(talk.stream("What is cendrite? Look into my minerals."))
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert done.scope_change == (None if before == Scope.ORPHANS else ScopeChange(None, "Orphan notes only"))
    assert (done.answer.scope_label, talk.scope) == ("Orphan notes only", Scope.ORPHANS)
    told = [event.text for event in events if isinstance(event, Notice)]
    assert sum(line.startswith("Project “Minerals” was deleted") for line in told) == 1
    assert talk.notice is None, "it was told, once"
    assert "now searches “Minerals”" not in done.answer.text


# --- as a notebook -----------------------------------------------------------------------------------


def test_a_conversation_becomes_a_notebook_that_asks_the_same_in_the_same_scopes(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1), title="<img src=x onerror=alert(1)> *Melting*")
    told = talk.ask(MELTING)
    talk.ask_silent()
    wb.conversations.update(talk, scope=Scope.ALL)
    talk.ask("Is \"cendrite\" a mineral?\n\\ 'yes'")
    text = wb.bibliography.notebook(talk)
    assert text == wb.bibliography.notebook(talk.id), "the same conversation gives the same file"
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert "<img" not in notebook.cells[0].source
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code[1:]] == [
        f"talk.ask({MELTING!r})",
        "talk.ask_silent()",
        "wb.conversations.update(talk, scope=Scope.ALL)\n"
        "talk.ask('Is \"cendrite\" a mineral?\\n\\\\ \\'yes\\'')",
    ]
    assert code[1].outputs[0].data["text/markdown"] == told._repr_markdown_()


def test_the_notebook_of_a_conversation_runs_and_gets_the_same_answers(
    wb: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = wb.conversations.create(Scope.project(1))
    told = talk.ask(MELTING)
    code = [
        c["source"] for c in json.loads(wb.bibliography.notebook(talk))["cells"] if c["cell_type"] == "code"
    ]
    monkeypatch.setattr("workbench.open", lambda: wb)
    names: dict[str, object] = {}
    for source in code:
        exec("".join(source), names)  # as a notebook does
    assert [info.messages for info in wb.conversations.list()] == [2, 2]
    assert wb.conversations.get(wb.conversations.list()[0]).messages[-1].text == told.text


def test_the_notebook_of_a_papers_chat_and_of_a_project_that_has_gone_still_runs(
    wb: Workbench, tmp_path: Path
) -> None:
    chat, talk = wb.paper_chat(3), wb.conversations.create(Scope.project(1))
    chat.ask(MELTING)
    talk.ask(MELTING)
    wb.projects.delete(1)
    sources = [json.loads(wb.bibliography.notebook(one))["cells"][1]["source"][-1] for one in (chat, talk)]
    assert sources == ["talk = wb.paper_chat(3)", "talk = wb.conversations.create(Scope.ORPHANS)"]

"""The chat panel's state: threads, streaming, stopping, failing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.widgets.answers import FIRST, answer, evidence
from tests.widgets.scripted import NOW, ScriptedWorkbench, Stream
from widgets.chat.state import ChatState
from widgets.panel import at_once, in_thread
from widgets.places import ALL, ORPHANS
from workbench import (
    Answer,
    AnswerDone,
    Dropped,
    EvidenceFound,
    LibraryLockedError,
    Message,
    Notice,
    ProviderError,
    Scope,
    ScopeChange,
    SilentPaper,
    TextDelta,
)

HOSTILE = "<img src=x onerror=alert(1)>"


def state(scripted: ScriptedWorkbench, run: Any = at_once) -> tuple[ChatState, list[tuple[Any, int, int]]]:
    cited: list[tuple[Any, int, int]] = []

    def on_cite(citations: Sequence[dict[str, Any]], k: int, turn: int) -> None:
        cited.append((citations, k, turn))

    return ChatState(scripted, on_cite=on_cite, run=run), cited  # type: ignore[arg-type]


def ask(chat: ChatState, question: str = "What does the engine do?") -> None:
    chat.act({"do": "ask", "with": {"question": question}})


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not true():
        assert time.monotonic() < deadline, "nothing happened within five seconds"
        time.sleep(0.005)


def _message(id: int, role: Any, text: str, told: Answer | None = None, **more: Any) -> Message:
    return Message(id, 1, role, text, Scope.ORPHANS, told, NOW, **more)


def complete(title: str = "Notes") -> list[Any]:
    return [
        EvidenceFound(evidence(title=title)),
        TextDelta(FIRST),
        Notice("A notice."),
        AnswerDone(answer(title=title)),
    ]


def test_a_finished_turn_holds_the_answer_its_citations_and_its_footing(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted)
    scripted.script = complete()
    ask(chat)
    (turn,) = chat.turns
    assert (turn["question"], turn["state"], turn["notes"]) == (
        "What does the engine do?",
        "done",
        ["One thing to know."],
    )
    assert turn["foot"] == {
        "supported": 1,
        "partly": 1,
        "unsupported": 0,
        "uncited": 0,
        "provider": "extractive",
        "scope": "Orphan notes",
        "extractive": True,
        "quotes": 2,
        "seconds": 1.3,
    }
    assert turn["coverage"] == {
        "line": "3 papers in scope, 2 retrieved, 2 cited",
        "silent": 1,
        "titles": "“<b>A third</b>”",
    }
    assert turn["citations"][1] == {
        "n": 2,
        "paper": 2,
        "title": "Notes",
        "byline": "Lovelace et al. 1843",
        "page": 3,
        "label": "",
        "unit": "page",
        "quote": "passage number 2",
        "start": 20,
        "end": 29,
        "support": "partly",
    }
    assert (chat.streaming, chat.live, chat.error) == (False, {}, "")


def test_markers_can_be_followed_while_the_answer_still_streams(scripted: ScriptedWorkbench) -> None:
    chat, cited = state(scripted, in_thread)
    gate = threading.Event()
    scripted.script = Stream([*complete()[:2], TextDelta(" More.")], gate=gate)
    ask(chat)
    wait_until(lambda: bool(chat.live_citations))
    chat.act({"do": "cite", "with": {"turn": 0, "k": 1}})
    assert [(c[k]["quote"], turn) for c, k, turn in cited] == [("passage number 2", 0)]
    gate.set()
    wait_until(lambda: not chat.streaming)


def test_a_turn_tells_what_was_left_out_and_why_and_each_of_it_opens(scripted: ScriptedWorkbench) -> None:
    chat, cited = state(scripted)
    told = answer()
    found = replace(
        told.evidence,
        dropped=(Dropped(7, 5, 0.414, "all 2 seats are taken", 3, None, 4, "Looms"),),
        dropped_reasons={"all 2 seats are taken": 61},
        papers_silent=3,
        silent=(SilentPaper(5, "Looms"), SilentPaper(6, "Shuttles")),
        silent_because=("its best passage was left out", "still indexing"),
    )
    scripted.script = [AnswerDone(replace(told, evidence=found, unread=1))]
    ask(chat)
    no_mark = {"n": 0, "quote": "", "start": 0, "end": 0}
    near = {
        "paper": 5,
        "title": "Looms",
        "page": 4,
        "unit": "page",
        "label": "",
        "score": 0.41,
        "ranks": "meaning 3",
        "reason": "all 2 seats are taken",
    }
    silent = [
        {"paper": 5, "title": "Looms", "reason": "its best passage was left out", "page": 1},
        {"paper": 6, "title": "Shuttles", "reason": "still indexing", "page": 1},
    ]
    assert chat.turns[0]["left_out"] == {
        "reasons": [{"reason": "all 2 seats are taken", "count": 61}],
        "nearest": [near | no_mark],
        "silent": [row | no_mark for row in silent],
        "more_silent": 1,
        "unread": 1,
    }
    for k, among in ((0, "nearest"), (1, "silent"), (2, "silent"), (0, "passages")):
        chat.act({"do": "cite", "with": {"turn": 0, "k": k, "among": among}})
    assert [(rows[k]["paper"], rows[k]["quote"]) for rows, k, _ in cited] == [
        (5, ""),
        (6, ""),
        (1, "passage number 1"),
    ]


def test_a_refusal_is_told_from_an_answer_and_blames_no_citation(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted)
    scripted.script = [AnswerDone(answer(refused=True))]
    ask(chat)
    (turn,) = chat.turns
    assert turn["state"] == "refused"
    assert {c["support"] for c in turn["citations"]} == {""}
    assert "wb-cite wb-pending" in turn["html"]


def test_stop_ends_the_turn_at_once_and_closes_the_stream(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted, in_thread)
    gate = threading.Event()
    stream = Stream(
        [EvidenceFound(evidence()), TextDelta("Half an "), TextDelta("answer."), AnswerDone(answer())],
        gate=gate,
    )
    scripted.script = stream
    ask(chat)
    wait_until(lambda: bool(chat.live.get("index") == 0 and chat.live_citations))
    chat.act({"do": "stop"})
    assert (chat.streaming, chat.turns[0]["state"]) == (False, "stopped")
    gate.set()
    assert stream.closed.wait(5)
    assert chat.turns[0]["state"] == "stopped"
    scripted.script = complete()
    ask(chat, "Again?")
    wait_until(lambda: [t["state"] for t in chat.turns] == ["stopped", "done"])


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (ProviderError("Ollama stopped answering. Ask again."), "Ollama stopped answering. Ask again."),
        (
            ZeroDivisionError("x / 0"),
            "Something went wrong (answering: ZeroDivisionError). To report it, attach ",
        ),
    ],
)
def test_a_fault_ends_the_turn_with_one_line_and_the_panel_works_on(
    scripted: ScriptedWorkbench, fault: Exception, shown: str
) -> None:
    chat, _ = state(scripted)
    stream = Stream([EvidenceFound(evidence()), TextDelta("Half."), fault])
    scripted.script = stream
    ask(chat)
    assert (chat.turns[0]["state"], chat.streaming) == ("failed", False)
    [note] = chat.turns[0]["notes"]
    assert note.startswith(shown)
    assert stream.closed.is_set()
    scripted.script = complete()
    ask(chat)
    assert [t["state"] for t in chat.turns] == ["failed", "done"]


def test_a_second_question_waits_for_the_first(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted, in_thread)
    gate = threading.Event()
    scripted.script = Stream([TextDelta("Slow.")], gate=gate)
    ask(chat)
    wait_until(lambda: chat.live.get("state") == "answering")
    ask(chat, "And another?")
    assert (len(chat.turns), chat.error) == (1, "An answer is on its way. Stop it first, or wait.")
    gate.set()
    wait_until(lambda: not chat.streaming)


def test_each_scope_has_its_own_thread_and_an_answer_lands_where_it_was_asked(
    scripted: ScriptedWorkbench,
) -> None:
    chat, _ = state(scripted, in_thread)
    gate = threading.Event()
    scripted.script = Stream(complete(), gate=gate)
    chat.show(2)
    ask(chat)
    chat.show(1)
    assert (chat.turns, chat.live) == ([], {})
    gate.set()
    wait_until(lambda: not chat.streaming)
    assert chat.turns == []
    chat.show(2)
    assert [t["state"] for t in chat.turns] == ["done"]


def test_a_question_sees_the_scope_shown_and_another_one_is_shown_elsewhere(
    scripted: ScriptedWorkbench,
) -> None:
    chosen: list[int] = []
    chat = ChatState(scripted, on_cite=lambda *_: None, on_scope=chosen.append, run=at_once)  # type: ignore[arg-type]
    chat.offer_scopes([{"id": 2, "name": "Weaving", "papers": 1}])
    assert [choice["label"] for choice in chat.scopes] == ["Orphan notes", "Weaving", "All notes"]
    scripted.script = complete()
    for place in (2, ORPHANS, ALL):
        chat.show(place)
        ask(chat)
    assert [scope for _, scope in scripted.asked] == [Scope.project(2), Scope.ORPHANS, Scope.ALL]
    for value in (ALL, 99, 2, ORPHANS):
        chat.act({"do": "choose_scope", "with": {"value": value}})
    assert chosen == [2, ORPHANS], "an unknown scope and the one shown change nothing"


def test_another_visit_finds_each_thread_as_it_was_left(scripted: ScriptedWorkbench) -> None:
    messages = (
        _message(1, "user", "What does the engine do?"),
        _message(2, "assistant", "", answer(), changed=("“Notes” was removed.",)),
        _message(3, "user", "And the loom?"),
    )
    scripted.conversations.create(Scope.ALL).messages = messages
    scripted.conversations.create(Scope.ORPHANS)
    scripted.project_chat(2).messages = messages[:2]
    chat, _ = state(scripted)
    chat.show(ALL)
    assert [(t["question"], t["state"]) for t in chat.turns] == [
        ("What does the engine do?", "done"),
        ("And the loom?", "failed"),
    ]
    assert chat.turns[0]["notes"] == ["One thing to know.", "“Notes” was removed."]
    chat.show(2)
    assert [t["state"] for t in chat.turns] == ["done"]
    scripted.script = complete()
    ask(chat, "Again?")
    assert ([t["question"] for t in chat.turns], scripted.asked) == (
        ["What does the engine do?", "What does the engine do?"],
        [("Again?", Scope.project(2))],
    )
    chat.show(ORPHANS)
    assert (chat.turns, chat.reading) == ([], False)


def test_a_thread_that_cannot_be_read_now_can_be_asked_and_another_goes_on_being_read(
    scripted: ScriptedWorkbench,
) -> None:
    waiting: list[Callable[[], None]] = []
    chat = ChatState(scripted, on_cite=lambda *_: None, run=waiting.append)  # type: ignore[arg-type]

    def locked(_: int) -> Any:
        raise LibraryLockedError("Another program holds the library.")

    scripted.projects.held[3] = scripted.projects.held[2]
    project_chat, scripted.project_chat = scripted.project_chat, locked  # type: ignore[method-assign]
    chat.go_to(2)
    chat.go_to(ORPHANS)
    waiting.pop(0)()
    assert (chat.error, chat.reading) == ("Another program holds the library.", True)
    waiting.clear()
    chat.go_to(3)
    waiting.pop(0)()
    assert (chat.error, chat.reading) == ("Another program holds the library.", False)
    scripted.project_chat, scripted.script = project_chat, complete()  # type: ignore[method-assign]
    ask(chat)
    waiting.pop(0)()
    assert scripted.asked[-1][1] == Scope.project(3)


def test_a_scope_that_a_tool_sets_moves_the_panels_and_keeps_the_thread(scripted: ScriptedWorkbench) -> None:
    chosen: list[int] = []
    chat = ChatState(scripted, on_cite=lambda *_: None, on_scope=chosen.append, run=at_once)  # type: ignore[arg-type]
    chat.show(ORPHANS)
    scripted.script = [AnswerDone(answer(), scope_change=ScopeChange(2, "Weaving"))]
    ask(chat, "Use my weaving project.")
    chat.show(2)  # as the dashboard does then
    assert (chosen, chat.scope, len(chat.turns)) == ([2], 2, 1)
    assert not chat.fixed, "it is still a thread whose scope may be changed"
    chat.show(ORPHANS)
    chat.show(2)
    assert chat.turns == [], "the project's own chat is another thread"
    assert chat.fixed
    chat.show(ALL)
    assert not chat.fixed


def test_a_refusal_marks_no_sentence_as_unsupported(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted)
    scripted.script = [AnswerDone(answer(refused=True))]
    ask(chat)
    assert "wb-partly" not in chat.turns[0]["html"]


def test_hostile_titles_and_answers_reach_the_page_as_text_only(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted)
    scripted.script = [TextDelta(HOSTILE), *complete(title=HOSTILE)]
    ask(chat, HOSTILE)
    (turn,) = chat.turns
    assert turn["citations"][0]["title"] == HOSTILE
    assert "<img" not in turn["html"]


def test_only_actions_can_be_reached_from_the_page(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted)
    for name in ("show", "_end", "__init__", "suggest", "no_such_thing"):
        chat.act({"do": name, "with": {}})
    assert (chat.error, chat.turns) == ("", [])


def test_an_empty_question_asks_nothing(scripted: ScriptedWorkbench) -> None:
    chat, _ = state(scripted)
    ask(chat, "  \n ")
    assert (chat.turns, scripted.asked) == ([], [])


def test_the_silent_papers_of_a_stored_answer_are_asked_in_a_turn_of_their_own(
    scripted: ScriptedWorkbench,
) -> None:
    chat, _ = state(scripted)
    scripted.script = [AnswerDone(answer(), message_id=7)]
    ask(chat)
    told = answer()
    asked = "Asked only the paper without a passage before: “Notes”."
    found = replace(
        told.evidence, parameters={"without": [3]}, papers_in_scope=1, passages=told.evidence.passages[:1]
    )
    narrowed = replace(told, evidence=found, warnings=(asked, "One thing to know."), coverage=None)
    scripted.script = [EvidenceFound(found), Notice(asked), AnswerDone(narrowed, message_id=8)]
    chat.act({"do": "ask_silent", "with": {"turn": 0}})
    assert scripted.asked[-1][0] == "silent papers of message 7"
    chat.act({"do": "ask_again"})
    assert scripted.asked[-1][0] == "silent papers of message 7", "again of the same papers"
    first, second, _ = chat.turns
    assert (second["question"], second["asked"], second["notes"]) == (
        first["question"],
        asked,
        ["One thing to know."],
    )


def test_an_answer_that_was_not_kept_or_has_no_silent_paper_is_not_asked_again(
    scripted: ScriptedWorkbench,
) -> None:
    chat, _ = state(scripted)
    whole = replace(answer(), coverage=None)
    for done in (AnswerDone(answer()), AnswerDone(whole, message_id=7)):
        scripted.script = [done]
        ask(chat)
    asked = len(scripted.asked)
    for turn in (0, 1, 2, -1):
        chat.act({"do": "ask_silent", "with": {"turn": turn}})
    assert (len(scripted.asked), chat.error) == (asked, "")


def test_a_conversation_that_goes_while_its_answer_streams_leaves_no_error_behind(
    scripted: ScriptedWorkbench,
) -> None:
    def script() -> Iterator[Any]:
        scripted.conversations.held.clear()  # another window deletes it
        yield from complete()

    chat, _ = state(scripted)
    scripted.script = script()
    ask(chat)
    assert ([turn["state"] for turn in chat.turns], chat.streaming, chat.error) == (["done"], False, "")

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import workbench
from tests.ollama_server import OllamaServer
from workbench import (
    Answer,
    AnswerDone,
    ConflictError,
    EvidenceFound,
    InvalidInputError,
    NotFoundError,
    Notice,
    ProviderError,
    Scope,
    ScopeChange,
    Settings,
    TextDelta,
    Workbench,
)
from workbench.chat.followups import REWRITE_RULES
from workbench.chat.prompts import prompt_tokens
from workbench.chat.small_talk import REPLIES
from workbench.conversing import Conversation
from workbench.interfaces import ChatMessage, ToolCall, ToolDecision
from workbench.memory import Memories
from workbench.providers.answer_stream import AnswerStream, Pieces
from workbench.providers.fake_chat import FakeChat
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.records import Memory
from workbench.storage import messages, projects
from workbench.turns import STOPPED

MELTING = "What is the melting point of arvenite?"
SENTENCE = "The melting point of arvenite is 1013 degrees Celsius."
OTHER = "The melting point of bolmarite is 1050 degrees Celsius."

Open = Callable[..., Workbench]


def texts(wb: Workbench, conversation_id: int) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in wb.conversations.get(conversation_id).messages]


# --- threads ------------------------------------------------------------------------------------


def test_an_answer_is_kept_with_all_that_it_showed(wb: Workbench, open_as: Open) -> None:
    talk = wb.conversations.create(Scope.project(1))
    answer = talk.ask(MELTING)
    question, reply = talk.messages
    assert (question.role, question.text, question.answer) == ("user", MELTING, None)
    assert (reply.role, reply.text, reply.answer, reply.changed) == ("assistant", answer.text, answer, ())
    assert reply.answer is not None
    assert reply.answer.evidence.passages[0].text
    again = open_as("ann").conversations.get(talk.id)  # as after a restart
    assert again.messages == talk.messages
    assert (again.title, again.scope, again.scope_label) == (MELTING, Scope.project(1), "Minerals")


def test_old_numbers_stay_with_their_answer_whatever_is_asked_later(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.ALL)
    first, second = talk.ask(MELTING), talk.ask("In which year was cendrite first described?")
    kept = [m.answer for m in talk.messages if m.answer]
    assert kept == [first, second]
    assert next((c.n, c.file, c.page) for c in kept[0].citations) == (1, "arvenite.pdf", 2)
    assert next((c.n, c.file, c.page) for c in kept[1].citations) == (1, "cendrite.pdf", 3)


def test_an_old_answer_says_that_its_paper_was_reprocessed_or_left(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING, top_k=1)
    wb.papers.reprocess(1)
    reply = talk.messages[-1]
    assert reply.changed == (
        "“A study of arvenite” was indexed again since; its quotes still stand on their pages.",
    )
    assert reply.answer is not None
    citation = reply.answer.citations[0]
    assert citation.quote in wb.papers.pages(citation.paper_id)[citation.page - 1].text
    wb.papers.remove(1)
    assert talk.messages[-1].changed == ("“A study of arvenite” has left your library.",)


def test_the_stream_of_a_conversation_ends_with_the_stored_messages_id(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1))
    events = list(talk.stream(MELTING))
    assert isinstance(events[0], EvidenceFound)
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert (done.message_id, done.scope_change) == (talk.messages[-1].id, None)
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == done.answer.text


def test_a_notebook_shows_a_conversation_with_its_sources(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1), title="Melting [1]")
    talk.ask(MELTING, top_k=1)
    wb.papers.remove(1)
    shown = talk._repr_markdown_()
    assert shown.startswith(f"### Melting (ref. 1)\n\n**{MELTING}**\n\n")
    assert f"- [1] A study of arvenite, page 2: “{SENTENCE}”" in shown
    assert shown.endswith("\n\n“A study of arvenite” has left your library.")


def test_conversations_are_listed_renamed_cleared_and_deleted(wb: Workbench) -> None:
    first, second = wb.conversations.create(), wb.conversations.create(Scope.ALL, title="Melting")
    assert [(c.id, c.title) for c in wb.conversations.list()] == [
        (second.id, "Melting"),
        (first.id, "New conversation"),
    ]
    first.ask("hello")
    assert [c.id for c in wb.conversations.list()] == [first.id, second.id]
    assert wb.conversations.update(first, title="Greetings").title == "Greetings"
    wb.conversations.clear(first.id)
    assert (first.messages, first.title) == ((), "Greetings")
    wb.conversations.delete(wb.conversations.list()[0])
    assert [c.id for c in wb.conversations.list()] == [second.id]
    with pytest.raises(NotFoundError, match="Conversation not found"):
        first.ask(MELTING)
    with pytest.raises(InvalidInputError, match="kind='chat'"):
        wb.conversations.list("chat")  # type: ignore[arg-type]  # on purpose


def test_a_question_that_cannot_be_asked_leaves_no_message(wb: Workbench) -> None:
    talk = wb.conversations.create()
    for question, options in (
        ("  ", {}),
        ("x" * 5000, {}),
        (MELTING, {"top_k": 0}),
        (MELTING, {"mode": "no"}),
    ):
        with pytest.raises(InvalidInputError):
            talk.ask(question, **options)
    assert talk.messages == ()


def test_nothing_of_another_users_conversations_can_be_seen_or_changed(wb: Workbench, open_as: Open) -> None:
    talk = wb.conversations.create()
    talk.ask("hello")
    bob = open_as("bob")
    calls: list[Callable[[], object]] = [
        lambda: bob.conversations.get(talk.id),
        lambda: bob.conversations.get(talk).messages,
        lambda: bob.conversations.update(talk.id, title="Mine"),
        lambda: bob.conversations.clear(talk.id),
        lambda: bob.conversations.delete(talk.id),
        lambda: bob.conversations.create(Scope.project(1)),
        lambda: bob.project_chat(1),
        lambda: bob.project_chat("Minerals"),
        lambda: bob.paper_chat(1),
    ]
    for call in calls:
        with pytest.raises(NotFoundError, match="(Conversation|Project|Paper) not found"):
            call()
    assert bob.conversations.list(None) == []
    assert len(talk.messages) == 2


# --- scope --------------------------------------------------------------------------------------


def test_a_conversation_answers_from_its_scope_alone(wb: Workbench) -> None:
    talk = wb.conversations.create()
    assert talk.scope == Scope.ORPHANS
    assert talk.ask(MELTING).refused
    wb.conversations.update(talk, scope=Scope.project(1))
    answer = talk.ask(MELTING)
    assert (answer.refused, answer.scope_label) == (False, "Minerals")
    assert [m.scope for m in talk.messages] == [Scope.ORPHANS] * 2 + [Scope.project(1)] * 2
    wb.conversations.update(talk, scope=None)
    assert talk.scope == Scope.ORPHANS


def test_a_conversation_whose_project_is_deleted_says_so_once_and_goes_on_with_orphans(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING)
    chat = wb.project_chat(1)
    wb.projects.delete(1)
    assert talk.scope == Scope.ORPHANS
    assert talk.notice is not None
    events = list(talk.stream("What is the density of cendrite?"))
    notices = [e.text for e in events if isinstance(e, Notice)]
    assert notices[0].startswith("Project “Minerals” was deleted")
    assert isinstance(events[-1], AnswerDone)
    assert notices[0] in events[-1].answer.warnings
    assert talk.notice is None
    assert talk.ask("What is the density of cendrite?").warnings == ()
    with pytest.raises(NotFoundError, match="Conversation not found"):
        chat.ask(MELTING)


def test_a_project_deleted_while_the_question_is_made_to_stand_alone_leaves_the_answer_to_orphans(
    open_as: Open,
) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        if messages[0].content != REWRITE_RULES:
            return "The density of cendrite is known [1]."
        wb.projects.delete(1)
        return "What is the density of cendrite?"

    wb = open_as("ann", chat_model=FakeChat(reply))
    talk, chat = wb.conversations.create(Scope.project(1)), wb.project_chat(1)
    talk.ask(MELTING)
    chat.ask(MELTING)
    answer = talk.ask("And of cendrite?")
    assert answer.scope_label == "Orphan notes only"
    assert {p.file for p in answer.evidence} == {"arvenite.pdf", "bolmarite.pdf", "cendrite.pdf"}
    assert answer.warnings[0].startswith("Project “Minerals” was deleted")
    assert talk.notice is None
    assert talk.messages[-1].answer == answer
    with pytest.raises(NotFoundError, match="Conversation not found"):
        chat.ask("And of cendrite?")


class LateMemories(Memories):
    """Memories of a project that is deleted just before they are recalled."""

    def recall(self, query: str, *, scope: Scope = Scope.ORPHANS, limit: int = 5) -> list[Memory]:
        with self._database.write() as cursor:
            projects.delete(cursor, "ann", 1)
        return super().recall(query, scope=scope, limit=limit)


def test_a_project_deleted_after_its_papers_were_searched_is_answered_from_and_leaves_no_error(
    wb: Workbench,
) -> None:
    talk = wb.conversations.create(Scope.project(1))
    late = LateMemories(wb._database, "ann", embedder=FakeEmbedder, papers_like=lambda _: [])
    answer = Conversation(replace(wb.conversations._desk, memory=late), talk.id).ask(MELTING)
    assert SENTENCE in answer.text
    assert talk.messages[-1].answer == answer
    assert (talk.scope, wb.doctor()) == (Scope.ORPHANS, [])


# --- follow-ups ---------------------------------------------------------------------------------


def test_a_follow_up_is_searched_as_a_question_that_stands_alone(wb: Workbench) -> None:
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING)
    answer = talk.ask("And of bolmarite?")
    assert (answer.question, answer.evidence.query) == (
        "And of bolmarite?",
        "What is the melting point of bolmarite?",
    )
    assert not answer.refused
    assert answer.citations[0].quote == OTHER
    assert "What is the melting point of bolmarite?" in set(wb.sql("SELECT query FROM retrievals")["query"])


def test_a_chat_model_gets_the_turns_before_and_rewrites_the_follow_up(open_as: Open) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        if messages[0].content == REWRITE_RULES:
            return "What is the melting point of bolmarite?"
        return f"{OTHER} [1]" if len(messages) > 2 else f"{SENTENCE} [1]"

    chat = FakeChat(reply)
    wb = open_as("ann", chat_model=chat)
    talk = wb.conversations.create(Scope.project(1))
    talk.ask(MELTING)
    answer = talk.ask("And what about the second one?")
    assert answer.evidence.query == "What is the melting point of bolmarite?"
    assert (answer.text, answer.question) == (f"{OTHER} [1]", "And what about the second one?")
    assert list(chat.received[-1][1:-1]) == [
        ChatMessage("user", MELTING),
        ChatMessage("assistant", SENTENCE),
    ]


@pytest.mark.parametrize("text", ["hello", "Thanks!"])
def test_small_talk_searches_nothing_and_cites_nothing(open_as: Open, text: str) -> None:
    chat = FakeChat("Never asked")
    wb = open_as("ann", chat_model=chat)
    talk = wb.conversations.create(Scope.ALL)
    answer = talk.ask(text)
    assert answer.text in REPLIES.values()
    assert (answer.citations, answer.evidence.passages, answer.refused) == ((), (), False)
    assert chat.received == []
    assert len(wb.sql("SELECT * FROM retrievals")) == 0
    assert texts(wb, talk.id) == [("user", text), ("assistant", answer.text)]


def test_a_single_question_may_be_small_talk_too(wb: Workbench) -> None:
    answer = wb.ask("Hello!", scope=Scope.project(1))
    assert (answer.text, answer.scope_label, answer.citations) == (REPLIES["hello"], "Minerals", ())
    assert len(wb.sql("SELECT * FROM retrievals")) == 0
    with pytest.raises(NotFoundError, match="Project not found"):
        wb.ask("Hello!", scope=Scope.project(99))


# --- stopping -----------------------------------------------------------------------------------


def test_a_stopped_answer_is_kept_as_far_as_it_came(open_as: Open) -> None:
    chat = FakeChat([f"{SENTENCE} [1] ", "It is blue [2]. ", "And so on. "])
    wb = open_as("ann", chat_model=chat)
    talk = wb.conversations.create(Scope.project(1))
    stream = talk.stream(MELTING)
    while not isinstance(next(stream), TextDelta):
        pass
    stream.close()
    stream.close()
    assert list(stream) == []
    assert chat.closed == 1
    reply = talk.messages[-1]
    assert reply.answer is not None
    assert (reply.answer.stopped, reply.answer.refused) == (True, False)
    assert reply.answer.text.startswith(SENTENCE[:20])
    assert STOPPED in reply.answer.warnings
    assert [c.page for c in reply.answer.citations] in ([2], [])
    assert len(talk.messages) == 2


def test_an_answer_is_stopped_from_another_thread_while_the_model_is_silent(open_as: Open) -> None:
    begun, gate = threading.Event(), threading.Event()

    def pieces(messages: Sequence[ChatMessage]) -> list[str]:
        begun.set()
        gate.wait(10)
        return [f"{SENTENCE} [1]"]

    wb = open_as("ann", chat_model=FakeChat(pieces))
    talk = wb.conversations.create(Scope.project(1))
    stream = talk.stream(MELTING)
    seen: list[object] = []
    reader = threading.Thread(target=lambda: seen.extend(stream))
    reader.start()
    assert begun.wait(10)
    stream.close()
    gate.set()
    reader.join(10)
    assert not reader.is_alive()
    assert not any(isinstance(event, AnswerDone) for event in seen)
    reply = talk.messages[-1]
    assert reply.answer is not None
    assert reply.answer.stopped
    assert not talk.ask(MELTING).stopped  # and the next question is answered as ever


def test_what_no_library_can_hold_is_shown_as_it_is_kept(open_as: Open) -> None:
    talk = open_as("ann", chat_model=FakeChat([SENTENCE, "\x00 \ud800", " [1]"])).conversations.create(
        Scope.ALL
    )
    answer = talk.ask(MELTING)
    assert answer.text == f"{SENTENCE}\ufffd \ufffd [1]"
    assert talk.messages[-1].answer == answer


def test_a_conversation_deleted_while_its_answer_is_written_still_gives_the_answer(open_as: Open) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        wb.conversations.delete(talk)
        return f"{SENTENCE} [1]"

    wb = open_as("ann", chat_model=FakeChat(reply))
    talk = wb.conversations.create(Scope.project(1))
    done = list(talk.stream(MELTING))[-1]
    assert isinstance(done, AnswerDone)
    assert (done.message_id, done.answer.text) == (None, f"{SENTENCE} [1]")
    assert "deleted meanwhile" in done.answer.warnings[-1]


def test_a_conversation_cleared_while_its_answer_is_written_stays_empty(open_as: Open) -> None:
    def reply(messages: Sequence[ChatMessage]) -> str:
        wb.conversations.clear(talk)
        return f"{SENTENCE} [1]"

    wb = open_as("ann", chat_model=FakeChat(reply))
    talk = wb.conversations.create(Scope.project(1))
    done = list(talk.stream("I work with mice. What is the melting point of arvenite?"))[-1]
    assert isinstance(done, AnswerDone)
    assert (done.message_id, done.answer.text) == (None, f"{SENTENCE} [1]")
    assert "cleared meanwhile" in done.answer.warnings[-1]
    assert (talk.messages, talk.title, wb.memory.list()) == ((), "New conversation", [])
    stream = talk.stream(MELTING)  # and one that is stopped after that
    next(stream)
    wb.conversations.clear(talk)
    stream.close()
    assert talk.messages == ()


# --- asynchronous -------------------------------------------------------------------------------


def test_events_come_with_async_for_inside_a_running_loop(wb: Workbench) -> None:
    async def notebook() -> tuple[list[object], list[object], Answer]:
        talk = wb.conversations.create(Scope.project(1))
        own = [event async for event in wb.astream(MELTING, scope=Scope.project(1))]
        events = [event async for event in talk.astream(MELTING)]
        return own, events, await talk.aask("And of bolmarite?")

    own, events, answer = asyncio.run(notebook())
    assert isinstance(own[-1], AnswerDone)
    assert isinstance(events[-1], AnswerDone)
    assert own[-1].answer.text == events[-1].answer.text
    assert answer.evidence.query == "What is the melting point of bolmarite?"


def test_leaving_an_asynchronous_stream_stops_the_model_and_keeps_the_part(open_as: Open) -> None:
    chat = FakeChat([f"{SENTENCE} [1] "] * 50)
    wb = open_as("ann", chat_model=chat)
    talk = wb.conversations.create(Scope.project(1))

    async def notebook() -> None:
        stream = talk.astream(MELTING)
        async for event in stream:
            if isinstance(event, TextDelta):
                break
        await stream.aclose()

    asyncio.run(notebook())
    assert chat.closed == 1
    reply = talk.messages[-1]
    assert reply.answer is not None
    assert reply.answer.stopped


def test_cancelling_an_awaited_answer_stops_the_model(open_as: Open) -> None:
    begun, gate = threading.Event(), threading.Event()

    def pieces(messages: Sequence[ChatMessage]) -> list[str]:
        begun.set()
        gate.wait(10)
        return [f"{SENTENCE} [1]"] * 3

    wb = open_as("ann", chat_model=FakeChat(pieces))
    talk = wb.conversations.create(Scope.project(1))

    async def notebook() -> None:
        task = asyncio.create_task(talk.aask(MELTING))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        await asyncio.sleep(0.05)
        gate.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(notebook())
    for _ in range(100):
        if talk.messages[-1].answer is not None:
            break
        threading.Event().wait(0.05)
    reply = talk.messages[-1]
    assert reply.answer is not None
    assert reply.answer.stopped


# --- projects and papers ------------------------------------------------------------------------


def test_a_project_has_one_rolling_chat_of_fixed_scope(wb: Workbench) -> None:
    chat = wb.project_chat("Minerals")
    assert (chat.kind, chat.title, chat.scope) == ("project", "Minerals", Scope.project(1))
    assert wb.project_chat(1) == chat
    assert not chat.ask(MELTING).refused
    with pytest.raises(ConflictError, match="its scope is fixed"):
        wb.conversations.update(chat, scope=Scope.ALL)
    wb.projects.update(1, name="Rocks", status="archived")
    assert (wb.project_chat(1).title, chat.scope_label, len(chat.messages)) == ("Rocks", "Rocks", 2)
    assert wb.conversations.list() == []
    assert [c.id for c in wb.conversations.list("project")] == [chat.id]


def test_a_papers_chat_gives_the_model_the_whole_paper_where_it_fits(open_as: Open) -> None:
    chat = FakeChat("The density of arvenite is 2.07 grams per cubic centimetre [3].")
    wb = open_as("ann", chat_model=chat)
    talk = wb.paper_chat(1)
    answer = talk.ask("What is the density of arvenite?")
    assert (talk.kind, talk.title, answer.scope_label) == ("paper", *["A study of arvenite"] * 2)
    pages = wb.papers.pages(1)
    assert [(p.n, p.page_start, p.text) for p in answer.evidence] == [(p.page, p.page, p.text) for p in pages]
    assert [(c.n, c.page, c.support) for c in answer.citations] == [(3, 3, "supported")]
    assert talk.messages[-1].answer == answer


def test_a_papers_chat_gives_the_best_passages_where_the_window_is_too_small(
    open_as: Open, tmp_path: Path
) -> None:
    long = tmp_path / "long.txt"
    filler = "The furnace was cleaned and the samples were weighed again on that day. " * 400
    long.write_text(f"{filler}\n\nFelspite melts at 777 degrees Celsius.\n\n{filler}", "utf-8")
    chat = FakeChat("Felspite melts at 777 degrees Celsius [1].", context_window=2048)
    wb = open_as("ann", chat_model=chat)
    paper = wb.papers.add(long)
    answer = wb.paper_chat(paper).ask("At how many degrees Celsius does felspite melt?")
    assert {p.paper_id for p in answer.evidence} == {paper.id}
    assert all(p.chunk_id for p in answer.evidence)
    assert "777" in answer.citations[0].quote


def test_a_papers_chat_without_a_chat_model_quotes_that_paper_alone(wb: Workbench) -> None:
    talk = wb.paper_chat(1)
    answer = talk.ask("What is the melting point?")
    assert (answer.provider, {c.paper_id for c in answer.citations}) == ("extractive", {1})
    assert SENTENCE in answer.text
    assert wb.paper_chat(1) == talk
    assert wb.conversations.list() == []


def test_suggestions_are_there_until_something_is_asked(wb: Workbench) -> None:
    chat, paper = wb.project_chat(1), wb.paper_chat(3)
    assert chat.suggestions[-1] == "What does the abstract of “A study of arvenite” propose?"
    assert paper.suggestions[0] == "What does this paper propose?"
    chat.ask("hello")
    assert chat.suggestions == ()
    wb.papers.remove(3)
    assert wb.conversations.create().suggestions == ()


# --- memory -------------------------------------------------------------------------------------


def test_what_the_user_states_in_one_thread_is_background_in_another(open_as: Open) -> None:
    chat = FakeChat(f"{SENTENCE} [1]")
    wb = open_as("ann", chat_model=chat)
    wb.conversations.create(Scope.project(1)).ask("I only care about the melting point of arvenite.")
    assert [m.text for m in wb.memory.list()] == ["I only care about the melting point of arvenite."]
    answer = wb.conversations.create(Scope.project(1)).ask(MELTING)
    assert "I only care about the melting point of arvenite." in chat.received[-1][-1].content
    assert all("I only care" not in p.text for p in answer.evidence)
    assert len(wb.memory.list()) == 1  # recalled, and not stored again
    wb.conversations.create().ask(MELTING)
    assert "I only care" not in chat.received[-1][-1].content  # of another scope


# --- tools --------------------------------------------------------------------------------------


def test_a_scope_that_a_tool_sets_is_kept_at_once_and_used_for_this_answer(open_as: Open) -> None:
    calls = ToolDecision((ToolCall("set_rag_scope", {"project_id": 1}),))
    chat = FakeChat(f"{SENTENCE} [1]", decisions=[calls, ToolDecision(text="READ")])
    wb = open_as("ann", chat_model=chat)
    talk = wb.conversations.create()
    done = list(talk.stream("Look in my minerals: what is the melting point of arvenite?"))[-1]
    assert isinstance(done, AnswerDone)
    assert done.scope_change == ScopeChange(1, "Minerals")
    assert (done.answer.scope_label, done.answer.evidence.scope) == ("Minerals", Scope.project(1))
    assert [c.file for c in done.answer.citations] == ["arvenite.pdf"]
    assert open_as("ann").conversations.get(talk.id).scope == Scope.project(1)
    assert talk.messages[-1].scope == Scope.project(1)
    assert talk.messages[-1].answer == done.answer


def test_null_is_a_scope_that_a_tool_can_set(open_as: Open) -> None:
    calls = ToolDecision((ToolCall("set_rag_scope", {"project_id": None}),))
    wb = open_as("ann", chat_model=FakeChat("x [1]", decisions=[calls, ToolDecision(text="DONE")]))
    talk = wb.conversations.create(Scope.ALL)
    done = list(talk.stream("Search orphan notes only from now on"))[-1]
    assert isinstance(done, AnswerDone)
    assert done.scope_change == ScopeChange(None, "Orphan notes only")
    assert talk.scope == Scope.ORPHANS


def test_a_projects_chat_keeps_its_scope_whatever_a_model_calls(open_as: Open) -> None:
    calls = ToolDecision((ToolCall("set_rag_scope", {"project_id": -1}),))
    wb = open_as("ann", chat_model=FakeChat(f"{SENTENCE} [1]", decisions=[calls, ToolDecision(text="READ")]))
    chat = wb.project_chat(1)
    done = list(chat.stream(f"Search everything. {MELTING}"))[-1]
    assert isinstance(done, AnswerDone)
    assert (done.scope_change, chat.scope, done.answer.scope_label) == (None, Scope.project(1), "Minerals")


def test_a_papers_chat_offers_no_tools(open_as: Open) -> None:
    chat = FakeChat(
        f"{SENTENCE} [2]", decisions=[ToolDecision((ToolCall("set_rag_scope", {"project_id": -1}),))]
    )
    wb = open_as("ann", chat_model=chat)
    assert not wb.paper_chat(1).ask(MELTING).refused
    assert chat.offered == []


# --- limits and ends ----------------------------------------------------------------------------


def test_thirty_long_turns_leave_room_for_the_next_question(open_as: Open) -> None:
    repeats = " ".join(f"Laboratory {n} repeated it and agrees [1]." for n in range(60))
    chat = FakeChat(f"{SENTENCE} [1] {repeats}")
    wb = open_as("ann", chat_model=chat)
    talk = wb.conversations.create(Scope.project(1))
    first = talk.ask(MELTING)
    with wb._database.write() as cursor:
        for _ in range(30):
            messages.add_question(cursor, "ann", talk.id, MELTING, scope=Scope.project(1))
            messages.add_answer(cursor, "ann", talk.id, first, revision=1)
    answer = talk.ask("What is the melting point of bolmarite?")
    sent = chat.received[-1]
    assert 4 < len(sent) <= 14
    assert prompt_tokens(sent) <= 8192
    assert OTHER in sent[-1].content
    assert answer.warnings == ()
    assert len(talk.messages) == 64  # nothing is deleted


def test_an_interrupt_keeps_the_part_that_was_there(open_as: Open) -> None:
    class Interrupted(FakeChat):
        def stream(self, messages: Sequence[ChatMessage]) -> AnswerStream:
            def pieces() -> Pieces:
                yield f"{SENTENCE} [1] And "
                raise KeyboardInterrupt

            return AnswerStream(pieces())

    wb = open_as("ann", chat_model=Interrupted())
    talk = wb.conversations.create(Scope.project(1))
    with pytest.raises(KeyboardInterrupt):
        talk.ask(MELTING)
    reply = talk.messages[-1]
    assert reply.answer is not None
    assert (reply.answer.stopped, reply.answer.text.startswith("The melting point")) == (True, True)


def test_a_model_that_breaks_off_leaves_a_partial_answer_and_the_next_question_works(open_as: Open) -> None:
    broken = [f"{SENTENCE} [1] And ", ProviderError("The server is gone.")]
    wb = open_as("ann", chat_model=FakeChat([broken, [f"{SENTENCE} [1]"]]))
    talk = wb.conversations.create(Scope.project(1))
    answer = talk.ask(MELTING)
    assert "incomplete" in " ".join(answer.warnings)
    assert not answer.stopped
    assert talk.ask(MELTING).text == f"{SENTENCE} [1]"
    assert [m.role for m in talk.messages] == ["user", "assistant"] * 2


def test_stopping_hangs_up_on_the_server_within_a_second(library: Path, ollama_server: OllamaServer) -> None:
    settings = Settings.load(library=library, user="ann", ollama_host=ollama_server.url)
    with workbench.open(library, user="ann", settings=settings, embedder=FakeEmbedder()) as wb:
        ollama_server.reply_endlessly(f"{SENTENCE} [1] ")
        talk = wb.conversations.create(Scope.project(1))
        stream = talk.stream(MELTING)
        assert any(isinstance(event, TextDelta) for event in stream)
        stream.close()
        assert ollama_server.disconnected.wait(1)
        reply = talk.messages[-1]
        assert reply.answer is not None
        assert (reply.answer.stopped, reply.answer.provider) == (True, "ollama/llama3.1")
        ollama_server.reply(SENTENCE, " [1]")
        assert talk.ask(MELTING).text == f"{SENTENCE} [1]"


def test_a_papers_chat_goes_with_the_paper(wb: Workbench) -> None:
    talk = wb.paper_chat(1)
    talk.ask("hello")
    wb.papers.remove(1)
    assert wb.conversations.list(None) == []
    with pytest.raises(NotFoundError, match="Conversation not found"):
        talk.ask(MELTING)

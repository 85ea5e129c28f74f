"""Conversations in the dashboard: the list, what is open, their scopes, and two dashboards on one library."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import ipywidgets
import pytest

import workbench
from tests.widgets.scripted import ScriptedWorkbench
from widgets.chat.threads import AGAIN, DELETED, NEW, PROJECT_GONE
from widgets.conversations.exports import exported, file_stem
from widgets.conversations.state import FIRST, ConversationsState
from widgets.dashboards import Dashboard
from widgets.panel import at_once, in_thread
from workbench import NotFoundError, Scope, Workbench
from workbench.interfaces import ChatMessage, ToolCall, ToolDecision
from workbench.providers.fake_chat import FakeChat
from workbench.providers.fake_embedder import FakeEmbedder

HOSTILE = "<img src=x onerror=alert(1)>\u202e \x1b[31m " + "x" * 300
WEAVES = "What does the engine weave?"
TEXT = "The engine weaves patterns as the loom weaves flowers."


@pytest.fixture
def full(wb: Workbench) -> Workbench:
    """One paper in project 1, "Weaving", and an orphan."""
    wb.papers.add_texts([{"title": "Notes on the engine", "text": TEXT, "source_id": "a"}], project=1)
    wb.papers.add_texts([{"title": "Notes on tides", "text": "The moon raises the tide.", "source_id": "b"}])
    return wb


@pytest.fixture
def made(full: Workbench) -> Dashboard:
    return Dashboard(full, run=at_once)


@pytest.fixture
def open_again(full: Workbench, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Workbench]]:
    """The same library opened by another process' means, perhaps with a chat model."""
    opened: list[Workbench] = []

    def again(model: Any = None) -> Workbench:
        wb = workbench.open(full.settings.library, user="ada", embedder=FakeEmbedder(), chat_model=model)
        opened.append(wb)
        return wb

    yield again
    for wb in opened:
        wb.close()


def do(panel: Any, action: str, **arguments: Any) -> None:
    panel.act({"do": action, "with": arguments})


def titles(dashboard: Dashboard) -> list[str]:
    return [row["title"] for row in dashboard.conversations.conversations]


def questions(dashboard: Dashboard) -> list[str]:
    return [turn["question"] for turn in dashboard.chat.turns]


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline, "nothing happened within ten seconds"
        time.sleep(0.01)


# --- the list ------------------------------------------------------------------------------------------


def test_an_asked_question_is_listed_first_with_its_scope_and_a_new_thread_is_not(made: Dashboard) -> None:
    do(made.projects, "choose", id=0)
    assert (made.chat.title, made.chat.conversation, titles(made)) == (NEW, 0, [])
    do(made.chat, "ask", question="What raises the tide?")
    do(made.conversations, "new")
    assert (made.chat.title, made.chat.turns, made.chat.begun) == (NEW, [], 1)
    do(made.chat, "ask", question="Which moon?")
    assert titles(made) == ["Which moon?", "What raises the tide?"]
    row = made.conversations.conversations[0]
    assert {**row, "used": ""} == {
        "id": made.chat.conversation,
        "title": "Which moon?",
        "kind": "thread",
        "scope": "Orphan notes",
        "used": "",
        "messages": 2,
    }
    assert made.conversations.shown == made.chat.conversation


def test_chats_of_projects_and_papers_are_listed_once_something_was_asked(made: Dashboard) -> None:
    assert (made.chat.kind, made.chat.title, titles(made)) == ("project", "Weaving", [])
    do(made.chat, "ask", question=WEAVES)
    do(made.papers, "ask_paper", id=1)
    assert (made.chat.kind, made.chat.title, made.chat.fixed, made.viewer.paper) == (
        "paper",
        "Notes on the engine",
        True,
        1,
    )
    assert made.chat.suggestions[0] == "What does this paper propose?"
    assert titles(made) == ["Weaving"]
    do(made.chat, "ask", question=WEAVES)
    assert [(row["kind"], row["title"]) for row in made.conversations.conversations] == [
        ("paper", "Notes on the engine"),
        ("project", "Weaving"),
    ]


def test_a_long_list_is_shown_in_pieces_and_searched_whole(full: Workbench) -> None:
    for number in range(FIRST * 2 + 3):
        full.conversations.create(title=f"Talk {number}")
    full.conversations.create(title="Café").ask("What raises the tide?")
    panel = ConversationsState(full, run=at_once)
    do(panel, "look")
    assert (len(panel.conversations), panel.more) == (FIRST, FIRST + 4)
    do(panel, "show_more")
    assert (len(panel.conversations), panel.more) == (FIRST * 2, 4)
    do(panel, "search", words="talk 7")
    assert ([row["title"] for row in panel.conversations], panel.more) == (
        ["Talk 37", "Talk 27", "Talk 17", "Talk 7"],
        0,
    )
    for words in ("cafe", "RAISES", "tide café"):
        do(panel, "search", words=words)
        assert [row["title"] for row in panel.conversations] == ["Café"]
    do(panel, "search", words="nothing like it")
    assert (panel.conversations, panel.more, panel.loaded) == ([], 0, True)
    do(panel, "search", words="")
    assert len(panel.conversations) == FIRST


def test_hostile_titles_are_one_line_of_text(made: Dashboard, full: Workbench) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question=HOSTILE)
    (row,) = made.conversations.conversations
    for shown in (row["title"], made.chat.title):
        assert "\u202e" not in shown
        assert "\x1b" not in shown
        assert "\n" not in shown
        assert len(shown) <= 200
    do(made.conversations, "rename", id=row["id"], title="</script>\u202e\x07 a\nb")
    assert titles(made) == [made.chat.title] == ["</script> a b"]


def test_renaming_the_conversation_shown_leaves_the_tab_where_it_is(made: Dashboard) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question="What raises the tide?")
    made.header.view = "Library"
    do(made.conversations, "rename", id=made.chat.conversation, title="Tides")
    assert (made.chat.title, titles(made), made.header.view) == ("Tides", ["Tides"], "Library")


# --- opening ---------------------------------------------------------------------------------------------


def test_opening_a_conversation_shows_its_turns_and_its_scope_everywhere(
    made: Dashboard, full: Workbench
) -> None:
    old = full.conversations.create(Scope.ALL)
    old.ask(WEAVES)
    other = full.conversations.create(Scope.project(1))
    other.ask("Which flowers?")
    do(made.conversations, "show", id=old.id)
    assert (made.chat.conversation, questions(made), made.chat.scope, made.projects.chosen) == (
        old.id,
        [WEAVES],
        -1,
        -1,
    )
    assert len(made.papers.papers) == 2
    pulses = made.chat.pulse
    do(made.conversations, "show", id=other.id)
    assert (questions(made), made.chat.scope, made.projects.chosen) == (["Which flowers?"], 1, 1)
    assert (made.chat.fixed, made.chat.kind) == (False, "thread"), "it sees the project but is not its chat"
    assert made.chat.pulse == pulses, "no scope has changed"
    do(made.projects, "choose", id=1)
    assert (made.chat.kind, made.chat.turns) == ("project", []), "the project chosen again is its own chat"


def test_a_conversation_about_an_archived_project_still_names_its_scope(
    made: Dashboard, full: Workbench
) -> None:
    talk = full.conversations.create(Scope.project(1))
    talk.ask(WEAVES)
    do(made.projects, "archive", id=1)
    do(made.conversations, "show", id=talk.id)
    assert made.chat.scope == 1
    assert made.chat.scopes[-1] == {"value": 1, "label": "Weaving"}


def test_another_visit_finds_the_conversation_where_it_was(made: Dashboard, full: Workbench) -> None:
    do(made.projects, "choose", id=-1)
    do(made.chat, "ask", question=WEAVES)
    again = Dashboard(full, run=at_once)
    assert titles(again) == [WEAVES]
    do(again.projects, "choose", id=-1)
    assert (again.chat.conversation, questions(again)) == (made.chat.conversation, [WEAVES])


def test_one_conversation_is_one_thread_however_it_is_reached(made: Dashboard, full: Workbench) -> None:
    talk = full.conversations.create(Scope.ALL)
    talk.ask(WEAVES)
    do(made.conversations, "show", id=talk.id)
    do(made.chat, "ask", question="And flowers?")
    do(made.projects, "choose", id=1)
    do(made.projects, "choose", id=-1)
    assert questions(made) == [WEAVES, "And flowers?"]
    do(made.conversations, "show", id=talk.id)
    assert questions(made) == [WEAVES, "And flowers?"]
    assert len(talk.messages) == 4


def test_who_comes_back_to_the_page_sees_what_another_program_did(
    made: Dashboard, full: Workbench, open_again: Callable[..., Workbench]
) -> None:
    do(made.projects, "choose", id=-1)
    do(made.chat, "ask", question=WEAVES)
    thread, other = made.chat.thread, open_again()
    other.papers.add_texts([{"title": "Notes on looms", "text": "A loom has a warp.", "source_id": "c"}])
    other.conversations.get(made.chat.conversation).ask("And flowers?", provider="extractive")
    assert (made.header.facts[1], len(made.papers.papers), questions(made)) == ("2 papers", 2, [WEAVES])
    do(made.header, "look")
    assert (made.header.facts[1], len(made.papers.papers)) == ("3 papers", 3)
    assert questions(made) == [WEAVES, "And flowers?"]
    assert made.chat.thread == thread, "it is the same thread, not one to be drawn from its beginning"
    assert made.conversations.conversations[0]["messages"] == 4


def test_coming_back_reads_the_thread_only_where_it_has_changed_and_leaves_a_deleted_one_in_sight(
    made: Dashboard, full: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    do(made.projects, "choose", id=-1)
    do(made.chat, "ask", question=WEAVES)
    talk = full.conversations.get(made.chat.conversation)
    do(made.header, "look")
    reads: list[str] = []
    read = made.chat._read
    monkeypatch.setattr(made.chat, "_read", lambda thread: (reads.append(thread.title), read(thread)))
    do(made.header, "look")
    assert reads == []
    talk.ask("And flowers?", provider="extractive")
    do(made.header, "look")
    do(made.header, "look")
    assert reads == [WEAVES]
    full.conversations.delete(talk)
    do(made.header, "look")
    assert (questions(made), made.chat.error) == ([WEAVES, "And flowers?"], "")


# --- clearing and deleting -----------------------------------------------------------------------------


def test_clearing_empties_and_deleting_leaves_a_new_thread(made: Dashboard, full: Workbench) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question="What raises the tide?")
    id = made.chat.conversation
    do(made.conversations, "clear", id=id)
    assert (made.chat.turns, made.chat.conversation, full.conversations.get(id).messages) == ([], id, ())
    do(made.chat, "ask", question="Which moon?")
    assert full.conversations.get(id).title == "Which moon?"
    do(made.conversations, "delete", id=id)
    assert (made.chat.turns, made.chat.conversation, made.chat.title) == ([], 0, NEW)
    assert (titles(made), made.conversations.told) == ([], "“Which moon?” is deleted.")
    do(made.chat, "ask", question="What raises the tide?")
    assert titles(made) == ["What raises the tide?"]


@pytest.mark.parametrize("action", ["clear", "delete"])
def test_an_answer_that_still_streams_is_ended_first_and_nothing_of_it_comes_back(
    open_again: Callable[..., Workbench], action: str
) -> None:
    wait = threading.Event()

    def pieces() -> Iterator[str]:
        yield "The engine "
        time.sleep(0.2)
        yield "weaves "
        wait.wait(10)
        yield "patterns [1]."

    wb = open_again(FakeChat(lambda _: pieces()))
    dashboard = Dashboard(wb, run=in_thread)
    wait_until(lambda: dashboard.chat.kind == "project" and not dashboard.chat.reading)
    do(dashboard.chat, "ask", question=WEAVES)
    wait_until(lambda: dashboard.chat.live.get("state") == "answering")
    id = dashboard.chat.conversation
    do(dashboard.conversations, action, id=id)
    wait_until(lambda: not dashboard.chat.streaming)
    wait.set()
    wait_until(lambda: dashboard.chat.turns == [])
    time.sleep(0.2)
    if action == "clear":
        assert wb.conversations.get(id).messages == ()
    else:
        with pytest.raises(NotFoundError):
            wb.conversations.get(id)
    assert dashboard.chat.turns == []


def test_a_row_that_another_window_deleted_says_so_and_goes(made: Dashboard, full: Workbench) -> None:
    talk = full.conversations.create(title="Gone soon")
    do(made.conversations, "look")
    full.conversations.delete(talk)
    for action in ("show", "clear", "delete"):
        do(made.conversations, "look")
        do(made.conversations, action, id=talk.id)
        assert made.conversations.error.startswith("Conversation not found")
        assert titles(made) == []


# --- the scope -------------------------------------------------------------------------------------------


def test_a_chosen_scope_is_the_conversations_own_and_the_thread_stays(
    made: Dashboard, full: Workbench
) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question="What raises the tide?")
    talk = full.conversations.get(made.chat.conversation)
    pulses, shown = made.chat.pulse, made.chat.thread
    do(made.chat, "choose_scope", value=1)
    assert (talk.scope, made.chat.scope, made.projects.chosen, questions(made)) == (
        Scope.project(1),
        1,
        1,
        ["What raises the tide?"],
    )
    assert (made.chat.pulse, made.chat.thread) == (pulses + 1, shown)
    do(made.chat, "choose_scope", value=1)
    assert made.chat.pulse == pulses + 1
    do(made.chat, "ask", question=WEAVES)
    assert [turn["foot"]["scope"] for turn in made.chat.turns] == ["Orphan notes", "Weaving"]


def test_a_scope_chosen_before_the_first_question_is_the_conversations_from_the_start(
    made: Dashboard, full: Workbench
) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "choose_scope", value=-1)
    do(made.chat, "ask", question=WEAVES)
    assert full.conversations.get(made.chat.conversation).scope == Scope.ALL
    assert [info.scope for info in full.conversations.list()] == [Scope.ALL]


def test_a_project_deleted_before_it_is_chosen_leaves_the_scope_and_says_so(
    made: Dashboard, full: Workbench
) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question="What raises the tide?")
    full.projects.delete(1)  # by another window
    do(made.chat, "choose_scope", value=1)
    assert made.chat.error.startswith("The scope stays as it was. Project not found")
    assert (made.chat.scope, made.chat.pulse, made.projects.projects) == (0, 0, [])
    assert [choice["value"] for choice in made.chat.scopes] == [0, -1]


def test_a_first_question_to_a_project_that_has_just_gone_is_asked_of_the_orphans_and_says_so(
    made: Dashboard, full: Workbench
) -> None:
    do(made.conversations, "new")
    assert (made.chat.scope, made.chat.fixed) == (1, False)
    full.projects.delete(1)  # by another window
    do(made.chat, "ask", question="What raises the tide?")
    assert (made.chat.scope, made.chat.turns[0]["foot"]["scope"]) == (0, "Orphan notes")
    assert PROJECT_GONE in made.chat.turns[0]["notes"]


def test_the_threads_of_a_deleted_project_see_orphans_and_say_why(made: Dashboard, full: Workbench) -> None:
    talk = full.conversations.create(Scope.project(1))
    talk.ask(WEAVES)
    do(made.conversations, "show", id=talk.id)
    do(made.projects, "delete", id=1)
    assert (made.chat.scope, made.projects.chosen, made.chat.conversation) == (0, 0, talk.id)
    assert made.chat.told.startswith("Project “Weaving” was deleted")
    do(made.chat, "ask", question="What raises the tide?")
    assert made.chat.told == ""
    assert made.chat.turns[-1]["foot"]["scope"] == "Orphan notes"


def test_the_chat_of_a_project_that_is_deleted_gives_way(made: Dashboard) -> None:
    do(made.chat, "ask", question=WEAVES)
    do(made.projects, "delete", id=1)
    assert (made.chat.kind, made.chat.scope, made.chat.turns, titles(made)) == ("thread", 0, [], [])


def test_a_scope_that_a_chat_model_sets_is_told_in_the_thread_now_and_after_a_reload(
    open_again: Callable[..., Workbench],
) -> None:
    def decide(messages: Sequence[ChatMessage]) -> ToolDecision:
        return ToolDecision((ToolCall("set_rag_scope", {"project_id": 1}),))

    wb = open_again(FakeChat("The engine weaves patterns [1].", decisions=decide))
    dashboard = Dashboard(wb, run=at_once)
    do(dashboard.projects, "choose", id=0)
    do(dashboard.chat, "ask", question=f"{WEAVES} Look into my weaving project.")
    line = "The chat model set the scope to “Weaving”: this conversation searches there from now on."
    (turn,) = dashboard.chat.turns
    assert (turn["asked"], turn["state"], turn["notes"]) == (line, "done", [])
    assert (dashboard.chat.scope, dashboard.projects.chosen, dashboard.chat.pulse) == (1, 1, 1)
    again = Dashboard(wb, run=at_once)
    do(again.conversations, "show", id=dashboard.chat.conversation)
    assert (again.chat.turns[0]["asked"], again.chat.scope) == (line, 1)


# --- asked again ----------------------------------------------------------------------------------------


def test_the_last_question_is_asked_again_and_the_first_answer_stays(
    made: Dashboard, full: Workbench
) -> None:
    do(made.chat, "ask", question=WEAVES)
    do(made.chat, "ask_again")
    assert [(t["question"], t["asked"], t["state"]) for t in made.chat.turns] == [
        (WEAVES, "", "done"),
        (WEAVES, AGAIN, "done"),
    ]
    again = Dashboard(full, run=at_once)
    assert [t["asked"] for t in again.chat.turns] == ["", AGAIN]


def test_nothing_is_asked_again_in_an_empty_thread(made: Dashboard) -> None:
    do(made.chat, "ask_again")
    assert (made.chat.turns, made.chat.error) == ([], "")


# --- two dashboards on one library --------------------------------------------------------------------


def test_two_dashboards_each_find_the_turns_of_the_other_and_file_answers_right(
    made: Dashboard, open_again: Callable[..., Workbench]
) -> None:
    other = Dashboard(open_again(), run=at_once)
    do(made.chat, "ask", question=WEAVES)
    do(other.chat, "ask", question="Which flowers?")
    for dashboard in (made, other):
        do(dashboard.projects, "choose", id=0)
        do(dashboard.projects, "choose", id=1)
        assert questions(dashboard) == [WEAVES, "Which flowers?"]
    stored = open_again().project_chat(1).messages
    assert [m.answer.question for m in stored if m.answer] == [WEAVES, "Which flowers?"]


def test_an_answer_brings_along_what_another_window_asked_before_it(
    made: Dashboard, open_again: Callable[..., Workbench]
) -> None:
    do(made.chat, "ask", question=WEAVES)
    other = Dashboard(open_again(), run=at_once)
    do(other.chat, "ask", question="Which flowers?")
    assert questions(made) == [WEAVES]
    do(made.chat, "ask", question="Which loom?")
    assert questions(made) == [WEAVES, "Which flowers?", "Which loom?"]


def test_a_question_sees_what_its_own_window_shows_whatever_another_chose(
    made: Dashboard, open_again: Callable[..., Workbench]
) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question="What raises the tide?")
    other = Dashboard(open_again(), run=at_once)
    do(other.conversations, "show", id=made.chat.conversation)
    do(other.chat, "choose_scope", value=1)
    do(made.chat, "ask", question="Which moon?")
    assert made.chat.turns[-1]["foot"]["scope"] == "Orphan notes"
    do(other.conversations, "show", id=made.chat.conversation)
    assert (questions(other), other.chat.scope) == (["What raises the tide?", "Which moon?"], 0)


def test_a_conversation_deleted_in_another_window_is_told_and_the_next_question_begins_one(
    made: Dashboard, full: Workbench
) -> None:
    do(made.projects, "choose", id=0)
    do(made.chat, "ask", question="What raises the tide?")
    full.conversations.delete(made.chat.conversation)  # by another window
    do(made.chat, "ask", question="Which moon?")
    assert (made.chat.turns[-1]["state"], made.chat.turns[-1]["notes"]) == ("failed", [DELETED])
    do(made.chat, "ask_again")
    assert made.chat.turns[-1]["state"] != "failed"
    assert titles(made) == ["Which moon?"]


def test_silent_papers_of_an_answer_that_another_window_cleared_leave_the_conversation_as_it_is(
    made: Dashboard, full: Workbench
) -> None:
    do(made.projects, "choose", id=-1)
    do(made.chat, "ask", question=WEAVES)
    id = made.chat.conversation
    made.chat._shown.turns[0]["coverage"]["silent"] = 1
    full.conversations.clear(id)  # by another window
    do(made.chat, "ask_silent", turn=0)
    assert made.chat.turns[-1]["state"] == "failed"
    do(made.chat, "ask", question="Which flowers?")
    assert (made.chat.conversation, len(full.conversations.get(id).messages)) == (id, 2)


def test_a_question_in_the_chat_of_a_project_that_another_window_deleted_is_not_lost_unsaid(
    made: Dashboard, full: Workbench
) -> None:
    do(made.chat, "ask", question=WEAVES)
    full.projects.delete(1)  # by another window
    do(made.chat, "ask", question="Which flowers?")
    assert made.chat.error == "This project has been deleted, so “Which flowers?” was not asked."
    assert (made.chat.kind, made.chat.scope, made.projects.projects) == ("thread", 0, [])
    assert full.conversations.list(None) == []


def test_a_papers_chat_that_has_expired_begins_anew_with_the_next_question(
    made: Dashboard, full: Workbench
) -> None:
    do(made.papers, "ask_paper", id=1)
    full.conversations.delete(made.chat.conversation)  # as 24 hours do
    do(made.chat, "ask", question=WEAVES)
    assert made.chat.turns[-1]["state"] == "done"
    assert [info.kind for info in full.conversations.list("paper")] == ["paper"]


# --- export ----------------------------------------------------------------------------------------------


def test_an_export_is_handed_over_once_under_a_name_every_system_takes(
    made: Dashboard, full: Workbench
) -> None:
    talk = full.conversations.create(
        Scope.project(1), title="../..\\CON: <b>\u202etitle</b>?*| " + "long " * 30
    )
    talk.ask(WEAVES)
    files = {form: exported(full, talk.id, form) for form in ("markdown", "notebook", "bibtex")}
    stems = {file["name"].rpartition(".")[0] for file in files.values()}
    assert len(stems) == 1
    assert all(c.isalnum() or c == "-" for c in stems.pop())
    assert [file["name"].rpartition(".")[2] for file in files.values()] == ["md", "ipynb", "bib"]
    assert files["bibtex"]["name"] in files["markdown"]["text"]
    do(made.conversations, "export", id=talk.id, form="bibtex")
    assert made.conversations.download == files["bibtex"]
    do(made.conversations, "taken")
    assert made.conversations.download == {}
    do(made.conversations, "export", id=talk.id, form="exe")
    assert made.conversations.error == "A conversation cannot be exported as 'exe'."
    do(made.chat, "export", id=10**9, form="markdown")
    assert (made.chat.download, made.chat.error.startswith("Conversation not found")) == ({}, True)


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("What does it cost?", "What-does-it-cost"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "conversation-CON"),
        ("\u202e\x00\n", "conversation"),
        ("خلاصة الأبحاث", "خلاصة-الأبحاث"),
        ("y" * 400, "y" * 60),
        (".hidden", "hidden"),
    ],
)
def test_a_title_becomes_a_files_name(title: str, stem: str) -> None:
    assert file_stem(title) == stem


# --- widgets ---------------------------------------------------------------------------------------------


def test_two_hundred_conversations_opened_and_listed_make_no_new_widget(
    scripted: ScriptedWorkbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = [scripted.conversations.create(Scope.ALL) for _ in range(4)]
    dashboard = Dashboard(scripted, run=at_once)  # type: ignore[arg-type]
    created: list[object] = []
    monkeypatch.setattr(ipywidgets.Widget, "_widget_construction_callback", created.append)
    for round in range(200):
        do(dashboard.conversations, "new")
        do(dashboard.conversations, "show", id=talks[round % 4].id)
        dashboard.conversations.refresh()
    assert (created, dashboard.chat.conversation) == ([], talks[3].id)

"""Panels arranged: what one does reaches the others, widgets stay few, a closed library says why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

import workbench
from tests.widgets.answers import answer, evidence
from tests.widgets.scripted import ScriptedWorkbench, paper
from widgets import dashboards
from widgets.dashboards import Dashboard, Tab, dashboard
from widgets.opening.view import Opening
from widgets.panel import at_once
from workbench import (
    AnswerDone,
    EvidenceFound,
    LibraryLockedError,
    ProviderUnavailableError,
    Scope,
    Workbench,
)
from workbench.providers.fake_embedder import FakeEmbedder


@pytest.fixture
def made(scripted: ScriptedWorkbench) -> Dashboard:
    for id, project in ((1, 2), (2, 2), (3, None)):
        scripted.papers.held[id], scripted.papers.project_of[id] = paper(id, title=f"Paper {id}"), project
    return Dashboard(scripted, run=at_once)  # type: ignore[arg-type]


def test_the_project_used_last_is_chosen_at_the_start(made: Dashboard) -> None:
    assert made.projects.projects == [
        {"id": 1, "name": "Notes on engines", "papers": 0},
        {"id": 2, "name": "Weaving", "papers": 2},
    ]
    assert (made.projects.chosen, made.projects.orphans, made.chat.scope) == (2, 1, 2)
    assert [row["title"] for row in made.papers.papers] == ["Paper 1", "Paper 2"]
    assert made.chat.suggestions[-1] == "What does the abstract of “Paper 1” propose?"
    assert made.header.facts == ["No chat model: answers in the papers' words", "3 papers", "1 notice"]
    assert (made.header.health, made.header.notes) == ("warning", ["No Ollama here."])


def test_choosing_another_project_moves_papers_thread_and_viewer(made: Dashboard) -> None:
    made.papers.act({"do": "read_paper", "with": {"id": 1}})
    assert made.viewer.title == "Paper 1"
    made.projects.act({"do": "choose", "with": {"id": 0}})
    assert [row["title"] for row in made.papers.papers] == ["Paper 3"]
    assert (made.chat.scope, made.viewer.paper, made.viewer.title) == (0, 0, "")
    made.projects.act({"do": "choose", "with": {"id": 77}})
    assert made.projects.chosen == 0


def test_a_new_project_is_chosen_and_a_taken_name_is_one_line(made: Dashboard) -> None:
    made.projects.act({"do": "create", "with": {"name": " Looms "}})
    assert (made.projects.name, made.chat.scope, made.papers.papers) == ("Looms", 3, [])
    made.projects.act({"do": "create", "with": {"name": "Looms"}})
    assert made.projects.error == "There is a project “Looms” already."
    assert made.projects.created == 1


def test_a_marker_opens_its_page_and_the_next_citation_moves_the_active_marker(
    scripted: ScriptedWorkbench, made: Dashboard
) -> None:
    scripted.script = [EvidenceFound(evidence()), AnswerDone(answer())]
    made.chat.act({"do": "ask", "with": {"question": "What?"}})
    made.chat.act({"do": "cite", "with": {"turn": 0, "k": 0}})
    assert (made.viewer.paper, made.viewer.page, made.chat.active) == (1, 2, {"turn": 0, "k": 0})
    made.viewer.act({"do": "step_citation", "with": {"by": 1}})
    assert (made.viewer.paper, made.viewer.page, made.chat.active) == (2, 3, {"turn": 0, "k": 1})
    assert "wb-page-open" in made.box._dom_classes
    made.viewer.act({"do": "close_page"})
    assert (made.chat.active, "wb-page-open" in made.box._dom_classes) == ({}, False)


def test_papers_added_here_are_counted_everywhere(wb: Workbench, tmp_path: Path) -> None:
    real = Dashboard(wb, run=at_once)
    (tmp_path / "new.txt").write_text("The engine weaves patterns as the loom weaves flowers.")
    real.papers.act({"do": "add_path", "with": {"path": str(tmp_path / "new.txt")}})
    assert [p["papers"] for p in real.projects.projects] == [1]
    assert real.header.facts[1] == "1 paper"
    assert real.chat.suggestions != []
    real.chat.act({"do": "ask", "with": {"question": "What does the engine weave?"}})
    assert real.chat.turns[0]["state"] == "done"
    real.chat.act({"do": "cite", "with": {"turn": 0, "k": 0}})
    ((start, end),) = real.viewer.spans
    assert real.viewer.text[start:end] == "The engine weaves patterns as the loom weaves flowers."


def test_a_chat_model_that_is_away_is_told_and_stops_nothing(
    wb: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> dict[str, Any]:
        raise ProviderUnavailableError("Ollama does not answer. Start it.")

    monkeypatch.setattr(wb, "status", away)
    real = Dashboard(wb, run=at_once)
    (tmp_path / "new.txt").write_text("The engine weaves patterns as the loom weaves flowers.")
    real.papers.act({"do": "add_path", "with": {"path": str(tmp_path / "new.txt")}})
    assert real.header.error == "Ollama does not answer. Start it."
    assert [o["status"] for o in real.papers.outcomes] == ["ready"]
    assert [p["papers"] for p in real.projects.projects] == [1]


def test_a_missing_chat_model_is_told_once_and_calmly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_CHAT", "auto")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    with workbench.open(tmp_path / "l.duckdb", user="ada", embedder=FakeEmbedder()) as wb:
        real = Dashboard(wb, run=at_once)
        (tmp_path / "new.txt").write_text("The engine weaves patterns as the loom weaves flowers.")
        real.papers.act({"do": "add_path", "with": {"path": str(tmp_path / "new.txt")}})
        real.chat.act({"do": "ask", "with": {"question": "What does the engine weave?"}})
    assert (real.header.health, real.header.notes, real.header.facts[2]) == ("good", [], "all healthy")
    assert real.header.explained.startswith("No chat model, so answers are the papers' own sentences. ")
    assert real.chat.turns[0]["state"] == "done"
    assert set(real.chat.turns[0]["notes"]) <= set(real.chat.known), "the page shows it in the header alone"


def test_projects_are_renamed_archived_restored_and_deleted(wb: Workbench, tmp_path: Path) -> None:
    real = Dashboard(wb, run=at_once)
    panel = real.projects
    (tmp_path / "new.txt").write_text("The engine weaves patterns as the loom weaves flowers.")
    real.papers.act({"do": "add_path", "with": {"path": str(tmp_path / "new.txt")}})
    panel.act({"do": "rename", "with": {"id": 1, "name": " Looms "}})
    assert (panel.name, real.chat.scopes[1]["label"]) == ("Looms", "Looms")
    panel.act({"do": "archive", "with": {"id": 1}})
    assert (panel.projects, panel.archived, panel.chosen) == (
        [],
        [{"id": 1, "name": "Looms", "papers": 1}],
        0,
    )
    assert panel.told == "“Looms” is archived. Nothing in it changes; restore it under Archived."
    panel.act({"do": "restore", "with": {"id": 1}})
    assert (panel.chosen, panel.archived, len(real.papers.papers)) == (1, [], 1)
    panel.act({"do": "delete", "with": {"id": 1}})
    assert (panel.chosen, panel.told) == (0, "“Looms” is deleted. Its 1 paper stays in the library.")
    assert (panel.orphans, panel.all_papers, len(real.papers.papers)) == (1, 1, 1)


def test_all_notes_are_an_entry_like_any_other_and_the_chip_chooses_it(made: Dashboard) -> None:
    made.projects.act({"do": "choose", "with": {"id": 0}})
    made.chat.act({"do": "choose_scope", "with": {"value": -1}})
    assert (made.projects.chosen, made.projects.scope, made.chat.scope) == (-1, Scope.ALL, -1)
    assert [row["title"] for row in made.papers.papers] == ["Paper 1", "Paper 2", "Paper 3"]
    assert (made.papers.project, made.papers.limit) == (0, 0)


def test_two_hundred_refreshes_make_no_new_widget(
    scripted: ScriptedWorkbench, made: Dashboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: list[object] = []
    monkeypatch.setattr(ipywidgets.Widget, "_widget_construction_callback", created.append)
    for round in range(200):
        scripted.papers.held[1] = paper(1, title=f"Paper, edition {round}")
        made.papers.refresh()
        made.projects.refresh()
        made.header.refresh()
        made.projects.act({"do": "choose", "with": {"id": round % 3}})
        made.viewer.show_paper(1)
    assert created == []
    ipywidgets.Label()
    assert created, "the hook that counts new widgets has gone"


def test_a_fault_in_the_library_is_shown_in_the_panel_and_logged(
    scripted: ScriptedWorkbench, made: Dashboard, caplog: pytest.LogCaptureFixture
) -> None:
    scripted.papers.fault = RuntimeError("broken\ninside")
    made.projects.act({"do": "choose", "with": {"id": 1}})
    assert re.fullmatch(
        r"Something went wrong \(listing the papers: RuntimeError\)\. To report it, attach \S+\.txt\.",
        made.papers.error,
    )
    assert "broken\ninside" in caplog.text


def test_a_locked_library_says_so_and_opens_when_asked_again(
    scripted: ScriptedWorkbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboards, "user_log_path", lambda *_, **__: tmp_path)
    tries: list[int] = []

    def opener() -> ScriptedWorkbench:
        tries.append(1)
        if len(tries) == 1:
            raise LibraryLockedError("The library is in use by process 42. Close it there, or wait.")
        return scripted

    page = dashboard(opener, run=at_once)  # type: ignore[arg-type]
    (opening,) = page.children
    assert isinstance(opening, Opening)
    assert opening.error == "The library is in use by process 42. Close it there, or wait."
    opening.act({"do": "start"})
    assert page.children == (opening,), "nothing is made before the page can hear of it"
    opening.act({"do": "greet"})
    (box,) = page.children
    assert "wb-app" in box._dom_classes
    assert scripted.papers.goes_on_moving, "a move of the library that was cut off"


def test_a_page_that_comes_up_after_the_library_failed_to_open_still_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dashboards, "user_log_path", lambda *_, **__: tmp_path)

    def opener() -> Workbench:
        raise LibraryLockedError("The library is in use by process 42. Close it there, or wait.")

    (opening,) = dashboard(opener, run=at_once).children
    assert isinstance(opening, Opening)
    opening.act({"do": "greet"})
    assert opening.error == "The library is in use by process 42. Close it there, or wait."


def test_the_notebook_opens_shows_and_stops() -> None:
    path = Path(dashboards.__file__).parents[1] / "notebooks" / "dashboard.ipynb"
    notebook = json.loads(path.read_text("utf-8"))
    code = ["".join(cell["source"]) for cell in notebook["cells"]]
    assert code == ["import workbench\nfrom widgets.dashboards import dashboard", "dashboard(workbench.open)"]
    assert all(not cell["outputs"] for cell in notebook["cells"])


def test_orphans_are_a_scope_of_their_own(made: Dashboard) -> None:
    made.projects.act({"do": "choose", "with": {"id": 0}})
    assert made.projects.scope == Scope.ORPHANS
    assert made.papers.limit == 0


def test_another_tab_is_shown_and_told_so_and_the_chat_stays_drawn(scripted: ScriptedWorkbench) -> None:
    told: list[str] = []
    beside = ipywidgets.VBox()

    class TwoTabs(Dashboard):
        def _tabs(self) -> list[Tab]:
            return [*super()._tabs()[:1], Tab("Beside", beside, lambda: told.append("shown"))]

    made = TwoTabs(scripted, run=at_once)  # type: ignore[arg-type]
    assert made.header.views == ["Chat", "Beside"]
    chat, other = (tab.widget for tab in made.tabs)
    assert (chat.children, other.children) == ((made.chat,), (beside,))
    assert ("wb-shown" in chat._dom_classes, "wb-shown" in other._dom_classes) == (True, False)
    made.header.act({"do": "choose", "with": {"view": "Beside"}})
    assert ("wb-shown" in chat._dom_classes, "wb-shown" in other._dom_classes) == (False, True)
    assert (told, "wb-chatting" in made.box._dom_classes) == (["shown"], False)
    made.header.act({"do": "choose", "with": {"view": "Chat"}})
    assert ("wb-shown" in chat._dom_classes, "wb-chatting" in made.box._dom_classes) == (True, True)


def test_the_library_tab_and_the_sidebar_tell_the_same(wb: Workbench, tmp_path: Path) -> None:
    real = Dashboard(wb, run=at_once)
    (tmp_path / "new.txt").write_text("The engine weaves patterns as the loom weaves flowers.")
    real.header.act({"do": "choose", "with": {"view": "Library"}})
    assert (real.library.loaded, real.library.page["papers"]) == (True, 0)
    real.papers.act({"do": "add_path", "with": {"path": str(tmp_path / "new.txt")}})
    assert [row["title"] for row in real.library.page["rows"]] == ["new"]
    assert real.library.told == "1 added."
    real.projects.act({"do": "create", "with": {"name": "Looms"}})
    assert [p["name"] for p in real.library.projects] == ["Looms", "Weaving"]
    real.library.act({"do": "choose", "with": {"ids": [1], "on": True}})
    real.library.act({"do": "choose_target", "with": {"id": 2}})
    real.library.act({"do": "add_chosen"})
    assert [row["title"] for row in real.papers.papers] == ["new"], "Looms is the project shown"
    assert {p["name"]: p["papers"] for p in real.projects.projects} == {"Looms": 1, "Weaving": 1}
    real.library.act({"do": "chat_about", "with": {"id": 1}})
    assert (real.header.view, real.chat.paper, real.viewer.paper) == ("Chat", 1, 1)
    real.header.act({"do": "choose", "with": {"view": "Ledger"}})
    assert (real.ledger.page["papers"], real.ledger.health["state"]) == (1, "good")
    real.papers.act({"do": "remove", "with": {"id": 1}})
    assert real.ledger.page["papers"] == 0


def test_a_page_that_stays_open_is_answered_and_follows_what_another_program_does(wb: Workbench) -> None:
    real = Dashboard(wb, run=at_once)
    real.header.act({"do": "beat"})
    before = real.projects.projects
    with workbench.open(settings=wb.settings, embedder=FakeEmbedder()) as another:
        another.projects.create("Made elsewhere")
    assert real.projects.projects == before
    real.header.act({"do": "beat"})
    assert [project["name"] for project in real.projects.projects] == ["Made elsewhere", "Weaving"]
    assert real.header.beats == 2
    real.header.error = "The library is in use by process 7."
    real.header.act({"do": "beat"})
    assert real.header.error == "The library is in use by process 7."


def test_showing_every_tab_and_reading_it_again_makes_no_new_widget(
    wb: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.txt").write_text("The engine weaves patterns as the loom weaves flowers.")
    wb.papers.add(tmp_path / "new.txt")
    real = Dashboard(wb, run=at_once)
    created: list[object] = []
    monkeypatch.setattr(ipywidgets.Widget, "_widget_construction_callback", created.append)
    for round in range(200):
        if round < 5:
            for view in real.header.views:
                real.header.act({"do": "choose", "with": {"view": view}})
        real.library.act({"do": "look", "with": {"query": str(round)}})
        real.library.act({"do": "choose", "with": {"ids": [1], "on": bool(round % 2)}})
        real.ledger.act({"do": "look", "with": {"only": ("all", "problems")[round % 2]}})
    assert created == []


def test_the_header_does_not_call_healthy_what_the_check_does_not(
    wb: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Dashboard(wb, run=at_once)
    assert (real.header.health, real.header.facts[2]) == ("good", "all healthy")
    monkeypatch.setattr(wb, "doctor", lambda: ["chunk ids used twice: 2 found"])
    real.header.act({"do": "choose", "with": {"view": "Ledger"}})
    assert (real.header.health, real.header.notes) == (
        "warning",
        ["The check of the library found 1 thing: see the Ledger tab."],
    )
    monkeypatch.undo()
    real.ledger.act({"do": "check"})
    assert (real.header.health, real.header.notes) == ("good", [])

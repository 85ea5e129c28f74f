"""The Library tab's state: pages of rows, filters, choosing under a limit, and what is done to the chosen."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import workbench
from widgets.library.picking import NEW_PROJECT, fit
from widgets.library.rows import Library, read_library
from widgets.library.state import LibraryState
from widgets.listing import PAGE
from widgets.panel import at_once
from widgets.papers.state import PapersState
from workbench import LibraryLockedError, Progress, Scope, Workbench
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.storage import ledger

TEXT = "The engine weaves patterns as the loom weaves flowers. It has no pretensions to originate anything. "
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "report\u202efdp.exe",
    "L" * 300,
    "</script><b>\x07bold",
    "\u2066x\u2069",
)


def made(wb: Workbench) -> LibraryState:
    changed: list[Callable[[], None]] = []
    papers = PapersState(wb, on_change=lambda: [c() for c in changed], on_read=lambda _: None, run=at_once)
    papers.show(Scope.ORPHANS)
    panel = LibraryState(wb, papers, on_change=lambda: None, on_read=lambda _: None, run=at_once)
    changed.append(panel.library_changed)
    return panel


@pytest.fixture
def panel(wb: Workbench) -> LibraryState:
    return made(wb)


def add_texts(wb: Workbench, *titles: str, project: str | None = None) -> list[int]:
    report = wb.papers.add_texts([{"title": t, "text": f"{TEXT}{t}"} for t in titles], project=project)
    return [file.paper_id or 0 for file in report.files]


def act(panel: LibraryState, do: str, **given: Any) -> None:
    panel.act({"do": do, "with": given})


def titles(panel: LibraryState) -> list[str]:
    return [row["title"] for row in panel.page["rows"]]


def test_an_empty_library_is_told_as_such(panel: LibraryState) -> None:
    assert panel.loaded is False
    panel.shown()
    assert panel.loaded
    counts = dict.fromkeys(("start", "matches", "matching", "papers", "problems"), 0)
    assert panel.page == {"rows": [], "size": PAGE, **counts}


def test_a_row_tells_everything_the_table_shows(wb: Workbench, panel: LibraryState, tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text(f"# On looms\n\n{TEXT}")
    wb.papers.add(tmp_path / "n.md", project="Weaving")
    panel.shown()
    (row,) = panel.page["rows"]
    assert row == {
        "id": 1,
        "title": "On looms",
        "file": "n.md",
        "authors": "",
        "year": "",
        "pages": "1 section",
        "kind": "md",
        "state": "ready",
        "reason": "",
        "projects": [{"id": 1, "name": "Weaving"}],
        "own": True,
        "shared": False,
        "added": row["added"],
    }


def test_a_file_that_is_no_paper_is_a_row_with_its_reason_until_it_is_forgotten_or_added(
    wb: Workbench, panel: LibraryState, tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "late.txt").write_bytes(b"")
    wb.papers.add_many([tmp_path / "broken.pdf", tmp_path / "late.txt"])
    panel.shown()
    rows = {row["title"]: row for row in panel.page["rows"]}
    assert {name: (row["id"], row["state"]) for name, row in rows.items()} == {
        "broken.pdf": (0, "failed"),
        "late.txt": (0, "failed"),
    }
    assert all(row["reason"] for row in rows.values())
    assert (panel.page["papers"], panel.page["matching"], panel.page["problems"]) == (0, 0, 2)
    (tmp_path / "late.txt").write_text(TEXT)
    wb.papers.add(tmp_path / "late.txt")
    act(panel, "forget_file", name="broken.pdf")
    assert [(row["id"], row["state"]) for row in panel.page["rows"]] == [(1, "ready")]
    act(panel, "forget_file", name="broken.pdf")
    assert panel.error == ""


def test_scanned_pages_need_ocr(wb: Workbench, panel: LibraryState, tmp_path: Path) -> None:
    reason = "scanned pages: no text layer, needs OCR"
    with wb._database.write() as cursor:
        ledger.record(
            cursor, "ada", file="scan.pdf", stage="read", state="failed", seconds=0, sha256="a", error=reason
        )
        ledger.record(
            cursor, "bob", file="his.pdf", stage="read", state="failed", seconds=0, sha256="b", error=reason
        )
    panel.shown()
    assert [(row["title"], row["state"], row["reason"]) for row in panel.page["rows"]] == [
        ("scan.pdf", "ocr", reason)
    ]


def test_hostile_titles_and_names_are_text_on_one_line(
    wb: Workbench, panel: LibraryState, tmp_path: Path
) -> None:
    add_texts(wb, *HOSTILE)
    project = wb.projects.create("<b>Long</b>" + "y" * 150)
    wb.projects.add(project, 1)
    (tmp_path / "<img src=x>\u202efdp.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    wb.papers.add_many([tmp_path / "<img src=x>\u202efdp.pdf"])
    panel.shown()
    shown = json.dumps(panel.page, ensure_ascii=False) + json.dumps(panel.projects, ensure_ascii=False)
    assert not [c for c in "\x07\u202e\u2066\u2069" if c in shown]
    assert "<img src=x onerror=alert(1)>" in titles(panel)
    assert max(len(title) for title in titles(panel)) <= 300
    act(panel, "forget_file", name="<img src=x>fdp.pdf")
    assert panel.page["problems"] == 0


def test_filter_state_and_project_narrow_the_rows_and_a_sort_orders_them(
    wb: Workbench, panel: LibraryState
) -> None:
    add_texts(wb, "Looms of Lyon", "Silk", project="Weaving")
    add_texts(wb, "Engines", "lyon by night")
    panel.shown()
    assert titles(panel) == ["lyon by night", "Engines", "Silk", "Looms of Lyon"]
    act(panel, "look", query="LYON")
    assert titles(panel) == ["lyon by night", "Looms of Lyon"]
    act(panel, "look", query="weaving lyon")
    assert titles(panel) == ["Looms of Lyon"]
    act(panel, "look", query="", show="loose", sort="title", descending=False)
    assert titles(panel) == ["Engines", "lyon by night"]
    act(panel, "look", show="1")
    assert (titles(panel), panel.into, panel.scope) == (
        ["Looms of Lyon", "Silk"],
        "Weaving",
        Scope.project(1),
    )
    act(panel, "look", show="problems")
    assert titles(panel) == []
    act(panel, "look", sort="shoe size")
    assert (panel.error, panel.sort) == ("The library cannot be sorted by that.", "title")


def test_what_is_not_known_is_last_in_either_order(
    wb: Workbench, panel: LibraryState, tmp_path: Path
) -> None:
    add_texts(wb, "A", "Weaving by punched cards", "C")
    (tmp_path / "x.bib").write_text(
        "@article{x, title={Weaving by punched cards}, year={1843}, author={Lovelace, Ada}}"
    )
    wb.bibliography.add(tmp_path / "x.bib")
    panel.shown()
    for descending in (True, False):
        act(panel, "look", sort="year", descending=descending)
        assert titles(panel) == ["Weaving by punched cards", "C", "A"]


def test_choosing_counts_across_pages_and_tells_what_would_go(wb: Workbench, panel: LibraryState) -> None:
    ids = add_texts(wb, *(f"Paper {n:03d}" for n in range(PAGE + 5)))
    wb.projects.add("Weaving", ids[0])
    panel.shown()
    act(panel, "choose", ids=[ids[0], 999], on=True)
    act(panel, "look", start=PAGE)
    assert (panel.page["start"], len(panel.page["rows"])) == (PAGE, 5)
    act(panel, "choose", ids=[ids[1]], on=True)
    assert panel.chosen == [ids[0], ids[1]]
    assert panel.selection == {
        "count": 2,
        "pages": 2,
        "notes": 0,
        "projects": ["Weaving"],
        "borrowed": 0,
        "fits": False,
        "says": "A project holds up to 10 papers.",
        "over": False,
    }
    act(panel, "look", query="Paper 00")
    act(panel, "choose_matching")
    assert len(panel.chosen) == 10
    act(panel, "choose", ids=[ids[0]], on=False)
    assert len(panel.chosen) == 9
    act(panel, "choose_none")
    assert (panel.chosen, panel.selection["count"]) == ([], 0)


def test_the_limit_is_told_before_it_is_reached_when_it_is_and_beyond(
    wb: Workbench, panel: LibraryState
) -> None:
    held = add_texts(wb, *(f"Held {n}" for n in range(7)), project="Weaving")
    new = add_texts(wb, *(f"New {n}" for n in range(4)))
    panel.shown()
    act(panel, "choose_target", id=1)
    said = []
    for id in new:
        act(panel, "choose", ids=[id], on=True)
        said.append((panel.selection["fits"], panel.selection["says"]))
    assert said == [
        (True, "“Weaving” has room for 2 more after these."),
        (True, "“Weaving” has room for 1 more after these."),
        (True, "“Weaving” is full with these: 10 of 10."),
        (
            False,
            "“Weaving” has room for 3 more, and 4 of these are new to it: "
            "untick 1, or choose another project.",
        ),
    ]
    act(panel, "add_chosen")
    assert (panel.error, len(wb.projects.papers("Weaving"))) == (said[-1][1], 7)
    act(panel, "choose", ids=[new[0]], on=False)
    act(panel, "choose", ids=[held[0]], on=True)  # is in it already, and takes no room
    assert panel.selection["fits"]
    act(panel, "add_chosen")
    assert (panel.error, panel.told) == ("", "“Weaving” holds 10 papers now.")
    assert (panel.chosen, panel.target, panel.added) == ([], 0, 1)
    act(panel, "choose", ids=[new[0]], on=True)
    act(panel, "choose_target", id=1)
    assert panel.selection["says"] == "“Weaving” is full: 10 of 10. Take a paper out of it first."


def test_a_limit_that_another_window_reaches_meanwhile_adds_nothing_and_keeps_the_choice(
    wb: Workbench, panel: LibraryState
) -> None:
    new = add_texts(wb, *(f"New {n}" for n in range(4)))
    panel.shown()
    act(panel, "choose", ids=new, on=True)
    act(panel, "choose_target", id=1)
    assert panel.selection["fits"]
    add_texts(wb, *(f"Theirs {n}" for n in range(8)), project="Weaving")
    act(panel, "add_chosen")
    assert panel.error.startswith("Nothing was added. Project “Weaving” holds 8 papers and its limit is 10")
    assert (panel.chosen, panel.selection["fits"]) == (new, False)
    assert len(wb.projects.papers("Weaving")) == 8


def test_a_new_project_takes_the_chosen_papers_or_is_not_made(wb: Workbench, panel: LibraryState) -> None:
    new = add_texts(wb, "One", "Two")
    panel.shown()
    act(panel, "choose", ids=new, on=True)
    act(panel, "choose_target", id=NEW_PROJECT)
    act(panel, "add_chosen", name="  ")
    assert panel.error == "Give the new project a name."
    act(panel, "add_chosen", name=" Looms ")
    assert [p.id for p in wb.projects.papers("Looms")] == new
    act(panel, "choose", ids=new, on=True)
    act(panel, "choose_target", id=NEW_PROJECT)
    wb.papers.remove(new[0])  # another window, meanwhile
    act(panel, "add_chosen", name="Mills")
    assert panel.error == (
        "Nothing was added: 1 chosen paper is no longer in your library. Add again for the rest."
    )
    assert ([p.name for p in wb.projects.list()], panel.chosen) == (["Looms", "Weaving"], [new[1]])
    act(panel, "add_chosen", name="Mills")
    assert [p.id for p in wb.projects.papers("Mills")] == [new[1]]


def test_no_limit_says_so_by_saying_nothing_of_it(wb: Workbench) -> None:
    ids = add_texts(wb, "One", "Two")
    found = read_library(wb)
    assert fit(found, ids, target=1, limit=0).says == "2 papers new to it."
    assert fit(found, [], target=0, limit=0) == fit(found, ids, target=0, limit=0)


def test_papers_are_removed_one_that_went_meanwhile_too(wb: Workbench, panel: LibraryState) -> None:
    ids = add_texts(wb, "One", "Two", "Three", project="Weaving")
    panel.shown()
    act(panel, "choose", ids=ids[:2], on=True)
    wb.papers.remove(ids[0])
    act(panel, "remove", ids=ids[:2])
    assert (panel.told, panel.error, panel.chosen) == ("2 papers are removed from the library.", "", [])
    assert [p.id for p in wb.papers.list()] == [ids[2]]
    act(panel, "take_out", id=ids[2], project=1)
    assert panel.page["rows"][0]["projects"] == []
    act(panel, "take_out", id=ids[2], project=1)
    assert panel.error != ""


def test_removing_many_is_shown_and_can_be_cancelled(wb: Workbench, panel: LibraryState) -> None:
    ids = add_texts(wb, "One", "Two", "Three")
    panel.shown()
    seen: list[dict[str, Any]] = []
    panel.observe(lambda change: seen.append(change["new"]), "job")
    panel.observe(lambda change: change["new"].get("nth") == 2 and panel.act({"do": "cancel"}), "job")
    act(panel, "remove", ids=ids)
    assert (seen[0]["doing"], seen[0]["files"], seen[-1]) == ("removing", 3, {})
    assert panel.told == "2 papers are removed from the library. Cancelled: 1 paper stays."
    assert len(wb.papers.list()) == 1


def test_processing_again_shows_its_paper_and_tells_the_end(wb: Workbench, panel: LibraryState) -> None:
    ids = add_texts(wb, "One", "Two")
    panel.shown()
    seen: list[tuple[int, str]] = []
    panel.observe(lambda c: c["new"] and seen.append((c["new"]["paper"], c["new"]["doing"])), "job")
    waiting: list[list[int]] = []
    panel.observe(lambda change: waiting.append(change["new"]), "waiting")
    act(panel, "reprocess", ids=ids)
    assert waiting == [ids, ids[1:], []]
    assert (ids[0], "reading") in seen
    assert (ids[1], "embedding") in seen
    assert (panel.told, panel.error) == ("2 papers processed again.", "")
    assert wb.doctor() == []


def test_a_fault_in_the_middle_of_a_removal_leaves_the_rows_as_the_library_is(
    wb: Workbench, panel: LibraryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = add_texts(wb, "One", "Two")
    panel.shown()
    act(panel, "choose", ids=ids, on=True)
    remove = wb.papers.remove

    def locked(paper: int) -> None:
        if paper == ids[1]:
            raise LibraryLockedError("Another program holds the library.")
        remove(paper)

    monkeypatch.setattr(wb.papers, "remove", locked)
    act(panel, "remove", ids=ids)
    assert panel.error == "Another program holds the library."
    assert ([row["id"] for row in panel.page["rows"]], panel.chosen, panel.job) == ([ids[1]], [ids[1]], {})


def test_an_older_reading_never_replaces_a_newer_one(
    wb: Workbench, panel: LibraryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, slow, go_on = read_library, threading.Event(), threading.Event()

    def held(workbench: Workbench) -> Library:
        found = read(workbench)
        if not slow.is_set():
            slow.set()
            go_on.wait(10)
        return found

    monkeypatch.setattr("widgets.library.state.read_library", held)
    older = threading.Thread(target=panel.refresh)
    older.start()
    slow.wait(10)
    add_texts(wb, "New")
    newer = threading.Thread(target=panel.refresh)
    newer.start()
    newer.join(0.2)
    go_on.set()
    older.join()
    newer.join()
    assert [row["title"] for row in panel.page["rows"]] == ["New"]


def test_processing_again_is_cancelled_between_stages_and_the_old_index_stays(
    wb: Workbench, panel: LibraryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.papers.work.PROGRESS_EVERY", 0.0)  # so that no stage is passed over
    ids = add_texts(wb, "One", "Two")
    before = [chunk.id for chunk in wb.chunks.list()]
    panel.shown()
    panel.observe(lambda c: c["new"].get("doing") == "embedding" and panel.act({"do": "cancel"}), "job")
    act(panel, "reprocess", ids=ids)
    assert panel.told == "Cancelled: 2 papers left as before."
    assert ([chunk.id for chunk in wb.chunks.list()], panel.waiting, panel.job) == (before, [], {})


def test_a_failure_in_the_background_is_told_and_work_goes_on_after_it(
    wb: Workbench, panel: LibraryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = add_texts(wb, "One")
    panel.shown()
    monkeypatch.setattr(wb.papers, "reprocess", lambda *_, **__: 1 / 0)
    act(panel, "reprocess", ids=ids)
    assert panel.error.startswith("Something went wrong (processing again: ZeroDivisionError).")
    monkeypatch.undo()
    act(panel, "reprocess", ids=ids)
    assert (panel.told, panel.error) == ("1 paper processed again.", "")


def test_a_path_goes_into_the_project_shown_and_the_batch_is_told(
    wb: Workbench, panel: LibraryState, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    (folder / "b.txt").write_text(TEXT)
    (folder / "c.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    panel.shown()
    act(panel, "look", show="1")
    act(panel, "add_path", path=str(folder))
    assert panel.told.startswith("1 added, 1 in the library already, 1 failed (c.pdf: ")
    assert (titles(panel), len(wb.projects.papers("Weaving"))) == (["a"], 1)
    act(panel, "add_path", path=str(tmp_path / "nowhere"))
    assert panel.error == f"There is nothing at {tmp_path / 'nowhere'}"


def test_two_thousand_papers_reach_the_page_fifty_at_a_time(
    wb: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.widgets.scripted import paper

    papers = [paper(n, title=f"Paper {n:04d}") for n in range(1, 2001)]
    monkeypatch.setattr(wb.papers, "list", lambda scope=Scope.ALL: papers)
    panel = made(wb)
    panel.shown()
    assert (panel.page["matches"], panel.page["papers"], len(panel.page["rows"])) == (2000, 2000, PAGE)
    assert len(json.dumps(panel.page)) < 20_000
    act(panel, "look", start=1990)
    assert (panel.page["start"], titles(panel)[-1]) == (1990, "Paper 0011") or titles(panel)[
        -1
    ] == "Paper 0001"
    act(panel, "look", start=10**9)
    assert (panel.page["start"], len(panel.page["rows"])) == (1950, PAGE)
    act(panel, "choose_matching")
    assert panel.selection["count"] == 2000
    act(panel, "choose_target", id=1)
    assert panel.selection["says"] == (
        "“Weaving” has room for 10 more, and 2000 of these are new to it: "
        "untick 1990, or choose another project."
    )


@pytest.fixture
def bob(wb: Workbench) -> Iterator[Workbench]:
    with workbench.open(wb.settings.library, user="bob", embedder=FakeEmbedder()) as opened:
        yield opened


def test_another_users_papers_never_show_and_a_shared_one_cannot_be_removed(
    wb: Workbench, bob: Workbench, panel: LibraryState, tmp_path: Path
) -> None:
    secret, shared = add_texts(bob, "Secret", "Shared")
    (tmp_path / "his.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    bob.papers.add_many([tmp_path / "his.pdf"])
    bob.papers.share(shared)
    panel.shown()
    assert [(row["title"], row["own"], row["shared"]) for row in panel.page["rows"]] == [
        ("Shared", False, True)
    ]
    act(panel, "choose", ids=[secret, shared], on=True)
    assert (panel.chosen, panel.selection["borrowed"]) == ([shared], 1)
    act(panel, "remove", ids=[secret, shared])
    assert (len(bob.papers.list()), panel.error) == (2, "")
    act(panel, "forget_file", name="his.pdf")
    assert len(bob.sql("SELECT * FROM ledger WHERE file = 'his.pdf'")) > 0


def test_work_elsewhere_is_followed_without_reading_the_library_at_every_step(
    wb: Workbench, panel: LibraryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.listing.REFRESH_EVERY", 3600.0)
    panel.library_changed()
    assert panel.loaded is False, "a tab that was never shown reads nothing"
    panel.shown()
    add_texts(wb, "One")
    panel.library_changed()
    assert titles(panel) == ["One"]
    add_texts(wb, "Two")
    with panel.work.turn():
        panel.work.show(Progress("read", "x", 0, 1), always=True)
        panel.library_changed()
        assert titles(panel) == ["One"]
    panel.library_changed()
    assert titles(panel) == ["Two", "One"]

"""The papers panel's state: rows, adding by path and by upload, progress, outcomes, cancelling."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.widgets.scripted import paper
from widgets.dashboards import Dashboard
from widgets.panel import at_once
from widgets.papers.outcomes import MANY, Outcome, Told, outcome
from widgets.papers.path_line import PathState
from widgets.papers.state import SHOWN, PapersState
from widgets.uploads.state import Upload
from workbench import NotFoundError, Scope, Workbench

TEXT = "The engine weaves patterns as the loom weaves flowers. It has no pretensions to originate anything. "


@pytest.fixture
def panel(wb: Workbench) -> PapersState:
    made = PapersState(wb, on_change=lambda: None, on_read=lambda _: None, run=at_once)
    made.show(Scope.project(wb.projects.get("Weaving")))
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three readable files, an empty one, a twin and a hidden one."""
    made = tmp_path / "papers"
    made.mkdir()
    for name in ("a.txt", "b.txt", "d.txt"):
        (made / name).write_text(TEXT * 20 + name)
    (made / "c.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (made / "e.txt").write_bytes((made / "a.txt").read_bytes())
    (made / ".hidden").write_text(TEXT)
    return made


def add_path(panel: PapersState, path: Path | str) -> None:
    panel.act({"do": "add_path", "with": {"path": str(path)}})


def test_rows_tell_title_byline_pages_and_state(panel: PapersState, tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text(f"# <img src=x onerror=alert(1)>\n\n{TEXT}")
    add_path(panel, tmp_path / "n.md")
    assert panel.papers == [
        {
            "id": 1,
            "title": "<img src=x onerror=alert(1)>",
            "author": "",
            "year": "",
            "pages": "1 section",
            "chip": "",
        }
    ]
    assert panel.limit == 10


def test_a_folder_is_added_and_every_outcome_is_told(panel: PapersState, folder: Path) -> None:
    add_path(panel, f' "{folder}" ')
    assert [(o["file"], o["status"]) for o in panel.outcomes] == [
        ("a.txt", "ready"),
        ("b.txt", "ready"),
        ("c.pdf", "failed"),
        ("d.txt", "ready"),
        ("e.txt", "duplicate"),
    ]
    assert panel.outcomes[0]["detail"].startswith("1 section, ")
    assert panel.outcomes[2]["detail"]
    assert "\n" not in panel.outcomes[2]["detail"]
    assert len(panel.papers) == 3
    assert (panel.job, panel.error) == ({}, "")


def test_an_empty_path_is_refused_and_a_wrong_one_is_an_outcome(panel: PapersState, tmp_path: Path) -> None:
    add_path(panel, "  ")
    assert panel.error == "Name a file or a folder."
    add_path(panel, tmp_path / "nowhere.pdf")
    assert panel.error == f"There is nothing at {tmp_path / 'nowhere.pdf'}"
    assert panel.outcomes == []


def test_a_relative_path_begins_where_the_dashboard_was_started(
    panel: PapersState, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_START_FOLDER", str(folder.parent))
    add_path(panel, "papers/a.txt")
    assert [(o["file"], o["status"]) for o in panel.outcomes] == [("a.txt", "ready")]
    add_path(panel, "papers/z.txt")
    assert panel.error == f"There is nothing at {folder / 'z.txt'}"


def test_outcomes_belong_to_a_scope_stay_and_are_dismissed_one_by_one(
    wb: Workbench, panel: PapersState, folder: Path
) -> None:
    add_path(panel, folder / "a.txt")
    add_path(panel, folder / "b.txt")
    assert [o["file"] for o in panel.outcomes] == ["a.txt", "b.txt"]
    panel.show(Scope.ORPHANS)
    assert panel.outcomes == []
    panel.show(Scope.project(wb.projects.get("Weaving")))
    panel.act({"do": "dismiss_outcome", "with": {"index": 0}})
    assert [o["file"] for o in panel.outcomes] == ["b.txt"]
    panel.act({"do": "clear_outcomes"})
    assert panel.outcomes == []


def test_what_is_told_of_a_paper_is_the_same_during_and_after_its_batch(
    panel: PapersState, folder: Path
) -> None:
    seen: list[list[dict[str, str]]] = []
    panel.observe(lambda change: seen.append(change["new"]), "outcomes")
    add_path(panel, folder / "a.txt")
    assert seen == [[{"file": "a.txt", "status": "ready", "detail": seen[0][0]["detail"]}]]
    assert seen[0][0]["detail"].startswith("1 section, ")


def test_a_paper_is_taken_out_of_a_project_put_back_and_removed_from_the_library(
    wb: Workbench, panel: PapersState, folder: Path
) -> None:
    add_path(panel, folder / "a.txt")
    title = panel.papers[0]["title"]
    panel.act({"do": "take_out", "with": {"id": 1}})
    assert (panel.papers, panel.told) == ([], f"“{title}” is out of this project. It stays in the library.")
    panel.act({"do": "offer_library"})
    assert [row["id"] for row in panel.library] == [1]
    panel.act({"do": "add_from_library", "with": {"ids": [1]}})
    assert ([row["id"] for row in panel.papers], panel.error) == ([1], "")
    panel.act({"do": "remove", "with": {"id": 1}})
    assert (panel.papers, wb.papers.list(), panel.told) == ([], [], f"“{title}” is removed from the library.")


def test_a_full_project_says_what_can_be_done_here(
    wb: Workbench, panel: PapersState, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [wb.papers.add(folder / name).id for name in ("a.txt", "b.txt")]
    monkeypatch.setattr(wb.projects, "_max_papers", 1)
    panel.act({"do": "add_from_library", "with": {"ids": ids}})
    assert panel.error == (
        "Project “Weaving” holds 0 papers and its limit is 1, so 2 more do not fit. Take one out with its ⋯"
        " menu, or choose another project."
    )
    assert wb.projects.papers("Weaving") == [], "all of them or none"


def test_an_upload_goes_by_its_label_and_its_copy_is_removed(
    wb: Workbench, panel: PapersState, tmp_path: Path
) -> None:
    copy = tmp_path / "upload-1"
    copy.write_text(TEXT)
    panel.add_uploads([Upload("On <engines>.txt", copy)])
    assert [(o["file"], o["status"]) for o in panel.outcomes] == [("On <engines>.txt", "ready")]
    assert [p.file for p in wb.projects.papers("Weaving")] == ["On <engines>.txt"]
    assert not copy.exists()


def test_an_upload_lands_where_it_set_out_for_whatever_is_shown_when_it_arrives(
    wb: Workbench, panel: PapersState, tmp_path: Path
) -> None:
    copy = tmp_path / "upload-1"
    copy.write_text(TEXT)
    panel.show(Scope.ORPHANS)
    panel.add_uploads([Upload("late.txt", copy, Scope.project(wb.projects.get("Weaving")))])
    assert ([p.file for p in wb.projects.papers("Weaving")], panel.outcomes) == (["late.txt"], [])


def test_cancelling_keeps_what_is_complete_and_adds_no_more(
    wb: Workbench, panel: PapersState, folder: Path
) -> None:
    panel.observe(lambda change: change["new"].get("nth") == 2 and panel.act({"do": "cancel"}), "job")
    add_path(panel, folder)
    assert panel.outcomes == [
        {"file": "a.txt", "status": "ready", "detail": panel.outcomes[0]["detail"]},
        {"file": "b.txt and 3 more", "status": "cancelled", "detail": "not added"},
    ]
    assert [p.file for p in wb.papers.list()] == ["a.txt"]
    panel.unobserve_all("job")
    add_path(panel, folder / "b.txt")
    assert [(o["file"], o["status"]) for o in panel.outcomes[2:]] == [("b.txt", "ready")]
    assert wb.doctor() == []


def test_progress_names_the_file_the_stage_and_the_share(panel: PapersState, folder: Path) -> None:
    seen: list[dict[str, Any]] = []
    panel.observe(lambda change: seen.append(change["new"]), "job")
    add_path(panel, folder / "a.txt")
    assert seen[0] == {
        "file": "a.txt",
        "doing": "reading",
        "percent": 0,
        "nth": 1,
        "files": 1,
        "stopping": False,
        "paper": 0,
    }
    percents = [job["percent"] for job in seen[:-1]]
    assert percents == sorted(percents)
    assert {job["doing"] for job in seen[:-1]} >= {"reading", "embedding"}
    assert seen[-1] == {}


def test_a_second_batch_waits_for_the_first_and_both_are_told(
    wb: Workbench, panel: PapersState, folder: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "upload-1"
    copy.write_text(TEXT + "later")
    threads: list[threading.Thread] = []

    def run(job: Callable[[], None]) -> None:
        threads.append(threading.Thread(target=job))
        threads[-1].start()

    panel._run = run
    with panel.work.turn():  # as while another batch is under way
        add_path(panel, folder / "a.txt")
        panel.add_uploads([Upload("late.txt", copy)])
    for thread in threads:
        thread.join(20)
    assert {(o["file"], o["status"]) for o in panel.outcomes} == {("a.txt", "ready"), ("late.txt", "ready")}
    assert {p.file for p in wb.papers.list()} == {"a.txt", "late.txt"}
    assert (panel.error, copy.exists()) == ("", False)


def test_a_long_list_is_bounded_and_counted(
    wb: Workbench, panel: PapersState, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = [paper(n, title=f"Paper {n}") for n in range(1, 2001)]
    monkeypatch.setattr(wb.papers, "list", lambda scope=Scope.ALL: papers)
    panel.show(Scope.ALL)
    assert (panel.count, len(panel.papers)) == (2000, SHOWN)


def told_of(*outcomes: Outcome) -> Told:
    told = Told()
    for one in outcomes:
        told.add(one)
    return told


def test_outcomes_of_many_files_are_folded_and_dismissed_as_they_are_shown() -> None:
    many = [outcome(f"{n}.txt", "ready", "added") for n in range(300)]
    known = [outcome(f"{n}.md", "duplicate", "known") for n in range(2)]
    failed = [outcome(f"{n}.pdf", "failed", "broken") for n in range(MANY + 2)]
    assert told_of(*many[:MANY]).lines() == many[:MANY]
    told = told_of(*many[:200], *failed[:1], *known, *many[200:], *failed[1:])
    ready, twins, more, *others = told.lines()
    assert ready == {"file": "300 files", "status": "ready", "detail": "added"}
    assert (twins["file"], twins["status"], more["file"], more["status"]) == (
        "2 files",
        "duplicate",
        "2 more files",
        "failed",
    )
    assert others == failed[2:]
    told.dismiss(0)
    assert told.lines() == [twins, more, *others]
    told.dismiss(2)
    assert told.lines() == [twins, more, *others[1:]]
    for index in (1, 99, -1):
        told.dismiss(index)
    assert told.lines() == [twins, *others[1:]]


def test_what_is_kept_of_a_batch_of_thousands_stays_small() -> None:
    told = Told()
    for n in range(5_000):
        told.add(outcome(f"{n}.txt", ("ready", "failed", "duplicate")[n % 3], "said"))
        assert len(told.lines()) <= MANY + 3
    assert sum(int(line["file"].split()[0]) for line in told.lines()[:3]) + MANY == 5_000


def test_a_broken_file_is_told_before_the_next_one_is_read(panel: PapersState, folder: Path) -> None:
    at: dict[str, list[str]] = {}
    panel.observe(
        lambda change: at.setdefault(change["new"].get("file", ""), [o["status"] for o in panel.outcomes]),
        "job",
    )
    add_path(panel, folder)
    assert at["d.txt"] == ["ready", "ready", "failed"]


def test_a_batch_lists_its_scope_now_and_then_and_not_for_every_file(
    wb: Workbench, panel: PapersState, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[Scope] = []
    read = wb.papers.list

    def counting(scope: Scope = Scope.ALL) -> Any:
        listed.append(scope)
        return read(scope)

    monkeypatch.setattr(wb.papers, "list", counting)
    monkeypatch.setattr("widgets.papers.state.CHANGES_EVERY", 1_000_000)
    add_path(panel, folder)
    assert [o["status"] for o in panel.outcomes] == ["ready", "ready", "failed", "ready", "duplicate"]
    assert listed == [panel.scope], "once, at its end"


def test_what_became_of_files_goes_with_their_project(wb: Workbench, folder: Path) -> None:
    made = Dashboard(wb, run=at_once)
    made.projects.act({"do": "choose", "with": {"id": 1}})
    add_path(made.papers, folder / "a.txt")
    assert [o["file"] for o in made.papers.outcomes] == ["a.txt"]
    made.projects.act({"do": "delete", "with": {"id": 1}})
    with pytest.raises(NotFoundError):
        made.papers.show(Scope.project(1))
    assert made.papers.outcomes == []


def test_the_path_line_hands_its_path_on_and_clears_only_what_was_taken(
    panel: PapersState, folder: Path
) -> None:
    line = PathState(panel, prompt="Path", run=at_once)
    line.act({"do": "add_path", "with": {"path": " "}})
    assert (line.taken, panel.error) == (0, "Name a file or a folder.")
    line.act({"do": "add_path", "with": {"path": str(folder)}})
    assert (line.taken, panel.error) == (1, "")
    assert panel.papers

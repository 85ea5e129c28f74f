"""The papers panel's state: rows, adding by path and by upload, progress, outcomes, cancelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.widgets.scripted import ScriptedWorkbench, paper
from widgets.panel import at_once
from widgets.papers.state import PapersState, files_at
from widgets.uploads.state import Upload
from workbench import InvalidInputError, Scope


@pytest.fixture
def panel(scripted: ScriptedWorkbench) -> PapersState:
    made = PapersState(scripted, on_change=lambda: None, on_read=lambda _: None, run=at_once)  # type: ignore[arg-type]
    made.show(Scope.project(2))
    return made


def add_path(panel: PapersState, path: Path | str) -> None:
    panel.act({"do": "add_path", "with": {"path": str(path)}})


def test_rows_tell_title_author_year_pages_and_state(scripted: ScriptedWorkbench, panel: PapersState) -> None:
    scripted.papers.held[1] = paper(1, title="<b>Notes</b>", pages=1)
    scripted.papers.project_of[1] = 2
    panel.refresh()
    assert panel.papers == [
        {"id": 1, "title": "<b>Notes</b>", "byline": "Lovelace et al. 1843", "pages": "1 page", "chip": ""}
    ]
    assert panel.limit == 10


def test_a_folder_is_added_file_by_file_and_every_outcome_is_told(
    scripted: ScriptedWorkbench, panel: PapersState, tmp_path: Path
) -> None:
    for name in ("good.pdf", "scan.pdf", "twin.pdf", ".hidden"):
        (tmp_path / name).write_bytes(b"bytes of " + name.encode())
    scripted.papers.outcomes = {"scan.pdf": "failed", "twin.pdf": "duplicate"}
    add_path(panel, f' "{tmp_path}" ')
    assert panel.outcomes == [
        {"file": "good.pdf", "status": "ready", "detail": "3 pages, 9 passages"},
        {"file": "scan.pdf", "status": "failed", "detail": "scanned pages: no text layer, needs OCR"},
        {
            "file": "twin.pdf",
            "status": "duplicate",
            "detail": "already in the library; linked, not indexed again",
        },
    ]
    assert [row["title"] for row in panel.papers] == ["good.pdf"]
    assert scripted.papers.added[0] == ("good.pdf", b"bytes of good.pdf", 2)
    assert panel.job == {}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "Name a file or a folder."),
        ("/no/such/place", "There is no file or folder /no/such/place."),
        ("nul\0byte", None),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_in_one_line(
    panel: PapersState, path: str, reason: str | None
) -> None:
    add_path(panel, path)
    assert panel.error
    assert "\n" not in panel.error
    assert reason is None or panel.error == reason
    assert panel.outcomes == []


def test_links_inside_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "link.txt").symlink_to(secret)
    (folder / "paper.txt").write_text("ours")
    assert [f.name for f in files_at(str(folder))] == ["paper.txt"]
    (folder / "paper.txt").unlink()
    with pytest.raises(InvalidInputError, match="There is no file in"):
        files_at(str(folder))


def test_an_upload_goes_by_its_label_and_its_copy_is_removed(
    scripted: ScriptedWorkbench, panel: PapersState, tmp_path: Path
) -> None:
    copy = tmp_path / "upload-1"
    copy.write_bytes(b"sent")
    panel.add_uploads([Upload("On engines.pdf", copy)])
    assert scripted.papers.added == [("On engines.pdf", b"sent", 2)]
    assert not copy.exists()


def test_cancelling_keeps_what_is_complete_and_names_what_is_not(
    scripted: ScriptedWorkbench, panel: PapersState, tmp_path: Path
) -> None:
    for name in ("a.pdf", "b.pdf", "c.pdf", "d.pdf"):
        (tmp_path / name).write_bytes(name.encode())
    panel.observe(lambda change: change["new"].get("nth") == 2 and panel.act({"do": "cancel"}), "job")
    add_path(panel, tmp_path)
    assert [(o["file"], o["status"]) for o in panel.outcomes] == [
        ("a.pdf", "ready"),
        ("b.pdf", "cancelled"),
        ("2 more files", "cancelled"),
    ]
    assert [name for name, _, _ in scripted.papers.added] == ["a.pdf"]
    add_path(panel, tmp_path / "c.pdf")
    assert [o["status"] for o in panel.outcomes] == ["ready"]


def test_progress_names_the_file_the_stage_and_the_share(panel: PapersState, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"a")
    seen: list[dict[str, Any]] = []
    panel.observe(lambda change: seen.append(change["new"]), "job")
    add_path(panel, tmp_path / "a.pdf")
    assert seen[0] == {
        "file": "a.pdf",
        "doing": "starting",
        "percent": 0,
        "nth": 1,
        "files": 1,
        "stopping": False,
    }
    assert [job["percent"] for job in seen[1:-1]] == [25, 30, 95, 100]
    assert seen[-1] == {}

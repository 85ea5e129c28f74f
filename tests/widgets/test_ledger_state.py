"""The Ledger tab's state: stages of each paper, problems, resuming, the library's health and a backup."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

import workbench
from widgets.ledger.entries import duration, read_entries, size
from widgets.ledger.health import RESTORE, explained
from widgets.ledger.state import LedgerState
from widgets.listing import PAGE
from widgets.panel import at_once
from widgets.papers.work import Work
from workbench import ProviderUnavailableError, Workbench
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.storage import ledger
from workbench.storage.soundness import NEVER

TEXT = "The engine weaves patterns as the loom weaves flowers. It has no pretensions to originate anything. "


class StoppedEmbedder(FakeEmbedder):
    """The usual embedder while its server is stopped."""

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        raise ProviderUnavailableError("The embedder does not answer:\nstart it.")


@pytest.fixture
def panel(wb: Workbench) -> LedgerState:
    return LedgerState(wb, Work(), run=at_once)


@pytest.fixture
def stopped(wb: Workbench, tmp_path: Path) -> int:
    """Id of a paper that was added while the embedder was stopped."""
    (tmp_path / "late.txt").write_text(TEXT * 3)
    wb.papers.add_texts([{"title": "First", "text": TEXT}])
    with workbench.open(wb.settings.library, user="ada", embedder=StoppedEmbedder()) as other:
        return other.papers.add(tmp_path / "late.txt").id


def act(panel: LedgerState, do: str, **given: Any) -> None:
    panel.act({"do": do, "with": given})


def test_a_large_library_is_checked_only_when_asked(
    wb: Workbench, panel: LedgerState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.ledger.state.CHECKED_UNASKED", -1)
    panel.shown()
    assert (panel.loaded, panel.health["state"]) == (True, "")
    act(panel, "check")
    assert panel.health["state"] == "good"


def test_an_empty_library_has_facts_and_is_checked_when_the_tab_is_first_shown(
    wb: Workbench, panel: LedgerState
) -> None:
    panel.shown()
    assert (panel.page["rows"], panel.page["papers"], panel.loaded, panel.error) == ([], 0, True, "")
    assert [(fact["label"], fact["value"]) for fact in panel.facts[1:]] == [
        ("Papers", "0"),
        ("Embedder", "fake-words-64"),
        ("Generation", "none yet"),
    ]
    assert panel.facts[0]["note"] == str(wb.settings.library)
    assert (panel.health["state"], panel.health["findings"]) == ("good", [])


def test_each_stage_tells_its_end_how_long_it_took_and_when(wb: Workbench, panel: LedgerState) -> None:
    wb.papers.add_texts([{"title": "On looms", "text": TEXT}])
    (wb.settings.library.parent / "n.txt").write_text(TEXT * 2)
    wb.papers.add(wb.settings.library.parent / "n.txt")
    panel.shown()
    row = panel.page["rows"][0]
    assert (row["id"], row["title"], row["file"], row["problem"], row["error"]) == (
        2,
        "n",
        "n.txt",
        False,
        "",
    )
    assert [stage["state"] for stage in row["stages"]] == ["done"] * 4
    assert all(stage["took"].endswith("s") and stage["at"] for stage in row["stages"])
    assert row["at"].endswith("+00:00")
    assert panel.facts[3]["value"] == "1"
    assert panel.facts[2]["note"] == "Searches go by meaning and by words."


def test_a_stage_that_failed_is_a_problem_with_its_reason_until_it_is_resumed(
    wb: Workbench, panel: LedgerState, stopped: int
) -> None:
    wb.papers.index_soon([stopped])
    panel.shown()
    with wb._database.write() as cursor:
        ledger.record(
            cursor,
            "ada",
            file="late.txt",
            stage="embed",
            state="failed",
            seconds=0,
            paper_id=stopped,
            error="The embedder does not answer:\nstart it.",
        )
    act(panel, "look", only="problems")
    panel.refresh()
    (row,) = panel.page["rows"]
    assert (row["id"], row["problem"], row["error"]) == (
        stopped,
        True,
        "The embedder does not answer: start it.",
    )
    assert row["stages"][2]["state"] == "failed"
    assert (panel.page["problems"], panel.page["resumable"]) == (1, 1)
    act(panel, "resume", ids=[stopped])
    assert (panel.told, panel.error) == ("1 paper processed again.", "")
    assert (panel.page["rows"], panel.page["problems"]) == ([], 0)
    act(panel, "look", only="all")
    assert {row["id"]: row["problem"] for row in panel.page["rows"]} == {1: False, stopped: False}


def test_resuming_everything_takes_each_problem_once_and_can_be_cancelled(
    wb: Workbench, panel: LedgerState
) -> None:
    report = wb.papers.add_texts([{"title": f"Paper {n}", "text": f"{TEXT}{n}"} for n in range(3)])
    with wb._database.write() as cursor:
        for file in report.files:
            ledger.record(
                cursor,
                "ada",
                file=file.file,
                stage="index",
                state="failed",
                seconds=0,
                paper_id=file.paper_id,
                error="no",
            )
    panel.shown()
    assert panel.page["problems"] == 3
    panel.observe(lambda change: change["new"].get("nth") == 2 and panel.act({"do": "cancel"}), "job")
    act(panel, "resume_all")
    assert panel.told == "1 paper processed again, cancelled: 2 papers left as before."
    assert (panel.page["problems"], panel.job, panel.waiting) == (2, {}, [])
    panel.unobserve_all("job")
    act(panel, "resume_all")
    assert (panel.told, panel.page["problems"]) == ("2 papers processed again.", 0)


def test_a_failed_file_is_listed_until_it_is_forgotten_or_comes_in(
    wb: Workbench, panel: LedgerState, tmp_path: Path
) -> None:
    name = "<img src=x>\u202efdp.pdf"
    (tmp_path / name).write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "empty.txt").write_bytes(b"")
    wb.papers.add_many([tmp_path / name, tmp_path / "empty.txt"])
    panel.shown()
    rows = {row["title"]: row for row in panel.page["rows"]}
    assert set(rows) == {"<img src=x>fdp.pdf", "empty.txt"}
    assert all(
        row["id"] == 0 and row["error"] and row["stages"][0]["state"] == "failed" for row in rows.values()
    )
    assert (panel.page["papers"], panel.page["problems"], panel.page["resumable"]) == (0, 2, 0)
    act(panel, "forget_file", name="<img src=x>fdp.pdf")
    (tmp_path / "empty.txt").write_text(TEXT)
    wb.papers.add(tmp_path / "empty.txt")
    panel.library_changed()
    assert [(row["id"], row["problem"]) for row in panel.page["rows"]] == [(1, False)]


def test_a_paper_that_another_window_removes_leaves_the_list_and_resuming_it_does_nothing(
    wb: Workbench, panel: LedgerState
) -> None:
    ids = [f.paper_id or 0 for f in wb.papers.add_texts([{"title": "One", "text": TEXT}]).files]
    panel.shown()
    wb.papers.remove(ids[0])
    act(panel, "resume", ids=ids)
    assert (panel.page["rows"], panel.error, panel.waiting) == ([], "", [])


def test_another_users_entries_never_show(wb: Workbench, panel: LedgerState, tmp_path: Path) -> None:
    (tmp_path / "his.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    with workbench.open(wb.settings.library, user="bob", embedder=FakeEmbedder()) as bob:
        bob.papers.add_texts([{"title": "Secret", "text": TEXT}])
        bob.papers.add_many([tmp_path / "his.pdf"])
    panel.shown()
    assert panel.page["rows"] == []


def test_two_thousand_entries_are_shown_fifty_at_a_time(
    wb: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.widgets.scripted import paper

    papers = [paper(n, title="L" * 300 + f" {n:04d}") for n in range(1, 2001)]
    monkeypatch.setattr(wb.papers, "list", lambda *_: papers)
    panel = LedgerState(wb, Work(), run=at_once)
    panel.shown()
    assert (panel.page["matches"], len(panel.page["rows"]), panel.error) == (2000, PAGE, "")
    assert len(json.dumps(panel.page)) < 50_000
    act(panel, "look", start=10**6)
    assert panel.page["start"] == 1950
    act(panel, "look", query="no such title")
    assert panel.page["matches"] == 0


def test_what_the_check_finds_is_told_with_what_to_do(wb: Workbench, panel: LedgerState) -> None:
    wb.papers.add_texts([{"title": "One", "text": TEXT}])
    with wb._database.write() as cursor:
        cursor.execute("DELETE FROM sources")
        cursor.execute("DELETE FROM vectors_1")
    panel.shown()
    assert panel.health["state"] == "bad"
    found = {finding["line"]: finding["what"] for finding in panel.health["findings"]}
    assert found["papers without their source file: 1 found"] == (
        "The stored file of some papers is missing. They can be read and searched, but not processed again."
    )
    assert found["vectors_1: chunks without their vector: 1 found"] == (
        "Some passages cannot be found by meaning, only by their words."
    )
    assert all(what != line for line, what in found.items()), "each finding has plain words"
    assert all(finding["todo"] for finding in panel.health["findings"])


def test_every_check_of_the_library_has_words_of_its_own_and_the_unknown_is_passed_on() -> None:
    for name, _ in NEVER:
        told = explained(f"{name}: 3 found")
        assert told["what"] != told["line"], name
        assert told["todo"], name
    index = explained("The keyword index does not hold paper 3 as the library does: remove /x/keywords.")
    assert index["what"].startswith("The index by words differs")
    assert index["todo"].endswith("remove /x/keywords.")
    damaged = explained("The library /x.duckdb is damaged: restore a backup.")
    assert damaged == {
        "what": "The library /x.duckdb is damaged: restore a backup.",
        "todo": RESTORE,
        "line": "The library /x.duckdb is damaged: restore a backup.",
    }


def test_a_check_that_cannot_run_says_why_and_can_be_asked_again(
    wb: Workbench, panel: LedgerState, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.shown()

    def locked() -> list[str]:
        raise workbench.LibraryLockedError("The library is in use by process 42.")

    monkeypatch.setattr(wb, "doctor", locked)
    act(panel, "check")
    assert (panel.error, panel.health["state"]) == ("The library is in use by process 42.", "good")
    monkeypatch.undo()
    act(panel, "check")
    assert (panel.error, panel.health["state"]) == ("", "good")


def test_one_check_at_a_time(wb: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Callable[[], None]] = []
    panel = LedgerState(wb, Work(), run=waiting.append)
    calls: list[int] = []

    def doctor() -> list[str]:
        calls.append(1)
        act(panel, "check")
        waiting.pop()()
        return []

    monkeypatch.setattr(wb, "doctor", doctor)
    act(panel, "check")
    waiting.pop()()
    assert (calls, panel.health["state"]) == ([1], "good")


def test_a_backup_is_written_beside_the_work_and_never_over_a_file(
    wb: Workbench, panel: LedgerState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_START_FOLDER", str(tmp_path))
    wb.papers.add_texts([{"title": "One", "text": TEXT}])
    act(panel, "back_up", path=" copy.duckdb ")
    assert (panel.told, panel.saving, panel.error) == (
        f"A checked copy is at {tmp_path / 'copy.duckdb'}",
        False,
        "",
    )
    act(panel, "back_up", path="copy.duckdb")
    assert panel.error.endswith("a backup never overwrites. Choose another name.")
    assert panel.saving is False
    act(panel, "back_up", path="")
    assert panel.error == "Name a file or a folder."
    with workbench.open(tmp_path / "copy.duckdb", user="ada", embedder=FakeEmbedder()) as copy:
        assert len(copy.papers.list()) == 1


@pytest.mark.parametrize("name", ["x" * 300, "lone \ud800", "~nobody-of-this-name/copy.duckdb"])
def test_a_backup_to_a_name_that_no_file_can_have_is_told_as_such(
    panel: LedgerState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("WORKBENCH_START_FOLDER", str(tmp_path))
    before = sorted(tmp_path.iterdir())
    act(panel, "back_up", path=name)
    assert "for the backup: make it first" in panel.error or "Choose another name." in panel.error
    assert (panel.told, panel.saving, sorted(tmp_path.iterdir())) == ("", False, before)


def test_without_an_embedder_the_ledger_says_what_searches_do(tmp_path: Path) -> None:
    with workbench.open(tmp_path / "l.duckdb", user="ada", embedder=StoppedEmbedder()) as wb:
        (tmp_path / "a.txt").write_text(TEXT)
        wb.papers.add_many([tmp_path / "a.txt"])
        panel = LedgerState(wb, Work(), run=at_once)
        panel.shown()
        assert panel.error == ""
        assert len(read_entries(wb)) == 1


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "1 ms"),
        (0.25, "250 ms"),
        (1.44, "1.4 s"),
        (59.97, "1 min"),
        (185, "3 min 5 s"),
        (3600, "1 h"),
        (7_800, "2 h 10 min"),
    ],
)
def test_durations_read_well(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("number", "words"), [(10, "1 kB"), (812_000, "812 kB"), (14_200_000, "14.2 MB"), (3.1e9, "3.1 GB")]
)
def test_sizes_read_well(number: int, words: str) -> None:
    assert size(number) == words

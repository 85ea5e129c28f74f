"""The tuning panel's state on a real library: replays, labels, measurements, presets."""

from __future__ import annotations

import math
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

import workbench
from widgets.panel import at_once
from widgets.tuning.measures import grid, shown
from widgets.tuning.replays import Latest
from widgets.tuning.state import TuningState
from workbench import InvalidInputError, Scope, SearchParameters, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

QUESTION = "What does the loom weave?"
USUAL = {
    "top_k": 15,
    "max_per_paper": 5,
    "min_relevance": 0.05,
    "qualify_fraction": 0.6,
    "keyword_weight": None,
}
WEAVING = 1


@pytest.fixture(scope="module")
def woven_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four short papers in project 1, one orphan, and a question asked in each place; made once."""
    folder = tmp_path_factory.mktemp("woven")
    with workbench.open(folder / "library" / "library.duckdb", user="ada", embedder=FakeEmbedder()) as wb:
        wb.projects.create("Weaving")
        for number, cloth in enumerate(["silk", "wool", "linen", "cotton"], start=1):
            path = folder / f"{cloth}.txt"
            path.write_text(f"The loom does weave {cloth} in pattern {number}. " * number)
            wb.papers.add(path, title=f"On {cloth}", project=WEAVING)
        (folder / "alone.txt").write_text("The loom stands alone and does not weave.")
        wb.papers.add(folder / "alone.txt", title="Alone")
        wb.search("What stands alone?", scope=Scope.ORPHANS)
        wb.search("Which cloth is there?", scope=Scope.ALL)
        wb.search(QUESTION, scope=Scope.project(WEAVING))
    return folder / "library"


@pytest.fixture
def woven(woven_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A copy of it, opened."""
    monkeypatch.setenv("WORKBENCH_CHAT", "extractive")
    shutil.copytree(woven_library, tmp_path / "woven")
    with workbench.open(tmp_path / "woven" / "library.duckdb", user="ada", embedder=FakeEmbedder()) as opened:
        yield opened


def panel(wb: Any, place: int = WEAVING, **options: Any) -> TuningState:
    state = TuningState(wb, **{"run": at_once, **options})
    state.show(place, "Weaving" if place == WEAVING else "elsewhere")
    return state


def send(state: TuningState, do: str, **arguments: Any) -> None:
    state.act({"do": do, "with": arguments})


def moves(state: TuningState) -> list[tuple[str, int, int]]:
    return [(row["change"], row["was"], row["n"]) for row in state.replay["rows"]]


class Slow:
    """The workbench, whose replays each wait for a ``turn``."""

    def __init__(self, wb: Workbench) -> None:
        self._wb = wb
        self.begun = threading.Semaphore(0)
        self.turn = threading.Semaphore(0)
        self.replays: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wb, name)

    def replay(self, what: int, **numbers: Any) -> Any:
        self.replays.append(numbers)
        self.begun.release()
        assert self.turn.acquire(timeout=10)
        return self._wb.replay(what, **numbers)


class Threads:
    """Runs jobs in threads that a test can wait for."""

    def __init__(self) -> None:
        self._begun: list[threading.Thread] = []

    def __call__(self, job: Callable[[], None]) -> None:
        self._begun.append(threading.Thread(target=job))
        self._begun[-1].start()

    def finish(self) -> None:
        for thread in self._begun:
            thread.join(10)
            assert not thread.is_alive()


# --- questions and replays -------------------------------------------------------------------------


def test_each_place_has_its_own_questions_newest_first(woven: Workbench) -> None:
    woven.search("And the wool?", scope=Scope.project(WEAVING))
    texts = {place: [q["text"] for q in panel(woven, place).questions] for place in (WEAVING, 0, -1)}
    assert texts == {
        WEAVING: ["And the wool?", QUESTION],
        0: ["What stands alone?"],
        -1: ["Which cloth is there?"],
    }


def test_the_newest_question_is_shown_with_the_passages_it_had(woven: Workbench) -> None:
    state = panel(woven)
    evidence = woven.search(QUESTION, scope=Scope.project(WEAVING))
    assert state.replay["query"] == QUESTION
    assert moves(state) == [("stays", n, n) for n in range(1, len(evidence.passages) + 1)]
    shown = [(r["title"], r["page"], r["score"], r["text"]) for r in state.replay["rows"]]
    assert shown == [(p.title, p.page_start, p.score, " ".join(p.text.split())) for p in evidence]
    assert (state.replay["left"], state.replay["entered"], state.replay["moved"]) == (0, 0, 0)
    assert state.replay["asked_with"] == "", "the usual numbers"


def test_a_moved_control_shows_what_leaves_and_why_and_what_enters_again(woven: Workbench) -> None:
    state = panel(woven)
    total = len(state.replay["rows"])
    send(state, "tune", numbers={**USUAL, "top_k": 1})
    assert moves(state) == [("stays", 1, 1), *(("leaves", n, 0) for n in range(2, total + 1))]
    assert state.replay["rows"][1]["why"] == "the only seat is taken"
    woven.search(QUESTION, scope=Scope.project(WEAVING), top_k=1)
    state.show(WEAVING, "Weaving")
    send(state, "tune", numbers=USUAL)
    assert moves(state) == [("stays", 1, 1), *(("enters", 0, n) for n in range(2, total + 1))]
    assert state.replay["rows"][1]["why"] == "before: the only seat is taken"
    assert state.placed == 0, "a control in hand is never moved"
    assert (state.replay["asked_with"], state.replay["as_asked"]) == ("1 passage", False)
    send(state, "as_asked")
    assert (state.numbers["top_k"], state.placed, state.replay["as_asked"]) == (1, 1, True)


def test_rows_say_where_each_half_of_the_search_has_the_passage(woven: Workbench) -> None:
    evidence = woven.search(QUESTION, scope=Scope.project(WEAVING))
    state = panel(woven)
    assert [[r["rank"] for r in row["ranks"]] for row in state.replay["rows"]] == [
        [p.vector_rank or 0, p.keyword_rank or 0] for p in evidence
    ]


def test_two_fast_moves_give_one_shown_result_of_the_latest(woven: Workbench) -> None:
    state = panel(woven)
    slow, threads = Slow(woven), Threads()
    state._workbench, state._run = slow, threads  # type: ignore[assignment]
    seen: list[int] = []
    state.observe(lambda change: seen.append(len(change["new"]["rows"]) - change["new"]["left"]), "replay")
    for top_k in (4, 3, 2, 1):
        send(state, "tune", numbers={**USUAL, "top_k": top_k})
        if top_k == 4:
            assert slow.begun.acquire(timeout=10)
    assert state.replaying
    slow.turn.release(4)
    threads.finish()
    assert [numbers["top_k"] for numbers in slow.replays] == [4, 1], "those in between never searched"
    assert (seen, state.replaying, state.numbers["top_k"]) == ([1], False, 1)


def test_a_late_result_of_a_place_that_was_left_is_not_shown(woven: Workbench) -> None:
    state = panel(woven)
    slow, threads = Slow(woven), Threads()
    state._workbench, state._run = slow, threads  # type: ignore[assignment]
    send(state, "tune", numbers={**USUAL, "top_k": 1})
    assert slow.begun.acquire(timeout=10)
    state.show(0, "Orphan notes")
    slow.turn.release(4)
    threads.finish()
    assert state.replay["query"] == "What stands alone?"


def test_a_fault_nobody_foresaw_does_not_end_the_replays() -> None:
    shown: list[str] = []

    def broken() -> Callable[[], None]:
        raise RuntimeError

    latest = Latest(at_once)
    with pytest.raises(RuntimeError):
        latest.ask(broken)
    latest.ask(lambda: lambda: shown.append("next"))
    assert shown == ["next"]


def test_places_changed_faster_than_they_are_read_end_with_the_last_one(woven: Workbench) -> None:
    threads = Threads()
    state = TuningState(woven, run=threads)
    for place in (0, WEAVING, -1, 0, WEAVING, -1, WEAVING):
        state.show(place, str(place))
    threads.finish()
    assert (state.loaded, state.error) == (True, "")
    assert [q["text"] for q in state.questions] == [QUESTION]
    assert (state.chosen, state.replay["query"]) == (state.questions[0]["id"], QUESTION)


def test_a_question_asked_meanwhile_is_chosen_when_the_tab_is_shown_again(woven: Workbench) -> None:
    state = panel(woven)
    woven.search("And the wool?", scope=Scope.project(WEAVING))
    send(state, "tune", numbers={**USUAL, "top_k": 2})
    state.show(WEAVING, "Weaving")
    assert (state.replay["query"], state.numbers["top_k"]) == ("And the wool?", 2)
    send(state, "choose", id=state.questions[1]["id"])
    state.show(WEAVING, "Weaving")
    assert state.replay["query"] == QUESTION, "a chosen one stays"
    send(state, "choose", id=77)
    assert state.replay["query"] == QUESTION


def test_a_place_without_questions_is_empty_and_stays_quiet(wb: Workbench) -> None:
    state = panel(wb)
    send(state, "tune", numbers={**USUAL, "top_k": 2})
    assert (state.loaded, state.questions, state.chosen, state.replay, state.replaying, state.error) == (
        True,
        [],
        0,
        {},
        False,
        "",
    )


def test_a_click_opens_the_passage_and_the_next_ones_of_the_list(woven: Workbench) -> None:
    opened: list[tuple[list[Any], int]] = []
    state = panel(woven, on_open=lambda passages, k: opened.append((list(passages), k)))
    send(state, "open_page", index=1)
    [(passages, k)] = opened
    row = state.replay["rows"][1]
    assert (passages[k]["paper"], passages[k]["page"], passages[k]["n"]) == (row["paper"], row["page"], 2)
    assert passages[k]["quote"].startswith(row["text"][:40])
    send(state, "open_page", index=99)
    assert len(opened) == 1


def test_a_replay_that_fails_is_one_line_and_leaves_the_panel_ready(woven: Workbench) -> None:
    state = panel(woven)
    woven.projects.delete(WEAVING)
    send(state, "tune", numbers={**USUAL, "top_k": 2})
    assert "Project not found" in state.error
    assert (state.replaying, state.replay) == (False, {})


def test_another_users_questions_labels_and_presets_never_show(woven: Workbench) -> None:
    woven.questions.add(QUESTION, 1, 1, project=WEAVING)
    woven.presets.save(WEAVING, "Ada's own", top_k=3)
    path = woven.settings.library
    with workbench.open(path, user="bob", embedder=FakeEmbedder()) as other:
        for place in (0, -1):
            state = panel(other, place)
            assert (state.questions, state.labelled, state.measured, state.presets) == ([], [], [], [])
        state = panel(other, WEAVING)
        assert (state.questions, state.presets, state.loaded) == ([], [], False)
        assert "Project not found" in state.error
        send(state, "choose", id=3)
        assert state.replay == {}


def test_what_is_hostile_in_a_title_or_question_loses_its_unseen_signs_only(
    wb: Workbench, tmp_path: Path
) -> None:
    (tmp_path / "trap.txt").write_text("The <img src=x onerror=alert(1)> loom weaves.")
    wb.papers.add(tmp_path / "trap.txt", title="<b>\u202egnp.exe</b>")
    wb.search("<script>alert(1)</script> loom\u202e", scope=Scope.ORPHANS)
    state = panel(wb, 0)
    assert state.questions[0]["text"] == "<script>alert(1)</script> loom"
    assert state.replay["rows"][0]["title"] == "<b>gnp.exe</b>"
    assert state.replay["rows"][0]["text"] == "The <img src=x onerror=alert(1)> loom weaves."


# --- numbers and presets ---------------------------------------------------------------------------


def test_controls_go_as_far_as_searches_and_settings_accept(woven: Workbench) -> None:
    state = panel(woven)
    ranges = {c["name"]: (c["low"], c["high"]) for c in state.controls}
    assert ranges == dict(SearchParameters.RANGES)
    for name, (low, high) in ranges.items():
        SearchParameters().with_values({name: low})
        SearchParameters().with_values({name: high})
        for beyond in (low - 1, high + 1):
            with pytest.raises(InvalidInputError):
                SearchParameters().with_values({name: beyond})
    fields = {"top_k": "top_k", "max_per_paper": "max_chunks_per_paper", "min_relevance": "min_relevance"}
    for name, setting in fields.items():
        metadata = workbench.Settings.model_fields[setting].metadata
        assert [getattr(bound, kind) for bound, kind in zip(metadata, ("ge", "le"), strict=True)] == list(
            ranges[name]
        )
    send(state, "tune", numbers={**USUAL, "top_k": 201})
    assert state.error == "top_k must be a whole number from 1 to 200, not 201."
    assert (state.numbers, state.usual, state.in_force) == (USUAL, USUAL, USUAL)


def test_a_preset_is_saved_in_force_loaded_used_and_deleted(woven: Workbench) -> None:
    state = panel(woven)
    narrow = {**USUAL, "top_k": 2, "keyword_weight": 0.8}
    send(state, "tune", numbers=narrow)
    send(state, "save", name=" Narrow ")
    chosen = woven.presets.chosen(WEAVING)
    assert chosen is not None
    assert (chosen.name, chosen.parameters) == ("Narrow", {k: v for k, v in narrow.items() if v is not None})
    assert (state.preset, state.in_force, state.numbers) == ("Narrow", narrow, narrow)
    assert state.told == "“Narrow” is saved. The project searches with it from now on."
    assert [p["said"] for p in state.presets] == ["2 passages, words 80%"]

    send(state, "tune", numbers={**USUAL, "top_k": 4})
    send(state, "save", name="Wide", choose=False)
    assert (state.preset, [p["name"] for p in state.presets]) == ("Narrow", ["Narrow", "Wide"])
    send(state, "load", name="Wide")
    assert (state.numbers["top_k"], state.preset) == (4, "Narrow")
    send(state, "reset")
    assert state.numbers == narrow
    send(state, "use", name="")
    assert (state.preset, state.in_force, state.numbers) == ("", USUAL, USUAL)
    send(state, "use", name="Wide")
    assert len(woven.search(QUESTION, scope=Scope.project(WEAVING)).passages) <= 4
    send(state, "delete", name="Wide")
    assert (state.preset, [p["name"] for p in state.presets]) == ("", ["Narrow"])
    assert woven.presets.chosen(WEAVING) is None


def test_a_preset_in_force_sets_the_controls_when_the_place_is_shown(woven: Workbench) -> None:
    woven.presets.save(WEAVING, "Narrow", top_k=2)
    state = panel(woven)
    assert (state.preset, state.numbers, state.placed) == ("Narrow", {**USUAL, "top_k": 2}, 1)
    assert state.replay["left"] == len(state.replay["rows"]) - 2
    state.show(0, "Orphan notes")
    assert (state.preset, state.numbers) == ("", USUAL)


def test_presets_are_for_projects_only_and_need_a_name(woven: Workbench) -> None:
    state = panel(woven, 0)
    for do, arguments in (("save", {"name": "X"}), ("use", {"name": "X"}), ("delete", {"name": "X"})):
        send(state, do, **arguments)
        assert state.error == "Presets belong to projects: choose a project at the left first."
    state = panel(woven)
    send(state, "save", name="  ")
    assert state.error == "A preset needs a name."


# --- labels and measurements -----------------------------------------------------------------------


def test_a_passage_is_marked_as_the_answer_and_taken_back(woven: Workbench) -> None:
    state = panel(woven)
    row = state.replay["rows"][0]
    send(state, "mark", index=0)
    [question] = woven.questions.list(Scope.project(WEAVING))
    assert (question.question, [(g.paper_id, g.page) for g in question.gold]) == (
        QUESTION,
        [(row["paper"], 1)],
    )
    assert (state.marked, [q["text"] for q in state.labelled]) == ([row["key"]], [QUESTION])
    assert state.told == f"Kept: {row['unit']} 1 answers this question."
    send(state, "mark", index=1)
    assert len(state.marked) == 2
    send(state, "mark", index=0)
    assert state.marked == [state.replay["rows"][1]["key"]]
    send(state, "mark", index=1)
    assert (state.marked, state.labelled, woven.questions.list()) == ([], [], [])


def test_labels_outside_a_project_belong_to_no_project(woven: Workbench) -> None:
    state = panel(woven, -1)
    send(state, "mark", index=0)
    [question] = woven.questions.list()
    assert (question.project_id, state.labelled[0]["project"]) == (None, 0)
    send(state, "unlabel", id=question.id, project=0)
    assert (state.labelled, state.marked) == ([], [])


def test_measuring_shows_figures_with_intervals_and_keeps_them(woven: Workbench) -> None:
    state = panel(woven)
    send(state, "mark", index=0)
    send(state, "tune", numbers={**USUAL, "top_k": 2})
    send(state, "measure", vary="top_k")
    assert state.job == {}
    assert (state.figures["vary"], state.figures["label"], state.figures["questions"]) == (
        "top_k",
        "Passages in all",
        1,
    )
    found = next(m for m in state.figures["metrics"] if m["name"] == "evidence_recall")
    assert [p["x"] for p in found["points"]] == grid({**USUAL, "top_k": 2}, "top_k")["top_k"]
    assert {p["mean"] for p in found["points"]} == {1.0}
    assert state.figures["words"][0] == (
        "Pages found: 100% (100% to 100%) with the numbers in force; no value tried does better."
    )
    again = panel(woven)
    assert [m["id"] for m in again.measured] == [state.figures["id"]]
    assert again.figures["metrics"] == state.figures["metrics"], "the latest is shown after a reload"


def test_numbers_are_compared_with_those_in_force(woven: Workbench) -> None:
    state = panel(woven)
    send(state, "mark", index=1)
    send(state, "tune", numbers={**USUAL, "top_k": 1})
    send(state, "measure")
    found = next(m for m in state.figures["metrics"] if m["name"] == "evidence_recall")
    assert (state.figures["vary"], found["base"]["mean"], [p["mean"] for p in found["points"]]) == (
        "",
        1.0,
        [0.0],
    )
    assert state.figures["words"][0] == (
        "Pages found: 100% (100% to 100%) with the numbers in force, 0% (0% to 0%) with the numbers set "
        "here. Difference: −100 points (−100 to −100). That may be chance."
    )
    assert state.figures["words"][-1] == (
        "1 question with a labelled page can say little: 20 or more make the intervals narrow."
    )
    send(state, "reset")
    send(state, "measure")
    assert state.figures["words"][0].endswith("in force. The numbers set here are the same.")
    send(state, "show_measured", id=state.measured[1]["id"])
    assert state.figures["words"][0].endswith("That may be chance.")


def test_a_difference_whose_p_is_nought_is_more_than_chance() -> None:
    figures = pandas.DataFrame(
        [
            {"set": n, "metric": "evidence_recall", "mean": mean, "low": mean, "high": mean, "questions": 400}
            | {"difference": mean - 0.2, "difference_low": 0.5, "difference_high": 0.7, "p": p}
            | {**USUAL, "keyword_weight": math.nan, "top_k": top_k}
            for n, (mean, p, top_k) in enumerate([(0.2, 1.0, 3), (0.8, 0.000004, 15)])
        ]
    )
    figures.attrs = {"evaluation": 1, "warnings": ()}
    assert shown(figures)["words"][0].endswith("That is better by more than chance explains.")


def test_a_cancelled_measurement_keeps_nothing(woven: Workbench) -> None:
    state = panel(woven)
    for question in (QUESTION, "Which cloth?"):
        woven.questions.add(question, 1, 1, project=WEAVING)
    state.show(WEAVING, "Weaving")
    jobs: list[dict[str, Any]] = []

    def watched(change: dict[str, Any]) -> None:
        jobs.append(change["new"])
        if len(jobs) == 1:
            send(state, "cancel_measuring")

    state.observe(watched, "job")
    send(state, "measure", vary="top_k")
    assert jobs[0] == {"where": "Weaving", "done": 0, "of": 2, "stopping": False}
    assert {"where": "Weaving", "done": 0, "of": 2, "stopping": True} in jobs
    assert (state.job, state.figures, state.measured, state.told) == (
        {},
        {},
        [],
        "Cancelled. Nothing of it is kept.",
    )
    assert woven.evaluations.list() == []


def test_measuring_without_a_labelled_question_says_what_to_do(woven: Workbench) -> None:
    state = panel(woven)
    send(state, "measure")
    assert state.error == "There is no labelled question here yet: mark passages as right first."
    assert woven.evaluations.list() == []

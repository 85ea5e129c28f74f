"""wb.evaluate and wb.evaluate_chunk_sizes on a small library."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench import Gold, InvalidInputError, NotFoundError, Progress, Question, Scope, Workbench
from workbench.evaluation.question_files import question_lines
from workbench.providers.fake_chat import FakeChat

QUESTIONS = [
    Question("one", "What is the melting point of arvenite?", (Gold("arvenite.pdf", 2, "melting point"),)),
    Question(
        "two", "How dense are arvenite and bolmarite?", (Gold("arvenite.pdf", 3), Gold("bolmarite.pdf", 3))
    ),
    Question("none", "Who owns the railway?"),
]


def figure(frame: Any, metric: str, *, number: int = 0) -> dict[str, Any]:
    [row] = frame[(frame["metric"] == metric) & (frame["set"] == number)].to_dict("records")
    return dict(row)


def test_each_set_and_metric_is_a_row_and_the_first_set_is_what_is_in_effect(wb: Workbench) -> None:
    wb.presets.save(1, "Ten", top_k=10)
    frame = wb.evaluate(QUESTIONS, project="Minerals", grid={"top_k": [1, 10]})
    parameters = ["top_k", "max_per_paper", "min_relevance", "qualify_fraction", "keyword_weight"]
    figures = ["mean", "low", "high", "questions", "difference", "difference_low", "difference_high", "p"]
    assert list(frame.columns) == ["set", *parameters, "metric", *figures]
    assert frame.groupby("set")["top_k"].unique().map(list).to_dict() == {0: [10], 1: [1]}
    whole, less = figure(frame, "evidence_recall"), figure(frame, "evidence_recall", number=1)
    assert (whole["mean"], whole["questions"], whole["difference"], whole["p"]) == (1.0, 2, 0.0, 1.0)
    assert (less["mean"], less["difference"]) == (pytest.approx(2 / 3), pytest.approx(-1 / 3))
    assert less["low"] <= less["mean"] <= less["high"]
    assert figure(frame, "passages", number=1)["mean"] == 1


def test_figures_are_kept_in_the_library_question_by_question(wb: Workbench) -> None:
    before = len(wb.sql("SELECT * FROM retrievals"))
    frame = wb.evaluate(QUESTIONS, project=1, grid={"top_k": [1]})
    assert frame.attrs == {"evaluation": 1, "warnings": ()}
    [run] = wb.sql("SELECT * FROM evaluations").to_dict("records")
    assert (run["rag_project_id"], run["scope_label"], run["questions"]) == (1, "Minerals", 3)
    assert json.loads(run["options"])["answers"] is False
    kept = wb.sql("SELECT set_number, metric, mean FROM evaluation_results ORDER BY set_number, metric")
    ours = frame.sort_values(["set", "metric"])
    assert kept["mean"].tolist() == ours["mean"].tolist()
    scores = wb.sql(
        "SELECT set_number, label, part, whole FROM evaluation_scores WHERE metric = 'evidence_recall'"
    )
    assert sorted(map(tuple, scores.to_numpy().tolist())) == [
        (0, "one", 1.0, 1.0),
        (0, "two", 2.0, 2.0),
        (1, "one", 1.0, 1.0),
        (1, "two", 1.0, 2.0),
    ]
    assert len(wb.sql("SELECT * FROM retrievals")) == before, "measuring is no search of the user's"
    assert wb.doctor() == []


def test_a_sweep_chooses_what_searches_with_the_same_numbers_choose(wb: Workbench) -> None:
    grid = {"top_k": [1, 2], "keyword_weight": [0.0, 0.3, 1.0], "min_relevance": [0.0, 0.9]}
    frame = wb.evaluate(QUESTIONS, project=1, grid=grid)
    rows = frame[frame["metric"] == "evidence_recall"].to_dict("records")
    assert len(rows) == 13
    for row in rows[1:]:
        wb.presets.save(1, "Same", **{name: row[name] for name in grid})
        found = [
            any(p.file == g.file and p.page_start <= g.page <= p.page_end for p in evidence)
            for question in QUESTIONS
            for evidence in [wb.search(question.question, scope=Scope.project(1))]
            for g in question.gold
        ]
        assert row["mean"] == pytest.approx(sum(found) / 3), row


def test_answers_are_measured_too(wb: Workbench) -> None:
    frame = wb.evaluate(QUESTIONS, project=1, answers=True)
    assert {"answered", "refused", "refusal_precision", "cited_gold", "citation_precision"} <= set(
        frame["metric"]
    )
    assert figure(frame, "quote_on_page")["mean"] == 1.0
    assert figure(frame, "answered")["questions"] == 2
    assert json.loads(wb.sql("SELECT options FROM evaluations")["options"][0])["provider"] == "extractive"


def test_a_chat_model_is_asked_once_for_each_choice_of_passages(open_as: Callable[..., Workbench]) -> None:
    model = FakeChat("The melting point of arvenite is 1013 degrees Celsius. [1]")
    wb = open_as("ann", chat_model=model)
    frame = wb.evaluate(QUESTIONS[:1], project=1, grid={"top_k": [2, 7, 1]}, answers=True)
    assert len(model.received) == 2, "fifteen, seven and two seats are all of the project's two passages"
    assert [figure(frame, "cited_gold", number=n)["mean"] for n in range(4)] == [1.0] * 4
    assert json.loads(wb.sql("SELECT options FROM evaluations")["options"][0])["provider"] == "fake-chat"
    assert len(wb.sql("SELECT * FROM messages")) == 0
    alone = wb.evaluate(QUESTIONS[:1], project=1, answers=True, provider="extractive")
    assert (len(model.received), figure(alone, "answered")["mean"]) == (2, 1.0)


def test_progress_is_told_and_cancelling_keeps_what_is_measured(wb: Workbench) -> None:
    steps: list[Progress] = []
    frame = wb.evaluate(QUESTIONS, project=1, progress=steps.append, cancelled=lambda: len(steps) >= 2)
    assert [(s.stage, s.file, s.done, s.total) for s in steps] == [
        ("measure", "one", 0, 3),
        ("measure", "two", 1, 3),
        ("measure", "", 2, 3),
    ]
    assert frame.attrs["warnings"] == ("Cancelled: 2 of 3 questions were measured.",)
    assert figure(frame, "evidence_recall")["questions"] == 2
    nothing = wb.evaluate(QUESTIONS, project=1, cancelled=lambda: True)
    assert (len(nothing), list(nothing.columns)) == (0, list(frame.columns))


def test_the_questions_of_a_project_are_measured_where_none_are_given(wb: Workbench, tmp_path: Path) -> None:
    wb.questions.put(QUESTIONS, project=1)
    kept = wb.evaluate(project=1)
    path = tmp_path / "questions.jsonl"
    wb.questions.export(path)
    read = wb.evaluate(path, scope=Scope.project(1))
    assert kept.drop(columns=[]).equals(read)
    with pytest.raises(InvalidInputError, match="There is no labelled question here"):
        wb.evaluate()


def test_questions_may_be_mappings_as_a_file_has_them(wb: Workbench) -> None:
    mapped = [json.loads(line) for line in question_lines(QUESTIONS).splitlines()]
    assert wb.evaluate(mapped, project=1).equals(wb.evaluate(QUESTIONS, project=1))
    with pytest.raises(InvalidInputError, match="Question 1: there is no “question”"):
        wb.evaluate([{"id": "a"}], project=1)


def test_labels_of_files_that_are_not_there_are_told_and_count_as_missed(wb: Workbench) -> None:
    frame = wb.evaluate(QUESTIONS)
    [warning] = frame.attrs["warnings"]
    assert warning == (
        "2 labelled files are not in the scope, so that nothing of them can be found: "
        "arvenite.pdf, bolmarite.pdf. Give a project, or all papers, to measure elsewhere."
    )
    assert figure(frame, "evidence_recall")["mean"] == 0.0


def test_the_same_run_gives_the_same_figures(wb: Workbench) -> None:
    runs = [wb.evaluate(QUESTIONS, project=1, grid={"top_k": [1, 2]}, seed=5) for _ in range(2)]
    assert runs[0].equals(runs[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": {"colour": [1]}}, "No such search parameter: colour"),
        ({"confidence": 2}, "confidence=2: allowed"),
        ({"resamples": 1}, "resamples=1: allowed"),
        ({"scope": Scope.ALL, "project": 1}, "scope and project exclude each other"),
        ({"scope": "all"}, "is not a scope"),
        ({"provider": "oracle", "answers": True}, "provider='oracle': allowed are"),
    ],
)
def test_options_that_cannot_be_are_errors_before_anything_is_searched(
    wb: Workbench, options: dict[str, Any], message: str
) -> None:
    def never(step: Progress) -> None:
        raise AssertionError(step)

    with pytest.raises(InvalidInputError, match=message):
        wb.evaluate(QUESTIONS, progress=never, **options)
    assert len(wb.sql("SELECT * FROM evaluations")) == 0


def test_a_library_that_cannot_be_written_is_measured_without_a_record(
    library: Path, open_as: Callable[..., Workbench]
) -> None:
    wb = open_as("ann")
    library.chmod(0o400)
    try:
        if wb._database.writable:  # root may write anywhere
            pytest.skip("this user may write to a file that is read-only")
        assert wb.evaluate(QUESTIONS, project=1).attrs["evaluation"] is None
    finally:
        library.chmod(0o600)


def test_what_was_measured_is_listed_shown_again_and_deleted(wb: Workbench) -> None:
    one = wb.evaluate(QUESTIONS, project=1, grid={"top_k": [1], "keyword_weight": [0.3]})
    two = wb.evaluate_chunk_sizes([40], QUESTIONS, project=1)
    latest, first = wb.evaluations.list()
    assert (latest.id, first.id, first.scope, first.scope_label, first.questions) == (
        2,
        1,
        Scope.project(1),
        "Minerals",
        3,
    )
    assert wb.evaluations.figures(first).equals(one)
    assert wb.evaluations.figures(2).equals(two)
    assert wb.evaluations.figures(2).attrs["evaluation"] == 2
    with pytest.raises(NotFoundError, match="Evaluation not found: 9"):
        wb.evaluations.delete(first, 9)
    wb.evaluations.delete(first, 2)
    assert wb.evaluations.list() == []
    for table in ("evaluations", "evaluation_results", "evaluation_scores"):
        assert wb.sql(f"SELECT count(*) AS n FROM {table}")["n"].tolist() == [0]
    for number in (0, -1, 2**70):
        with pytest.raises(NotFoundError, match="Evaluation not found"):
            wb.evaluations.figures(number)
    with pytest.raises(InvalidInputError, match="neither an evaluation nor its id"):
        wb.evaluations.figures("1")  # type: ignore[arg-type]  # that is the point


# --- chunk sizes ---------------------------------------------------------------------------------


def test_chunk_sizes_are_measured_in_scratch_libraries_and_compared_with_the_library(wb: Workbench) -> None:
    chunks = wb.chunks.list()
    label = wb.questions.add("How dense is bolmarite?", 2, 3, project=1)
    steps: list[Progress] = []
    frame = wb.evaluate_chunk_sizes([40, 64], [*QUESTIONS, label], project=1, progress=steps.append)
    assert list(frame.columns)[:2] == ["set", "chunk_tokens"]
    sizes = frame.groupby("set")["chunk_tokens"].first()
    assert (sizes.index.tolist(), sizes.tolist()[1:]) == ([0, 1, 2], [40, 64])
    recalls = [figure(frame, "evidence_recall", number=n) for n in range(3)]
    assert [r["mean"] for r in recalls] == [1.0, 1.0, 1.0]
    assert [r["questions"] for r in recalls] == [3, 3, 3]
    assert all(math.isfinite(r["p"]) for r in recalls)
    assert wb.chunks.list() == chunks
    assert {s.stage for s in steps} >= {"measure", "chunks of 40 tokens, embed"}
    kept = wb.sql("SELECT parameters ->> 'chunk_tokens' AS s FROM evaluation_results WHERE set_number = 1")
    assert set(kept["s"]) == {"40"}


def test_notes_and_texts_are_cut_anew_as_files_are(wb: Workbench) -> None:
    wb.notes.create("On caves", "# Caves\n\nThe cave of Morv is 812 metres long. " * 3, project=1)
    wb.papers.add_texts(
        [{"title": "On lakes", "text": "The lake of Tolv is 93 metres deep. " * 3}], project=1
    )
    names = {p.kind: p.file for p in wb.papers.list(Scope.project(1))}
    asked = [
        Question(k, f"How long or deep is it? {k}", (Gold(f, 1),)) for k, f in names.items() if k != "pdf"
    ]
    assert len(asked) == 2
    frame = wb.evaluate_chunk_sizes([40], asked, project=1)
    assert [figure(frame, "papers_covered", number=n)["mean"] for n in (0, 1)] == [1.0, 1.0]


def test_chunk_sizes_can_be_cancelled_while_papers_are_cut(wb: Workbench) -> None:
    stages: list[str] = []
    frame = wb.evaluate_chunk_sizes(
        [40, 64],
        QUESTIONS,
        project=1,
        progress=lambda step: stages.append(step.stage),
        cancelled=lambda: any(stage.startswith("chunks of 40") for stage in stages),
    )
    assert set(frame["set"]) == {0}
    assert frame.attrs["warnings"] == ("Cancelled: chunks of 40, 64 tokens were not measured.",)


@pytest.mark.parametrize("sizes", [[], [31], [10_000], [True], [40.5], list(range(40, 80))])
def test_sizes_that_cannot_be_are_errors(wb: Workbench, sizes: list[Any]) -> None:
    with pytest.raises(InvalidInputError, match=r"chunk"):
        wb.evaluate_chunk_sizes(sizes, QUESTIONS, project=1)


# --- the audit -----------------------------------------------------------------------------------


def test_the_audit_is_measured_on_sentences_of_the_scopes_papers(wb: Workbench) -> None:
    frame = wb.evaluate_audit(scope=Scope.ALL, per_kind=5)
    assert list(frame.columns) == ["metric", "mean", "low", "high", "sentences"]
    figures = {row["metric"]: row for row in frame.to_dict("records")}
    true, recall = figures["flagged, true"], figures["audit_recall"]
    assert figures["false_alarms"]["mean"] == true["mean"] < 0.5 < recall["mean"]
    wrong = [r for name, r in figures.items() if name.startswith("flagged, ") and name != "flagged, true"]
    flagged = sum(r["mean"] * r["sentences"] for r in wrong)
    assert recall["mean"] == pytest.approx(flagged / sum(r["sentences"] for r in wrong))
    both = flagged + true["mean"] * true["sentences"]
    assert figures["audit_precision"]["mean"] == pytest.approx(flagged / both)
    assert frame.equals(wb.evaluate_audit(scope=Scope.ALL, per_kind=5))
    for bad in (0, 1001, True, "5"):
        with pytest.raises(InvalidInputError, match="per_kind"):
            wb.evaluate_audit(scope=Scope.ALL, per_kind=bad)  # type: ignore[arg-type]  # that is the point

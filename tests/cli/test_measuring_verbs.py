"""eval, questions, replay and presets on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

MELTING = "What is the melting point of arvenite?"
LINES = [
    {
        "id": "m-1",
        "question": MELTING,
        "gold": [{"file": "arvenite.pdf", "page": 2, "phrase": "melting point"}],
    },
    {
        "id": "m-2",
        "question": "How dense are arvenite and bolmarite?",
        "gold": [{"file": "arvenite.pdf", "page": 3}, {"file": "bolmarite.pdf", "page": 3}],
    },
    {"id": "m-3", "question": "Who owns the mines?", "gold": []},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return path


def test_eval_prints_a_row_per_set_and_metric_with_what_differs(cli: Cli, questions: Path) -> None:
    out = cli("eval", questions, "--project", "Minerals", "--grid", "top_k=1,15").out
    header, *rows = [line.split() for line in out.splitlines()]
    assert header == ["top_k", "metric", "figure", "95", "%", "interval", "questions", "difference", "p"]
    assert rows[0][:3] == ["15", "evidence_recall", "1.000"]
    [lower] = [row for row in rows if row[:2] == ["1", "evidence_recall"]]
    assert (lower[2], lower[6], lower[7]) == ("0.667", "2", "-0.333")
    assert {row[0] for row in rows} == {"1", "15"}


def test_eval_json_is_one_object_with_every_figure(cli: Cli, questions: Path) -> None:
    found = cli("eval", questions, "--all", "--answers", "--provider", "extractive", "--json").json
    assert set(found) == {"evaluation", "results", "warnings"}
    assert (found["evaluation"], found["warnings"]) == (1, [])
    first = found["results"][0]
    assert {k: first[k] for k in ("set", "top_k", "keyword_weight", "metric", "mean", "questions", "p")} == {
        "set": 0,
        "top_k": 15,
        "keyword_weight": None,
        "metric": "evidence_recall",
        "mean": 1.0,
        "questions": 2,
        "p": 1.0,
    }
    metrics = {row["metric"] for row in found["results"]}
    assert {"answered", "refused", "cited_gold", "citation_precision", "quote_on_page", "ndcg@10"} <= metrics


def test_eval_measures_the_questions_that_are_kept(cli: Cli, questions: Path) -> None:
    assert "There is no labelled question here" in cli("eval", "--project", "Minerals").error
    assert cli("questions", "import", questions, "--project", "Minerals").out == "3 questions are kept.\n"
    found = cli("eval", "--project", "Minerals", "--json").json
    assert {row["questions"] for row in found["results"] if row["metric"] == "evidence_recall"} == {2}
    assert "There is no labelled question here" in cli("eval", "--orphans").error


def test_eval_says_which_labelled_files_are_not_there(cli: Cli, questions: Path) -> None:
    run = cli("eval", questions)
    assert "2 labelled files are not in the scope" in run.err
    assert run.out.splitlines()[1].split()[:2] == ["evidence_recall", "0.000"]


def test_chunk_sizes_are_measured_in_scratch_libraries(cli: Cli, questions: Path) -> None:
    found = cli("eval", questions, "--project", "Minerals", "--chunk-sizes", "40", "--json").json
    sizes = [(r["set"], r["chunk_tokens"]) for r in found["results"] if r["metric"] == "evidence_recall"]
    assert [number for number, _ in sizes] == [0, 1]
    assert sizes[1][1] == 40
    assert len(cli("papers", "list", "--json").json["papers"]) == 3
    assert cli("doctor", "--json").status == 0


def test_the_audit_is_measured_on_sentences_of_the_papers(cli: Cli) -> None:
    out = cli("eval", "--audit", "--all").out
    header, *rows = [line.split() for line in out.splitlines()]
    assert header == ["metric", "figure", "95", "%", "interval", "sentences"]
    assert {"audit_precision", "audit_recall", "false_alarms"} <= {row[0] for row in rows}
    found = cli("eval", "--audit", "--all", "--json").json["results"]
    assert {row["metric"] for row in found} > {"audit_recall", "flagged, true", "flagged, number"}
    assert "--audit makes its own sentences" in cli("eval", "--audit", "--all", "--answers").error
    cli("projects", "create", "Empty")
    assert "no sentence that could be checked" in cli("eval", "--audit", "--project", "Empty").error


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--grid", "top_k"], "--grid top_k: write a name and its values"),
        (["--grid", "top_k=3", "--grid", "top-k=4"], "--grid top_k is there twice"),
        (["--grid", "top_k=3.5"], "--grid top_k: '3.5' is no whole number"),
        (["--grid", "min_relevance=x"], "--grid min_relevance: 'x' is no number"),
        (["--grid", "min_relevance=nan"], "must lie between 0 and 1"),
        (["--grid", "top_k=0"], "must be at least 1"),
        (["--grid", "colour=1"], "No such search parameter: colour"),
        (["--grid", "top_k=" + ",".join(map(str, range(1, 502)))], "at most 500 work"),
        (["--chunk-sizes", "9"], "allowed are whole numbers from 32 to"),
        (["--chunk-sizes", "a"], "--chunk-sizes: 'a' is no whole number"),
        (["--chunk-sizes", "100", "--grid", "top_k=3"], "exclude each other"),
    ],
)
def test_what_cannot_be_tried_is_one_line(cli: Cli, questions: Path, options: list[str], error: str) -> None:
    assert error in cli("eval", questions, "--project", "Minerals", *options).error


def test_a_bad_file_of_questions_is_one_line_that_names_its_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": "a", "question": "Why?"}\n{"id": "b"}\n', encoding="utf-8")
    for command in (["eval", path, "--all"], ["questions", "import", path]):
        assert cli(*command).error == "bad.jsonl, line 2: there is no “question”."
    assert cli("questions", "list", "--json").json == {"questions": []}
    assert "missing.jsonl cannot be read" in cli("eval", tmp_path / "missing.jsonl").error


def test_questions_are_labelled_listed_exported_and_deleted(cli: Cli, tmp_path: Path) -> None:
    said = cli(
        "questions", "add", MELTING, "--paper", 1, "--page", 2, "--phrase", "melting point of arvenite"
    )
    assert said.out == "Question q-1: answered by arvenite.pdf page 2.\n"
    more = cli("questions", "add", MELTING, "--paper", 1, "--page", 3, "--json").json["question"]
    assert [(g["page"], g["phrase"]) for g in more["gold"]] == [(2, "melting point of arvenite"), (3, "")]
    none = cli("questions", "add", "Who owns the mines?", "--project", "Minerals").out
    assert none == "Question q-1: answered by no paper.\n"
    listed = cli("questions", "list", "--json").json["questions"]
    assert [(q["id"], q["type"], q["project_id"]) for q in listed] == [
        ("q-1", "single", None),
        ("q-1", "unanswerable", 1),
    ]
    assert cli("questions", "list", "--project", "Minerals").out.splitlines()[1].split()[:3] == [
        "q-1",
        "unanswerable",
        "0",
    ]
    assert "Two projects have a question of the id “q-1”" in cli("questions", "export").error
    path = tmp_path / "kept.jsonl"
    assert cli("questions", "export", "--orphans", "--output", path).out == f"Wrote {path}.\n"
    assert path.read_text(encoding="utf-8") == cli("questions", "export", "--orphans").out
    assert cli("questions", "delete", "q-1").out == "Deleted: q-1.\n"
    assert "Question not found: “q-1”" in cli("questions", "delete", "q-1").error
    assert cli("questions", "delete", "q-1", "--project", "Minerals", "--json").json == {"deleted": ["q-1"]}
    assert cli("questions", "import", path, "--json").json["questions"][0]["id"] == "q-1"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["Why?", "--paper", "1"], "A label needs both"),
        (["Why?", "--page", "1"], "A label needs both"),
        (["Why?", "--paper", "9", "--page", "1"], "Paper not found"),
        (["Why?", "--paper", "1", "--page", "9"], "This paper has no page 9"),
        (
            ["Why?", "--paper", "1", "--page", "1", "--phrase", "nowhere to be found"],
            "does not stand on page 1",
        ),
        ([" "], "there is no “question”"),
    ],
)
def test_a_label_that_is_not_true_is_refused(cli: Cli, arguments: list[str], error: str) -> None:
    assert error in cli("questions", "add", *arguments).error


def test_a_search_is_replayed_with_other_numbers(cli: Cli) -> None:
    assert "There is no search to replay yet" in cli("replay").error
    cli("search", MELTING, "--project", "Minerals")
    [listed] = cli("replay", "--list", "--json").json["retrievals"]
    assert (listed["id"], listed["query"]) == (1, MELTING)
    found = cli("replay", "--top-k", 1, "--json").json
    assert [(p["change"], p["old_n"], p["new_n"]) for p in found["passages"]] == [
        ("stays", 1, 1),
        ("leaves", 2, None),
    ]
    assert (found["before"]["top_k"], found["after"]["top_k"]) == (15, 1)
    assert found["passages"][1]["reason"] == "the only seat is taken"
    first, header, *rows = cli("replay", 1, "--top-k", 1).out.splitlines()
    assert first == f"{MELTING} (Minerals)"
    assert header.split() == ["was", "is", "paper,", "page", "why", "it", "left"]
    assert [row.split()[0] for row in rows] == ["stays", "leaves"]
    assert "Retrieval not found: 9" in cli("replay", 9).error


def test_a_preset_takes_effect_in_its_project_and_a_call_wins_over_it(cli: Cli) -> None:
    said = cli("presets", "save", "Minerals", "One", "--top-k", 1, "--min-relevance", 0.1)
    assert said.out == "Preset “One”: top_k 1, min_relevance 0.1 (in effect).\n"

    def passages(*options: str) -> int:
        return len(cli("search", "minerals of the mines", *options, "--json").json["passages"])

    assert "Searches: preset “One” (top_k 1, min_relevance 0.1)" in cli("projects", "show", "Minerals").out
    assert cli("projects", "show", "Minerals", "--json").json["project"]["preset"] == "One"
    assert passages("--project", "Minerals") == 1
    assert passages("--project", "Minerals", "--top-k", "2") == 2
    assert passages("--all") == 3
    assert cli("presets", "choose", "Minerals", "--none").out == "The settings take effect.\n"
    assert passages("--project", "Minerals") == 2
    assert cli("presets", "choose", "Minerals", "one", "--json").json["preset"]["name"] == "One"
    assert "its NAME, or --none" in cli("presets", "choose", "Minerals").error
    assert cli("presets", "list", "Minerals").out.splitlines()[1].split()[:2] == ["*", "One"]
    assert cli("presets", "delete", "Minerals", "ONE").out == "Deleted preset “ONE”.\n"
    assert cli("presets", "list", "Minerals", "--json").json == {"presets": []}
    assert "A preset needs a parameter" in cli("presets", "save", "Minerals", "Empty").error


def test_a_presets_project_can_be_named_as_everywhere_else(cli: Cli) -> None:
    saved = cli("presets", "save", "One", "--top-k", 1, "--project", "Minerals", "--json").json["preset"]
    assert (saved["name"], saved["chosen"], saved["parameters"]) == ("One", True, {"top_k": 1})
    listed = cli("presets", "list", "--project", "Minerals", "--json").json
    assert listed == {"presets": [saved]} == cli("presets", "list", "Minerals", "--json").json
    assert cli("presets", "choose", "--project=Minerals", "--none").out == "The settings take effect.\n"
    assert cli("presets", "delete", "--project", "Minerals", "One").out == "Deleted preset “One”.\n"
    assert "Missing argument 'PROJECT'" in cli("presets", "list").error
    assert "requires an argument" in cli("presets", "list", "--project").error

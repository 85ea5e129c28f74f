from __future__ import annotations

import io

import pytest

from tests.cli.conftest import Cli

MELTING = "What is the melting point of arvenite?"


def test_an_answer_ends_with_the_papers_it_rests_on_and_names_the_silent_ones(cli: Cli) -> None:
    lines = cli("ask", MELTING, "--all", "--top-k", "1").out.splitlines()
    assert lines[-1] == (
        "3 papers in scope, 1 retrieved, 1 cited. "
        "Not retrieved: “A study of bolmarite”, “A study of cendrite”."
    )


def test_the_silent_papers_are_asked_next_and_a_note_says_which(cli: Cli) -> None:
    run = cli("ask", MELTING, "--all", "--top-k", "1", "--silent")
    assert run.status == 0
    assert "note: Asked only the 2 papers without a passage before:" in run.err
    assert "2 papers in scope, 1 retrieved" in run.out


def test_where_no_paper_is_silent_one_line_says_so(cli: Cli) -> None:
    run = cli("ask", MELTING, "--project", "Minerals", "--silent")
    assert run.status == 0
    assert "No paper was silent: all that this scope has gave passages before (2)." in run.out.splitlines()


def test_json_has_the_coverage_and_the_second_answer_beside_the_fixed_fields(cli: Cli) -> None:
    shown = cli("ask", MELTING, "--all", "--top-k", "1", "--silent", "--json").json
    assert shown["coverage"] == {
        "papers_in_scope": 3,
        "papers_retrieved": 1,
        "papers_cited": 1,
        "silent": [
            {"id": 2, "title": "A study of bolmarite"},
            {"id": 3, "title": "A study of cendrite"},
        ],
        "papers_silent": 2,
    }
    assert shown["silent_answer"]["coverage"]["papers_in_scope"] == 2
    assert "silent_answer" not in cli("ask", MELTING, "--all", "--json").json


def test_in_a_chat_the_silent_papers_are_a_command(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"/silent\n{MELTING}\n/silent\n"))
    run = cli("chat", "--all", "--top-k", "1", "--json")
    assert "note: /silent asks a question again: ask one first." in run.err
    assert [turn["question"] for turn in run.json["turns"]] == [MELTING, MELTING]
    assert [turn["coverage"]["papers_in_scope"] for turn in run.json["turns"]] == [3, 2]

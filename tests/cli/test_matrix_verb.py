from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli

MELTING = "What is the melting point of this mineral?"


def test_a_matrix_is_a_table_that_is_kept_opened_and_deleted(cli: Cli) -> None:
    found = cli("matrix", MELTING, "--all", "--provider", "extractive", "--json").checked().json
    assert (found["asked"], found["complete"], len(found["rows"])) == (3, True, 3)
    assert {row["support"] for row in found["rows"]} == {"supported"}
    assert "Kept as matrix 1." in cli("matrix", MELTING, "--all", "--provider", "extractive").checked().out
    assert [m["id"] for m in cli("matrix", "--list", "--json").json["matrices"]] == [1]
    assert cli("matrix", "--open", "1", "--json").json["rows"] == found["rows"]
    assert cli("matrix", "--delete", "1").out == "Matrix 1 is deleted.\n"
    assert cli("matrix", "--open", "1").error == "Matrix not found: 1."


def test_it_is_written_as_csv_and_markdown(cli: Cli, tmp_path: Path) -> None:
    table, text = tmp_path / "m.csv", tmp_path / "m.md"
    run = cli("matrix", MELTING, "--all", "--csv", table, "--markdown", text).checked()
    assert run.status == 0
    assert table.read_text("utf-8-sig").startswith("paper,answer,quote,page,support,refused")
    assert text.read_text("utf-8").startswith(f"**{MELTING}**")


def test_wrong_uses_are_told_in_one_line(cli: Cli) -> None:
    assert "Give a question" in cli("matrix").checked().error
    assert "Give a question" in cli("matrix", MELTING, "--list").checked().error

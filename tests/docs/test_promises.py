"""PROMISES.tsv tells for each promise the product was made for where it lives and which tests show it;
FAULTS.tsv for faults that users of neighbouring tools met which tests show the right value here."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def rows(table: str = "PROMISES.tsv") -> list[dict[str, str]]:
    with (TESTS / table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def named_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {n.name.removeprefix("test_") for n in ast.walk(tree) if isinstance(n, kinds)}


def test_every_promise_names_a_place_and_a_test() -> None:
    table = rows()
    assert len(table) >= 60
    assert [row for row in table if None in row.values() or not all(row.values())] == []
    assert len({row["promise"] for row in table}) == len(table)


def test_every_story_of_a_researcher_has_its_row() -> None:
    stories = [row["origin"] for row in rows() if row["origin"].startswith("projects, story ")]
    assert stories == [f"projects, story {number}" for number in range(1, 33)]


def test_every_place_named_is_there() -> None:
    assert [row["where it lives"] for row in rows() if not (ROOT / row["where it lives"]).is_file()] == []


def missing_of(row: dict[str, str]) -> list[str]:
    """The tests that a row names and that are not there."""
    missing = []
    for named in row["tests"].split():
        file, name = named.split("::")
        path = TESTS / file
        if not path.is_file() or name not in named_in(path):
            missing.append(named)
    return missing


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["promise"][:60])
def test_every_test_named_is_there(row: dict[str, str]) -> None:
    assert missing_of(row) == []


@pytest.mark.parametrize("row", rows("FAULTS.tsv"), ids=lambda row: row["number"])
def test_every_fault_has_its_tests_or_a_reason(row: dict[str, str]) -> None:
    assert row["fault"]
    assert row["what is right here"]
    assert bool(row["tests"]) != bool(row["why it cannot happen"])
    assert missing_of(row) == []

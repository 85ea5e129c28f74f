"""PROMISES.tsv tells for each promise the product was made for where it lives and which tests show it."""

from __future__ import annotations

import ast
import csv
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def rows() -> list[dict[str, str]]:
    with (TESTS / "PROMISES.tsv").open(encoding="utf-8", newline="") as file:
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


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["promise"][:60])
def test_every_test_named_is_there(row: dict[str, str]) -> None:
    missing = []
    for named in row["tests"].split():
        file, name = named.split("::")
        path = TESTS / file
        if not path.is_file() or name not in named_in(path):
            missing.append(named)
    assert missing == []

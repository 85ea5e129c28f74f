"""PROMISES.tsv tells for each promise the product was made for where it lives and which tests show it;
FAULTS.tsv for faults that users of neighbouring tools met which tests show the right value here."""

from __future__ import annotations

import ast
import csv
import re
from pathlib import Path

import pytest

KNOWN_FAULTS = """
1 3 4 5 9 11 13 14 15 16 17 19 20 22 23 25 26 28 29 30 32 33 35 36 37 38 39 40 41 44 46 48 49 50 51
53 54 55 56 57 60 62 63 65 66 67 69 70 71 72 73 76 78 79 82 83 84 85 86 87 88 92 95 97 99 100 101
103 105 106 107 108 109 110 111 113 114 115 116 118 119 121 122 124 125 126 128 129 131 133 134 135
136 138 139 140 142 143 145 146 148 149 151 153 154 156 158 159 160 163 164 166 167
"""

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


def test_every_known_fault_has_one_row_in_order() -> None:
    assert [row["number"] for row in rows("FAULTS.tsv")] == [
        f"B{int(number):02}" for number in KNOWN_FAULTS.split()
    ]


def test_the_known_faults_are_those_of_the_log(shared: Path) -> None:
    log = shared / "BUGS.md"
    if not log.is_file():
        pytest.skip(f"No log of faults at {log}.")
    numbers = re.findall(r"^\| B(\d+) \|", log.read_text("utf-8"), re.MULTILINE)
    assert sorted(map(int, numbers)) == list(map(int, KNOWN_FAULTS.split()))

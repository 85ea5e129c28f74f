"""Which questions are refused without a chat model, of 170 that nobody took from a paper.

``pytest -m benchmark -s tests/benchmarks/test_refusal_figures.py`` prints the table over all folders; every
run holds the sample papers to a floor. ``refusals.jsonl`` says of each question whether its folder answers
it, and how it misses: ``near`` (the topic, not the fact), ``wrong`` (another thing's fact), ``false`` (a
false premise) or ``outside`` the field.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench import Scope, Settings

DATA = Path(__file__).resolve().parents[2] / "data"
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("refusals.jsonl").read_text(encoding="utf-8").splitlines()
]


def right(folder: Path, name: str, at: Path) -> list[tuple[dict[str, Any], bool]]:
    """Each question of the folder, and whether it was answered or refused as it should be."""
    settings = Settings.load(library=at, user="reader", chat="extractive", project_max_papers=0)
    with workbench.open(at, user="reader", settings=settings) as wb:
        project = wb.projects.create("Papers")
        wb.papers.add_many(sorted(folder.glob("*.pdf")), project=project)
        asked = [q for q in QUESTIONS if q["folder"] == name]
        answers = [wb.ask(q["question"], scope=Scope.project(project)) for q in asked]
    return [(q, a.refused != q["answerable"]) for q, a in zip(asked, answers, strict=True)]


def test_the_sample_papers_refuse_what_they_do_not_say_and_answer_the_rest(tmp_path: Path) -> None:
    found = right(DATA, "sample", tmp_path / "library.duckdb")
    wrong = [q["question"] for q, ok in found if not ok]
    assert len(found) == 24
    assert [q for q in wrong if next(x["answerable"] for x in QUESTIONS if x["question"] == q)] == []
    assert len(wrong) <= 2, wrong


@pytest.mark.benchmark
def test_refusals_over_every_folder(shared: Path, tmp_path: Path) -> None:
    counts: Counter[tuple[str, str, bool]] = Counter()
    for name in dict.fromkeys(q["folder"] for q in QUESTIONS):
        folder = DATA if name == "sample" else shared / "papers" / name
        for question, ok in right(folder, name, tmp_path / f"{name}.duckdb"):
            kind = "answerable" if question["answerable"] else question["kind"]
            counts[name, kind, ok] += 1
    print()
    for name, kind in dict.fromkeys((name, kind) for name, kind, _ in counts):
        good, bad = counts[name, kind, True], counts[name, kind, False]
        print(f"{name:20} {kind:12} right {good:3} of {good + bad:3}")
    assert counts.total() == len(QUESTIONS)

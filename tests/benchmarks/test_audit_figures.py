"""The audit on its labelled set: floors in every run, the whole table with ``pytest -m benchmark -s``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.audit_papers import TUNED, paraphrases, sample_papers, shared_papers
from workbench.evaluation.audit_set import AuditItem, audit_items, figures_by_kind, verdict_of
from workbench.retrieval.audit import audit_text

SEEDS = (1, 2, 3)
PER_KIND = 20
# Shares of the paper's own sentences, altered: at least this many not plainly supported.
FLOORS = {
    "number": 0.95,
    "unit": 0.95,
    "negation": 0.85,
    "direction": 0.85,
    "exchange": 0.85,
    "entity": 0.85,
    "foreign": 0.95,
    "shifted": 0.95,
}
# … and of true ones, at most this many unsupported.
CEILINGS = {"true": 0.05, "paraphrase": 0.15}

Verdicts = list[tuple[AuditItem, str]]


def judged(items: Sequence[AuditItem]) -> Verdicts:
    return [(item, verdict_of(item, audit_text)) for item in items]


def hold(verdicts: Verdicts) -> None:
    own = [(item, verdict) for item, verdict in verdicts if item.base == "sentence"]
    flagged = {kind: told[2] for kind, told in figures_by_kind(own).items() if kind in FLOORS}
    unsupported = {kind: told[1] for kind, told in figures_by_kind(verdicts).items() if kind in CEILINGS}
    assert {kind: share for kind, share in flagged.items() if share < FLOORS[kind]} == {}
    assert {kind: share for kind, share in unsupported.items() if share > CEILINGS[kind]} == {}


def test_false_sentences_of_the_sample_papers_are_flagged_and_true_ones_are_not() -> None:
    hold(judged(audit_items(sample_papers(), seed=1, per_kind=30, paraphrases=paraphrases())))


def test_false_sentences_of_real_papers_are_flagged_and_true_ones_are_not(shared: Path) -> None:
    papers = shared_papers(shared, groups=("transformers", "vector-search"))
    hold(judged(audit_items(papers, seed=1, per_kind=20, paraphrases=paraphrases())))


def test_an_answer_of_fifteen_sentences_is_audited_in_a_moment() -> None:
    items = audit_items(sample_papers(), seed=1, per_kind=4)[:30:2]
    assert len(items) == 15
    passages = [
        replace(next(p for p in item.passages if f"[{p.n}]" in item.text), n=number)
        for number, item in enumerate(items, start=1)
    ]
    text = " ".join(
        item.text.replace(f"[{next(p.n for p in item.passages if f'[{p.n}]' in item.text)}]", f"[{number}]")
        for number, item in enumerate(items, start=1)
    )
    started = time.perf_counter()
    verdicts = audit_text(text, passages)
    assert len(verdicts) == 15
    assert time.perf_counter() - started < 1.0  # 30 to 60 ms on a quiet core; tests run on busy ones


@pytest.mark.benchmark
def test_the_whole_table(shared: Path) -> None:
    papers = [*sample_papers(), *shared_papers(shared)]
    verdicts: Verdicts = []
    for seed in SEEDS:
        given = paraphrases() if seed == SEEDS[0] else ()
        verdicts += judged(audit_items(papers, seed=seed, per_kind=PER_KIND, paraphrases=given))
    print(f"\nseeds {SEEDS}, {PER_KIND} of a kind in a group and seed, {len(verdicts)} items in all")
    print("share unsupported / share not plainly supported (items)")
    for name, chosen in (("tuned", True), ("held out", False)):
        part = [each for each in verdicts if (each[0].group in TUNED) == chosen]
        _print(name, part, by=lambda item: f"{item.kind}, of a {item.base}")
    for kind in ("true", "number", "unit", "negation", "entity", "foreign", "shifted"):
        own = [each for each in verdicts if each[0].kind == kind and each[0].base == "sentence"]
        _print(f"{kind} by folder", own, by=lambda item: item.group)
    hold(verdicts)


def _print(title: str, verdicts: Verdicts, *, by) -> None:  # type: ignore[no-untyped-def]
    print(f"\n{title}")
    for name, (count, unsupported, flagged) in sorted(figures_by_kind(verdicts, key=by).items()):
        print(f"  {name:34} {unsupported:6.3f} {flagged:6.3f}  ({count})")

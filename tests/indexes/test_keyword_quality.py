"""The keyword index on public retrieval sets: what the terms and the weights are worth."""

from __future__ import annotations

import json
from collections import defaultdict
from math import log2
from pathlib import Path
from statistics import fmean

import pytest

from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.indexes.memory_source import MemorySource


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def ndcg(found: list[str], judged: dict[str, float]) -> float:
    """nDCG at 10 with linear gains."""
    gains = [judged.get(document, 0.0) for document in found[:10]]
    ideal = sorted(judged.values(), reverse=True)[:10]
    return sum(g / log2(n + 2) for n, g in enumerate(gains)) / sum(
        g / log2(n + 2) for n, g in enumerate(ideal)
    )


# A plain BM25 (no stemming, no stop words) reaches 0.391, 0.316, 0.745, 0.718 and 0.917 on them.
@pytest.mark.parametrize(
    ("name", "least"),
    [("adi", 0.45), ("cranfield", 0.36), ("hotpotqa-100", 0.80), ("litqa2-pages", 0.71), ("xquad", 0.915)],
)
def test_keyword_search_ranks_judged_documents_high(
    shared: Path, tmp_path: Path, name: str, least: float
) -> None:
    source, names = MemorySource(), {}
    for number, document in enumerate(lines(shared / "ir" / name / "corpus.jsonl"), start=1):
        source.add(number, [document["text"]], title=document.get("title") or "")
        names[number] = document["_id"]
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for row in (shared / "ir" / name / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, gain = row.split("\t")
        if float(gain) > 0:
            judged[query][document] = float(gain)
    index = KeywordTantivyIndex(source, tmp_path / "keywords")
    scores = [
        ndcg([names[h.paper_id] for h in index.search(q["text"], papers=None, limit=10)], judged[q["_id"]])
        for q in lines(shared / "ir" / name / "queries.jsonl")
        if q["_id"] in judged
    ]
    assert fmean(scores) >= least

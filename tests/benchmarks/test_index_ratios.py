"""The indexes' targets, as ratios to the bare operations of the same run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.bench_indexes import measure


@pytest.mark.benchmark
def test_indexes_cost_little_more_than_the_operations_they_rest_on(tmp_path: Path) -> None:
    ratios = measure(tmp_path, vectors=100_000, chunks=20_000, graph=5_000)
    assert ratios["library / ref"] < 1.5
    assert ratios["scoped / ref"] < 0.02
    assert ratios["keyword 10 papers / tantivy"] < 2.0
    assert ratios["keyword whole library / tantivy"] < 2.0
    assert ratios["paper added, s"] < 0.3

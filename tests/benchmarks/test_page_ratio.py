"""What the viewer adds to the drawing of a page, as a ratio to the bare drawing in the same run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.bench_pages import measure
from tests.ingest import made_files


@pytest.mark.benchmark
def test_a_page_for_the_viewer_costs_a_few_bare_drawings(tmp_path: Path) -> None:
    path = made_files.text_pdf(tmp_path / "paper.pdf", *[made_files.LOREM] * 14, pages=12)
    figures = measure(path, page=6, width=1000, quote="Page 6 says something of its own")
    assert figures["view / ref"] < 25

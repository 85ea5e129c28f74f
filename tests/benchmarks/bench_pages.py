"""A page for the viewer against the bare drawing of the same page, in one run, so that only ratios count.

``python -m tests.benchmarks.bench_pages FILE.pdf [--page 1] [--width 1000]``

``ref`` is pypdfium2's drawing of the opened page into a bitmap. The page for the viewer is opened, drawn,
searched for a quote, given its text with places, packed as PNG, and sent from the reading process. Medians.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pypdfium2

from workbench.ingest.sandbox import Reader

ROUNDS = 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--page", type=int, default=1)
    parser.add_argument("--width", type=int, default=1000)
    given = parser.parse_args()
    measure(given.file, page=given.page, width=given.width, quote="")


def measure(file: Path, *, page: int, width: int, quote: str) -> dict[str, float]:
    """Seconds and their ratio: ``ref``, ``view`` (a page from a warm reading process), ``first`` (from one
    that has to be started)."""
    pdf = pypdfium2.PdfDocument(file)
    sheet = pdf[page - 1]
    ref = _median(lambda: sheet.render(scale=width / sheet.get_size()[0]).close())
    with Reader() as reader:

        def view() -> None:
            reader.page_view(file, page, width=width, quote=quote, paint=False, with_text=True)

        first = _seconds(view)
        warm = _median(view)
    pdf.close()
    figures = {"ref": ref, "view": warm, "first": first, "view / ref": warm / ref}
    for name, figure in figures.items():
        print(f"{name:>12} {figure:.3f}")
    return figures


def _median(job: Callable[[], None]) -> float:
    return median(_seconds(job) for _ in range(ROUNDS))


def _seconds(job: Callable[[], None]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

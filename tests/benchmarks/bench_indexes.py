"""Indexes against the bare operations they rest on, all in one run, so that only ratios count.

``python -m tests.benchmarks.bench_indexes [--vectors 100000] [--chunks 20000] [--graph 5000]``

``ref`` is one float32 matrix-vector product of numpy over all vectors. Medians of at least 15.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import tantivy
from tantivy import Occur, Query

from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.hnsw_vectors import HnswVectorIndex
from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.indexes.memory_source import MemorySource
from workbench.retrieval.terms import query_terms

DIMENSION = 384
CHUNKS_PER_PAPER = 100
Ratios = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=20_000, help="texts in the keyword index")
    parser.add_argument("--graph", type=int, default=5_000, help="vectors in the HNSW graph")
    sizes = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), vectors=sizes.vectors, chunks=sizes.chunks, graph=sizes.graph)


def measure(folder: Path, *, vectors: int, chunks: int, graph: int) -> Ratios:
    """Prints every figure and returns the ratios that have a target."""
    return {
        **_measure_exact(folder, vectors),
        **_measure_graph(folder, graph),
        **_measure_keyword(folder, chunks),
    }


def _measure_exact(folder: Path, count: int) -> Ratios:
    rows = _clustered_rows(count)
    source = _source(rows)
    index = ExactVectorIndex(source, folder / "vectors")
    _show(f"exact, {count} vectors: build", _seconds(index.refresh), "s")
    _show("  first search in a new process, 10 papers", _open_and_search(source, folder, rows), "ms")
    queries = _queries(rows)
    scopes = _scopes(count)
    revision = source.revision()
    whole = index.search
    reference = _median_ms(lambda n: rows @ queries[n])
    library = _median_ms(lambda n: whole(queries[n], papers=None, limit=15))
    scoped = _median_ms(lambda n: index.search(queries[n], papers=scopes[n], limit=15, revision=revision))
    asking = _median_ms(lambda n: index.search(queries[n], papers=scopes[n], limit=15))
    deep = _median_ms(lambda n: index.search(queries[n], papers=scopes[n], limit=2000))
    bare = _median_ms(lambda n: [rows[(p - 1) * 100 : p * 100] @ queries[n] for p in scopes[n]])
    _show("  ref: numpy product over all", reference, "ms")
    _show("  whole library, 15 hits", library, "ms", library / reference)
    _show("  10 papers, 15 hits, revision known", scoped, "ms", scoped / reference)
    _show("  10 papers, 15 hits, revision asked for", asking, "ms", asking / reference)
    _show("  10 papers, every hit", deep, "ms", deep / reference)
    _show("  floor: ten bare products of one paper each", bare, "ms", bare / reference)
    _show("  one paper added, then found", _add_and_search(source, index, rows), "ms")
    (folder / "a file").touch()
    without = ExactVectorIndex(source, folder / "a file" / "vectors")
    slow = _median_ms(lambda n: without.search(queries[n], papers=scopes[n], limit=15))
    _show("  10 papers without a folder", slow, "ms", slow / reference)
    return {"library / ref": library / reference, "scoped / ref": scoped / reference}


def _measure_graph(folder: Path, count: int) -> Ratios:
    rows = _clustered_rows(count)
    source = _source(rows)
    exact = ExactVectorIndex(source, folder / "graph vectors")
    index = HnswVectorIndex(source, folder / "graph", exact)
    _show(f"HNSW, {count} vectors: build", _seconds(index.refresh), "s")
    queries = _queries(rows)
    reference = _median_ms(lambda n: rows @ queries[n])
    found = _median_ms(lambda n: index.search(queries[n], papers=None, limit=15))
    overlap = [
        len({*index.search(query, papers=None, limit=15)} & {*exact.search(query, papers=None, limit=15)})
        / 15
        for query in queries
    ]
    _show("  ref: numpy product over all", reference, "ms")
    _show("  whole library, 15 hits", found, "ms", found / reference)
    _show("  recall of the 15 nearest", sum(overlap) / len(overlap), "")
    return {}


def _measure_keyword(folder: Path, count: int) -> Ratios:
    words = random.Random(1)
    vocabulary = [
        "".join(words.choices("abcdefghiklmnoprstuvw", k=words.randint(3, 10))) for _ in range(30_000)
    ]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]

    def text() -> str:
        return " ".join(words.choices(vocabulary, weights, k=150))

    source = MemorySource()
    for paper in range(1, count // CHUNKS_PER_PAPER + 1):
        source.add(paper, [text() for _ in range(CHUNKS_PER_PAPER)], title=text()[:60])
    index = KeywordTantivyIndex(source, folder / "keywords")
    _show(f"keyword, {count} chunks: build", _seconds(index.refresh), "s")
    queries = [" ".join(words.choices(vocabulary, weights, k=6)) for _ in range(15)]
    scopes = _scopes(count)
    bare = _BareTantivy(folder / "keywords" / "index-1")
    ratios = {}
    for name, papers in (("10 papers", scopes), ("whole library", [None] * 15)):
        ours = _median_ms(lambda n, papers=papers: index.search(queries[n], papers=papers[n], limit=50))
        theirs = _median_ms(lambda n, papers=papers: bare.search(queries[n], papers[n]))
        _show(f"  {name}, 50 hits; ratio to the bare tantivy query", ours, "ms", ours / theirs)
        ratios[f"keyword {name} / tantivy"] = ours / theirs

    def added() -> None:
        paper = 1 + max(source.changed_since(0))
        source.add(paper, texts, title="one more")
        index.search("one", papers=[paper], limit=5)

    texts = [text() for _ in range(CHUNKS_PER_PAPER)]
    adding = median(_seconds(added) for _ in range(5)) * 1000
    _show("  one paper of 100 chunks added, then found", adding, "ms")
    return {**ratios, "paper added, s": adding / 1000}


class _BareTantivy:
    """The same query without anything of ours around it."""

    def __init__(self, folder: Path) -> None:
        self._index = tantivy.Index.open(str(folder))

    def search(self, query: str, papers: list[int] | None) -> list[tuple[float, object]]:
        schema = self._index.schema
        parts = []
        for term in query_terms(query):
            parts.append((Occur.Should, Query.term_query(schema, "body", term, index_option="freq")))
            title = Query.term_query(schema, "title", term, index_option="freq")
            parts.append((Occur.Should, Query.boost_query(title, 0.5)))
        wanted = Query.boolean_query(parts)
        if papers is not None:
            scope = Query.const_score_query(Query.term_set_query(schema, "paper", papers), 0.0)
            wanted = Query.boolean_query([(Occur.Must, wanted), (Occur.Must, scope)])
        searcher = self._index.searcher()
        hits = searcher.search(wanted, 50, count=False).hits
        searcher.fast_field_values("chunk", [address for _, address in hits])
        return hits


def _clustered_rows(count: int) -> np.ndarray:
    """Rows of length 1 in paper order: a topic per paper, noise per chunk."""
    generator = np.random.default_rng(7)
    papers = -(-count // CHUNKS_PER_PAPER)
    topics = np.repeat(
        generator.standard_normal((papers, DIMENSION), dtype=np.float32), CHUNKS_PER_PAPER, axis=0
    )
    rows = topics[:count] + generator.standard_normal((count, DIMENSION), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def _queries(rows: np.ndarray) -> list[np.ndarray]:
    """Question-like: far from the chunk they come from."""
    generator = np.random.default_rng(8)
    picked = rows[generator.integers(0, len(rows), 15)]
    noisy = picked + 0.07 * generator.standard_normal(picked.shape, dtype=np.float32)
    return list(noisy / np.linalg.norm(noisy, axis=1, keepdims=True))


def _scopes(count: int) -> list[list[int]]:
    papers = count // CHUNKS_PER_PAPER
    return [random.Random(n).sample(range(1, papers + 1), min(10, papers)) for n in range(15)]


def _source(rows: np.ndarray) -> MemorySource:
    source = MemorySource()
    for start in range(0, len(rows), CHUNKS_PER_PAPER):
        paper = rows[start : start + CHUNKS_PER_PAPER]
        source.add(start // CHUNKS_PER_PAPER + 1, [""] * len(paper), vectors=paper)
    return source


def _open_and_search(source: MemorySource, folder: Path, rows: np.ndarray) -> float:
    def first() -> None:
        ExactVectorIndex(source, folder / "vectors").search(rows[0], papers=range(1, 11), limit=15)

    return median(_seconds(first) for _ in range(5)) * 1000


def _add_and_search(source: MemorySource, index: ExactVectorIndex, rows: np.ndarray) -> float:
    def added() -> None:
        paper = 1 + max(source.changed_since(0))
        source.add(paper, [""] * CHUNKS_PER_PAPER, vectors=rows[:CHUNKS_PER_PAPER])
        index.search(rows[0], papers=[paper], limit=5)

    return median(_seconds(added) for _ in range(5)) * 1000


def _median_ms(call: Callable[[int], object]) -> float:
    """Median over the 15 queries, each run three times."""
    call(0)
    return median(_seconds(lambda n=n: call(n)) for _ in range(3) for n in range(15)) * 1000


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _show(what: str, value: float, unit: str, ratio: float | None = None) -> None:
    print(f"{what:<62} {value:10.3f} {unit:<2}" + ("" if ratio is None else f"  x {ratio:.4f}"))


if __name__ == "__main__":
    main()

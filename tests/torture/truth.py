"""What a library says, in a form that two libraries can be compared by, and what must hold of every one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from duckdb import DuckDBPyConnection

from workbench.indexes.exact_vectors import ExactVectorIndex
from workbench.indexes.hnsw_vectors import HnswVectorIndex
from workbench.indexes.keyword import KeywordTantivyIndex
from workbench.retrieval.terms import query_terms, terms
from workbench.storage.database import Database
from workbench.storage.index_source import LibraryIndexSource
from workbench.storage.opening import quoted

Contents = dict[str, tuple[int, int]]
"""Of each table: how many rows, and a checksum of them that no order and no clock changes."""

_CLOCKS = ("seconds", "timing", "options")
_SHOWN = {
    "answer": "json_extract_string({}, '$.text')",
    "cell": "json_extract_string({}, '$.text')",
    "revision": "0",
}


def contents(cursor: DuckDBPyConnection, catalog: str | None = None) -> Contents:
    """Every table of the open library. What differs from run to run is left out: times, and the random steps
    of revisions, which the library's own checks look at."""
    rows = cursor.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns()"
        " WHERE NOT internal AND database_name = coalesce(?, current_database())"
        " ORDER BY table_name, column_index",
        [catalog],
    ).fetchall()
    tables: dict[str, list[str]] = {}
    for table, column, kind in rows:
        kept = tables.setdefault(table, [])
        if not kind.startswith("TIMESTAMP") and column not in _CLOCKS:
            kept.append(_SHOWN.get(column, "{}").format(f'"{column}"'))
    prefix = "" if catalog is None else f"{catalog}.main."
    found = {}
    for table, columns in tables.items():
        row = cursor.execute(
            f"SELECT count(*), coalesce(sum(hash({', '.join(columns)})::HUGEINT), 0) FROM {prefix}{table}"
        ).fetchone()
        assert row is not None
        found[table] = (int(row[0]), int(row[1]))
    return found


def contents_of(path: Path) -> Contents:
    """The same of a library file that nothing has open, read by plain DuckDB; nothing where there is none."""
    if not path.exists() or path.stat().st_size == 0:
        return {}
    with duckdb.connect(":memory:") as connection:
        # Attached: as its main database DuckDB does not replay every log that a killed process leaves.
        connection.execute(f"ATTACH {quoted(str(path))} AS library (READ_ONLY)")
        return contents(connection, "library")


def differences(found: Contents, wanted: Contents) -> list[str]:
    """Tables that are not the same, one short line each."""
    return [
        f"{table}: {found.get(table, (0,))[0]} rows, {wanted.get(table, (0,))[0]} wanted"
        for table in sorted(found.keys() | wanted.keys())
        if found.get(table) != wanted.get(table)
    ]


class Indexes:
    """The derived indexes of one library, in the folders the product uses; the graph where there was one."""

    def __init__(self, database: Database) -> None:
        self.source = LibraryIndexSource(database)
        folder = database.derived
        self.exact = ExactVectorIndex(self.source, folder / "vectors")
        self.has_graph = (folder / "hnsw").exists()
        self.hnsw = HnswVectorIndex(self.source, folder / "hnsw", self.exact, rows_per_hit=1)
        self.keyword = KeywordTantivyIndex(self.source, folder / "keywords")

    def refresh(self) -> bool:
        vectors = self.hnsw if self.has_graph else self.exact
        return all([vectors.refresh(), self.keyword.refresh()])

    def problems(self) -> list[str]:
        return [*(self.hnsw if self.has_graph else self.exact).problems(), *self.keyword.problems()]

    def close(self) -> None:
        self.hnsw.close()


def index_faults(indexes: Indexes, *, query: str = "graphene sheet", limit: int = 10**6) -> list[str]:
    """Where a search says something else than a plain scan of the library, one line each."""
    faults = []
    vectors, words = scan(indexes.source, query)
    serving = indexes.source.generation()
    if serving is not None and vectors:
        direction = np.ones(serving[1], np.float32)
        for index in (indexes.exact, *([indexes.hnsw] if indexes.has_graph else [])):
            found = {hit.chunk_id for hit in index.search(direction, papers=None, limit=limit)}
            faults += _unlike(index.name, found, vectors)
            papers = sorted({paper for paper, _ in vectors.values()})[:2]
            inside = {chunk for chunk, (paper, _) in vectors.items() if paper in papers}
            found = {hit.chunk_id for hit in index.search(direction, papers=papers, limit=limit)}
            faults += _unlike(f"{index.name} in a scope", found, inside)
        best = indexes.exact.search(direction, papers=None, limit=1)[0]
        top = max(score for _, score in vectors.values())
        if abs(best.score - top) > 1e-4:
            faults.append(f"exact: the nearest chunk has {best.score}, a scan finds {top}")
    found = {hit.chunk_id for hit in indexes.keyword.search(query, papers=None, limit=limit)}
    return faults + _unlike("keyword", found, words)


def scan(source: LibraryIndexSource, query: str) -> tuple[dict[int, tuple[int, float]], set[int]]:
    """Every chunk with a vector, with its paper and its cosine with a vector of ones; and every chunk that
    holds a term of the query. Read plainly from the library."""
    vectors: dict[int, tuple[int, float]] = {}
    words: set[int] = set()
    wanted = set(query_terms(query))
    for paper in [p for p, there in source.changed_since(0).items() if there]:
        ids, rows = source.vectors(paper)
        for chunk, row in zip(ids, np.asarray(rows, np.float64), strict=True):
            vectors[chunk] = (paper, float(row.sum() / np.linalg.norm(row) / np.sqrt(len(row))))
        for chunk, title, text in source.chunk_texts(paper):
            if wanted & {*terms(title), *terms(text)}:
                words.add(chunk)
    return vectors, words


def _unlike(name: str, found: set[int], wanted: Any) -> list[str]:
    missing, foreign = set(wanted) - found, found - set(wanted)
    if not missing and not foreign:
        return []
    return [f"{name}: {len(missing)} chunks missing, {len(foreign)} that should not be there"]

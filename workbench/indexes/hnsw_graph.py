"""An HNSW graph (duckdb-vss) in a database file of its own, written once and then only read.

Facts that decide this shape: deleted rows stay in the graph and crowd out live ones, a filter is applied
after the graph took its nearest rows, and a file opened for writing without the extension loses its graph.
So a graph is never changed and never filtered, it is opened read-only by a connection that has loaded the
extension, and its size is compared with what was put in before it answers.

Method: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical
Navigable Small World graphs", 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import duckdb
import numpy as np

from workbench.indexes.ranking import ranked_hits
from workbench.indexes.reading import PaperRows
from workbench.indexes.vector_file import UnusableIndexError
from workbench.records import Hit

ROWS_PER_INSERT = 4096
LEAST_WIDTH = 256
"""Nodes the search keeps in view (ef_search): question-like queries need more than the usual 64."""


def nearest_sql(dimension: int) -> str:
    """The query the graph answers. Only distance ascending with a limit uses it."""
    return (
        "SELECT chunk_id, paper_id, embedding FROM graph.vectors"
        f" ORDER BY array_cosine_distance(embedding, ?::FLOAT[{int(dimension)}]) LIMIT ?"
    )


def extension_file() -> Path | None:
    """The packaged vss extension for this DuckDB; ``None`` where the package or the version is missing."""
    package = find_spec("duckdb_extension_vss")
    for folder in package.submodule_search_locations or () if package else ():
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / "vss.duckdb_extension"
        if path.is_file():
            return path
    return None


class HnswGraph:
    """One finished graph, open for reading. Safe to share between threads.

    Raises UnusableIndexError where the file is missing or damaged or its graph does not hold ``rows`` rows.
    """

    def __init__(self, path: Path, *, dimension: int, rows: int) -> None:
        self._dimension = dimension
        self._connection = _connected(path.parent)
        try:
            self._connection.execute(f"ATTACH {_quoted(path)} AS graph (READ_ONLY)")
            held = self._connection.execute(
                "SELECT count FROM pragma_hnsw_index_info() WHERE catalog_name = 'graph'"
            ).fetchall()
        except duckdb.Error as error:
            self.close()
            raise UnusableIndexError(f"The graph cannot be opened: {error}") from error
        if held != [(rows,)]:
            self.close()
            raise UnusableIndexError(f"The graph holds {held} rows where {rows} were put in.")

    def nearest(self, query: np.ndarray, limit: int) -> list[Hit]:
        """About the ``limit`` nearest rows, scored exactly, best first, ties by chunk id.

        Raises UnusableIndexError.
        """
        try:
            # A cursor per call, because DuckDB connections are not for sharing; the setting is its own.
            cursor = self._connection.cursor()
            cursor.execute(f"SET hnsw_ef_search = {max(LEAST_WIDTH, int(limit))}")
            found = cursor.execute(nearest_sql(self._dimension), [query.tolist(), limit]).fetchnumpy()
        except duckdb.Error as error:
            raise UnusableIndexError(f"The graph cannot be read: {error}") from error
        if not len(found["chunk_id"]):
            return []
        vectors = np.stack(list(found["embedding"])).astype(np.float32, copy=False)
        return ranked_hits(found["chunk_id"], found["paper_id"], np.vecdot(vectors, query), limit)

    def close(self) -> None:
        self._connection.close()


def build_graph(path: Path, papers: Iterable[PaperRows], *, dimension: int) -> int:
    """Writes a new graph of all rows to ``path`` and returns how many there are.

    Takes 1 to 2 ms per row. Raises UnusableIndexError where DuckDB cannot, or a row has another dimension.
    """
    connection = _connected(path.parent)
    try:
        connection.execute("SET hnsw_enable_experimental_persistence = true")
        connection.execute(f"ATTACH {_quoted(path)} AS graph")
        connection.execute(
            "CREATE TABLE graph.vectors (chunk_id BIGINT NOT NULL, paper_id BIGINT NOT NULL,"
            f" embedding FLOAT[{int(dimension)}] NOT NULL)"
        )
        rows = sum(_insert(connection, group, dimension) for group in _grouped(papers))
        connection.execute(
            "CREATE INDEX graph_of_vectors ON graph.vectors USING HNSW (embedding) WITH (metric = 'cosine')"
        )
        connection.execute("CHECKPOINT graph")
        connection.execute("DETACH graph")
    except duckdb.Error as error:
        raise UnusableIndexError(f"The graph cannot be built: {error}") from error
    finally:
        connection.close()
    return rows


def _connected(folder: Path) -> duckdb.DuckDBPyConnection:
    """A connection with vss, loaded before any file of ours is opened. Raises UnusableIndexError."""
    extension = extension_file()
    if extension is None:
        raise UnusableIndexError(
            f"duckdb-extension-vss {duckdb.__version__} is not installed, so there is no HNSW index."
        )
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": str(folder / "spill"),
    }
    try:
        connection = duckdb.connect(config=config)
        connection.execute(f"LOAD {_quoted(extension)}")
        # Compressed vectors are larger and slower to read.
        connection.execute("SET disabled_compression_methods = 'alp,alprd'")
    except duckdb.Error as error:
        raise UnusableIndexError(f"The vss extension cannot be loaded: {error}") from error
    return connection


def _insert(connection: duckdb.DuckDBPyConnection, papers: Sequence[PaperRows], dimension: int) -> int:
    """Rows inserted. One numpy column per dimension is five times faster than arrays as Python objects."""
    vectors = np.concatenate([paper.vectors for paper in papers])
    if vectors.shape[1] != dimension:
        raise UnusableIndexError("The library has just switched its embedder.")
    columns = {f"c{place}": np.ascontiguousarray(vectors[:, place]) for place in range(dimension)}
    columns["chunk_id"] = np.concatenate([paper.chunk_ids for paper in papers])
    columns["paper_id"] = np.concatenate([np.full(len(p.chunk_ids), p.paper_id) for p in papers])
    connection.register("incoming", columns)
    names = ", ".join(f"c{place}" for place in range(dimension))
    connection.execute(
        f"INSERT INTO graph.vectors SELECT chunk_id, paper_id, array_value({names}) FROM incoming"
    )
    connection.unregister("incoming")
    return len(vectors)


def _grouped(papers: Iterable[PaperRows]) -> Iterator[list[PaperRows]]:
    group: list[PaperRows] = []
    rows = 0
    for paper in papers:
        group.append(paper)
        rows += len(paper.chunk_ids)
        if rows >= ROWS_PER_INSERT:
            yield group
            group, rows = [], 0
    if group:
        yield group


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"

"""Generations of vectors: one per embedder the library has used, one of them serving searches."""

from __future__ import annotations

from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, NotFoundError, ProviderError
from workbench.storage import revisions
from workbench.storage.cleaning import clean_text

MAX_DIMENSION = 16_384


@dataclass(frozen=True, slots=True)
class Generation:
    """The vectors of one embedder. ``dimension`` is their length."""

    generation: int
    embedder: str
    dimension: int
    serving: bool


def vector_table(generation: int) -> str:
    """Name of the table that holds a generation's vectors."""
    return f"vectors_{int(generation)}"


def all_generations(cursor: DuckDBPyConnection) -> tuple[Generation, ...]:
    """Every generation of the library, oldest first."""
    rows = cursor.execute(
        "SELECT generation, embedder, dimension, serving FROM generations ORDER BY generation"
    ).fetchall()
    return tuple(Generation(*row) for row in rows)


def serving(cursor: DuckDBPyConnection) -> Generation | None:
    """The generation that answers searches; ``None`` before the first vector."""
    return next((g for g in all_generations(cursor) if g.serving), None)


def get(cursor: DuckDBPyConnection, generation: int) -> Generation:
    """One generation. Raises NotFoundError."""
    for known in all_generations(cursor):
        if known.generation == generation:
            return known
    raise NotFoundError(f"This library has no generation {generation} of vectors.")


def begin(cursor: DuckDBPyConnection, embedder_name: str, dimension: int) -> Generation:
    """The generation of this embedder, made with its empty vector table where the library has none.

    The library's first generation serves at once. A later one is built beside it, and takes over with
    ``serve`` when it is complete.
    """
    name = clean_text(embedder_name)
    if not 1 <= dimension <= MAX_DIMENSION:
        raise ProviderError(
            f"The embedder {name} gives vectors of {dimension} numbers, and 1 to {MAX_DIMENSION} can be "
            "stored: choose another embedder."
        )
    known = all_generations(cursor)
    for generation in known:
        if (generation.embedder, generation.dimension) == (name, dimension):
            return generation
    new = Generation(max((g.generation for g in known), default=0) + 1, name, dimension, serving=not known)
    cursor.execute(
        f"CREATE TABLE {vector_table(new.generation)}"
        f" (chunk_id BIGINT NOT NULL, paper_id BIGINT NOT NULL, embedding FLOAT[{int(dimension)}] NOT NULL)"
    )
    cursor.execute(
        "INSERT INTO generations (generation, embedder, dimension, serving) VALUES (?, ?, ?, ?)",
        [new.generation, new.embedder, new.dimension, new.serving],
    )
    return new


def papers_without(cursor: DuckDBPyConnection, generation: int) -> list[int]:
    """Ids of the papers that have chunks but not every vector of this generation, in order."""
    get(cursor, generation)
    rows = cursor.execute(
        "SELECT p.paper_id FROM papers p"
        f" LEFT JOIN (SELECT paper_id, count(*) AS n FROM {vector_table(generation)} GROUP BY paper_id) v"
        " USING (paper_id) WHERE p.chunk_count > coalesce(v.n, 0) ORDER BY p.paper_id"
    ).fetchall()
    return [row[0] for row in rows]


def move_to(cursor: DuckDBPyConnection, generation: int) -> None:
    """Notes that the whole library shall have this generation, in place of any other one it was moving to.
    Where it serves already the library moves nowhere."""
    wanted = get(cursor, generation)
    if move_target(cursor) == wanted:
        return
    cursor.execute("DELETE FROM moves")
    if not wanted.serving:
        cursor.execute("INSERT INTO moves (generation) VALUES (?)", [generation])


def move_target(cursor: DuckDBPyConnection) -> Generation | None:
    """The generation that the whole library was told to move to and does not serve yet."""
    row = cursor.execute("SELECT generation FROM moves").fetchone()
    return None if row is None else get(cursor, row[0])


def under_way(cursor: DuckDBPyConnection) -> tuple[Generation, int] | None:
    """The generation that the library moves to, and how many papers lack it yet."""
    target = move_target(cursor)
    return None if target is None else (target, len(papers_without(cursor, target.generation)))


def serve(cursor: DuckDBPyConnection, generation: int) -> None:
    """Lets this generation answer searches from now on. For derived indexes every paper has changed then.

    Raises ConflictError while a paper that searches find now would have no vector then.
    """
    get(cursor, generation)
    missing = papers_without(cursor, generation)
    if missing:
        raise ConflictError(
            f"{len(missing)} papers have no vectors of the new embedder yet: "
            "finish reprocessing them, then switch."
        )
    cursor.execute("DELETE FROM moves WHERE generation = ?", [generation])
    cursor.execute("UPDATE generations SET serving = (generation = ?)", [generation])
    cursor.execute("UPDATE papers SET generation = ?", [generation])
    cursor.execute("UPDATE paper_changes SET revision = ? WHERE present", [revisions.advance(cursor)])


def drop(cursor: DuckDBPyConnection, generation: int) -> None:
    """Removes a generation that does not serve, with its vectors. Raises ConflictError if it does."""
    if get(cursor, generation).serving:
        raise ConflictError("These vectors answer searches now: switch to other ones before removing them.")
    cursor.execute("DELETE FROM moves WHERE generation = ?", [generation])
    cursor.execute(f"DROP TABLE {vector_table(generation)}")
    cursor.execute("DELETE FROM generations WHERE generation = ?", [generation])
    cursor.execute("UPDATE papers SET generation = NULL WHERE generation = ?", [generation])

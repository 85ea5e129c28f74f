"""What derived indexes read from the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.storage import generations, revisions, vectors
from workbench.storage.database import Database

if TYPE_CHECKING:
    import numpy


class LibraryIndexSource:
    """Implements ``interfaces.IndexSource``. Each call is a short read lease of its own.

    A caller that makes many calls in a row wraps them in ``reading()``: the file is opened once, and all
    calls see the same state of the library.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One lease for all calls this thread makes inside the block."""
        with self._database.read():
            yield

    def revision(self) -> int:
        with self._database.read() as cursor:
            return revisions.latest(cursor)

    def has_been(self, revision: int) -> bool:
        with self._database.read() as cursor:
            return revisions.has_been(cursor, revision)

    def changed_since(self, revision: int) -> dict[int, bool]:
        with self._database.read() as cursor:
            return revisions.since(cursor, revision)

    def chunk_ids(self, paper_id: int) -> list[int]:
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT chunk_id FROM chunks WHERE paper_id = ? ORDER BY ordinal", [paper_id]
            ).fetchall()
        return [row[0] for row in rows]

    def chunk_texts(self, paper_id: int) -> list[tuple[int, str, str]]:
        with self._database.read() as cursor:
            rows = cursor.execute(
                "SELECT c.chunk_id, p.title, c.heading, c.text FROM chunks c JOIN papers p USING (paper_id)"
                " WHERE c.paper_id = ? ORDER BY c.ordinal",
                [paper_id],
            ).fetchall()
        return [(i, f"{title}\n{heading}" if heading else title, text) for i, title, heading, text in rows]

    def vectors(self, paper_id: int) -> tuple[list[int], numpy.ndarray]:
        import numpy

        with self._database.read() as cursor:
            serving = generations.serving(cursor)
            if serving is None:
                return [], numpy.empty((0, 0), dtype=numpy.float32)
            return vectors.of_paper(cursor, paper_id, generation=serving)

    def generation(self) -> tuple[int, int] | None:
        with self._database.read() as cursor:
            serving = generations.serving(cursor)
        return None if serving is None else (serving.generation, serving.dimension)

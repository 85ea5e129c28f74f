from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.storage import small_papers
from workbench.storage import generations, papers
from workbench.storage.database import Database

AddPaper = Callable[..., int]


@pytest.fixture(scope="session")
def new_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an empty library, made once: copying it is ten times faster than making another."""
    path = tmp_path_factory.mktemp("new") / "library.duckdb"
    Database(path).close()
    return path


@pytest.fixture
def database(tmp_path: Path, new_library: Path) -> Iterator[Database]:
    """An empty library of its own."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    shutil.copy(new_library, home / "library.duckdb")
    opened = Database(home / "library.duckdb", lock_timeout=10)
    yield opened
    opened.close()


@pytest.fixture
def add_paper(database: Database) -> AddPaper:
    """Adds the small paper about a word for a user, with vectors, and returns its id."""

    def add(word: str, *, user: str = "ann", **shape: int) -> int:
        made = small_papers.draft(word, **shape)
        with database.write() as cursor:
            generation = generations.begin(cursor, "small", small_papers.DIMENSION)
            paper_id = papers.insert(cursor, made, generation=generation.generation)
            papers.link(cursor, user, paper_id, file=f"{word}.txt")
        return paper_id

    return add

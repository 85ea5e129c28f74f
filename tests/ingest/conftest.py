from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.ingest.sandbox import Reader
from workbench.storage.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty library of its own."""
    opened = Database(tmp_path / "library" / "library.duckdb", lock_timeout=20)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def shared_reader() -> Iterator[Reader]:
    """One reading process for all tests that do no harm to it."""
    with Reader(timeout=60) as opened:
        yield opened

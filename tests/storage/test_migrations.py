from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.torture.history import make_old
from workbench.errors import LibraryError, LibraryVersionError
from workbench.storage import maintenance, migrate, papers
from workbench.storage.database import Database
from workbench.storage.migrate import Migration

FIRST = Migration(1, "first", "CREATE TABLE shelf (book VARCHAR); INSERT INTO shelf VALUES ('one')")
SECOND = Migration(2, "second", "ALTER TABLE shelf ADD COLUMN page INTEGER; UPDATE shelf SET page = 7")
BROKEN = Migration(2, "broken", "INSERT INTO shelf VALUES ('two'); SELECT * FROM nothing_like_it")


@pytest.fixture
def cursor() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:")


def records(cursor: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return cursor.execute("SELECT number, name, sha256 FROM migrations ORDER BY number").fetchall()


def test_each_migration_is_applied_once_with_its_hash(cursor: duckdb.DuckDBPyConnection) -> None:
    assert migrate.pending(cursor, (FIRST, SECOND)) == (FIRST, SECOND)
    migrate.apply(cursor, FIRST)
    assert migrate.pending(cursor, (FIRST, SECOND)) == (SECOND,)
    migrate.apply(cursor, SECOND)
    assert migrate.pending(cursor, (FIRST, SECOND)) == ()
    assert records(cursor) == [(1, "first", FIRST.sha256), (2, "second", SECOND.sha256)]
    assert cursor.execute("SELECT * FROM shelf").fetchall() == [("one", 7)]


def test_a_migration_that_fails_leaves_nothing_and_no_record(cursor: duckdb.DuckDBPyConnection) -> None:
    migrate.apply(cursor, FIRST)
    with pytest.raises(duckdb.CatalogException):
        migrate.apply(cursor, BROKEN)
    assert records(cursor) == [(1, "first", FIRST.sha256)]
    assert cursor.execute("SELECT * FROM shelf").fetchall() == [("one",)]


def test_an_edited_migration_is_noticed(cursor: duckdb.DuckDBPyConnection) -> None:
    migrate.apply(cursor, FIRST)
    edited = Migration(1, "first", FIRST.sql + " -- better")
    with pytest.raises(LibraryError, match="Schema change 1 .first. of this library is not the one"):
        migrate.pending(cursor, (edited,))


def test_a_library_of_a_newer_program_is_refused_and_left_alone(database: Database) -> None:
    with database.write() as cursor:
        cursor.execute("INSERT INTO migrations (number, name, sha256) VALUES (99, 'later', 'x')")
    latest = migrate.known()[-1].number
    with pytest.raises(LibraryVersionError, match=f"schema 99 and this program knows {latest}: update"):
        Database(database.path)
    with duckdb.connect(str(database.path), read_only=True) as connection:
        assert connection.execute("SELECT max(number) FROM migrations").fetchone() == (99,)


def test_the_programs_own_migrations_are_numbered_without_a_gap() -> None:
    assert [m.number for m in migrate.known()] == list(range(1, len(migrate.known()) + 1))


DIE_AFTER = """
import os, sys
from pathlib import Path
from workbench.storage import migrate
from workbench.storage.opening import Patience, open_connection
path, number = Path(sys.argv[1]), int(sys.argv[2])
cursor = open_connection(path, read_only=False, patience=Patience.of(10), create=True)
for migration in migrate.pending(cursor)[:number]:
    migrate.apply(cursor, migration)
os._exit(9)
"""


@pytest.mark.parametrize("number", range(1, migrate.known()[-1].number + 1))
@pytest.mark.parametrize("schema", [0, 1])
def test_a_process_killed_just_after_any_migration_leaves_a_library_that_opens(
    tmp_path: Path, number: int, schema: int
) -> None:
    """DuckDB alone does not open some of them: it cannot replay the log."""
    folder = make_old(tmp_path / "shelf", schema=schema) if schema else tmp_path
    path = folder / "library.duckdb"
    done = subprocess.run([sys.executable, "-c", DIE_AFTER, str(path), str(number)], check=False)
    assert done.returncode == 9
    opened = Database(path)
    with opened.read() as cursor:
        assert migrate.pending(cursor) == ()
        assert len(papers.list_papers(cursor, "ann")) == 3 * schema
    assert maintenance.doctor(opened) == []


@pytest.mark.parametrize("names", [("0002_second.sql",), ("first.sql",), ()])
def test_an_installation_with_missing_migrations_says_so(tmp_path: Path, names: tuple[str, ...]) -> None:
    for name in names:
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(LibraryError, match="installation"):
        migrate.known(tmp_path)


def test_an_up_to_date_library_opens_beside_a_reader(
    database: Database, add_paper: Callable[..., int]
) -> None:
    """Opening must not need the file for itself when there is nothing to change."""
    paper_id = add_paper("steady")
    with database.read():
        again = Database(database.path, lock_timeout=1)
        with again.read() as cursor:
            assert papers.get(cursor, "ann", paper_id).title == "On steady"
    assert maintenance.doctor(database) == []

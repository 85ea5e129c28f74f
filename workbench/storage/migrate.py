"""Numbered schema changes: ``migrations/NNNN_name.sql``, each applied once, with its record."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from duckdb import DuckDBPyConnection

from workbench.errors import LibraryError, LibraryVersionError

_FOLDER = Path(__file__).parent / "migrations"
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. Its hash is stored when it is applied: an applied file is never edited."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def known(folder: Path = _FOLDER) -> tuple[Migration, ...]:
    """The migrations this program has, in order, numbered 1, 2, 3 … without a gap."""
    found = []
    for file in sorted(folder.glob("*.sql")):
        match = _FILE.fullmatch(file.name)
        if match is None:
            raise LibraryError(f"{file.name} is not a migration's name: this installation is damaged.")
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
        found.append(Migration(int(match[1]), match[2], text))
    if not found or [m.number for m in found] != list(range(1, len(found) + 1)):
        raise LibraryError("Migrations are missing from this installation: install the workbench again.")
    return tuple(found)


def pending(
    cursor: DuckDBPyConnection, migrations: tuple[Migration, ...] | None = None
) -> tuple[Migration, ...]:
    """The migrations still to apply.

    Raises LibraryVersionError for a library that has more than this program knows, LibraryError where an
    applied one differs from ours or the file is some other program's database.
    """
    wanted = known() if migrations is None else migrations
    tables = {row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if "migrations" not in tables:
        if tables:
            raise LibraryError("This DuckDB file is not a library of the workbench: choose another file.")
        return wanted
    applied = dict(cursor.execute("SELECT number, sha256 FROM migrations").fetchall())
    newest = max(applied, default=0)
    if newest > len(wanted):
        raise LibraryVersionError(
            f"This library has schema {newest} and this program knows {len(wanted)}: "
            "update the workbench to open it."
        )
    for migration in wanted[:newest]:
        if applied.get(migration.number) != migration.sha256:
            raise LibraryError(
                f"Schema change {migration.number} ({migration.name}) of this library is not the one "
                "this program has: open it with the workbench that wrote it."
            )
    return wanted[newest:]


def apply(cursor: DuckDBPyConnection, migration: Migration) -> None:
    """Applies one migration with its record, in one transaction."""
    cursor.execute("BEGIN TRANSACTION")
    try:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name VARCHAR NOT NULL,"
            " sha256 VARCHAR NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"
        )
        cursor.execute(migration.sql)
        cursor.execute(
            "INSERT INTO migrations (number, name, sha256) VALUES (?, ?, ?)",
            [migration.number, migration.name, migration.sha256],
        )
    except BaseException:
        cursor.execute("ROLLBACK")
        raise
    cursor.execute("COMMIT")

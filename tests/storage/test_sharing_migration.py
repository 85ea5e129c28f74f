from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import pytest

from workbench.storage import maintenance, migrate, papers, shares
from workbench.storage.database import Database


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """A library of the schema before shares had an owner: three papers, two of them shared."""
    folder = tmp_path / "old"
    folder.mkdir(mode=0o700)
    path = folder / "library.duckdb"
    with duckdb.connect(str(path)) as cursor:
        for migration in migrate.known()[:2]:
            migrate.apply(cursor, migration)
        for number, shared in ((1, True), (2, True), (3, False)):
            cursor.execute(
                "INSERT INTO papers (paper_id, sha256, kind, title, authors, page_unit, page_count,"
                " chunk_count, shared) VALUES (?, ?, 'txt', ?, ['A. Author'], 'section', 0, 0, ?)",
                [number, hashlib.sha256(b"%d" % number).hexdigest(), f"Paper {number}", shared],
            )
            cursor.execute("INSERT INTO sources VALUES (?, 0, ?)", [number, b"%d" % number])
            cursor.execute("INSERT INTO paper_changes VALUES (?, ?, true)", [number, number])
        cursor.execute(
            "INSERT INTO library_links (user_name, paper_id, file, added_at) VALUES"
            " ('ann', 1, 'one.txt', '2020-01-01'), ('bob', 1, 'one.txt', '2021-01-01'),"
            " ('bob', 3, 'three.txt', '2021-01-01')"
        )
    return path


def test_an_older_librarys_shares_belong_to_who_added_the_paper_first(before: Path) -> None:
    database = Database(before)
    with database.read() as cursor:
        assert cursor.execute("SELECT paper_id, user_name FROM shares ORDER BY paper_id").fetchall() == [
            (1, "ann"),
            (2, ""),
        ]
        assert papers.get(cursor, "bob", 1).authors == ("A. Author",)
    with database.write() as cursor:
        shares.unshare(cursor, "ann", 1)
    assert maintenance.doctor(database) == []
    database.close()

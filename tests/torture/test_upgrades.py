"""Libraries of every earlier schema, with rows in every table of their time, and of later ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import workbench
from tests.torture.history import empty_tables, make_old, newest
from tests.torture.libraries import NAME, opened
from tests.torture.truth import Indexes, index_faults
from workbench import Scope
from workbench.errors import LibraryVersionError

Rows = dict[str, list[tuple[Any, ...]]]


def rows_of(path: Path, like: Rows | None = None) -> Rows:
    """Every row of every table; of the columns alone that ``like`` has, under ``"table column …"``."""
    with duckdb.connect(str(path), read_only=True) as cursor:
        if like is None:
            named = cursor.execute(
                "SELECT table_name || ' ' || string_agg(column_name, ' ' ORDER BY column_index)"
                " FROM duckdb_columns() WHERE NOT internal AND table_name <> 'migrations' GROUP BY table_name"
            ).fetchall()
            names = [row[0] for row in named]
        else:
            names = list(like)
        found = {}
        for name in names:
            table, *columns = name.split()
            # As text: a time with its zone would need a library more.
            shown = ", ".join(f"{column}::VARCHAR" for column in columns)
            query = f"SELECT {shown} FROM {table} ORDER BY ALL"
            found[name] = cursor.execute(query).fetchall()
        return found


@pytest.mark.parametrize("schema", range(1, newest()))
def test_a_library_of_an_earlier_schema_opens_and_keeps_everything(tmp_path: Path, schema: int) -> None:
    folder = make_old(tmp_path / "old", schema=schema)
    with duckdb.connect(str(folder / NAME), read_only=True) as cursor:
        assert empty_tables(cursor) == []
    before = rows_of(folder / NAME)
    with opened(folder) as wb:
        assert rows_of(folder / NAME, like=before) == before
        assert wb.doctor() == []
        assert [p.title for p in wb.papers.list()][:2] == ["My graphene", "My basalt"]
        assert wb.search("graphene", scope=Scope.ALL).passages
        asked = wb.ask("What did sample 2 of graphene weigh?", scope=wb_scope(wb), provider="extractive")
        assert not asked.refused
        assert wb.projects.get("Shelf").paper_count == 1
        if schema >= 2:
            (talk,) = wb.conversations.list()
            assert [m.text for m in wb.conversations.get(talk.id).messages][:2] == [
                "How heavy?",
                "1.5 grams.",
            ]
            assert [m.text for m in wb.memory.list()] == ["I use basalt."]
        indexes = Indexes(wb._database)
        assert indexes.refresh()
        assert index_faults(indexes) == []
        indexes.close()


def wb_scope(wb: workbench.Workbench) -> Scope:
    return Scope.project(wb.projects.get("Shelf"))


def test_the_newest_schema_has_rows_in_every_table_too(tmp_path: Path) -> None:
    """So that the next migration finds them: give rows to a new table in tests/torture/history.py."""
    folder = make_old(tmp_path / "old", schema=newest())
    with duckdb.connect(str(folder / NAME), read_only=True) as cursor:
        assert empty_tables(cursor) == []
    with opened(folder) as wb:
        assert wb.doctor() == []


def test_a_library_of_a_newer_program_is_refused_in_one_sentence_and_not_changed(tmp_path: Path) -> None:
    folder = make_old(tmp_path / "new", schema=newest())
    with duckdb.connect(str(folder / NAME)) as cursor:
        cursor.execute("INSERT INTO migrations (number, name, sha256) VALUES (99, 'later', 'x')")
    before = (folder / NAME).read_bytes()
    with pytest.raises(LibraryVersionError) as refused:
        opened(folder)
    sentence = (
        f"This library has schema 99 and this program knows {newest()}: update the workbench to open it."
    )
    assert str(refused.value) == sentence
    assert (folder / NAME).read_bytes() == before


def of_a_later_engine(file: bytes) -> bytes:
    """A DuckDB file with a later number of its format, in bytes 12 to 19, under its right checksum."""
    head = file[8:12] + (9999).to_bytes(8, "little") + file[20:4096]
    checksum = 5381
    for place in range(0, len(head), 8):
        checksum ^= int.from_bytes(head[place : place + 8], "little") * 0xBF58476D1CE4E5B9 % 2**64
    return checksum.to_bytes(8, "little") + head + file[4096:]


def test_a_library_of_a_newer_engine_is_refused_in_one_sentence_and_not_changed(tmp_path: Path) -> None:
    folder = make_old(tmp_path / "new", schema=newest())
    path = folder / NAME
    before = of_a_later_engine(path.read_bytes())
    path.write_bytes(before)
    with pytest.raises(LibraryVersionError) as refused:
        opened(folder)
    assert "was written by a newer program" in str(refused.value)
    assert "Update this one to open it." in str(refused.value)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before

"""A backup examined apart and put in the library's place."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from workbench.errors import InvalidInputError, LibraryError, LibraryLockedError, NotFoundError
from workbench.storage import maintenance, papers
from workbench.storage.database import Database
from workbench.storage.examining import examine_apart
from workbench.storage.restoring import restore

AddPaper = Callable[..., int]


def titles(path: Path) -> list[str]:
    with Database(path).read() as cursor:
        return [paper.title for paper in papers.list_papers(cursor, "ann")]


def log_left_by_a_kill(path: Path) -> bytes:
    """Changes a title in the library at ``path``, as its log alone says it; returns what is in the log."""
    log = path.with_name(path.name + ".wal")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE papers SET title = 'Of the log'")
        before, found = path.read_bytes(), log.read_bytes()
    path.write_bytes(before)
    log.write_bytes(found)
    return found


@pytest.fixture
def backup(database: Database, add_paper: AddPaper, tmp_path: Path) -> Path:
    add_paper("one")
    return maintenance.backup(database, tmp_path / "copy.duckdb")


def test_a_backup_takes_the_librarys_place_and_what_was_there_is_kept(
    database: Database, add_paper: AddPaper, backup: Path
) -> None:
    add_paper("two")
    before = backup.read_bytes()
    kept = restore(backup, database.path)
    assert kept is not None
    assert titles(database.path) == ["On one"]
    assert titles(kept) == ["On one", "On two"]
    assert maintenance.doctor(database) == maintenance.doctor(Database(kept)) == []
    assert backup.read_bytes() == before


def test_a_backup_can_be_restored_where_there_is_no_library(backup: Path, tmp_path: Path) -> None:
    assert restore(backup, tmp_path / "new" / "library.duckdb") is None
    assert titles(tmp_path / "new" / "library.duckdb") == ["On one"]


def test_a_log_without_its_library_is_not_taken_for_one_of_the_backup(
    database: Database, add_paper: AddPaper, backup: Path
) -> None:
    log = log_left_by_a_kill(database.path)
    database.path.unlink()
    assert restore(backup, database.path) is None
    assert titles(database.path) == ["On one"]
    assert maintenance.doctor(database) == []
    (kept,) = database.path.parent.glob("library-before-*.duckdb.wal")
    assert kept.read_bytes() == log


def test_what_only_the_log_of_a_copied_library_has_is_restored_too(
    database: Database, backup: Path, tmp_path: Path
) -> None:
    log = log_left_by_a_kill(backup)
    restore(backup, database.path)
    assert titles(database.path) == ["Of the log"]
    assert not database.path.with_name("library.duckdb.wal").exists()
    assert backup.with_name("copy.duckdb.wal").read_bytes() == log


def test_a_place_that_takes_no_folder_is_told_in_words(backup: Path) -> None:
    with pytest.raises(LibraryError, match="The backup cannot be written to .+: File exists"):
        restore(backup, backup / "library.duckdb")


def test_a_damaged_library_gives_way_to_its_backup(database: Database, backup: Path) -> None:
    whole = database.path.read_bytes()
    database.path.write_bytes(whole[: len(whole) * 6 // 10])
    assert examine_apart(database.path) != []
    kept = restore(backup, database.path)
    assert titles(database.path) == ["On one"]
    assert kept is not None
    assert kept.stat().st_size == len(whole) * 6 // 10


@pytest.mark.parametrize(
    ("share", "problem"),
    [
        (0, "it is not a library"),
        (10, "it cannot be read or written: .+"),
        (60, "it cannot be read or written: .+"),
        (99, "it cannot be read or written: .+"),
    ],
)
def test_a_backup_that_is_cut_short_is_refused_and_nothing_changes(
    database: Database, backup: Path, share: int, problem: str
) -> None:
    broken = backup.with_name("broken.duckdb")
    broken.write_bytes(backup.read_bytes()[: backup.stat().st_size * share // 100])
    before = database.path.read_bytes()
    with pytest.raises(LibraryError) as refused:
        restore(broken, database.path)
    told = rf"is no sound backup \({problem}\)\. Nothing was changed\. Choose another backup\."
    assert re.fullmatch(f"{re.escape(str(broken))} {told}", str(refused.value))
    assert "restore" not in str(refused.value)
    assert database.path.read_bytes() == before


def test_what_is_no_backup_is_refused(database: Database, backup: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="There is no backup"):
        restore(tmp_path / "nowhere.duckdb", database.path)
    with pytest.raises(InvalidInputError, match="is the library itself"):
        restore(database.path, database.path)
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear reader, this is a letter.")
    with pytest.raises(LibraryError) as refused:
        restore(letter, database.path)
    assert str(refused.value) == (
        f"{letter} is no sound backup (it is not a library). Nothing was changed. Choose another backup."
    )


def test_a_name_that_no_backup_can_have_is_refused_in_a_sentence(database: Database, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for name in (loop, Path("~nobody-has-this-name/x"), Path("x" * 300), Path("a\0b")):
        with pytest.raises(NotFoundError, match="There is no backup"):
            restore(name, database.path)


def test_a_library_in_use_is_not_replaced(database: Database, backup: Path, tmp_path: Path) -> None:
    other = Database(database.path)
    with other.read(), pytest.raises((LibraryLockedError, RuntimeError)):
        restore(backup, database.path, lock_timeout=0.3)
    assert not list(tmp_path.rglob("*-before-*"))


def test_examining_an_older_library_reads_it_whole(tmp_path: Path) -> None:
    from tests.torture.history import make_old

    folder = make_old(tmp_path / "old", schema=2)
    assert examine_apart(folder / "library.duckdb") == []
    shutil.rmtree(folder)

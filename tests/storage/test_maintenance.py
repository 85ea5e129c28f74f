from __future__ import annotations

import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.storage.small_papers import draft
from workbench.errors import ConflictError, LibraryError, LibraryLockedError
from workbench.storage import generations, maintenance, papers, projects, soundness
from workbench.storage.database import Database

AddPaper = Callable[..., int]


@pytest.fixture
def stocked(database: Database, add_paper: AddPaper) -> Database:
    for word in ("one", "two", "three"):
        add_paper(word)
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "p")
        projects.add_paper(cursor, "ann", project.id, 1)
    return database


def test_a_sound_library_has_no_problem_and_known_counts(stocked: Database) -> None:
    assert maintenance.doctor(stocked) == []
    found = {f.check: f.count for f in maintenance.examine(stocked)}
    assert {name: found[name] for name in ("papers", "pages", "chunks", "projects")} == {
        "papers": 3, "pages": 6, "chunks": 12, "projects": 1,
    }  # fmt: skip


def test_an_empty_library_is_sound(database: Database) -> None:
    assert maintenance.doctor(database) == []


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            "DELETE FROM pages WHERE paper_id = 1 AND page = 1",
            "papers without every page they should have: 1",
        ),
        (
            "DELETE FROM chunks WHERE paper_id = 1 AND ordinal = 0",
            "papers without every chunk they should have: 1",
        ),
        ("DELETE FROM chunks WHERE paper_id = 1 AND ordinal = 0", "vectors_1: vectors of no chunk: 1"),
        ("DELETE FROM sources WHERE paper_id = 2", "papers without their source file: 1"),
        (
            "UPDATE sources SET data = 'else'::BLOB WHERE paper_id < 3",
            "stored files that are not the ones added: 2",
        ),
        ("DELETE FROM papers WHERE paper_id = 3", "pages of no paper: 2"),
        ("DELETE FROM papers WHERE paper_id = 3", "chunks of no paper: 4"),
        ("DELETE FROM papers WHERE paper_id = 3", "sources of no paper: 1"),
        ("DELETE FROM papers WHERE paper_id = 3", "library links to no paper: 1"),
        ("DELETE FROM papers WHERE paper_id = 3", "removed papers recorded as present: 1"),
        ("DELETE FROM library_links WHERE paper_id = 2", "papers nobody has: 1"),
        ("DELETE FROM projects", "project entries without their project or paper: 1"),
        ("DELETE FROM paper_changes WHERE paper_id = 1", "papers without a record of their last change: 1"),
        ("UPDATE chunks SET page_end = 9 WHERE chunk_id = 1", "chunks on pages their paper does not have: 1"),
        ("UPDATE chunks SET text = 'else' WHERE chunk_id = 1", "chunks whose text is not on their page: 1"),
        ("UPDATE chunks SET chunk_id = 2 WHERE chunk_id = 1", "chunk ids used twice: 1"),
        ("DELETE FROM vectors_1 WHERE chunk_id = 1", "vectors_1: chunks without their vector: 1"),
        (
            "INSERT INTO vectors_1 SELECT * FROM vectors_1 WHERE chunk_id = 1",
            "vectors_1: chunks with two vectors: 1",
        ),
        (
            "UPDATE vectors_1 SET embedding = list_transform(range(8), lambda x: 'NaN'::FLOAT)::FLOAT[8]"
            " WHERE chunk_id < 3",
            "vectors_1: vectors that cannot be searched: 2",
        ),
        (
            "UPDATE vectors_1 SET embedding = list_transform(range(8), lambda x: 0)::FLOAT[8]"
            " WHERE chunk_id = 1",
            "vectors_1: vectors that cannot be searched: 1",
        ),
        (
            "UPDATE generations SET dimension = 9",
            "vectors_1: type of the vectors: FLOAT[8], should be FLOAT[9]",
        ),
        ("DROP TABLE vectors_1", "vectors_1: type of the vectors: missing, should be FLOAT[8]"),
        ("UPDATE generations SET serving = false", "one generation of vectors serves searches: 0 of 1"),
    ],
)
def test_each_kind_of_damage_is_found(stocked: Database, damage: str, problem: str) -> None:
    with stocked.write() as cursor:
        cursor.execute(damage)
    assert [line for line in maintenance.doctor(stocked) if line.startswith(problem)] != []
    assert all("\n" not in line for line in maintenance.doctor(stocked))


def snapshot(database: Database) -> dict[str, list[tuple[object, ...]]]:
    with database.read() as cursor:
        tables = [
            r[0] for r in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        ]
        return {
            t: cursor.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {t} ORDER BY ALL").fetchall() for t in tables
        }


def test_compacting_gives_back_the_room_and_keeps_everything(stocked: Database, add_paper: AddPaper) -> None:
    paper_id = add_paper("often", pages=20, chunks=1000)
    for _ in range(6):
        with stocked.write() as cursor:
            papers.replace_index(cursor, paper_id, draft("often", pages=20, chunks=1000), generation=1)
    with stocked.write() as cursor:
        papers.unlink(cursor, "ann", paper_id)
    before = snapshot(stocked)
    size = stocked.path.stat().st_size
    done = maintenance.compact(stocked)
    assert done.before == size
    assert done.after == stocked.path.stat().st_size < size
    assert snapshot(stocked) == before
    assert maintenance.doctor(stocked) == []
    left = sorted(p.name for p in stocked.path.parent.iterdir())
    assert left == ["library.duckdb", "library.duckdb.lock"]


def test_twenty_times_the_same_paper_anew_leave_the_file_within_a_small_factor(
    stocked: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("often", pages=10, chunks=600)
    maintenance.compact(stocked)
    once = stocked.path.stat().st_size
    for _ in range(20):
        with stocked.write() as cursor:
            papers.replace_index(cursor, paper_id, draft("often", pages=10, chunks=600), generation=1)
    assert stocked.path.stat().st_size < 6 * once
    maintenance.compact(stocked)
    assert stocked.path.stat().st_size < 1.5 * once


def test_no_table_has_a_foreign_key(stocked: Database) -> None:
    """DuckDB checks one before the transaction ends, and updates lists of a row by taking it out first."""
    with stocked.read() as cursor:
        kinds = cursor.execute("SELECT DISTINCT constraint_type FROM duckdb_constraints()").fetchall()
    assert ("FOREIGN KEY",) not in kinds


def test_ids_go_on_after_compacting(stocked: Database, add_paper: AddPaper) -> None:
    with stocked.write() as cursor:
        papers.unlink(cursor, "ann", 3)
    maintenance.compact(stocked)
    assert add_paper("four") > 3
    with stocked.write() as cursor:
        assert projects.create(cursor, "ann", "q").id > 1
    assert maintenance.doctor(stocked) == []
    assert Database(stocked.path).path == stocked.path


def test_vectors_stay_uncompressed_after_compacting(stocked: Database, add_paper: AddPaper) -> None:
    add_paper("many", chunks=3000)
    maintenance.compact(stocked)
    with stocked.read() as cursor:
        kinds = cursor.execute(
            "SELECT DISTINCT compression FROM pragma_storage_info('vectors_1') WHERE segment_type = 'FLOAT'"
        ).fetchall()
    assert kinds == [("Uncompressed",)]


def test_compacting_waits_for_this_process_and_keeps_it_waiting(stocked: Database) -> None:
    entered, leave = threading.Event(), threading.Event()
    done: list[maintenance.Compaction] = []

    def read() -> None:
        with stocked.read():
            entered.set()
            leave.wait(10)

    reader = threading.Thread(target=read)
    compacting = threading.Thread(target=lambda: done.append(maintenance.compact(stocked)))
    reader.start()
    assert entered.wait(10)
    compacting.start()
    compacting.join(0.3)
    assert done == []
    leave.set()
    reader.join(10)
    compacting.join(30)
    assert len(done) == 1
    assert maintenance.doctor(stocked) == []


def test_compacting_does_not_touch_a_library_that_another_process_uses(stocked: Database) -> None:
    size = stocked.path.stat().st_size
    code = (
        "import sys, time; from pathlib import Path; from workbench.storage.database import Database\n"
        "with Database(Path(sys.argv[1])).read(): print('in', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(stocked.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(LibraryLockedError, match=f"process {other.pid} "):
            maintenance.compact(Database(stocked.path, lock_timeout=0.5))
    finally:
        other.kill()
        other.communicate()
    assert stocked.path.stat().st_size == size
    assert maintenance.doctor(stocked) == []


def test_maintenance_inside_a_lease_is_a_mistake_that_says_so(stocked: Database) -> None:
    with stocked.read(), pytest.raises(RuntimeError, match="inside a lease of the same thread"):
        maintenance.compact(stocked)
    with (
        stocked.alone(read_only=True),
        pytest.raises(RuntimeError, match="inside maintenance"),
        stocked.read(),
    ):
        pass


def test_a_backup_opens_as_a_library_with_the_same_content(stocked: Database, tmp_path: Path) -> None:
    made = maintenance.backup(stocked, tmp_path / "copy.duckdb")
    assert made == tmp_path / "copy.duckdb"
    copy = Database(made)
    assert snapshot(copy) == snapshot(stocked)
    assert maintenance.doctor(copy) == []
    with copy.write() as cursor:
        assert generations.serving(cursor) is not None
        papers.unlink(cursor, "ann", 1)
    with stocked.read() as cursor:
        assert len(papers.list_papers(cursor, "ann")) == 3


def test_a_backup_into_a_folder_is_named_after_the_library(stocked: Database, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    made = maintenance.backup(stocked, folder)
    assert made.parent == folder
    assert made.name.startswith("library-")
    assert [p.name for p in folder.iterdir()] == [made.name]


def test_a_backup_is_its_makers_alone_and_takes_no_log_of_another_library_for_its_own(
    stocked: Database, tmp_path: Path
) -> None:
    made = maintenance.backup(stocked, tmp_path / "backup.duckdb")
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    made.rename(tmp_path / "elsewhere.duckdb")
    (tmp_path / "backup.duckdb.wal").write_bytes(b"left behind")
    with pytest.raises(ConflictError, match=r"backup\.duckdb\.wal exists already"):
        maintenance.backup(stocked, tmp_path / "backup.duckdb")
    assert not (tmp_path / "backup.duckdb").exists()


def test_a_backup_never_overwrites(stocked: Database, tmp_path: Path) -> None:
    (tmp_path / "there.duckdb").write_text("precious")
    with pytest.raises(ConflictError, match="never overwrites"):
        maintenance.backup(stocked, tmp_path / "there.duckdb")
    with pytest.raises(ConflictError, match="never overwrites"):
        maintenance.backup(stocked, stocked.path)
    with pytest.raises(LibraryError, match="There is no folder"):
        maintenance.backup(stocked, tmp_path / "nowhere" / "copy.duckdb")
    assert (tmp_path / "there.duckdb").read_text() == "precious"


def test_a_backup_goes_on_beside_readers_of_other_processes(stocked: Database, tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from workbench.storage.database import Database\n"
        "with Database(Path(sys.argv[1])).read(): print('in', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(stocked.path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        made = maintenance.backup(Database(stocked.path, lock_timeout=2), tmp_path / "copy.duckdb")
    finally:
        other.kill()
        other.communicate()
    assert maintenance.doctor(Database(made)) == []


def test_every_table_that_has_papers_is_checked(database: Database) -> None:
    """A table added by a later migration needs a check of its own here."""
    with duckdb.connect(str(database.path), read_only=True) as connection:
        tables = {
            row[0]
            for row in connection.execute(
                "SELECT DISTINCT table_name FROM duckdb_columns() WHERE column_name = 'paper_id'"
                " AND NOT internal AND table_name NOT LIKE 'vectors_%'"
            ).fetchall()
        }
    unchecked_history = {"ledger", "retrieval_passages", "message_papers"}
    assert tables - unchecked_history == {
        table for table in tables if any(table in query for _, query in soundness.NEVER)
    }


def test_a_backup_of_a_damaged_library_blames_the_library_and_leaves_nothing(
    stocked: Database, tmp_path: Path
) -> None:
    with stocked.path.open("r+b") as file:
        for place in range(3 * 4096, stocked.path.stat().st_size, 4096):
            file.seek(place)
            file.write(b"\xff" * 64)
    with pytest.raises(LibraryError) as trouble:
        maintenance.backup(stocked, tmp_path / "copy.duckdb")
    assert f"The library {stocked.path} cannot be read" in str(trouble.value)
    assert "partial" not in str(trouble.value)
    assert not list(tmp_path.glob("copy*"))


def test_the_text_of_an_error_can_be_printed_whatever_it_names() -> None:
    assert str(LibraryError("no file caf\udce9.pdf")).encode("utf-8") == b"no file caf\\udce9.pdf"

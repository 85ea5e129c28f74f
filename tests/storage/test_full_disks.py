"""A disk without room: one clear line, never the end of the process, and nothing lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from workbench.errors import LibraryError
from workbench.storage import maintenance, papers
from workbench.storage.database import Database

# The system then refuses every byte beyond the limit, in the middle of a commit, as a full disk does.
REMOVE_WITHOUT_ROOM = """
import resource, sys
from pathlib import Path
from workbench.errors import LibraryError
from workbench.storage import papers
from workbench.storage.database import Database
database = Database(Path(sys.argv[1]), reserve=0)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
try:
    with database.write() as cursor:
        papers.unlink(cursor, "ann", 1)
except LibraryError as error:
    print("refused:", error)
"""


def test_nothing_is_written_where_less_than_the_reserve_is_free(
    database: Database, add_paper: Callable[..., int]
) -> None:
    add_paper("one")
    full = Database(database.path, reserve=2**62)
    with (
        pytest.raises(LibraryError, match=r"The disk of .* is full: free some space"),
        full.write() as cursor,
    ):
        papers.unlink(cursor, "ann", 1)
    assert maintenance.doctor(full) == []
    with full.read() as cursor:
        assert [p.id for p in papers.list_papers(cursor, "ann", None)] == [1]


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files is needed")
def test_a_commit_that_the_disk_refuses_is_an_error_and_does_not_end_the_process(
    database: Database, add_paper: Callable[..., int]
) -> None:
    add_paper("one")
    done = subprocess.run(
        [sys.executable, "-c", REMOVE_WITHOUT_ROOM, str(database.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout[:8]) == (0, "refused:"), done.stderr[:500]
    assert maintenance.doctor(database) == []
    with database.read() as cursor:
        assert [p.id for p in papers.list_papers(cursor, "ann", None)] == [1]

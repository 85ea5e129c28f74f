"""What must be true of a library after whatever happened to the process that worked on it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.torture.child import Task, entries
from tests.torture.libraries import NAME, opened, text_of
from tests.torture.truth import Contents, Indexes, contents_of, differences, index_faults
from workbench import Scope
from workbench.scratch import LOCK, PREFIX
from workbench.storage import maintenance
from workbench.storage.database import Database

OPENS_WITHIN = 20.0
"""Seconds in which a library must open and be found sound: far above what it takes, below any lock's wait."""

_MAY_STAY = (f"{NAME}.lock", f"{NAME}.derived", "copy.duckdb", "library-before-")


def write_faults(task: Task, states: list[Any], result: Path) -> None:
    """Writes what is wrong, as a list of lines, to ``result``."""
    found = [*_kept(task, states), *_usable(task.folder), *_copy(task.folder, states)]
    result.write_text(json.dumps(found), encoding="utf-8")


def _kept(task: Task, states: list[Any]) -> list[str]:
    """The library must be as after the last commit that is known, or the one after that.

    Where the disk failed: as after the last commit before that or any later one; and what went wrong may be
    in the ledger.
    """
    known = len(entries(task.journal, "commit"))
    last = known + 2 if task.disk is None else len(states)
    found = _comparable(contents_of(task.folder / NAME), task)
    wanted = [_comparable(state, task) for state in states[known:last]]
    if task.scenario == "restored" and last >= len(states):
        wanted.append(_comparable(states[0], task))
    if found in wanted:
        return []
    if not wanted:
        return [f"{known} commits are known where the rehearsal had {len(states) - 1}"]
    return [f"not as after commit {known} or {known + 1}: {'; '.join(differences(found, wanted[0]))}"]


def _comparable(state: dict[str, Any], task: Task) -> Contents:
    left_out = () if task.disk is None else ("ledger",)
    return {table: tuple(row) for table, row in state.items() if table not in left_out}


def _usable(folder: Path) -> list[str]:
    """It opens in time, is sound, finds all that is there, and takes another paper."""
    start = time.monotonic()
    database = Database(folder / NAME)
    with database.read():
        faults = maintenance.doctor(database)
    seconds = time.monotonic() - start
    if seconds > OPENS_WITHIN:
        faults.append(f"opening took {seconds:.1f} s")
    faults += _searchable(database)
    with opened(folder, dimension=_dimension(database)) as wb:
        report = wb.papers.add_texts([{"title": "Afterwards", "text": text_of("afterwards", sections=1)}])
        found = wb.search("afterwards", scope=Scope.ALL, mode="keyword").passages
        if [outcome.status for outcome in report.files] != ["ready"] or not found:
            faults.append(f"no more papers can be added: {report}")
    left = sorted(
        path.name
        for path in folder.iterdir()
        if path.name != NAME and not path.name.startswith(_MAY_STAY) and not _never_used(path)
    )
    return faults + [f"left behind: {name}" for name in left]


def _never_used(path: Path) -> bool:
    """Whether it is a scratch folder whose maker was killed before it held its lock: nothing is in it."""
    return path.name.startswith(PREFIX) and {found.name for found in path.iterdir()} <= {LOCK}


def _searchable(database: Database) -> list[str]:
    """Complete at once, and healed after that; one lease for all of it, because opening is what costs."""
    indexes = Indexes(database)
    with database.read():
        faults = index_faults(indexes)
        if not indexes.refresh():
            faults.append("the indexes cannot catch up")
        faults += indexes.problems()
    indexes.close()
    return faults


def _dimension(database: Database) -> int:
    """Of the embedder that serves the library now: a move may have been cut off before or after its end."""
    serving = Indexes(database).source.generation()
    return serving[1] if serving else 64


def _copy(folder: Path, states: list[Any]) -> list[str]:
    """A backup is there whole, or not under its name."""
    copy = folder / "copy.duckdb"
    if not copy.exists():
        return []
    found = contents_of(copy)
    known = [{table: tuple(row) for table, row in state.items()} for state in states]
    return [] if found in known else ["the backup is not the library at any time"]

"""The parts of the long run. A new one is one more line in ``PARTS``.

A part makes cases without end, always the same for the same seed, and the run does them until what the part
counts is enough. A case says what it is before it is done, so that a run can be resumed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

from tests.hostile import fuzzing
from tests.torture import kills
from tests.torture.kills import Workshop
from tests.torture.outcomes import Outcome

Work = Callable[[], Outcome]
_FILES_AT_ONCE = 100


@dataclass(frozen=True)
class Options:
    """How much of everything: kills, failing disks, damaged indexes, mutated files, minutes of crowding."""

    seed: int
    kills: int = 300
    faults: int = 90
    damages: int = 60
    files: int = 2000
    minutes: float = 10.0


@dataclass(frozen=True)
class Part:
    """``counts`` says what is counted, ``wanted`` how much of it is enough."""

    name: str
    counts: str
    wanted: Callable[[Options], float]
    works: Callable[[Options, Path], Iterator[Work]]


def _kills(options: Options, folder: Path) -> Iterator[Work]:
    workshop = Workshop(folder)
    for case in kills.cases(options.seed, workshop.rehearsal):
        yield partial(kills.kill, workshop, case)


def _files(options: Options, folder: Path) -> Iterator[Work]:
    """Mutated files by the hundred, each hundred into a library of its own."""
    for first in count(step=_FILES_AT_ONCE):
        yield partial(_try_files, folder / f"{first}", options.seed, first)


def _try_files(folder: Path, seed: int, first: int) -> Outcome:
    folder.mkdir()
    numbers = range(first, first + _FILES_AT_ONCE)
    found = fuzzing.fuzz(fuzzing.real_files(), folder / "library.duckdb", seed=seed, cases=numbers)
    shutil.rmtree(folder)
    notes = {"added": found.ready, "refused": found.failed, "slowest (s)": round(found.slowest, 1)}
    notes["most memory (MB)"] = found.most_memory >> 20
    return Outcome(f"files {first} to {numbers[-1]}", found.cases, found.problems, notes)


PARTS: tuple[Part, ...] = (
    Part("kills", "processes killed at work", lambda options: options.kills, _kills),
    Part("files", "mutated files tried", lambda options: options.files, _files),
)

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
from tests.torture import crowding, damages, disk_faults, disks, kills
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


ONCE = None
"""One case is enough, however much it counts."""


@dataclass(frozen=True)
class Part:
    """``counts`` says what is counted, ``wanted`` how much of it is enough."""

    name: str
    counts: str
    wanted: Callable[[Options], int] | None
    works: Callable[[Options, Path], Iterator[Work]]


def _kills(options: Options, folder: Path) -> Iterator[Work]:
    workshop = Workshop(folder)
    for case in kills.cases(options.seed, workshop.rehearsal):
        yield partial(kills.kill, workshop, case)


def _disks(options: Options, folder: Path) -> Iterator[Work]:
    workshop = Workshop(folder)
    failures = [failure for failure in disks.FAILURES if disks.why_not(failure) is None]
    for case in disk_faults.cases(options.seed, workshop.rehearsal, failures):
        yield partial(disk_faults.fail, workshop, case, folder / "disk")


def _damages(options: Options, folder: Path) -> Iterator[Work]:
    workshop = Workshop(folder)
    for case in damages.cases(options.seed):
        yield partial(damages.damage, workshop, case)


def _crowds(
    crowd: Callable[[Workshop, int, float], Outcome], options: Options, folder: Path
) -> Iterator[Work]:
    workshop = Workshop(folder)
    for seed in crowding.rounds(options.seed):
        yield partial(crowd, workshop, seed, 60 * options.minutes)


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
    Part("disks", "disks that failed at work", lambda options: options.faults, _disks),
    Part("indexes", "derived indexes damaged", lambda options: options.damages, _damages),
    Part("processes", "collisions of four processes", ONCE, partial(_crowds, crowding.processes)),
    Part("threads", "collisions of eight threads", ONCE, partial(_crowds, crowding.threads)),
    Part("files", "mutated files tried", lambda options: options.files, _files),
)

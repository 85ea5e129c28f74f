"""The parts of the long run. A new one is one more line in ``PARTS``.

A part makes cases without end, always the same for the same seed, and the run does them until what the part
counts is enough. A case says what it is before it is done, so that a run can be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.torture import kills
from tests.torture.kills import Workshop
from tests.torture.outcomes import Outcome

Work = Callable[[], Outcome]


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


PARTS: tuple[Part, ...] = (Part("kills", "processes killed at work", lambda options: options.kills, _kills),)

"""Work whose disk fails under it, at any step, and what must be true once there is room again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.torture import child, disks
from tests.torture.child import Moment
from tests.torture.disks import Failure
from tests.torture.kills import PATIENCE, Rehearsal, Workshop, ended
from tests.torture.outcomes import Outcome
from tests.torture.scenarios import ALL, BY_NAME, Scenario


@dataclass(frozen=True)
class Case:
    """One failure of a disk, just before a moment of a scenario."""

    scenario: str
    failure: Failure
    at: Moment

    @property
    def label(self) -> str:
        return f"{self.scenario}: disk {self.failure} before {self.at.step} #{self.at.nth}"


def cases(
    seed: int, rehearsed: Callable[[Scenario], Rehearsal], failures: Sequence[Failure]
) -> Iterator[Case]:
    """Failures without end: one scenario and one kind after the other, each step of a scenario once before
    any comes again."""
    chance = random.Random(f"disks {seed}")
    left: dict[str, list[str]] = {}
    for round_ in count():
        for number, scenario in enumerate(ALL):
            steps = rehearsed(scenario).steps
            if not left.get(scenario.name):
                left[scenario.name] = chance.sample(sorted(steps), len(steps))
            step = left[scenario.name].pop()
            failure = failures[(round_ + number) % len(failures)]
            yield Case(scenario.name, failure, Moment(step, chance.randint(1, steps[step])))


def fail(workshop: Workshop, case: Case, place: Path) -> Outcome:
    """One disk, one failure, one verdict. ``place`` is where the disk is made."""
    disk = disks.make(place, case.failure)
    try:
        task = workshop.task(BY_NAME[case.scenario], place=place, at=case.at, disk=disk)
        status = ended(workshop.start(child.run, task))
        disk.mend()
        faults = _end(status) + child.entries(task.journal, "raised")
        faults += workshop.check(task)
        struck = int(bool(child.entries(task.journal, "struck")))
        workshop.clear(task)
    finally:
        disks.remove(disk)
    return Outcome(case.label, struck, faults)


def _end(status: int | None) -> list[str]:
    """A failing disk is an error to tell of; it never ends the process or hangs it."""
    if status is None:
        return [f"the process did not end within {PATIENCE:g} s"]
    return [f"the process was ended by signal {-status}"] if status < 0 else []

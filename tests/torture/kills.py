"""Processes killed at work, and what must be true afterwards."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import psutil

from tests.torture import checking, child
from tests.torture.child import Moment, Task
from tests.torture.history import make_old
from tests.torture.libraries import copied, make_warm
from tests.torture.outcomes import Outcome
from tests.torture.scenarios import ALL, BY_NAME, Scenario

PATIENCE = 120.0
"""Seconds for one run or one check; a machine that stalls is not the product's fault."""


@dataclass(frozen=True)
class Rehearsal:
    """One undisturbed run: the library before and after each commit, the steps and how often each was
    taken, and how long it took in seconds."""

    states: list[dict[str, Any]]
    steps: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Case:
    """One kill: by SIGKILL at a share of the run's time, or by the process itself at a moment."""

    scenario: str
    share: float | None = None
    at: Moment | None = None

    @property
    def label(self) -> str:
        how = (
            f"SIGKILL at {self.share:.3f}"
            if self.at is None
            else f"exit before {self.at.step} #{self.at.nth}"
        )
        return f"{self.scenario}: {how}"


class Workshop:
    """A folder with the libraries to copy, and processes that are ready to be forked from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._context = forking()
        self._rehearsals: dict[str, Rehearsal] = {}
        self._numbers = count(1)

    def base(self, scenario: Scenario) -> Path | None:
        """The library the scenario begins with, made when first asked for."""
        folder = self.folder / scenario.base
        if scenario.base == "none":
            return None
        if not folder.exists():
            self.forked(make_warm if scenario.base == "warm" else make_old, folder)
        return folder

    def task(self, scenario: Scenario, *, place: Path | None = None, **more: Any) -> Task:
        """A task in a new folder with a copy of the scenario's library, in ``place`` if one is given."""
        work = self.folder / f"run-{next(self._numbers)}"
        work.mkdir()
        folder = (place or work) / "library"
        base = self.base(scenario)
        if base is None:
            folder.mkdir(mode=0o700)
        else:
            copied(base, folder)
        return Task(scenario.name, folder, work / "desk", work / "journal", **more)

    def rehearsal(self, scenario: Scenario) -> Rehearsal:
        if scenario.name not in self._rehearsals:
            task = self.task(scenario)
            result = task.journal.with_name("rehearsal")
            self.forked(child.rehearse, task, result)
            self._rehearsals[scenario.name] = Rehearsal(**json.loads(result.read_text(encoding="utf-8")))
            self.clear(task)
        return self._rehearsals[scenario.name]

    def start(self, work: Callable[..., None], *arguments: Any) -> Any:
        """A process of its own, forked from one that has everything imported and nothing open."""
        process = self._context.Process(target=work, args=arguments, daemon=False)
        process.start()
        return process

    def forked(self, work: Callable[..., None], *arguments: Any) -> None:
        """Does the work in a process of its own. Raises RuntimeError where that fails."""
        process = self.start(work, *arguments)
        if ended(process) != 0:
            raise RuntimeError(f"{work.__name__} ended with {process.exitcode}.")

    def check(self, task: Task) -> list[str]:
        """What is wrong with the task's library, looked at by a process that may die of it."""
        result = task.journal.with_name("faults")
        states = self.rehearsal(BY_NAME[task.scenario]).states
        process = self.start(checking.write_faults, task, states, result)
        status = ended(process)
        if status != 0:
            return [f"looking at the library ended the process ({status})"]
        return list(json.loads(result.read_text(encoding="utf-8")))

    def clear(self, task: Task) -> None:
        shutil.rmtree(task.journal.parent, ignore_errors=True)


def forking() -> ForkServerContext:
    root = str(Path(__file__).resolve().parents[2])
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if root not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([root, *filter(None, paths)])
    os.environ["WORKBENCH_SUMMARIES"] = "off"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.torture.preloaded"])
    return context


def ended(process: Any, *, patience: float = PATIENCE) -> int | None:
    """The exit status; a process that does not end in time is killed, and its status is None."""
    process.join(patience)
    if process.exitcode is None:
        process.kill()
        process.join()
        return None
    return int(process.exitcode)


def cases(seed: int, rehearsed: Callable[[Scenario], Rehearsal]) -> Iterator[Case]:
    """Kills without end, one scenario after the other, by turns at a random moment and at a named step.

    The steps of a scenario come in random order, each once before any comes again.
    """
    chance = random.Random(seed)
    left: dict[str, list[str]] = {}
    for round_ in count():
        for scenario in ALL:
            if round_ % 2 == 0:
                yield Case(scenario.name, share=chance.uniform(0, 0.9))
                continue
            steps = rehearsed(scenario).steps
            if not left.get(scenario.name):
                left[scenario.name] = chance.sample(sorted(steps), len(steps))
            label = left[scenario.name].pop()
            yield Case(scenario.name, at=Moment(label, chance.randint(1, steps[label])))


def kill(workshop: Workshop, case: Case) -> Outcome:
    """One process, one death, one verdict."""
    scenario = BY_NAME[case.scenario]
    seconds = workshop.rehearsal(scenario).seconds
    task = workshop.task(scenario, at=case.at)
    process = workshop.start(child.run, task)
    children: list[psutil.Process] = []
    if case.share is not None:
        _wait_until_begun(task, process)
        time.sleep(case.share * seconds)
        children = _children(process.pid)
        process.kill()
    status = ended(process)
    faults = [f"the process did not end within {PATIENCE:g} s"] if status is None else []
    faults += child.entries(task.journal, "raised")
    faults += [f"a process was left behind: {' '.join(p.cmdline())}" for p in _alive(children)]
    faults += workshop.check(task)
    workshop.clear(task)
    return Outcome(case.label, int(status in (child.DIED, -9)), faults)


def _wait_until_begun(task: Task, process: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not task.journal.exists() and process.exitcode is None and time.monotonic() < end:
        time.sleep(0.001)


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that are still there after ten seconds: a reading process must end with who asked it."""
    return psutil.wait_procs(processes, timeout=10)[1]

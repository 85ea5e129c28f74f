"""Crowds: four processes in one library as a researcher has them, and eight threads in one process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.torture.crowds import Told, Worker, lost
from tests.torture.kernels import ROOT, Kernel
from tests.torture.kills import Workshop, ended
from tests.torture.libraries import NAME, USER, copied, opened, write_papers
from tests.torture.outcomes import Outcome
from tests.torture.truth import Indexes, index_faults
from tests.torture.visitors import Visitor

THREADS = 8
_STARTING = 60.0  # s, for what comes before and after the time that is asked for
_SETTINGS = {"WORKBENCH_USER": USER, "WORKBENCH_EMBEDDER": "fake", "WORKBENCH_CHAT": "extractive",
             "WORKBENCH_SUMMARIES": "extractive", "WORKBENCH_PROJECT_MAX_PAPERS": "0"}  # fmt: skip


def processes(workshop: Workshop, seed: int, seconds: float) -> Outcome:
    """Two notebooks and a dashboard in kernels of their own, and the command line."""
    folder = _library(workshop, f"processes-{seed}")
    variables = {**_SETTINGS, "WORKBENCH_LIBRARY": str(folder / NAME)}
    with ThreadPoolExecutor() as pool:
        running = [
            pool.submit(_notebook, folder, name, seed, seconds, variables) for name in ("first", "second")
        ]
        running.append(pool.submit(_command_line, folder, "shell", seed, seconds))
        with closing(Visitor(folder, "panel", seed=seed, variables=variables)) as visitor:
            visitor.work(seconds)
            told = [other.result() for other in running]
            visitor.compare()
    return _outcome(f"four processes for {seconds:g} s", folder, [*told, visitor.told], [])


def threads(workshop: Workshop, seed: int, seconds: float) -> Outcome:
    """Eight threads in one process, which may die of it."""
    folder = _library(workshop, f"threads-{seed}")
    status = ended(workshop.start(_threads, folder, seed, seconds), patience=seconds + 2 * _STARTING)
    faults = [] if status == 0 else [f"the process ended with {status}"]
    told = [Told.read(path) for path in sorted(folder.parent.glob("*.told"))]
    return _outcome(f"eight threads for {seconds:g} s", folder, told, faults)


def rounds(seed: int) -> Iterator[int]:
    """A seed for each round."""
    chance = random.Random(f"crowds {seed}")
    while True:
        yield chance.randrange(1_000_000)


def _library(workshop: Workshop, name: str) -> Path:
    from tests.torture.scenarios import BY_NAME

    base = workshop.base(BY_NAME["add"])
    assert base is not None
    folder = workshop.folder / name / "library"
    folder.parent.mkdir()
    return copied(base, folder)


def _outcome(case: str, folder: Path, told: list[Told], faults: list[str]) -> Outcome:
    with opened(folder) as wb:
        faults = [*faults, *(text for one in told for text in one.faults), *lost(wb, told)]
        indexes = Indexes(wb._database)
        faults += index_faults(indexes, query="quartz graphene")
        faults += [] if indexes.refresh() else ["the indexes cannot catch up"]
        faults += indexes.problems()
        indexes.close()
    notes: dict[str, float] = {f"done by {one.name}": one.done for one in told}
    notes["longest wait, s"] = round(max((one.longest for one in told), default=0.0), 1)
    return Outcome(case, sum(one.collisions for one in told), faults, notes)


# --- what runs in processes of their own -----------------------------------------------------------


def _threads(folder: Path, seed: int, seconds: float) -> None:
    names = [f"thread{letter}" for letter in "abcdefgh"[:THREADS]]
    with opened(folder) as wb:
        workers = [Worker(wb, name, seed=seed, folder=folder.parent / name) for name in names]
        running = [threading.Thread(target=worker.work, args=(seconds,)) for worker in workers]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    for worker in workers:
        worker.told.write(folder.parent / f"{worker.told.name}.told")


# --- what is at work as a process of its own -------------------------------------------------------


def _notebook(folder: Path, name: str, seed: int, seconds: float, variables: dict[str, str]) -> Told:
    """Cells run one after the other in a kernel, each a second's work."""
    desk, told = folder.parent / name, folder.parent / f"{name}.told"
    with Kernel(name, desk / "home", **variables) as kernel:
        kernel.run("from pathlib import Path\nimport workbench\nfrom tests.torture.crowds import Worker")
        kernel.run("wb = workbench.open()")
        kernel.run(f"worker = Worker(wb, {name!r}, seed={seed}, folder=Path({str(desk)!r}))")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            kernel.run("worker.work(1.0);")
        kernel.run(f"worker.told.write(Path({str(told)!r}))")
        kernel.run("wb.close()")
    if not told.exists():
        return Told(name, faults=[*kernel.faults, f"{name} says nothing of what it did"])
    found = Told.read(told)
    return replace(found, faults=[*found.faults, *kernel.faults])


def _command_line(folder: Path, name: str, seed: int, seconds: float) -> Told:
    """Real commands, one after the other; what they say is what was done."""
    told, chance = Told(name), random.Random(f"{seed} {name}")
    with opened(folder) as wb:
        told.conversation = wb.conversations.create(title=f"Of {name}").info.id
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        chance.choice((_shell_add, _shell_add, _shell_search, _shell_search, _shell_compact))(folder, told)
        told.longest = max(told.longest, time.monotonic() - start)
        told.done += 1
    return told


def _shell_add(folder: Path, told: Told) -> None:
    word = f"{told.name}{told.done}"
    (path,) = write_papers(folder.parent / told.name, word)
    said = _command(folder, told, "add", str(path), "--json")
    if said is not None and [file["status"] for file in said["files"]] == ["ready"]:
        told.papers.append(word)


def _shell_search(folder: Path, told: Told) -> None:
    word = told.papers[-1] if told.papers else "graphene"
    said = _command(folder, told, "search", word, "--all", "--json")
    if said is not None and not any(word in passage["text"] for passage in said["passages"]):
        told.faults.append(f"{told.name}: a search for {word} does not find it")


def _shell_compact(folder: Path, told: Told) -> None:
    _command(folder, told, "compact", "--json")


def _command(folder: Path, told: Told, *words: str) -> Any:
    """What the command says, or None where it failed."""
    environment = {**os.environ, **_SETTINGS}
    command = [sys.executable, "-m", "workbench.cli", "--library", str(folder / NAME), *words]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    told.faults.append(f"{told.name}: {words[0]} ended with {done.returncode}: {done.stderr[-300:].strip()}")
    return None

"""The process that is tortured: it works, writes down each commit, and dies or loses its disk at a step."""

from __future__ import annotations

import json
import linecache
import os
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.torture.disks import Disk
from tests.torture.libraries import NAME
from tests.torture.scenarios import BY_NAME
from tests.torture.truth import Contents, contents, contents_of
from tests.torture.watching import Step, Watch
from workbench.errors import WorkbenchError

DIED = 77
"""Exit status of a process that ended itself at a step."""


@dataclass(frozen=True)
class Moment:
    """Just before the ``nth`` time that this step is taken."""

    step: str
    nth: int = 1


@dataclass(frozen=True)
class Task:
    """One run of a scenario in ``folder``, which holds the copy of a library.

    ``desk`` is for files of the scenario, ``journal`` for what the child writes down. At ``at`` the child
    ends itself, or loses ``disk``, if that is given.
    """

    scenario: str
    folder: Path
    desk: Path
    journal: Path
    at: Moment | None = None
    disk: Disk | None = None


class Journal:
    """Lines that stay when the writer is killed at any moment: each is one write to the system."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, kind: str, text: str = "") -> None:
        line = " ".join(text.split("\n"))
        os.write(self._file, f"{kind} {line}\n".encode())


def entries(journal: Path, kind: str) -> list[str]:
    """The texts of the journal's whole lines of this kind."""
    if not journal.exists():
        return []
    lines = journal.read_text(encoding="utf-8").split("\n")[:-1]
    return [text for first, _, text in (line.partition(" ") for line in lines) if first == kind]


def is_commit(step: Step) -> bool:
    """Whether a transaction has come to its end with this step."""
    if not step.passed or step.failed or not step.name.endswith(" > execute"):
        return False
    return '"COMMIT"' in linecache.getline(step.frame.f_code.co_filename, step.frame.f_lineno)


def rehearse(task: Task, result: Path) -> None:
    """Runs the scenario undisturbed, and writes down the library after each commit and every step taken."""
    states: list[Contents] = [contents_of(task.folder / NAME)]
    steps: Counter[str] = Counter()

    def told(step: Step) -> None:
        if not step.passed:
            steps[step.name] += 1
        elif is_commit(step):
            states.append(contents(step.frame.f_locals["cursor"]))

    start = time.monotonic()
    with Watch(told):
        BY_NAME[task.scenario].work(task.folder, task.desk)
    seconds = time.monotonic() - start
    result.write_text(json.dumps({"states": states, "steps": steps, "seconds": seconds}), encoding="utf-8")


def run(task: Task) -> None:
    """Runs the scenario until its end, its death, or the error that a failing disk makes."""
    journal = Journal(task.journal)
    seen, struck = 0, False

    def told(step: Step) -> None:
        nonlocal seen
        if is_commit(step) and not struck:
            journal.write("commit")
        if task.at is not None and step.name == task.at.step and not step.passed:
            seen += 1
            if seen >= task.at.nth:
                strike()

    def strike() -> None:
        nonlocal struck
        if task.disk is None:
            os._exit(DIED)
        struck = struck or task.disk.fail()

    journal.write("begin")
    ending = ("end", "")
    try:
        with Watch(told):
            BY_NAME[task.scenario].work(task.folder, task.desk)
    except WorkbenchError as error:
        ending = ("refused", f"{type(error).__name__}: {error}")
        if "\n" in str(error):
            ending = ("raised", f"not one line: {error}")
    except Exception as error:  # noqa: BLE001  # whatever it is, it is what must be told
        where = traceback.extract_tb(error.__traceback__)[-1]
        ending = ("raised", f"{type(error).__name__}: {error} ({where.name})")
    if struck and task.disk is not None:
        task.disk.release()
        journal.write("struck")
    journal.write(*ending)

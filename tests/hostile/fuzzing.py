"""Adds mutated files to a library and says what went wrong.

One program adds (``python -m tests.hostile.fuzzing …``), another watches it: the watcher ends a case that
takes too long, measures memory, and starts again behind a case that took the program down.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

import workbench
from tests.hostile.mutations import base_files, mutant
from workbench import Settings

LONGEST = 60.0  # seconds one file may take
MOST_MEMORY = 1 << 30  # bytes, of the program and the process that reads for it
LONGEST_REASON = 400  # characters
STARTING = 60.0  # seconds until the first case is told
SEARCH_EVERY = 25
ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Fuzzed:
    """What a run found. ``problems`` is empty where every file was added or refused as it should be."""

    cases: int = 0
    ready: int = 0
    failed: int = 0
    slowest: float = 0.0
    most_memory: int = 0
    problems: list[str] = field(default_factory=list)


def real_files() -> list[Path]:
    """The folders whose files are mutated: the samples, and the folder of real hard files where it is."""
    named = os.environ.get("WORKBENCH_SHARED")
    hard = (Path(named) if named else ROOT.parent / "shared") / "hard-files"
    return [folder for folder in (hard, ROOT / "data") if folder.is_dir()]


def fuzz(folders: Sequence[Path], library: Path, *, seed: int, cases: Iterable[int]) -> Fuzzed:
    """Add the mutants with the numbers ``cases`` of the files in ``folders``, each to the same library."""
    found, waiting = Fuzzed(), list(cases)
    while waiting:
        before = len(waiting)
        with _adding(folders, library, seed, waiting) as lines:
            for told in lines:
                if "number" in told:
                    waiting.remove(told["number"])
                    _count(found, told)
                elif "problem" in told:
                    found.problems.append(str(told["problem"]))
                else:
                    found.most_memory = max(found.most_memory, int(told["memory"]))
        if waiting:
            found.problems.append(f"{mutant_name(folders, seed, waiting[0])}: crashed, hung or took too much")
            found.cases += 1
            del waiting[0]
        assert len(waiting) < before
    if found.most_memory > MOST_MEMORY:
        found.problems.append(f"memory rose to {found.most_memory >> 20} MB")
    return found


def mutant_name(folders: Sequence[Path], seed: int, number: int) -> str:
    """How a case is told: seed, number, and what was done to which file."""
    return f"seed {seed}, case {number} ({mutant(base_files(*folders), seed=seed, number=number).done})"


def _count(found: Fuzzed, told: dict[str, Any]) -> None:
    found.cases += 1
    found.ready += told["status"] == "ready"
    found.failed += told["status"] == "failed"
    found.slowest = max(found.slowest, told["seconds"])
    if told["wrong"]:
        found.problems.append(f"case {told['number']} ({told['done']}): {told['wrong']}")


@contextlib.contextmanager
def _adding(
    folders: Sequence[Path], library: Path, seed: int, numbers: Sequence[int]
) -> Iterator[Iterator[dict[str, Any]]]:
    """The lines of one program that adds; it is ended with everything it started."""
    command = [sys.executable, "-m", "tests.hostile.fuzzing", "--library", str(library), "--seed", str(seed)]
    listed = json.dumps(list(numbers))
    process = subprocess.Popen(
        [*command, *(str(f) for f in folders)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.write(listed)
        process.stdin.close()
    try:
        yield _watched(process)
    finally:
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait()


def _watched(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """What the program tells, until it ends or one case takes too long; and its memory meanwhile."""
    lines: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []
    threading.Thread(target=lambda: _read_lines(process, lines), daemon=True).start()
    threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True).start()  # type: ignore[union-attr]
    last = time.monotonic() + STARTING
    while True:
        yield {"memory": _memory(process.pid)}
        try:
            line = lines.get(timeout=0.1)
        except queue.Empty:
            if time.monotonic() - last > LONGEST:
                return
            continue
        if line is None:
            if process.wait() != 0:
                yield {"problem": f"the program ended with {process.returncode}: {''.join(errors)[-300:]}"}
            return
        last = time.monotonic()
        yield json.loads(line)


def _read_lines(process: subprocess.Popen[str], lines: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _memory(pid: int) -> int:
    """Resident bytes of a process and all below it; 0 when it is gone."""
    total = 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += each.memory_info().rss
    return total


def add_all(folders: Sequence[Path], library: Path, *, seed: int, numbers: Sequence[int]) -> None:
    """Add each case and print what came of it, one JSON object per line."""
    bases = base_files(*folders)
    wb = workbench.open(settings=Settings(library=library, user="tester", embedder="fake", chat="extractive"))
    place = library.parent / "mutants"
    place.mkdir(exist_ok=True)
    for count, number in enumerate(numbers, start=1):
        case = mutant(bases, seed=seed, number=number)
        path = place / case.name
        path.write_bytes(case.data)
        start = time.perf_counter()
        outcome = wb.papers.add_many([path]).files[0]
        _tell(
            number=number,
            done=case.done,
            status=outcome.status,
            seconds=time.perf_counter() - start,
            wrong=_wrong(wb, outcome),
        )
        path.unlink()
        if count % SEARCH_EVERY == 0 or count == len(numbers):
            wb.search("universal declaration", scope=workbench.Scope.ALL)
            for finding in wb.doctor():
                _tell(problem=f"after case {number}: {finding}")
    wb.close()


def _tell(**values: object) -> None:
    print(json.dumps(values), flush=True)


def _wrong(wb: workbench.Workbench, outcome: workbench.FileOutcome) -> str:
    """What is wrong with an outcome, or nothing."""
    reason = outcome.error or ""
    if outcome.status == "failed":
        if not reason.strip() or len(reason.splitlines()) != 1 or not reason.isprintable():
            return f"no one-line reason: {reason!r}"
        return f"a reason of {len(reason)} characters" if len(reason) > LONGEST_REASON else ""
    if outcome.status not in {"ready", "duplicate"} or outcome.paper_id is None:
        return f"status {outcome.status}"
    chunks = wb.papers.chunks(outcome.paper_id)
    pages = wb.papers.get(outcome.paper_id).pages
    if not chunks:
        return "ready without a chunk"
    astray = [c for c in chunks if not 1 <= c.page_start <= c.page_end <= pages or not c.text.strip()]
    return f"{len(astray)} chunks without text or off the pages" if astray else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--seed", type=int, required=True)
    given = parser.parse_args()
    add_all(given.folders, given.library, seed=given.seed, numbers=json.load(sys.stdin))


if __name__ == "__main__":
    main()

"""One of two processes that share a library: it adds papers, or asks about those that are there.

Run as ``python sharing_worker.py add|ask|talk LIBRARY COUNT``; prints one JSON object when it is done.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import workbench
from tests.mineral_papers import minerals
from workbench import Scope, Workbench

KNOWN = 2  # papers that are there before
THREADS = 2  # of each process that talks


def main() -> None:
    what, library, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with workbench.open(library, user="ann") as wb:
        print("ready", flush=True)
        sys.stdin.readline()  # until the other process is ready too
        begun = time.perf_counter()
        report = {"add": add, "ask": ask, "talk": talk}[what](wb, count)
    print(json.dumps({**report, "seconds": round(time.perf_counter() - begun, 2)}))


def add(wb: Workbench, count: int) -> dict[str, Any]:
    """Adds ``count`` papers one by one, as somebody does who drops them in."""
    statuses = []
    with tempfile.TemporaryDirectory() as folder:
        for mineral in minerals(KNOWN + count)[KNOWN:]:
            path = mineral.write(Path(folder))
            statuses += [f.status for f in wb.papers.add_many([path], project="Minerals").files]
    return {"statuses": statuses}


def ask(wb: Workbench, count: int) -> dict[str, Any]:
    """Asks ``count`` questions, each about a paper that is there at that moment, the newest first."""
    of_file = {m.file: m for m in minerals(24)}
    wrong, times, seen = [], [], set()
    for number in range(count):
        files = [p.file for p in wb.papers.list()]
        mineral = of_file[files[-1 - number % min(3, len(files))]]
        question = mineral.questions()[number % 3]
        begun = time.perf_counter()
        answer = wb.ask(question.text, scope=Scope.ALL)
        times.append(time.perf_counter() - begun)
        seen.add(mineral.file)
        if not question.is_answered_by(answer):
            wrong.append({"question": question.text, "answer": answer.text, "warnings": answer.warnings})
    return {
        "asked": count,
        "wrong": wrong,
        "papers": len(seen),
        "median": round(statistics.median(times), 3),
        "slowest": round(max(times), 3),
    }


def talk(wb: Workbench, count: int) -> dict[str, Any]:
    """Asks ``count`` questions in the library's one conversation, in each of some threads at once."""
    thread = wb.conversations.get(wb.conversations.list()[0])
    own = time.time_ns()

    def run(number: int) -> list[tuple[str, str, tuple[str, ...]]]:
        asked = []
        for turn in range(count):
            text = f"What is the melting point of arvenite? (Question {turn} of {own}-{number}.)"
            answer = thread.ask(text)
            asked.append((text, answer.text, answer.warnings))
        return asked

    with ThreadPoolExecutor(THREADS) as pool:
        runs = [pool.submit(run, number) for number in range(THREADS)]
    failed = [repr(error) for done in runs if (error := done.exception()) is not None]
    return {"asked": [] if failed else [turn for done in runs for turn in done.result()], "failed": failed}


if __name__ == "__main__":
    main()

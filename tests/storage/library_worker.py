"""One process's work on a library, for tests of several at once: ``python -m tests.storage.library_worker``.

``add LIBRARY USER COUNT PREFIX`` · ``ask LIBRARY USER COUNT`` · ``hold LIBRARY read|write SECONDS`` ·
``die LIBRARY`` (killed inside a write lease) · ``poll LIBRARY SECONDS`` (reads without a pause) ·
``crowd LIBRARY SECONDS`` (threads whose reads overlap)
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.storage.small_papers import DIMENSION, draft
from workbench.errors import WorkbenchError
from workbench.storage import chunks, generations, index_source, papers
from workbench.storage.database import Database


def add(database: Database, user: str, count: str, prefix: str) -> None:
    for number in range(int(count)):
        made = draft(f"{prefix}{number}")
        with database.write() as cursor:
            generation = generations.begin(cursor, "small", DIMENSION)
            paper_id = papers.insert(cursor, made, generation=generation.generation)
            papers.link(cursor, user, paper_id, file=f"{prefix}{number}.txt")
    print(f"added {count}")


def ask(database: Database, user: str, count: str) -> None:
    """Every paper that is seen at all must be seen whole, and hold nothing of another one."""
    source = index_source.LibraryIndexSource(database)
    seen = 0
    for _ in range(int(count)):
        with database.read() as cursor:
            known = papers.list_papers(cursor, user)
            seen = max(seen, len(known))
            for paper in random.sample(known, min(3, len(known))):
                word = paper.title.removeprefix("On ")
                found = chunks.of_papers(cursor, [paper.id])
                assert len(found) == paper.chunks == 4, (paper, found)
                assert all(word in chunk.text and chunk.paper_id == paper.id for chunk in found), (
                    paper,
                    found,
                )
                assert len(papers.pages(cursor, paper.id)) == paper.pages == 2
                ids, vectors = source.vectors(paper.id)
                assert ids == [chunk.id for chunk in found]
                assert (vectors == draft(word).vectors).all()
    print(f"asked {count}, saw {seen}")


def hold(database: Database, kind: str, seconds: str) -> None:
    with database.write() if kind == "write" else database.read():
        print("holding", flush=True)
        time.sleep(float(seconds))


def poll(database: Database, seconds: str) -> None:
    end, leases = time.monotonic() + float(seconds), 0
    print("polling", flush=True)
    while time.monotonic() < end:
        with database.read() as cursor:
            papers.list_papers(cursor, "ann")
        leases += 1
    print(f"polled {leases > 0}")


def crowd(database: Database, seconds: str) -> None:
    """Threads whose leases overlap without a gap."""
    end = time.monotonic() + float(seconds)

    def read_on(pause: float) -> None:
        while time.monotonic() < end:
            with database.read():
                time.sleep(pause)

    print("crowding", flush=True)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read_on, (0.05, 0.07, 0.11, 0.13)))


def die(database: Database) -> None:
    with database.write() as cursor:
        papers.link(
            cursor,
            "ann",
            papers.insert(cursor, draft("doomed", dimension=None), generation=None),
            file="d.txt",
        )
        os.kill(os.getpid(), signal.SIGKILL)


def main(verb: str, library: str, *arguments: str) -> int:
    verbs: dict[str, Callable[..., None]] = {
        "add": add,
        "ask": ask,
        "hold": hold,
        "poll": poll,
        "crowd": crowd,
        "die": die,
    }
    try:
        verbs[verb](Database(Path(library), lock_timeout=float(os.environ.get("WAIT", "60"))), *arguments)
    except WorkbenchError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

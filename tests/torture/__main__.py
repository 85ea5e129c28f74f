"""The long run: ``python -m tests.torture``, or ``make torture``.

It does harm on purpose, counts, and prints one table; its exit status is 0 only where nothing was lost. An
interrupted run goes on where it was when it is started again; ``--fresh`` begins anew.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from tests.torture.outcomes import Outcome, Record, last_seed, table
from tests.torture.parts import PARTS, Options, Part

STATE = Path(tempfile.gettempdir()) / "workbench-torture" / "state.jsonl"


def main(arguments: list[str], *, parts: tuple[Part, ...] = PARTS) -> int:
    given = _parser(parts).parse_args(arguments)
    chosen = [part for part in parts if not given.parts or part.name in given.parts]
    seed = given.seed if given.seed is not None else None if given.fresh else last_seed(given.state)
    seed = random.SystemRandom().randrange(1_000_000) if seed is None else seed
    options = Options(
        seed,
        kills=given.kills,
        faults=given.faults,
        damages=given.damages,
        files=given.files,
        minutes=given.minutes,
    )
    record = Record(given.state, seed=seed, fresh=given.fresh)
    print(f"seed {seed} (--seed {seed} does the same again); record in {record.path}", flush=True)
    stopped = False
    with contextlib.suppress(KeyboardInterrupt):
        stopped = True
        for part in chosen:
            _do(part, options, record, verbose=given.verbose)
        stopped = False
    rows = [(part.name, part.counts, record.of(part.name)) for part in chosen]
    print(table(rows))
    print(f"seed {seed}" + ("; stopped: start it again to go on" if stopped else ""))
    for name, _, outcomes in rows:
        for outcome in outcomes:
            for fault in outcome.faults:
                print(f"LOSS {name}: {outcome.case}: {fault}")
    return int(stopped or any(outcome.faults for *_, outcomes in rows for outcome in outcomes))


def _do(part: Part, options: Options, record: Record, *, verbose: bool) -> None:
    done = record.of(part.name)
    total, wanted = _progress(part, options, done)
    if total >= wanted:
        return
    with tempfile.TemporaryDirectory(prefix="workbench-torture-") as folder:
        for work in islice(part.works(options, Path(folder)), len(record.of(part.name)), None):
            start = time.monotonic()
            outcome = work()
            record.add(part.name, outcome)
            done.append(outcome)
            total, wanted = _progress(part, options, done)
            if verbose or outcome.faults:
                found = "; ".join(outcome.faults) or "sound"
                seconds = f"{time.monotonic() - start:.1f} s"
                print(f"{part.name} {total}/{wanted} {outcome.case}: {found} ({seconds})", flush=True)
            if total >= wanted:
                return


def _progress(part: Part, options: Options, done: list[Outcome]) -> tuple[int, int]:
    """How much is done and how much is wanted, of what the part counts."""
    if part.wanted is None:
        return len(done), 1
    return sum(outcome.count for outcome in done), part.wanted(options)


def _parser(parts: tuple[Part, ...]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    usual = Options(0)
    parser.add_argument(
        "--seed", type=int, help="what all chance comes from (default: the last run's, or a new one)"
    )
    parser.add_argument("--kills", type=int, default=usual.kills, help="processes to kill (%(default)s)")
    parser.add_argument("--faults", type=int, default=usual.faults, help="disks to let fail (%(default)s)")
    parser.add_argument("--damages", type=int, default=usual.damages, help="indexes to damage (%(default)s)")
    parser.add_argument("--files", type=int, default=usual.files, help="mutated files to try (%(default)s)")
    parser.add_argument(
        "--minutes", type=float, default=usual.minutes, help="of crowding, for each crowd (%(default)g)"
    )
    parser.add_argument("--parts", nargs="+", choices=[part.name for part in parts], help="only these parts")
    parser.add_argument("--state", type=Path, default=STATE, help="the record (%(default)s)")
    parser.add_argument("--fresh", action="store_true", help="forget the record, and begin anew")
    parser.add_argument("--verbose", action="store_true", help="a line for each case")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

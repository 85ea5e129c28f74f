"""What came of one case, and the record of all of them, which an interrupted run goes on from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """``count``: how many of the things that the part counts this case was (0: it came too late).

    ``faults``: losses and whatever else is wrong, one line each. ``notes`` are figures to show.
    """

    case: str
    count: int = 1
    faults: list[str] = field(default_factory=list)
    notes: dict[str, float] = field(default_factory=dict)


class Record:
    """The outcomes of every part under one seed, a line each, in a file that is only added to."""

    def __init__(self, path: Path, *, seed: int, fresh: bool = False) -> None:
        self.path, self.seed = path, seed
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            path.unlink(missing_ok=True)

    def of(self, part: str) -> list[Outcome]:
        """What is known of a part already."""
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text(encoding="utf-8").split("\n")[:-1]:
            entry = json.loads(line)
            if (entry.pop("part"), entry.pop("seed")) == (part, self.seed):
                found.append(Outcome(**entry))
        return found

    def add(self, part: str, outcome: Outcome) -> None:
        line = json.dumps({"part": part, "seed": self.seed, **asdict(outcome)}, ensure_ascii=False)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def last_seed(path: Path) -> int | None:
    """The seed of the run that the file tells of last."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
    return int(json.loads(lines[-1])["seed"]) if lines else None


def table(rows: Iterable[tuple[str, str, list[Outcome]]]) -> str:
    """One line for each part (name, what it counts, outcomes), and the losses of all."""
    lines, losses = [f"{'part':<12} {'what':<34} {'count':>7} {'cases':>6} {'losses':>7}"], 0
    for name, counts, outcomes in rows:
        faults = sum(len(outcome.faults) for outcome in outcomes)
        losses += faults
        count = sum(outcome.count for outcome in outcomes)
        lines.append(f"{name:<12} {counts:<34} {count:>7} {len(outcomes):>6} {faults:>7}")
        lines += [f"{'':<12} {text}" for text in _figures(outcomes)]
    return "\n".join([*lines, f"losses found: {losses}"])


def _figures(outcomes: list[Outcome]) -> list[str]:
    """The largest or, for what is counted, the sum of each figure."""
    figures: dict[str, float] = {}
    for outcome in outcomes:
        for name, value in outcome.notes.items():
            whole = max if name.startswith(("longest", "slowest", "most")) else lambda a, b: a + b
            figures[name] = whole(figures[name], value) if name in figures else value
    return [f"  {name}: {value:g}" for name, value in figures.items()]

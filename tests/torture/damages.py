"""Derived indexes damaged in every way that a folder of files can be, and searched all the same."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.torture.kills import Workshop, ended
from tests.torture.libraries import NAME, copied, opened, text_of
from tests.torture.outcomes import Outcome
from tests.torture.truth import Indexes, index_faults
from workbench.storage.database import Database

Harm = Callable[[Path, random.Random], None]


def truncated(path: Path, chance: random.Random) -> None:
    with path.open("r+b") as file:
        file.truncate(chance.randrange(path.stat().st_size + 1) // 2)


def emptied(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


def deleted(path: Path, chance: random.Random) -> None:
    path.unlink()


def overwritten(path: Path, chance: random.Random) -> None:
    """Some bytes are others, as after a bad sector."""
    data = bytearray(path.read_bytes())
    for _ in range(3):
        if data:
            data[chance.randrange(len(data))] ^= 1 + chance.randrange(255)
    path.write_bytes(data)


def lengthened(path: Path, chance: random.Random) -> None:
    """What a writer that died half way had added."""
    with path.open("ab") as file:
        file.write(chance.randbytes(1 + chance.randrange(4000)))


def of_another_version(path: Path, chance: random.Random) -> None:
    """A note that says another format, engine or dimension; any other file as if it were such a note."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        note = {}
    name = chance.choice(["format", "engine", "dimension", "generation", "number"])
    note[name] = 999 if name != "engine" else "some engine 0.1"
    path.write_text(json.dumps(note), encoding="utf-8")


def a_folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


HARMS: tuple[Harm, ...] = (
    truncated, emptied, deleted, overwritten, lengthened, of_another_version, a_folder,
)  # fmt: skip
# What may befall a file that a process has open and mapped: whole files come and go, or are cut short.
_WHILE_OPEN: tuple[Harm, ...] = (truncated, emptied, deleted)
WHOLE = ("folder gone", "stale", "ahead")


@dataclass(frozen=True)
class Case:
    """``harm`` to a random file, or to the whole folder; ``while_open`` by indexes that are in use."""

    harm: str
    number: int
    while_open: bool

    @property
    def label(self) -> str:
        return f"index {self.harm}{' while open' if self.while_open else ''} ({self.number})"


def cases(seed: int) -> Iterator[Case]:
    chance = random.Random(f"damages {seed}")
    for _ in count():
        for harm in HARMS:
            yield Case(harm.__name__, chance.randrange(1_000_000), while_open=False)
        for harm in _WHILE_OPEN:
            yield Case(harm.__name__, chance.randrange(1_000_000), while_open=True)
        for whole in WHOLE:
            yield Case(whole, chance.randrange(1_000_000), while_open=chance.random() < 0.5)


def damage(workshop: Workshop, case: Case) -> Outcome:
    """One damage, searched by a process that may die of it."""
    base = _base(workshop)
    folder = copied(base / "library", workshop.folder / f"damage-{case.number}")
    result = workshop.folder / f"damage-{case.number}.faults"
    status = ended(workshop.start(_search_damaged, case, folder, base, result))
    faults = [f"searching ended the process ({status})"] if status != 0 else json.loads(result.read_text())
    shutil.rmtree(folder, ignore_errors=True)
    return Outcome(case.label, 1, faults)


def _base(workshop: Workshop) -> Path:
    """A library with all its indexes, and its folder of indexes as it was before and as it will be."""
    place = workshop.folder / "indexed"
    if not place.exists():
        workshop.forked(_make_base, place)
    return place


def _make_base(place: Path) -> None:
    from tests.torture.libraries import make_warm

    place.mkdir()
    folder = make_warm(place / "library")
    _refresh(folder)
    shutil.copytree(_derived(folder), place / "stale")
    _add(folder, "younger")
    later = copied(folder, place / "later")
    _add(later, "youngest")
    shutil.copytree(_derived(later), place / "ahead")


def _add(folder: Path, word: str) -> None:
    with opened(folder) as wb:
        wb.papers.add_texts([{"title": word, "text": text_of(word)}])
    _refresh(folder)


def _refresh(folder: Path) -> None:
    database = Database(folder / NAME)
    (database.derived / "hnsw").mkdir(exist_ok=True)
    indexes = Indexes(database)
    indexes.refresh()
    indexes.close()


def _derived(folder: Path) -> Path:
    return folder / f"{NAME}.derived"


def _search_damaged(case: Case, folder: Path, base: Path, result: Path) -> None:
    database = Database(folder / NAME)
    indexes = Indexes(database)
    if case.while_open:
        with database.read():
            index_faults(indexes)
    _harm(case, folder, base)
    if not case.while_open:
        indexes = Indexes(database)
    with database.read():
        faults = index_faults(indexes)
        healed = indexes.refresh()
        faults += ([] if healed else ["not healed"]) + index_faults(indexes) + indexes.problems()
    result.write_text(json.dumps(faults), encoding="utf-8")


def _harm(case: Case, folder: Path, base: Path) -> None:
    derived, chance = _derived(folder), random.Random(case.number)
    if case.harm in WHOLE:
        shutil.rmtree(derived)
        if case.harm != "folder gone":
            shutil.copytree(base / case.harm, derived)
        return
    harm = next(h for h in HARMS if h.__name__ == case.harm)
    files = sorted(path for path in derived.rglob("*") if path.is_file() and path.name != "lock")
    harm(chance.choice(files), chance)

"""Real files with something wrong in them: the same seed and number give the same bytes.

Blind mutation in the manner of B. P. Miller, L. Fredriksen and B. So, "An empirical study of the reliability
of UNIX utilities" (1990): no knowledge of a format beyond its container, because readers fail where nobody
thought of.
"""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 2_000_000
"""Larger files are not mutated: the time goes into many cases, not into long ones."""

KINDS = {".pdf", ".docx", ".epub", ".html", ".xml", ".ipynb", ".json", ".csv", ".md", ".txt", ".bib", ".ris"}
_ARCHIVES = {".docx", ".epub"}
_HUGE = (b"4294967295", b"99999999999999", b"-1", b"0", b"2147483648")
_STRUCTURE = re.compile(
    rb"endobj|endstream|stream|xref|trailer|startxref|/Length|/Kids|/Filter|<[^<>]{1,40}>|[{}\[\]\",;\n]"
)


@dataclass(frozen=True)
class Mutant:
    """One case: the name to give the file, what was done to which one, and its bytes."""

    number: int
    name: str
    done: str
    data: bytes


def base_files(*folders: Path) -> list[Path]:
    """The files under ``folders`` that are mutated, in an order that does not depend on the machine."""
    found = (p for folder in folders for p in folder.rglob("*") if p.suffix.lower() in KINDS and p.is_file())
    return sorted((p for p in found if 0 < p.stat().st_size <= MAX_BYTES), key=lambda p: (p.name, str(p)))


def mutant(bases: Sequence[Path], *, seed: int, number: int) -> Mutant:
    """The case with this number: one to three mutations of one of ``bases``."""
    chance = random.Random(f"{seed}:{number}")
    base = chance.choice(bases)
    data, done = base.read_bytes(), []
    if base.suffix.lower() in _ARCHIVES and chance.random() < 0.7:
        data, told = _inside_archive(data, chance)
        done.append(told)
    else:
        for _ in range(chance.randint(1, 3)):
            mutate = chance.choice(_MUTATIONS)
            data = mutate(data, chance)
            done.append(mutate.__name__.strip("_"))
    return Mutant(number, f"{number:05}-{base.name}", f"{'+'.join(done)} in {base.name}", data)


def _span(data: bytes, chance: random.Random, longest: int) -> slice:
    start = chance.randrange(max(1, len(data)))
    return slice(start, start + chance.randint(1, longest))


def _flipped_bits(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 8, 64, 512))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _truncated(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _deleted_span(data: bytes, chance: random.Random) -> bytes:
    gone = _span(data, chance, 4096)
    return data[: gone.start] + data[gone.stop :]


def _repeated_span(data: bytes, chance: random.Random) -> bytes:
    again = _span(data, chance, 200)
    return data[: again.stop] + data[again] * chance.choice((1, 100, 5000)) + data[again.stop :]


def _noise(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 40, 3000))) + data[at:]


def _zeros(data: bytes, chance: random.Random) -> bytes:
    gone = _span(data, chance, 2000)
    return data[: gone.start] + bytes(len(data[gone])) + data[gone.stop :]


def _absurd_number(data: bytes, chance: random.Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return _noise(data, chance)
    hit = chance.choice(numbers)
    return data[: hit.start()] + chance.choice(_HUGE) + data[hit.end() :]


def _lost_structure(data: bytes, chance: random.Random) -> bytes:
    marks = list(_STRUCTURE.finditer(data))
    if not marks:
        return _deleted_span(data, chance)
    hit = chance.choice(marks)
    other = chance.choice(marks)
    return data[: hit.start()] + chance.choice((b"", other.group(), hit.group() * 2)) + data[hit.end() :]


def _moved_span(data: bytes, chance: random.Random) -> bytes:
    moved = _span(data, chance, 8000)
    rest = data[: moved.start] + data[moved.stop :]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + data[moved] + rest[at:]


_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped_bits,
    _truncated,
    _deleted_span,
    _repeated_span,
    _noise,
    _zeros,
    _absurd_number,
    _lost_structure,
    _moved_span,
)


def _inside_archive(data: bytes, chance: random.Random) -> tuple[bytes, str]:
    """One member of a sound archive mutated, so that the fault reaches what reads the member."""
    packed = io.BytesIO()
    mutate = chance.choice(_MUTATIONS)
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(packed, "w") as target:
        names = [entry.filename for entry in source.infolist() if not entry.is_dir()]
        chosen = chance.choice([name for name in names if name.endswith(("xml", "html"))] or names)
        for name in names:
            member = source.read(name)
            target.writestr(name, mutate(member, chance) if name == chosen else member)
    return packed.getvalue(), f"{mutate.__name__.strip('_')} of {chosen}"

"""Files with something wrong in them: added whole or refused with a reason, in time and within memory."""

from __future__ import annotations

from pathlib import Path

from tests.hostile import fuzzing
from tests.hostile.mutations import base_files, mutant

SAMPLES = Path(__file__).resolve().parents[2] / "data"


def test_the_same_seed_and_number_give_the_same_bytes() -> None:
    bases = base_files(SAMPLES)
    cases = [mutant(bases, seed=3, number=number) for number in range(40)]
    assert cases == [mutant(bases, seed=3, number=number) for number in range(40)]
    assert len({case.data for case in cases}) > 35
    assert cases[0].data != mutant(bases, seed=4, number=0).data


def test_mutated_files_are_added_or_refused_in_one_line(shared: Path, tmp_path: Path) -> None:
    folders = [shared / "hard-files", SAMPLES]
    found = fuzzing.fuzz(folders, tmp_path / "library.duckdb", seed=11, cases=range(100))
    assert (found.problems, found.cases) == ([], 100)
    # Were all refused, the run would show nothing about what is stored.
    assert min(found.ready, found.failed) > 10

"""Files with something wrong in them: added whole or refused with a reason, in time and within memory."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench
from tests.hostile import fuzzing
from tests.hostile.mutations import base_files, mutant
from workbench import FileOutcome, Settings

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


def test_a_hang_and_too_much_memory_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "STARTING", 0.0)
    monkeypatch.setattr(fuzzing, "LONGEST", 0.3)  # no program has even begun by then
    monkeypatch.setattr(fuzzing, "MOST_MEMORY", 1)
    found = fuzzing.fuzz([SAMPLES], tmp_path / "library.duckdb", seed=1, cases=[4])
    hung, memory = found.problems
    assert hung.startswith("seed 1, case 4 (")
    assert hung.endswith("crashed, hung or took too much")
    assert memory.startswith("memory rose to ")
    assert found.cases == 1


@pytest.mark.parametrize("reason", ["", "two\nlines", "a \x1b[31m colour", "x" * 500])
def test_a_reason_that_a_person_cannot_read_is_told(tmp_path: Path, reason: str) -> None:
    with workbench.open(settings=Settings(library=tmp_path / "library.duckdb", embedder="fake")) as wb:
        assert fuzzing._wrong(wb, FileOutcome("a.pdf", "failed", error=reason))
        assert not fuzzing._wrong(wb, FileOutcome("a.pdf", "failed", error="the file is empty"))
        assert fuzzing._wrong(wb, FileOutcome("a.pdf", "ready"))

"""The program of the long run: seeds that repeat, a record that is gone on from, a table that adds up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.__main__ import main
from tests.torture.outcomes import Outcome, Record, last_seed, table
from tests.torture.parts import PARTS, Options, Part, Work


def counting(done: list[str], *, stop_at: int | None = None, faults: bool = False) -> Part:
    """A part of numbered cases; ``done`` hears of each, and one of them is stopped by the user."""

    def works(options: Options, folder: Path) -> Iterator[Work]:
        for number in range(1000):

            def work(name: str = f"{options.seed}-{number}", number: int = number) -> Outcome:
                if number == stop_at:
                    raise KeyboardInterrupt
                done.append(name)
                return Outcome(
                    name, number % 2, ["a paper is lost"] if faults else [], {"longest, s": number}
                )

            yield work

    return Part("kills", "numbers", lambda options: options.kills, works)


def run(part: Part, state: Path, *arguments: str) -> int:
    return main(["--state", str(state), "--kills", "3", *arguments], parts=(part,))


def test_an_interrupted_run_goes_on_with_the_same_seed_where_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done: list[str] = []
    state = tmp_path / "record" / "state.jsonl"
    assert run(counting(done, stop_at=3), state, "--seed", "7") == 1
    assert "stopped: start it again to go on" in capsys.readouterr().out
    assert run(counting(done), state) == 0
    assert done == [f"7-{number}" for number in range(6)]  # every second one counts, and three were wanted
    assert "losses found: 0" in capsys.readouterr().out
    assert last_seed(state) == 7
    assert run(counting(done), state) == 0
    assert len(done) == 6
    assert run(counting(done), state, "--fresh", "--seed", "8") == 0
    assert [outcome.case for outcome in Record(state, seed=8).of("kills")] == [f"8-{n}" for n in range(6)]
    assert Record(state, seed=7).of("kills") == []


def test_a_loss_is_told_and_is_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(counting([], faults=True), tmp_path / "state.jsonl", "--seed", "7") == 1
    said = capsys.readouterr().out
    assert "losses found: 6" in said
    assert "LOSS kills: 7-5: a paper is lost" in said


def test_the_table_adds_counts_and_keeps_the_longest() -> None:
    outcomes = [
        Outcome("a", 2, [], {"longest, s": 3.0, "done": 1}),
        Outcome("b", 1, [], {"longest, s": 1, "done": 2}),
    ]
    lines = table([("kills", "processes killed", outcomes)]).splitlines()
    assert lines[1].split() == ["kills", "processes", "killed", "3", "2", "0"]
    assert [line.strip() for line in lines[2:]] == ["longest, s: 3", "done: 3", "losses found: 0"]


def test_each_part_has_a_name_of_its_own() -> None:
    assert len({part.name for part in PARTS}) == len(PARTS) >= 6

"""Thirty processes killed at work: at random moments, and by themselves before steps that they take."""

from __future__ import annotations

import os

from tests.torture.kills import Workshop, cases, kill
from tests.torture.scenarios import ALL, BY_NAME

KILLS = 30


def test_thirty_killed_processes_lose_nothing(workshop: Workshop) -> None:
    """``WORKBENCH_TORTURE_SEED`` chooses other moments than those of seed 1."""
    seed = int(os.environ.get("WORKBENCH_TORTURE_SEED", "1"))
    outcomes = []
    for case in cases(seed, workshop.rehearsal):
        outcomes.append(kill(workshop, case))
        if sum(outcome.count for outcome in outcomes) >= KILLS:
            break
    assert {outcome.case: outcome.faults for outcome in outcomes if outcome.faults} == {}
    assert {outcome.case.split(":")[0] for outcome in outcomes} == {scenario.name for scenario in ALL}


def test_every_stage_of_the_ledger_and_every_commit_is_a_step(workshop: Workshop) -> None:
    add = workshop.rehearsal(BY_NAME["add"])
    assert {f"stage {name}" for name in ("read", "chunk", "embed", "index")} <= add.steps.keys()
    assert add.steps["storage.database.Database._commit > execute"] == len(add.states) - 1 == 4
    assert "indexes.folders.write_note > replace" in add.steps
    assert "indexes.vector_file.RowWriter.add > write" in add.steps
    assert "indexes.keyword_store.KeywordStore.write > commit" in add.steps

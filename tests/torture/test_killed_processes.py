"""Thirty processes killed at work: at random moments, and by themselves before steps that they take."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.torture.kills import Workshop, cases, kill
from tests.torture.scenarios import ALL

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs fork and SIGKILL")

KILLS = 30


def test_thirty_killed_processes_lose_nothing(tmp_path: Path) -> None:
    seed = int(os.environ.get("WORKBENCH_TORTURE_SEED", "1"))
    workshop = Workshop(tmp_path)
    outcomes = []
    for case in cases(seed, workshop.rehearsal):
        outcomes.append(kill(workshop, case))
        if sum(outcome.count for outcome in outcomes) >= KILLS:
            break
    assert {outcome.case: outcome.faults for outcome in outcomes if outcome.faults} == {}
    assert {outcome.case.split(":")[0] for outcome in outcomes} == {scenario.name for scenario in ALL}


def test_every_stage_of_the_ledger_and_every_commit_is_a_step(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path)
    add = workshop.rehearsal(ALL[0])
    assert {f"stage {name}" for name in ("read", "chunk", "embed", "index")} <= add.steps.keys()
    assert add.steps["storage.database.Database._commit > execute"] == len(add.states) - 1 == 4
    assert "indexes.folders.write_note > replace" in add.steps
    assert "indexes.vector_file.RowWriter.add > write" in add.steps
    assert "indexes.keyword_store.KeywordStore.write > commit" in add.steps

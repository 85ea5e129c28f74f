"""A disk that is full, or read-only, or refuses to let files grow, in the middle of work: real ones."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.torture import disk_faults, disks
from tests.torture.child import Moment
from tests.torture.disk_faults import Case
from tests.torture.disks import FAILURES, Failure
from tests.torture.kills import Workshop

CASES = 5


@pytest.mark.parametrize("failure", FAILURES)
def test_a_disk_that_fails_at_a_step_loses_nothing_and_ends_no_process(
    workshop: Workshop, tmp_path: Path, failure: Failure
) -> None:
    reason = disks.why_not(failure)
    if reason is not None:
        pytest.skip(reason)
    first = FAILURES.index(failure)
    chosen = islice(disk_faults.cases(1, workshop.rehearsal, [failure]), first, 3 * CASES, 3)
    outcomes = [disk_faults.fail(workshop, case, tmp_path / "disk") for case in chosen]
    assert {outcome.case: outcome.faults for outcome in outcomes if outcome.faults} == {}


@pytest.mark.parametrize("failure", ["limit", "full"])
@pytest.mark.parametrize("scenario", ["migrate", "create", "add", "compact"])
def test_a_commit_that_the_disk_refuses_is_told_in_one_line(
    workshop: Workshop, tmp_path: Path, failure: Failure, scenario: str
) -> None:
    reason = disks.why_not(failure)
    if reason is not None:
        pytest.skip(reason)
    commit = "storage.database.Database._commit > execute"
    if scenario in ("migrate", "create"):
        commit = "storage.migrate.apply > execute"
    case = Case(scenario, failure, Moment(commit, 1))
    assert disk_faults.fail(workshop, case, tmp_path / "disk").faults == []

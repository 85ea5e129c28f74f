"""A minute of what the long run does for ten minutes each."""

from __future__ import annotations

import pytest

from tests.torture import crowding
from tests.torture.kills import Workshop

pytestmark = pytest.mark.slow


def test_four_processes_at_work_in_one_library_lose_nothing_and_all_get_on(workshop: Workshop) -> None:
    """Two notebooks and a dashboard, each in a Jupyter kernel, and the command line."""
    outcome = crowding.processes(workshop, seed=1, seconds=60)
    assert outcome.faults == []
    assert outcome.count > 0
    assert len([name for name in outcome.notes if name.startswith("done by")]) == 4


def test_eight_threads_at_work_in_one_library_lose_nothing_and_all_get_on(workshop: Workshop) -> None:
    outcome = crowding.threads(workshop, seed=1, seconds=60)
    assert outcome.faults == []
    assert outcome.count > 0
    assert len([name for name in outcome.notes if name.startswith("done by")]) == crowding.THREADS

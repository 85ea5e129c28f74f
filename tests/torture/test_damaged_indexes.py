"""Derived indexes truncated, deleted, stale, ahead, of another version: complete answers, and healed."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.torture.damages import HARMS, WHOLE, Case, cases, damage
from tests.torture.kills import Workshop

ROUND = len(HARMS) + 3 + len(WHOLE)


@pytest.mark.parametrize("case", list(islice(cases(5), ROUND)), ids=lambda case: case.label)
def test_a_damaged_index_finds_all_that_a_scan_finds_and_heals(workshop: Workshop, case: Case) -> None:
    assert damage(workshop, case).faults == []


def test_indexes_of_a_later_library_are_not_believed_by_an_open_one(workshop: Workshop) -> None:
    """An older backup was put back, and the folder of indexes is the newer library's."""
    assert damage(workshop, Case("ahead", 1, while_open=True)).faults == []
    assert damage(workshop, Case("ahead", 2, while_open=False)).faults == []


def test_files_emptied_under_an_open_index_do_not_end_the_process(workshop: Workshop) -> None:
    assert damage(workshop, Case("emptied", 749962, while_open=True)).faults == []

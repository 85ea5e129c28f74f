"""Why a paper gave no passage, and what was left out for which reason."""

from __future__ import annotations

from workbench.records import Candidate, Dropped
from workbench.retrieval.selection import SelectionLimits, select_evidence
from workbench.retrieval.silence import NOT_FOUND, NOT_SEARCHED, counted_reasons, reasons_of_silence


def test_each_silent_paper_is_told_what_became_of_its_best_passage() -> None:
    dropped = [
        Dropped(1, 1, 0.61, "all 15 seats are taken"),
        Dropped(2, 1, 0.4, "below the minimum relevance 0.5"),
        Dropped(3, 2, 0.02, "below the minimum relevance 0.05"),
    ]
    assert reasons_of_silence([1, 2, 3, 4], dropped, searched=[1, 2, 3]) == (
        "its best passage (relevance 0.61) was left out: all 15 seats are taken",
        "its best passage (relevance 0.02) was left out: below the minimum relevance 0.05",
        NOT_FOUND,
        NOT_SEARCHED,
    )
    assert reasons_of_silence([9], [], searched=None) == (NOT_FOUND,)


def test_reasons_are_counted_whatever_paper_they_speak_of() -> None:
    one = [Candidate(i, 1, 1.0 - i / 1000, i, float(i)) for i in range(1, 21)]
    two = [Candidate(100 + p, p, 0.7 - p / 100) for p in range(2, 15)]
    weak = [Candidate(999, 99, 0.01)]
    selection = select_evidence([*one, *two, *weak], SelectionLimits())
    assert counted_reasons(selection.dropped) == {
        "its paper has the seats it may have": 14,
        "all 15 seats are taken": 4,
        "below the minimum relevance 0.05": 1,
    }
    capped = select_evidence([*one, *two[:9]], SelectionLimits())
    assert counted_reasons(capped.dropped) == {"its paper has the seats it may have": 14}
    assert counted_reasons([]) == {}
    stored_before = [Dropped(n, n, 0.2, "all 9 seats are taken") for n in range(3)]  # which has no kinds
    assert counted_reasons(stored_before) == {"all 9 seats are taken": 3}

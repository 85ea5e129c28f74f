from __future__ import annotations

import pytest

from workbench.records import ProjectMatch
from workbench.retrieval.project_ranking import DescribedProject, rank_projects

SUMMARY = "Gathers studies of sleep in mice. They record slow waves and memory. " * 4
PROJECTS = [
    DescribedProject(1, "Sleep", "Why we sleep", SUMMARY),
    DescribedProject(2, "Vector databases", "Approximate nearest neighbour search", None),
    DescribedProject(3, "Café budget", None, None),
    DescribedProject(
        4, "Perovskites", "Solar cells that last", "Compares the stability of perovskite films."
    ),
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("memory in mice", 1),
        ("SLEEPING", 1),
        ("nearest neighbor index for vectors", 2),
        ("cafe", 3),
        ("how stable are perovskite solar films?", 4),
        ("Perovskites", 4),
    ],
)
def test_the_right_project_comes_first(query: str, first: int) -> None:
    assert rank_projects(query, PROJECTS)[0].id == first


def test_a_match_is_the_projects_id_title_beginning_of_its_summary_and_score() -> None:
    assert rank_projects("Café budget", PROJECTS)[0] == ProjectMatch(3, "Café budget", "", 2.0)
    found = {match.id: match for match in rank_projects("sleep", PROJECTS)}
    assert found[1].summary_snippet == SUMMARY[:200]
    assert found[2].summary_snippet == "Approximate nearest neighbour search"
    assert found[4].summary_snippet == "Compares the stability of perovskite films."
    assert all(0 <= match.score <= 2 for match in found.values())


def test_at_most_five_are_given_best_first_and_ties_by_id_whatever_the_order_given() -> None:
    same = [DescribedProject(n, "Box", None, None) for n in range(1, 9)]
    assert [m.id for m in rank_projects("box", same)] == [1, 2, 3, 4, 5]
    assert rank_projects("box", same[::-1]) == rank_projects("box", same)


def test_no_summaries_no_projects_and_no_words_still_give_a_list() -> None:
    bare = [DescribedProject(p.id, p.title, p.description, None) for p in PROJECTS]
    assert rank_projects("solar cells", bare)[0].id == 4
    assert rank_projects("sleep", []) == []
    assert [m.id for m in rank_projects("", PROJECTS)] == [1, 2, 3, 4]

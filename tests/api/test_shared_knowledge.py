from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import ConflictError, NotFoundError, Scope, Settings, Workbench
from workbench.chat.prompts import answer_prompt
from workbench.cli.terminal import citation_line

CENDRITE = "What is the density of cendrite?"

Open = Callable[..., Workbench]


@pytest.fixture
def blending(library: Path) -> Settings:
    """Bob's settings with a fifth of the seats for shared papers."""
    return Settings.load(library=library, user="bob", chat="extractive", shared_share=0.2)


@pytest.fixture
def shared(open_as: Open) -> Workbench:
    """Ann's library; she shares paper 3, on cendrite."""
    ann = open_as("ann")
    ann.papers.share(3)
    return ann


def test_by_default_no_shared_paper_comes_into_orphans_or_a_project(shared: Workbench, open_as: Open) -> None:
    bob = open_as("bob")
    project = bob.projects.create("Bob's")
    for scope in (Scope.ORPHANS, Scope.project(project)):
        evidence = bob.search(CENDRITE, scope=scope)
        assert (evidence.passages, evidence.papers_in_scope) == ((), 0)
        assert evidence.warnings == (), "and nothing is said of papers that are not his"
    assert {(p.paper_id, p.shared) for p in bob.search(CENDRITE, scope=Scope.ALL)} == {(3, True)}


def test_by_setting_shared_papers_are_blended_in_with_a_share_of_the_seats_and_labelled(
    shared: Workbench, open_as: Open, blending: Settings, mineral_files: list[Path]
) -> None:
    bob = open_as("bob", settings=blending)
    bob.papers.add(mineral_files[3], project=bob.projects.create("Bob's"))
    evidence = bob.search(CENDRITE, scope=Scope.project(2), top_k=5)
    assert [(p.paper_id, p.shared) for p in evidence if p.shared] == [(3, True)]
    assert {p.paper_id for p in evidence if not p.shared} <= {4}
    assert evidence.papers_in_scope == 1
    assert evidence.parameters["shared_share"] == 0.2
    answer = bob.ask(CENDRITE, scope=Scope.project(2))
    assert {(c.paper_id, c.page, c.shared) for c in answer.citations} == {(3, 3, True)}


def test_the_users_own_shared_paper_is_not_labelled_and_keeps_all_its_seats(
    shared: Workbench, open_as: Open, blending: Settings
) -> None:
    ann = open_as("ann", settings=blending.model_copy(update={"user": "ann"}))
    evidence = ann.search(CENDRITE)
    assert {(p.paper_id, p.shared) for p in evidence} == {(3, False)}


def test_what_is_not_shared_is_never_blended_in(open_as: Open, blending: Settings) -> None:
    bob = open_as("bob", settings=blending)
    for scope in (Scope.ORPHANS, Scope.ALL):
        evidence = bob.search(CENDRITE, scope=scope)
        assert (evidence.passages, evidence.dropped, evidence.warnings) == ((), (), ())


def test_unsharing_takes_a_paper_away_from_who_only_saw_it(shared: Workbench, open_as: Open) -> None:
    bob = open_as("bob")
    assert [p.id for p in bob.papers.list()] == [3]
    shared.papers.unshare(3)
    assert bob.papers.list() == []
    assert bob.search(CENDRITE, scope=Scope.ALL).passages == ()
    with pytest.raises(NotFoundError):
        bob.papers.pages(3)
    assert not shared.papers.get(3).shared
    assert shared.doctor() == []


def test_a_shared_paper_in_a_project_stays_there_when_it_is_no_longer_shared(
    shared: Workbench, open_as: Open
) -> None:
    bob = open_as("bob")
    bob.projects.add(bob.projects.create("Bob's"), 3)
    shared.papers.unshare(3)
    shared.papers.remove(3)
    assert [p.id for p in bob.projects.papers("Bob's")] == [3]
    assert {p.shared for p in bob.search(CENDRITE, scope=Scope.ALL)} == {False}
    assert bob.doctor() == []


def test_only_who_shares_a_paper_can_take_that_back_and_only_an_owner_can_share(
    shared: Workbench, open_as: Open, mineral_files: list[Path]
) -> None:
    bob = open_as("bob")
    with pytest.raises(ConflictError, match="only who shares a paper"):
        bob.papers.unshare(3)
    with pytest.raises(ConflictError, match="not yours to share"):
        bob.papers.share(3)
    bob.papers.add(mineral_files[2])
    bob.papers.share(3)
    shared.papers.unshare(3)
    assert bob.papers.get(3).shared, "Bob shares it too"
    with pytest.raises(ConflictError):
        shared.papers.unshare(3)
    bob.papers.unshare(3)
    assert not shared.papers.get(3).shared


def test_a_paper_that_nobody_has_goes_when_it_is_no_longer_shared(shared: Workbench) -> None:
    shared.papers.remove(3)
    assert shared.papers.get(3).shared
    shared.papers.unshare(3)
    with pytest.raises(NotFoundError):
        shared.papers.get(3)
    assert shared.doctor() == []


def test_wherever_an_answer_is_shown_its_shared_sources_say_so(
    shared: Workbench, open_as: Open, blending: Settings
) -> None:
    bob = open_as("bob", settings=blending)
    answer = bob.ask(CENDRITE)
    assert "A study of cendrite (shared), page 3" in answer._repr_markdown_()
    assert "A study of cendrite (shared)" in answer._repr_html_()
    assert "A study of cendrite (shared)" in answer.evidence._repr_html_()
    assert citation_line(answer.citations[0]).startswith(
        "[1] ✓ A study of cendrite, page 3, shared (paper 3): "
    )
    prompt = answer_prompt(CENDRITE, answer.evidence.passages, window=8192)
    assert "A study of cendrite, pages 1-3 (shared knowledge)" in prompt.messages[-1].content

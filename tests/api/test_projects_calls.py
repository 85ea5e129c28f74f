from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workbench import ConflictError, InvalidInputError, NotFoundError, Project, Scope, Settings, Workbench

NOW = datetime.now(UTC)


def same(found: Project, **fields: Any) -> bool:
    """Whether the project has these fields, times apart."""
    wanted = Project(1, "Minerals", "Two minerals", "Compare them", "active", 2, NOW, NOW)
    return replace(found, created_at=NOW, updated_at=NOW) == replace(wanted, **fields)


def test_a_project_is_made_found_listed_and_deleted(wb: Workbench) -> None:
    made = wb.projects.create("  Ores of the North ", goal="Find them")
    assert same(made, id=2, name="Ores of the North", description=None, goal="Find them", paper_count=0)
    assert made.created_at.tzinfo is not None
    assert wb.projects.get(2) == wb.projects.get("ores of the NORTH") == wb.projects.get(made) == made
    assert [p.name for p in wb.projects.list()] == ["Minerals", "Ores of the North"]
    wb.projects.delete(made)
    assert [p.name for p in wb.projects.list(status=None)] == ["Minerals"]


def test_what_is_not_given_stays_and_none_empties(wb: Workbench) -> None:
    assert same(wb.projects.update("Minerals", name="Rocks"), name="Rocks")
    assert same(wb.projects.update(1, description=None), name="Rocks", description=None)
    changed = wb.projects.update(1, status="archived", goal="Later")
    assert same(changed, name="Rocks", description=None, goal="Later", status="archived")
    assert (wb.projects.list(), wb.projects.list("archived"), wb.projects.list(status=None)) == (
        [],
        [changed],
        [changed],
    )


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda wb: wb.projects.create("MINERALS"), ConflictError, "a project named “Minerals” already"),
        (lambda wb: wb.projects.create(" \t"), InvalidInputError, "project"),
        (lambda wb: wb.projects.update(1, name=None), InvalidInputError, "keeps its name"),
        (lambda wb: wb.projects.update(1, status="gone"), InvalidInputError, "use active or archived"),
        (lambda wb: wb.projects.list("gone"), InvalidInputError, "use active or archived"),
        (lambda wb: wb.projects.get(9), NotFoundError, "Project not found: 9. List your projects"),
        (lambda wb: wb.projects.get("Ores"), NotFoundError, "Project not found: “Ores”"),
        (lambda wb: wb.projects.get("1"), NotFoundError, "taken for a name: give an id as a number"),
        (lambda wb: wb.projects.get(None), InvalidInputError, "neither a project's id nor its name"),
        (lambda wb: wb.projects.get(10**40), NotFoundError, "Project not found"),
        (lambda wb: wb.projects.delete("Ores"), NotFoundError, "Project not found"),
        (lambda wb: wb.projects.papers(9), NotFoundError, "Project not found"),
        (lambda wb: wb.projects.add(9, 1), NotFoundError, "Project not found"),
        (lambda wb: wb.projects.add(1, 99), NotFoundError, "Paper not found"),
        (lambda wb: wb.projects.add(1, 10**40), NotFoundError, "Paper not found"),
        (lambda wb: wb.projects.add(1, None), InvalidInputError, "None is neither a paper nor a paper's id"),
        (lambda wb: wb.projects.add(1, True), InvalidInputError, "True is neither a paper"),
        (lambda wb: wb.projects.remove(1, 3), NotFoundError, "Paper not found in project “Minerals”"),
        (lambda wb: wb.papers.add(b"A note.", project="Ores"), NotFoundError, "Project not found: “Ores”"),
    ],
)
def test_what_cannot_be_done_says_why_and_changes_nothing(
    wb: Workbench, call: Callable[[Workbench], Any], error: type[Exception], says: str
) -> None:
    before = (wb.projects.list(status=None), wb.papers.list())
    with pytest.raises(error, match=says):
        call(wb)
    assert (wb.projects.list(status=None), wb.papers.list()) == before


def test_papers_go_into_a_project_by_record_id_and_path(wb: Workbench, mineral_files: list[Path]) -> None:
    project = wb.projects.create("Mixed")
    changed = wb.projects.add(project, wb.papers.get(3), 1, mineral_files[3], str(mineral_files[3]))
    assert changed.paper_count == 3
    assert [p.file for p in wb.projects.papers("Mixed")] == ["arvenite.pdf", "cendrite.pdf", "dravosite.pdf"]
    wb.projects.remove(project, 1)
    assert [p.id for p in wb.projects.papers(project)] == [3, 4]
    assert wb.papers.get(1).file == "arvenite.pdf"


def test_at_the_limit_adding_says_so_and_papers_given_together_go_in_all_or_none(
    open_as: Callable[..., Workbench], library: Path, mineral_files: list[Path]
) -> None:
    wb = open_as("ann", settings=Settings.load(library=library, user="ann", project_max_papers=3))
    wb.papers.add(mineral_files[3])
    full = "“Minerals” holds 3 papers and its limit is 3: remove one, or raise WORKBENCH_PROJECT_MAX_PAPERS"
    with pytest.raises(
        ConflictError, match="holds 2 papers and its limit is 3, so 2 more do not fit: remove"
    ):
        wb.projects.add("Minerals", 3, 4)
    assert [p.id for p in wb.projects.papers("Minerals")] == [1, 2]
    assert wb.projects.add("Minerals", 3, 2, 3).paper_count == 3
    with pytest.raises(ConflictError, match=f"elbergite.pdf: Project {full}"):
        wb.projects.add("Minerals", mineral_files[4])
    report = wb.papers.add_many(mineral_files, project="Minerals")
    assert [f.status for f in report.files] == ["duplicate", "duplicate", "duplicate", "failed", "failed"]
    assert "its limit is 3" in str(report.files[4].error)
    assert [p.id for p in wb.papers.list()] == [1, 2, 3, 4]  # what a full project refuses is not an orphan


def test_no_limit_is_zero(open_as: Callable[..., Workbench], library: Path) -> None:
    wb = open_as("ann", settings=Settings.load(library=library, user="ann", project_max_papers=0))
    records = [{"title": f"Note {i}", "text": f"Note number {i} of the box."} for i in range(12)]
    assert wb.papers.add_texts(records, project="Minerals").failed == ()
    assert wb.projects.get("Minerals").paper_count == 14


def test_deleting_a_project_keeps_its_papers_and_moves_them_to_the_orphans(wb: Workbench) -> None:
    other = wb.projects.create("Other")
    wb.projects.add(other, 2)
    wb.projects.delete("Minerals")
    assert [p.id for p in wb.papers.list()] == [1, 2, 3]
    assert [p.id for p in wb.papers.list(Scope.ORPHANS)] == [1, 3]
    assert [p.id for p in wb.papers.list(Scope.project(other))] == [2]
    with pytest.raises(NotFoundError, match="Project not found"):
        wb.search("melting point", scope=Scope.project(1))
    assert {p.paper_id for p in wb.search("melting point of arvenite and cendrite")} == {1, 3}
    assert wb.doctor() == []


def test_the_papers_of_all_projects_are_told_at_once_archived_ones_too(wb: Workbench) -> None:
    one, two, _ = (wb.projects.create(name) for name in ("One", "Two", "Empty"))
    ids = [paper.id for paper in wb.papers.list()][:2]
    wb.projects.add(one, *ids)
    wb.projects.add(two, ids[0])
    wb.projects.update(two, status="archived")
    found = wb.projects.members()
    assert (found[one.id], found[two.id]) == (tuple(sorted(ids)), (ids[0],))
    assert set(found) <= {project.id for project in wb.projects.list(status=None) if project.paper_count}

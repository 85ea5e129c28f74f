from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from workbench.errors import ConflictError, InvalidInputError, NotFoundError
from workbench.scope import Scope
from workbench.storage import papers, projects, scopes, shares
from workbench.storage.database import Database

AddPaper = Callable[..., int]


def test_a_project_comes_back_as_it_was_made(database: Database) -> None:
    with database.write() as cursor:
        made = projects.create(cursor, "ann", "  Sleep  ", description=" d ", goal="")
        assert (made.name, made.description, made.goal, made.status, made.paper_count) == (
            "Sleep", "d", None, "active", 0,
        )  # fmt: skip
        assert made.created_at.utcoffset() is not None
        assert projects.get(cursor, "ann", made.id) == made
        assert projects.get(cursor, "ann", " sLEEP ") == made


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sleep", "sleep"),
        ("Straße", "STRASSE"),
        ("Café", "Cafe\u0301"),
        ("ÉTUDE", "e\u0301tude"),
        ("a", " A "),
    ],
)
def test_names_that_differ_in_case_or_composition_only_are_one(
    database: Database, first: str, second: str
) -> None:
    with database.write() as cursor:
        made = projects.create(cursor, "ann", first)
        with pytest.raises(ConflictError, match="already"):
            projects.create(cursor, "ann", second)
        assert projects.get(cursor, "ann", second).id == made.id
        assert projects.create(cursor, "bob", second).id != made.id, "another user may have the name"


@pytest.mark.parametrize(
    "name", ["", "   ", "a\nb", "a\x00b", "a\tb", "\ud800", "a\u2028b", "\x1b[31m", "x" * 201]
)
def test_a_name_that_cannot_be_one_is_refused_in_one_line(database: Database, name: str) -> None:
    with database.write() as cursor:
        with pytest.raises(InvalidInputError) as raised:
            projects.create(cursor, "ann", name)
        assert "\n" not in str(raised.value)
        kept = projects.create(cursor, "ann", "kept")
        with pytest.raises(InvalidInputError):
            projects.update(cursor, "ann", kept.id, name=name)
        assert projects.list_projects(cursor, "ann", status=None) == [kept]


def test_a_name_of_two_hundred_letters_in_any_script_is_fine(database: Database) -> None:
    with database.write() as cursor:
        for name in ("研" * 200, '🚀 o\'brien "quoted" <b>', "Robert'); DROP TABLE projects;--"):
            assert projects.create(cursor, "ann", name).name == name


def test_not_given_keeps_and_none_empties(database: Database) -> None:
    with database.write() as cursor:
        made = projects.create(cursor, "ann", "p", description="d", goal="g")
        renamed = projects.update(cursor, "ann", made.id, name="q")
        assert (renamed.name, renamed.description, renamed.goal) == ("q", "d", "g")
        emptied = projects.update(cursor, "ann", made.id, description=None)
        assert (emptied.name, emptied.description, emptied.goal) == ("q", None, "g")
        archived = projects.update(cursor, "ann", made.id, status="archived")
        assert archived.status == "archived"
        assert projects.update(cursor, "ann", made.id) == archived
        nameless: Any = None
        with pytest.raises(InvalidInputError, match="keeps its name"):
            projects.update(cursor, "ann", made.id, name=nameless)
        with pytest.raises(InvalidInputError, match="active or archived"):
            projects.update(cursor, "ann", made.id, status="gone")


def test_a_project_may_change_the_case_of_its_own_name_and_not_take_anothers(database: Database) -> None:
    with database.write() as cursor:
        made, other = projects.create(cursor, "ann", "sleep"), projects.create(cursor, "ann", "wake")
        assert projects.update(cursor, "ann", made.id, name="Sleep").name == "Sleep"
        with pytest.raises(ConflictError, match="named “Sleep” already"):
            projects.update(cursor, "ann", other.id, name="SLEEP")


def test_projects_are_listed_by_status_and_name(database: Database) -> None:
    with database.write() as cursor:
        for name in ("b", "A", "c"):
            projects.create(cursor, "ann", name)
        projects.create(cursor, "bob", "theirs")
        projects.update(cursor, "ann", projects.get(cursor, "ann", "c").id, status="archived")
        names = {
            status: [p.name for p in projects.list_projects(cursor, "ann", status=status)]
            for status in ("active", "archived", None)
        }
    assert names == {"active": ["A", "b"], "archived": ["c"], None: ["A", "b", "c"]}


def test_a_foreign_project_behaves_exactly_like_an_unknown_one(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("mine", user="bob")
    with database.write() as cursor:
        theirs = projects.create(cursor, "ann", "private", goal="secret")
        projects.create(cursor, "bob", "own")
        calls: list[Callable[[int], object]] = [
            lambda i: projects.get(cursor, "bob", i),
            lambda i: projects.update(cursor, "bob", i, name="stolen"),
            lambda i: projects.delete(cursor, "bob", i),
            lambda i: projects.add_paper(cursor, "bob", i, paper_id),
            lambda i: projects.remove_paper(cursor, "bob", i, paper_id),
            lambda i: projects.paper_ids(cursor, "bob", i),
            lambda i: scopes.paper_ids(cursor, "bob", Scope.project(i)),
            lambda i: scopes.label(cursor, "bob", Scope.project(i)),
        ]
        for call in calls:
            texts = []
            for project_id in (theirs.id, 777):
                with pytest.raises(NotFoundError) as raised:
                    call(project_id)
                texts.append(str(raised.value).replace(str(project_id), "N"))
            assert texts == ["Project not found: N. List your projects to see their names."] * 2
        with pytest.raises(NotFoundError, match="Project not found"):
            projects.get(cursor, "bob", "private")
        assert projects.get(cursor, "ann", theirs.id) == theirs


@pytest.mark.parametrize("odd", [0, -1, 2**63, 10**30])
def test_an_impossible_id_is_not_found(database: Database, odd: int) -> None:
    with pytest.raises(NotFoundError, match="Project not found"), database.read() as cursor:
        projects.get(cursor, "ann", odd)


def test_what_is_neither_id_nor_name_is_refused(database: Database) -> None:
    odd: Any
    for odd in (True, 1.5, None, b"p"):
        with (
            pytest.raises(InvalidInputError, match="neither a project's id nor its name"),
            database.read() as cursor,
        ):
            projects.get(cursor, "ann", odd)


def test_papers_are_added_and_removed(database: Database, add_paper: AddPaper) -> None:
    one, two = add_paper("one"), add_paper("two")
    with database.write() as cursor:
        made = projects.create(cursor, "ann", "p")
        assert [projects.add_paper(cursor, "ann", made.id, p) for p in (two, one, two)] == [True, True, False]
        assert projects.paper_ids(cursor, "ann", made.id) == (one, two)
        assert projects.get(cursor, "ann", made.id).paper_count == 2
        projects.remove_paper(cursor, "ann", made.id, two)
        assert projects.paper_ids(cursor, "ann", made.id) == (one,)
        with pytest.raises(NotFoundError, match="Paper not found in project “p”"):
            projects.remove_paper(cursor, "ann", made.id, two)
        assert papers.get(cursor, "ann", two).id == two


def test_only_papers_the_user_sees_can_be_added(database: Database, add_paper: AddPaper) -> None:
    hidden, shared = add_paper("hidden", user="bob"), add_paper("shared", user="bob")
    with database.write() as cursor:
        shares.share(cursor, "bob", shared)
        made = projects.create(cursor, "ann", "p")
        with pytest.raises(NotFoundError, match="Paper not found"):
            projects.add_paper(cursor, "ann", made.id, hidden)
        assert projects.add_paper(cursor, "ann", made.id, shared) is True


def test_the_limit_is_named_with_the_way_out(database: Database, add_paper: AddPaper) -> None:
    one, two = add_paper("one"), add_paper("two")
    with database.write() as cursor:
        made = projects.create(cursor, "ann", "p")
        projects.add_paper(cursor, "ann", made.id, one, limit=1)
        assert projects.add_paper(cursor, "ann", made.id, one, limit=1) is False, "it is in it already"
        with pytest.raises(ConflictError) as raised:
            projects.add_paper(cursor, "ann", made.id, two, limit=1)
        assert str(raised.value) == (
            "Project “p” holds 1 paper and its limit is 1: remove one, "
            "or raise WORKBENCH_PROJECT_MAX_PAPERS (0 means no limit)."
        )
        assert projects.add_paper(cursor, "ann", made.id, two, limit=0) is True


def test_deleting_a_project_leaves_its_papers_in_the_library(database: Database, add_paper: AddPaper) -> None:
    one, both = add_paper("one"), add_paper("both")
    with database.write() as cursor:
        first, second = projects.create(cursor, "ann", "first"), projects.create(cursor, "ann", "second")
        for project, paper in ((first, one), (first, both), (second, both)):
            projects.add_paper(cursor, "ann", project.id, paper)
        projects.delete(cursor, "ann", first.id)
        assert scopes.paper_ids(cursor, "ann", Scope.ORPHANS) == (one,)
        assert scopes.paper_ids(cursor, "ann", Scope.project(second)) == (both,)
        with pytest.raises(NotFoundError):
            scopes.paper_ids(cursor, "ann", Scope.project(first))
        assert projects.create(cursor, "ann", "FIRST").id != first.id


def test_unlinking_takes_the_paper_out_of_this_users_projects_only(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("both")
    add_paper("both", user="bob")
    with database.write() as cursor:
        mine, theirs = projects.create(cursor, "ann", "p"), projects.create(cursor, "bob", "p")
        projects.add_paper(cursor, "ann", mine.id, paper_id)
        projects.add_paper(cursor, "bob", theirs.id, paper_id)
        papers.unlink(cursor, "ann", paper_id)
        assert projects.paper_ids(cursor, "ann", mine.id) == ()
        assert projects.paper_ids(cursor, "bob", theirs.id) == (paper_id,)


def test_each_scope_covers_its_papers_and_nothing_else(database: Database, add_paper: AddPaper) -> None:
    orphan, filed, archived = add_paper("orphan"), add_paper("filed"), add_paper("archived")
    hidden, shared = add_paper("hidden", user="bob"), add_paper("shared", user="bob")
    with database.write() as cursor:
        shares.share(cursor, "bob", shared)
        active, old = projects.create(cursor, "ann", "active"), projects.create(cursor, "ann", "old")
        projects.add_paper(cursor, "ann", active.id, filed)
        projects.add_paper(cursor, "ann", old.id, archived)
        projects.update(cursor, "ann", old.id, status="archived")
        theirs = projects.create(cursor, "bob", "theirs")
        projects.add_paper(cursor, "bob", theirs.id, hidden)
    with database.read() as cursor:
        covered = {
            name: scopes.paper_ids(cursor, "ann", scope)
            for name, scope in {
                "orphans": Scope.ORPHANS,
                "all": Scope.ALL,
                "active": Scope.project(active),
                "old": Scope.project(old),
            }.items()
        }
        assert scopes.paper_ids(cursor, "ann", Scope.ALL, shared=False) == (orphan, filed, archived)
        assert scopes.paper_ids(cursor, "carol", Scope.ORPHANS) == ()
        labels = [scopes.label(cursor, "ann", s) for s in (Scope.ORPHANS, Scope.ALL, Scope.project(active))]
    assert covered == {
        "orphans": (orphan,),
        "all": (orphan, filed, archived, shared),
        "active": (filed,),
        "old": (archived,),
    }
    assert labels == ["Orphan notes only", "All notes", "active"]

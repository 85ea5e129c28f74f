from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from workbench.errors import NotFoundError
from workbench.records import ProjectSummary
from workbench.storage import memories, papers, projects, summaries
from workbench.storage.database import Database

AddPaper = Callable[..., int]
HOUR = timedelta(hours=1)


@pytest.fixture
def sleep(database: Database, add_paper: AddPaper) -> int:
    """Ann's project on sleep with two papers, mice (1) and rats (2)."""
    add_paper("mice")
    add_paper("rats")
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Sleep", description="Why we sleep", goal="Find out")
        for paper_id in (1, 2):
            projects.add_paper(cursor, "ann", project.id, paper_id)
    return project.id


def write(database: Database, project_id: int, text: str) -> bool:
    with database.write() as cursor:
        contents = summaries.contents(cursor, "ann", project_id)
        return summaries.store(cursor, "ann", text, written_by="fake-chat", of=contents)


def due(database: Database, older_than: timedelta = HOUR) -> list[int]:
    with database.read() as cursor:
        return summaries.due(cursor, "ann", older_than=older_than)


def test_a_summary_is_written_from_the_projects_words_and_its_newest_papers(
    database: Database, sleep: int
) -> None:
    with database.write() as cursor:
        papers.link(cursor, "ann", 1, file="mice.txt", title="My mice")
        found = summaries.contents(cursor, "ann", sleep)
    assert (found.title, found.description, found.goal) == ("Sleep", "Why we sleep", "Find out")
    assert (found.paper_count, found.years) == (2, (2020, 2020))
    assert found.papers == (
        ("On rats", ("Page 1 of rats. " + "rats " * 40)[:200]),
        ("My mice", ("Page 1 of mice. " + "mice " * 40)[:200]),
    )


def test_ten_papers_are_shown_at_most_the_newest(database: Database, add_paper: AddPaper) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Many")
    for number in range(12):
        paper_id = add_paper(f"word{number}", pages=1, chunks=1)
        with database.write() as cursor:
            projects.add_paper(cursor, "ann", project.id, paper_id)
    with database.read() as cursor:
        found = summaries.contents(cursor, "ann", project.id)
    assert found.paper_count == 12
    assert [title for title, _ in found.papers] == [f"On word{n}" for n in range(11, 1, -1)]


def test_a_summary_is_kept_beside_the_project_and_does_not_count_as_a_change_of_it(
    database: Database, sleep: int
) -> None:
    with database.read() as cursor:
        before = projects.get(cursor, "ann", sleep)
        assert summaries.get(cursor, "ann", sleep) == ProjectSummary(sleep, "Sleep", None, None)
    assert write(database, sleep, "On sleep.\ud800")
    with database.read() as cursor:
        assert projects.get(cursor, "ann", sleep) == before
        kept = summaries.get(cursor, "ann", sleep)
        assert (kept.name, kept.text, kept.written_by) == ("Sleep", "On sleep.\ufffd", "fake-chat")
        assert kept.updated_at is not None
        assert kept.updated_at > before.updated_at
        assert summaries.list_summaries(cursor, "ann") == [kept]
        assert summaries.list_summaries(cursor, "ann", status="archived") == []


@pytest.mark.parametrize("change", ["rename", "describe", "remove", "add", "retitle"])
def test_what_was_written_before_a_change_is_not_kept_after_it(
    database: Database, sleep: int, add_paper: AddPaper, change: str
) -> None:
    add_paper("cats")
    with database.read() as cursor:
        old = summaries.contents(cursor, "ann", sleep)
    with database.write() as cursor:
        if change == "rename":
            projects.update(cursor, "ann", sleep, name="Rest")
        elif change == "describe":
            projects.update(cursor, "ann", sleep, description=None)
        elif change == "remove":
            projects.remove_paper(cursor, "ann", sleep, 1)
        elif change == "add":
            projects.add_paper(cursor, "ann", sleep, 3)
        else:
            papers.link(cursor, "ann", 1, file="mice.txt", title="Mine")
        assert not summaries.store(cursor, "ann", "Old.", written_by="fake-chat", of=old)
        assert summaries.get(cursor, "ann", sleep).text is None


def test_a_project_without_a_summary_is_due_and_one_with_an_old_one_where_something_changed_since(
    database: Database, sleep: int
) -> None:
    assert due(database) == [sleep]
    write(database, sleep, "On sleep.")
    assert due(database) == due(database, timedelta(0)) == []
    with database.write() as cursor:
        projects.remove_paper(cursor, "ann", sleep, 2)
    assert (due(database), due(database, timedelta(0))) == ([], [sleep])
    with database.write() as cursor:
        cursor.execute("UPDATE projects SET summary_updated_at = summary_updated_at - INTERVAL 61 MINUTE")
        assert summaries.due(cursor, "ann", older_than=HOUR, project_id=sleep) == [sleep]
    assert due(database) == [sleep]
    with database.write() as cursor:
        projects.update(cursor, "ann", sleep, status="archived")
    assert due(database) == []


def test_a_paper_that_leaves_the_library_takes_the_summaries_that_may_tell_of_it_along(
    database: Database, sleep: int, add_paper: AddPaper
) -> None:
    with database.write() as cursor:
        other = projects.create(cursor, "ann", "Other")
    for project_id in (sleep, other.id):
        write(database, project_id, "A summary.")
    with database.write() as cursor:
        papers.unlink(cursor, "ann", 1)
        assert [s.text for s in summaries.list_summaries(cursor, "ann")] == ["A summary.", None]


def test_another_users_summary_does_not_exist_and_a_deleted_project_leaves_nothing(
    database: Database, sleep: int
) -> None:
    write(database, sleep, "On sleep.")
    with database.read() as cursor:
        mine = summaries.contents(cursor, "ann", sleep)
        for call in (summaries.get, summaries.contents):
            with pytest.raises(NotFoundError, match="Project not found"):
                call(cursor, "bob", sleep)
        assert summaries.list_summaries(cursor, "bob") == []
    with pytest.raises(NotFoundError), database.write() as cursor:
        summaries.store(cursor, "bob", "Mine now.", written_by="fake-chat", of=mine)
    with database.write() as cursor:
        memories.remember(cursor, "ann", "I use mice", key="use mice", project_id=sleep)
        memories.remember(cursor, "ann", "I use rats", key="use rats", project_id=None)
        projects.delete(cursor, "ann", sleep)
        with pytest.raises(NotFoundError):
            summaries.store(cursor, "ann", "Late.", written_by="fake-chat", of=mine)
        assert cursor.execute("SELECT text FROM memories").fetchall() == [("I use rats",)]


def test_a_summary_written_before_any_of_the_papers_came_is_due(
    database: Database, add_paper: AddPaper
) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "ann", "Sleep")
    write(database, project.id, "On sleep.")
    assert due(database) == []
    for word, wanted in (("mice", [project.id]), ("rats", [])):
        paper_id = add_paper(word)
        with database.write() as cursor:
            projects.add_paper(cursor, "ann", project.id, paper_id)
        assert due(database) == wanted
        write(database, project.id, "On sleep of mice.")
    with pytest.raises(NotFoundError), database.read() as cursor:
        summaries.due(cursor, "bob", older_than=HOUR, project_id=project.id)


def test_of_two_summaries_written_at_once_of_the_same_state_the_first_stays(
    database: Database, sleep: int
) -> None:
    with database.read() as cursor:
        one = summaries.contents(cursor, "ann", sleep)
    with database.write() as cursor:
        assert summaries.store(cursor, "ann", "First.", written_by="fake-chat", of=one)
    with database.write() as cursor:
        assert summaries.store(cursor, "ann", "Second.", written_by="fake-chat", of=one)
        assert summaries.get(cursor, "ann", sleep).text == "First."

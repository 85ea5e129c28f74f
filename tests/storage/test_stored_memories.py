from __future__ import annotations

import pytest

from workbench.errors import NotFoundError
from workbench.records import Memory
from workbench.scope import Scope
from workbench.storage import maintenance, memories, projects
from workbench.storage.database import Database


def keep(database: Database, text: str, *, user: str = "ann", project_id: int | None = None) -> Memory:
    with database.write() as cursor:
        return memories.remember(cursor, user, text, key=text.lower(), project_id=project_id)


def texts(database: Database, scope: Scope, *, user: str = "ann") -> list[str]:
    with database.read() as cursor:
        return [memory.text for memory in memories.list_memories(cursor, user, scope)]


def test_a_memory_comes_back_as_it_was_kept(database: Database) -> None:
    kept = keep(database, "I use mice\ud800 and \x00 rats")
    assert (kept.id, kept.text, kept.project_id) == (1, "I use mice\ufffd and \ufffd rats", None)
    assert kept.created_at == kept.seen_at
    assert kept.created_at.utcoffset() is not None
    with database.read() as cursor:
        assert memories.get(cursor, "ann", 1) == kept
        assert memories.list_memories(cursor, "ann", Scope.ALL) == [kept]


def test_the_same_again_changes_nothing_but_when_it_was_seen(database: Database) -> None:
    first = keep(database, "I use mice")
    other = keep(database, "I use rats")
    again = keep(database, "i USE mice")
    assert (again.id, again.text, again.created_at) == (first.id, "I use mice", first.created_at)
    assert again.seen_at > other.seen_at > first.seen_at
    assert texts(database, Scope.ALL) == ["I use mice", "I use rats"]


def test_each_project_and_each_user_has_memories_of_its_own(database: Database) -> None:
    with database.write() as cursor:
        sleep = projects.create(cursor, "ann", "Sleep")
        bobs = projects.create(cursor, "bob", "Sleep")
    keep(database, "I use mice")
    keep(database, "I use mice", project_id=sleep.id)
    keep(database, "I use rats", user="bob", project_id=bobs.id)
    assert texts(database, Scope.ORPHANS) == texts(database, Scope.project(sleep)) == ["I use mice"]
    assert texts(database, Scope.ALL) == ["I use mice", "I use mice"]
    assert texts(database, Scope.ALL, user="bob") == ["I use rats"]
    with pytest.raises(NotFoundError, match="Project not found"):
        texts(database, Scope.project(bobs))
    with pytest.raises(NotFoundError, match="Project not found"):
        keep(database, "I use cats", project_id=bobs.id)
    assert texts(database, Scope.ALL, user="eve") == []


def test_what_is_forgotten_is_gone_and_nobody_forgets_for_another(database: Database) -> None:
    mine, also, bobs = keep(database, "one"), keep(database, "two"), keep(database, "three", user="bob")
    for foreign in (bobs.id, 99, 0):
        says = f"Memory not found: {foreign}. List your memories"
        with pytest.raises(NotFoundError, match=says), database.write() as cursor:
            memories.forget(cursor, "ann", [mine.id, foreign])
    assert texts(database, Scope.ALL) == ["two", "one"]
    with database.write() as cursor:
        memories.forget(cursor, "ann", [mine.id, also.id])
    assert texts(database, Scope.ALL) == []
    assert texts(database, Scope.ALL, user="bob") == ["three"]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE memories SET project_id = 9", "memories of a project that is not their user's: 2"),
        ("UPDATE memories SET text_key = 'same'", "memories that say the same twice: 1"),
        (
            "UPDATE projects SET summary_updated_at = now()",
            "times or writers without a summary: 1",
        ),
    ],
)
def test_the_doctor_finds_memories_and_summaries_that_are_not_whole(
    database: Database, damage: str, problem: str
) -> None:
    with database.write() as cursor:
        projects.create(cursor, "ann", "Sleep")
    keep(database, "I use mice")
    keep(database, "I use rats")
    assert maintenance.doctor(database) == []
    with database.write() as cursor:
        cursor.execute(damage)
    assert maintenance.doctor(database) == [f"{problem} found"]

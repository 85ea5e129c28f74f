"""A library from before questions, evaluations and presets gets them, and keeps what it has."""

from __future__ import annotations

from pathlib import Path

import duckdb

from workbench.scope import Scope
from workbench.storage import maintenance, migrate, presets, projects, questions
from workbench.storage.database import Database
from workbench.tuning import Gold, Question


def test_an_older_library_keeps_its_projects_and_retrievals_and_can_be_tuned(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir(mode=0o700)
    path = folder / "library.duckdb"
    with duckdb.connect(str(path)) as cursor:
        for migration in migrate.known()[:5]:
            migrate.apply(cursor, migration)
        cursor.execute("INSERT INTO projects (user_name, name, name_key) VALUES ('ann', 'Old', 'old')")
        cursor.execute(
            "INSERT INTO retrievals (user_name, query, parameters, timing) VALUES ('ann', 'q', '{}', '{}')"
        )
    database = Database(path)
    with database.write() as cursor:
        assert [p.name for p in projects.list_projects(cursor, "ann")] == ["Old"]
        assert cursor.execute("SELECT query FROM retrievals").fetchall() == [("q",)]
        assert questions.list_questions(cursor, "ann", Scope.ALL) == []
        questions.add(cursor, "ann", Question("a", "Why?", (Gold("a.pdf", 1),)), project_id=1)
        presets.save(cursor, "ann", 1, "Narrow", {"top_k": 3})
    assert maintenance.doctor(database) == []

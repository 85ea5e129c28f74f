"""Libraries as earlier versions of the product left them: the old migrations, and rows in every table.

A migration that adds a table needs rows for it here: ``ROWS`` has a function for each migration that does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from tests.torture.libraries import NAME, USER, WORDS, text_of
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.records import Answer, Evidence
from workbench.scope import Scope
from workbench.storage import migrate
from workbench.storage.answer_json import write_answer

EMBEDDER = FakeEmbedder(64)


def newest() -> int:
    return migrate.known()[-1].number


def make_old(folder: Path, *, schema: int = 1) -> Path:
    """A library of that schema in ``folder``, with rows in every table it has."""
    folder.mkdir(mode=0o700, parents=True)
    with duckdb.connect(str(folder / NAME)) as cursor:
        for migration in migrate.known()[:schema]:
            migrate.apply(cursor, migration)
            if migration.number in ROWS:
                ROWS[migration.number](cursor)
    return folder


def empty_tables(cursor: DuckDBPyConnection) -> list[str]:
    """Tables without a row: an upgrade of them would not be tried."""
    names = [row[0] for row in cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()]
    return [name for name in names if cursor.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() is None]


def _papers_and_projects(cursor: DuckDBPyConnection) -> None:
    cursor.execute(
        "INSERT INTO generations (generation, embedder, dimension, serving) VALUES (1, ?, 64, true)",
        [EMBEDDER.name],
    )
    cursor.execute(
        "CREATE TABLE vectors_1 (chunk_id BIGINT NOT NULL, paper_id BIGINT NOT NULL,"
        " embedding FLOAT[64] NOT NULL)"
    )
    for word in WORDS[:3]:
        _paper(cursor, word, text_of(word))
    cursor.execute(f"INSERT INTO projects (user_name, name, name_key) VALUES ('{USER}', 'Shelf', 'shelf')")
    cursor.execute(f"INSERT INTO project_papers (project_id, paper_id, user_name) VALUES (1, 1, '{USER}')")
    cursor.execute("UPDATE papers SET shared = true WHERE paper_id = 2")
    cursor.execute(
        "INSERT INTO retrievals (user_name, query, parameters, timing) VALUES (?, 'Why?', '{}', '{}')", [USER]
    )
    cursor.execute("INSERT INTO retrieval_passages VALUES (1, 1, 1, 1, 0.9, 1, 1, NULL)")


def _paper(cursor: DuckDBPyConnection, word: str, text: str, *, kind: str = "md") -> int:
    """A paper of one page whose chunks are its paragraphs."""
    source = text.encode()
    row = cursor.execute(
        "INSERT INTO papers (sha256, kind, title, authors, page_unit, page_count, chunk_count, generation)"
        " VALUES (?, ?, ?, ['A. Author'], 'section', 1, ?, 1) RETURNING paper_id",
        [hashlib.sha256(source).hexdigest(), kind, f"A study of {word}", len(text.split("\n\n"))],
    ).fetchone()
    assert row is not None
    paper, file = int(row[0]), f"{word}.md"
    cursor.execute("INSERT INTO sources VALUES (?, 0, ?)", [paper, source])
    cursor.execute("INSERT INTO pages VALUES (?, 1, NULL, ?, 0, ?)", [paper, text, len(text)])
    start = 0
    for ordinal, part in enumerate(text.split("\n\n")):
        found = cursor.execute(
            "INSERT INTO chunks (paper_id, ordinal, heading, blurb, text, page_start, page_end, char_start,"
            " char_end) VALUES (?, ?, 'Results', 'A blurb', ?, 1, 1, ?, ?) RETURNING chunk_id",
            [paper, ordinal, part, start, start + len(part)],
        ).fetchone()
        assert found is not None
        vector = EMBEDDER.embed_documents([part])[0].tolist()
        cursor.execute("INSERT INTO vectors_1 VALUES (?, ?, ?)", [found[0], paper, vector])
        start += len(part) + 2
    cursor.execute("INSERT INTO paper_changes VALUES (?, nextval('revisions'), true)", [paper])
    cursor.execute(
        "INSERT INTO library_links (user_name, paper_id, file, source_id, title) VALUES (?, ?, ?, 's', ?)",
        [USER, paper, file, f"My {word}"],
    )
    for stage in ("read", "chunk", "embed", "index"):
        cursor.execute(
            "INSERT INTO ledger (user_name, file, paper_id, stage, state, seconds)"
            " VALUES (?, ?, ?, ?, 'done', 0.1)",
            [USER, file, paper, stage],
        )
    return paper


def _conversations(cursor: DuckDBPyConnection) -> None:
    cursor.execute("UPDATE projects SET auto_summary = 'About basalt.', summary_updated_at = now()")
    cursor.execute(
        "INSERT INTO conversations (user_name, kind, title, rag_project_id)"
        " VALUES (?, 'thread', 'Weights', 1)",
        [USER],
    )
    _turn(cursor)
    cursor.execute("INSERT INTO message_papers VALUES (2, 1, 1)")
    cursor.execute(
        "INSERT INTO memories (user_name, project_id, text, text_key, message_id)"
        " VALUES (?, 1, 'I use basalt.', 'basalt use', 2)",
        [USER],
    )


def _turn(cursor: DuckDBPyConnection, *, kept: bool = False) -> None:
    """A question and its answer, which stands in ``kept_answers`` where ``kept``."""
    cursor.execute(
        "INSERT INTO messages (conversation_id, role, text, rag_project_id)"
        " VALUES (1, 'user', 'How heavy?', 1)"
    )
    evidence = Evidence("How heavy?", Scope(1), "Shelf", ())
    answer = write_answer(Answer("How heavy?", "1.5 grams.", (), evidence, False, "extractive", "Shelf"))
    row = cursor.execute(
        "INSERT INTO messages (conversation_id, role, text, rag_project_id, answer)"
        " VALUES (1, 'assistant', '1.5 grams.', 1, ?) RETURNING message_id",
        [None if kept else answer],
    ).fetchone()
    if kept and row is not None:
        cursor.execute("INSERT INTO kept_answers VALUES (?, ?)", [row[0], answer])


def _notes_and_bibliography(cursor: DuckDBPyConnection) -> None:
    note = _paper(cursor, "note", text_of("note", sections=1), kind="note")
    cursor.execute("INSERT INTO notes (paper_id, user_name, body) VALUES (?, ?, 'A body')", [note, USER])
    cursor.execute("INSERT INTO shares (paper_id, user_name) VALUES (1, ?)", [USER])
    cursor.execute("UPDATE papers SET shared = true WHERE paper_id = 1")
    cursor.execute(
        "INSERT INTO bibliography"
        " VALUES (?, 1, 'a2020', 'article', 'T', ['A. Author'], 2020, '10.1/x', '{}')",
        [USER],
    )


def _summary_writer(cursor: DuckDBPyConnection) -> None:
    cursor.execute("UPDATE projects SET summary_by = 'extractive'")


def _kept_answers(cursor: DuckDBPyConnection) -> None:
    _turn(cursor, kept=True)


def _tuning(cursor: DuckDBPyConnection) -> None:
    for statement in (
        "INSERT INTO questions (user_name, project_id, label, type, question, answer, note)"
        f" VALUES ('{USER}', 1, 'q1', 'single', 'How heavy?', '1.5 grams', '')",
        "INSERT INTO question_gold VALUES (1, 0, 1, 'graphene.md', 1, '1.5 grams')",
        "INSERT INTO evaluations (user_name, rag_project_id, scope_label, questions, options, seconds)"
        f" VALUES ('{USER}', 1, 'Shelf', 1, '{{}}', 0.1)",
        "INSERT INTO evaluation_results VALUES (1, 0, '{}', 'recall', 1, 1, 1, 1, NULL, NULL, NULL, NULL)",
        "INSERT INTO evaluation_scores VALUES (1, 0, 'q1', 'How heavy?', 'recall', 1, 1)",
        "INSERT INTO presets (user_name, project_id, name, name_key, parameters, chosen)"
        f" VALUES ('{USER}', 1, 'Narrow', 'narrow', '{{\"top_k\": 3}}', true)",
    ):
        cursor.execute(statement)


def _matrices(cursor: DuckDBPyConnection) -> None:
    cursor.execute(
        "INSERT INTO matrices (user_name, rag_project_id, questions, options)"
        " VALUES (?, 1, '[\"Why?\"]', '{}')",
        [USER],
    )
    cursor.execute("INSERT INTO matrix_cells VALUES (1, 0, 1, 1, 'extractive', '{}', now())")


def _move(cursor: DuckDBPyConnection) -> None:
    """To another embedder, one chunk of one paper done."""
    cursor.execute(
        "INSERT INTO generations (generation, embedder, dimension, serving)"
        " VALUES (2, 'fake-words-2', 2, false)"
    )
    cursor.execute(
        "CREATE TABLE vectors_2 (chunk_id BIGINT NOT NULL, paper_id BIGINT NOT NULL,"
        " embedding FLOAT[2] NOT NULL)"
    )
    cursor.execute("INSERT INTO vectors_2 VALUES (1, 1, [0.6, 0.8])")
    cursor.execute("INSERT INTO moves (generation) VALUES (2)")


ROWS: dict[int, Callable[[DuckDBPyConnection], None]] = {
    1: _papers_and_projects,
    2: _conversations,
    3: _notes_and_bibliography,
    4: _summary_writer,
    5: _kept_answers,
    6: _tuning,
    7: _matrices,
    9: _move,
}

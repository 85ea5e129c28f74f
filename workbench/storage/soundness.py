"""What must be true of every library, as questions to the database."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from workbench.storage import contents
from workbench.storage.generations import Generation, all_generations, vector_table


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. ``count`` is how many rows it is about: offenders where ``ok`` is false."""

    check: str
    ok: bool
    count: int
    detail: str


# Each query counts what must not exist.
NEVER = (
    (
        "pages of no paper",
        "SELECT count(*) FROM pages WHERE paper_id NOT IN (SELECT paper_id FROM papers)",
    ),
    (
        "chunks of no paper",
        "SELECT count(*) FROM chunks WHERE paper_id NOT IN (SELECT paper_id FROM papers)",
    ),
    (
        "sources of no paper",
        "SELECT count(*) FROM sources WHERE paper_id NOT IN (SELECT paper_id FROM papers)",
    ),
    (
        "library links to no paper",
        "SELECT count(*) FROM library_links WHERE paper_id NOT IN (SELECT paper_id FROM papers)",
    ),
    (
        "papers nobody has",
        "SELECT count(*) FROM papers"
        " WHERE NOT shared AND paper_id NOT IN (SELECT paper_id FROM library_links)",
    ),
    (
        "memories of a project that is not their user's",
        "SELECT count(*) FROM memories WHERE project_id IS NOT NULL"
        " AND (user_name, project_id) NOT IN (SELECT (user_name, project_id) FROM projects)",
    ),
    (
        "memories that say the same twice",
        "SELECT count(*) FROM (SELECT 1 FROM memories"
        " GROUP BY user_name, coalesce(project_id, 0), text_key HAVING count(*) > 1)",
    ),
    (
        "questions or presets of a project that is not their user's",
        "SELECT count(*) FROM (SELECT user_name, project_id FROM questions WHERE project_id IS NOT NULL"
        " UNION ALL SELECT user_name, project_id FROM presets)"
        " WHERE (user_name, project_id) NOT IN (SELECT (user_name, project_id) FROM projects)",
    ),
    (
        "questions or presets of one name, and projects with two chosen presets",
        "SELECT count(*) FROM (SELECT 1 FROM questions"
        " GROUP BY user_name, coalesce(project_id, 0), label HAVING count(*) > 1"
        " UNION ALL SELECT 1 FROM presets GROUP BY project_id, name_key HAVING count(*) > 1"
        " UNION ALL SELECT 1 FROM presets WHERE chosen GROUP BY project_id HAVING count(*) > 1)",
    ),
    (
        "answers of no matrix, and matrices of a project that is not their user's",
        "SELECT (SELECT count(*) FROM matrix_cells WHERE matrix_id NOT IN (SELECT matrix_id FROM matrices))"
        " + (SELECT count(*) FROM matrices WHERE rag_project_id > 0"
        " AND (user_name, rag_project_id) NOT IN (SELECT (user_name, project_id) FROM projects))",
    ),
    (
        "places of no question, and figures of no evaluation",
        "SELECT (SELECT count(*) FROM question_gold"
        " WHERE question_id NOT IN (SELECT question_id FROM questions))"
        " + (SELECT count(*) FROM evaluation_results"
        " WHERE evaluation_id NOT IN (SELECT evaluation_id FROM evaluations))",
    ),
    (
        "times or writers without a summary",  # a summary without a time is outdated
        "SELECT count(*) FROM projects WHERE auto_summary IS NULL"
        " AND (summary_updated_at IS NOT NULL OR summary_by IS NOT NULL)",
    ),
    (
        "notes of no paper",
        "SELECT count(*) FROM notes WHERE paper_id NOT IN (SELECT paper_id FROM papers)",
    ),
    (
        "papers said to be shared that nobody shares, or the other way round",
        "SELECT count(*) FROM (SELECT paper_id FROM papers WHERE shared) p"
        " FULL JOIN (SELECT DISTINCT paper_id FROM shares) s USING (paper_id)"
        " WHERE (p.paper_id IS NULL) <> (s.paper_id IS NULL)",
    ),
    (
        "bibliographic data of papers their user does not have",
        "SELECT count(*) FROM bibliography"
        " WHERE (user_name, paper_id) NOT IN (SELECT (user_name, paper_id) FROM library_links)",
    ),
    (
        "project entries without their project or paper",
        "SELECT count(*) FROM project_papers x LEFT JOIN projects j USING (project_id, user_name)"
        " LEFT JOIN papers p USING (paper_id) WHERE j.project_id IS NULL OR p.paper_id IS NULL",
    ),
    (
        "papers without every page they should have",
        "SELECT count(*) FROM papers p LEFT JOIN (SELECT paper_id, count(*) AS n, min(page) AS first,"
        " max(page) AS last, count(DISTINCT page) AS kinds FROM pages GROUP BY paper_id) g USING (paper_id)"
        " WHERE p.page_count <> coalesce(g.n, 0)"
        " OR (p.page_count > 0 AND (g.first <> 1 OR g.last <> p.page_count OR g.kinds <> g.n))",
    ),
    (
        "papers without every chunk they should have",
        "SELECT count(*) FROM papers p LEFT JOIN"
        " (SELECT paper_id, count(*) AS n, count(DISTINCT ordinal) AS kinds FROM chunks GROUP BY paper_id) c"
        " USING (paper_id) WHERE p.chunk_count <> coalesce(c.n, 0) OR c.kinds <> c.n",
    ),
    (
        "papers without their source file",
        "SELECT count(*) FROM papers p LEFT JOIN"
        " (SELECT paper_id, count(*) AS n, max(part) AS last FROM sources GROUP BY paper_id) s"
        " USING (paper_id) WHERE s.n IS NULL OR s.last <> s.n - 1",
    ),
    (
        "chunk ids used twice",
        "SELECT count(*) FROM (SELECT chunk_id FROM chunks GROUP BY chunk_id HAVING count(*) > 1)",
    ),
    (
        "chunks on pages their paper does not have",
        "SELECT count(*) FROM chunks c JOIN papers p USING (paper_id)"
        " WHERE c.page_start < 1 OR c.page_start > c.page_end OR c.page_end > p.page_count",
    ),
    (
        "chunks whose text is not on their page",
        "SELECT count(*) FROM chunks c JOIN pages g ON g.paper_id = c.paper_id AND g.page = c.page_start"
        " WHERE c.page_start = c.page_end AND c.char_end <= g.char_end"
        " AND substring(g.text, c.char_start - g.char_start + 1, c.char_end - c.char_start) <> c.text",
    ),
    (
        "papers without a record of their last change",
        "SELECT count(*) FROM papers p LEFT JOIN paper_changes c USING (paper_id)"
        " WHERE c.present IS DISTINCT FROM true",
    ),
    (
        "removed papers recorded as present",
        "SELECT count(*) FROM paper_changes WHERE present AND paper_id NOT IN (SELECT paper_id FROM papers)",
    ),
    (
        "changes of papers that are newer than the library's own number",
        "SELECT count(*) FROM paper_changes WHERE revision >"
        " (SELECT coalesce(max(revision), 0) FROM library_revisions)",
    ),
    (
        "moves to no generation, or to the one that serves, or to two",
        "SELECT count(*) FROM (SELECT 1 FROM moves WHERE generation NOT IN"
        " (SELECT generation FROM generations WHERE NOT serving)"
        " UNION ALL SELECT 1 FROM moves OFFSET 1)",
    ),
    (
        "messages of no conversation",
        "SELECT count(*) FROM messages"
        " WHERE conversation_id NOT IN (SELECT conversation_id FROM conversations)",
    ),
    (
        "answers of no message, and messages with no answer or two",
        "SELECT count(*) FROM (SELECT message_id FROM messages WHERE role = 'assistant') m FULL JOIN"
        " (SELECT message_id, count(*) AS n FROM (SELECT message_id FROM messages WHERE answer IS NOT NULL"
        " UNION ALL SELECT message_id FROM kept_answers) GROUP BY message_id) a USING (message_id)"
        " WHERE m.message_id IS NULL OR a.n IS DISTINCT FROM 1",
    ),
    (
        "conversations in a project that is not their user's",
        "SELECT count(*) FROM conversations WHERE rag_project_id > 0"
        " AND (user_name, rag_project_id) NOT IN (SELECT (user_name, project_id) FROM projects)",
    ),
)


def findings(cursor: DuckDBPyConnection) -> list[Finding]:
    """Every check of the library, sound or not, in a fixed order."""
    counts = [
        Finding(table, True, _number(cursor, f"SELECT count(*) FROM {table}"), "rows")
        for table in ("papers", "pages", "chunks", "projects")
    ]
    checks = [_never(name, _number(cursor, query)) for name, query in NEVER]
    return [*counts, *checks, _stored_files(cursor), *_generation_findings(cursor)]


def _stored_files(cursor: DuckDBPyConnection) -> Finding:
    """Each stored file against the hash it was added under."""
    changed = 0
    for paper_id, sha256 in cursor.execute("SELECT paper_id, sha256 FROM papers").fetchall():
        digest = hashlib.sha256()
        for portion in contents.source(cursor, paper_id):
            digest.update(portion)
        changed += digest.hexdigest() != sha256
    return _never("stored files that are not the ones added", changed)


def _generation_findings(cursor: DuckDBPyConnection) -> list[Finding]:
    known = all_generations(cursor)
    serving = sum(g.serving for g in known)
    found = [
        Finding(
            "one generation of vectors serves searches",
            serving == min(1, len(known)),
            serving,
            f"{serving} of {len(known)} generations serve",
        )
    ]
    for generation in known:
        found += _vector_findings(cursor, generation)
    return found


def _vector_findings(cursor: DuckDBPyConnection, generation: Generation) -> list[Finding]:
    table = vector_table(generation.generation)
    row = cursor.execute(
        "SELECT data_type FROM duckdb_columns() WHERE table_name = ? AND column_name = 'embedding'", [table]
    ).fetchone()
    wanted = f"FLOAT[{generation.dimension}]"
    if row is None or row[0] != wanted:
        found = "missing" if row is None else row[0]
        return [Finding(f"{table}: type of the vectors", False, 1, f"{found}, should be {wanted}")]
    length = "array_inner_product(embedding, embedding)"
    questions = (
        ("vectors that cannot be searched", f"NOT isfinite({length}) OR {length} = 0"),
        ("vectors of no chunk", "(chunk_id, paper_id) NOT IN (SELECT (chunk_id, paper_id) FROM chunks)"),
    )
    answers = [
        _never(f"{table}: {name}", _number(cursor, f"SELECT count(*) FROM {table} WHERE {condition}"))
        for name, condition in questions
    ]
    twice = f"SELECT count(*) FROM (SELECT chunk_id FROM {table} GROUP BY chunk_id HAVING count(*) > 1)"
    missing = (
        "SELECT count(*) FROM chunks c JOIN papers p USING (paper_id)"
        f" WHERE p.generation = {generation.generation} AND c.chunk_id NOT IN (SELECT chunk_id FROM {table})"
    )
    return [
        *answers,
        _never(f"{table}: chunks with two vectors", _number(cursor, twice)),
        _never(f"{table}: chunks without their vector", _number(cursor, missing)),
    ]


def _never(name: str, count: int) -> Finding:
    return Finding(name, count == 0, count, "none" if count == 0 else f"{count} found")


def _number(cursor: DuckDBPyConnection, query: str) -> int:
    row = cursor.execute(query).fetchone()
    assert row is not None
    return int(row[0])

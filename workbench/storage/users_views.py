"""What a user's own SQL sees: views of the library that hold the user's rows alone."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from workbench.storage.opening import quoted

# {library} is the catalogue, {user} a literal. Names are qualified in full: a view of the same name hides
# the table from everything else.
VIEWS = {
    "papers": """
        SELECT p.paper_id, coalesce(l.title, b.title, p.title) AS title,
               coalesce(l.file, f.file) AS file, p.kind,
               CASE WHEN len(b.authors) > 0 THEN b.authors ELSE p.authors END AS authors,
               coalesce(b.year, p.year) AS year, coalesce(b.doi, p.doi) AS doi,
               p.page_count AS pages, p.chunk_count AS chunks, p.page_unit,
               l.source_id, p.sha256, p.shared,
               coalesce(l.added_at, p.added_at) AT TIME ZONE 'UTC' AS added_at
        FROM {library}.main.papers p
        LEFT JOIN {library}.main.library_links l ON l.paper_id = p.paper_id AND l.user_name = {user}
        LEFT JOIN {library}.main.bibliography b ON b.paper_id = p.paper_id AND b.user_name = l.user_name
        LEFT JOIN (SELECT paper_id, arg_min(file, added_at) AS file FROM {library}.main.library_links
                   GROUP BY paper_id) f ON f.paper_id = p.paper_id
        WHERE l.user_name IS NOT NULL OR p.shared""",
    "pages": """
        SELECT g.paper_id, g.page, g.label, g.text, g.char_start, g.char_end
        FROM {library}.main.pages g WHERE g.paper_id IN ({visible})""",
    "chunks": """
        SELECT c.chunk_id, c.paper_id, c.ordinal, c.heading, c.blurb, c.text, c.page_start, c.page_end,
               c.char_start, c.char_end
        FROM {library}.main.chunks c WHERE c.paper_id IN ({visible})""",
    "projects": """
        SELECT project_id, name, description, goal, status, auto_summary AS summary,
               created_at AT TIME ZONE 'UTC' AS created_at, updated_at AT TIME ZONE 'UTC' AS updated_at,
               summary_updated_at AT TIME ZONE 'UTC' AS summary_updated_at
        FROM {library}.main.projects WHERE user_name = {user}""",
    "project_papers": """
        SELECT project_id, paper_id, added_at AT TIME ZONE 'UTC' AS added_at
        FROM {library}.main.project_papers WHERE user_name = {user}""",
    "retrievals": """
        SELECT retrieval_id, query, rag_project_id, parameters, timing,
               created_at AT TIME ZONE 'UTC' AS created_at
        FROM {library}.main.retrievals WHERE user_name = {user}""",
    "retrieval_passages": """
        SELECT s.retrieval_id, s.n, s.chunk_id, s.paper_id, s.relevance, s.vector_rank, s.keyword_rank,
               s.reason
        FROM {library}.main.retrieval_passages s WHERE s.retrieval_id IN
            (SELECT retrieval_id FROM {library}.main.retrievals WHERE user_name = {user})""",
    "ledger": """
        SELECT ledger_id, file, sha256, paper_id, stage, state, error, seconds,
               finished_at AT TIME ZONE 'UTC' AS finished_at
        FROM {library}.main.ledger WHERE user_name = {user}""",
    "conversations": """
        SELECT conversation_id, kind, title, rag_project_id, paper_id,
               created_at AT TIME ZONE 'UTC' AS created_at, used_at AT TIME ZONE 'UTC' AS used_at
        FROM {library}.main.conversations WHERE user_name = {user}""",
    "messages": """
        SELECT m.message_id, m.conversation_id, m.role, m.text, m.rag_project_id,
               coalesce(m.answer, k.answer) AS answer, m.created_at AT TIME ZONE 'UTC' AS created_at
        FROM {library}.main.messages m LEFT JOIN {library}.main.kept_answers k USING (message_id)
        WHERE m.conversation_id IN
            (SELECT conversation_id FROM {library}.main.conversations WHERE user_name = {user})""",
    "memories": """
        SELECT memory_id, text, project_id, message_id, created_at AT TIME ZONE 'UTC' AS created_at,
               seen_at AT TIME ZONE 'UTC' AS seen_at
        FROM {library}.main.memories WHERE user_name = {user}""",
    "questions": """
        SELECT question_id, project_id, label, type, question, answer, note,
               created_at AT TIME ZONE 'UTC' AS created_at
        FROM {library}.main.questions WHERE user_name = {user}""",
    "question_gold": """
        SELECT g.question_id, g.ordinal, g.paper_id, g.file, g.page, g.phrase
        FROM {library}.main.question_gold g WHERE g.question_id IN
            (SELECT question_id FROM {library}.main.questions WHERE user_name = {user})""",
    "evaluations": """
        SELECT evaluation_id, rag_project_id, scope_label, questions, options, seconds,
               created_at AT TIME ZONE 'UTC' AS created_at
        FROM {library}.main.evaluations WHERE user_name = {user}""",
    "evaluation_results": """
        SELECT r.evaluation_id, r.set_number, r.parameters, r.metric, r.mean, r.low, r.high, r.questions,
               r.difference, r.difference_low, r.difference_high, r.p
        FROM {library}.main.evaluation_results r WHERE r.evaluation_id IN
            (SELECT evaluation_id FROM {library}.main.evaluations WHERE user_name = {user})""",
    "evaluation_scores": """
        SELECT s.evaluation_id, s.set_number, s.label, s.question, s.metric, s.part, s.whole
        FROM {library}.main.evaluation_scores s WHERE s.evaluation_id IN
            (SELECT evaluation_id FROM {library}.main.evaluations WHERE user_name = {user})""",
    "presets": """
        SELECT project_id, name, parameters, chosen, created_at AT TIME ZONE 'UTC' AS created_at,
               updated_at AT TIME ZONE 'UTC' AS updated_at
        FROM {library}.main.presets WHERE user_name = {user}""",
    "matrices": """
        SELECT matrix_id, rag_project_id, questions, created_at AT TIME ZONE 'UTC' AS created_at
        FROM {library}.main.matrices WHERE user_name = {user}""",
    "matrix_cells": """
        SELECT c.matrix_id, c.question, c.paper_id, c.provider, c.cell,
               c.asked_at AT TIME ZONE 'UTC' AS asked_at
        FROM {library}.main.matrix_cells c WHERE c.matrix_id IN
            (SELECT matrix_id FROM {library}.main.matrices WHERE user_name = {user})""",
}
_VISIBLE = """SELECT paper_id FROM {library}.main.papers WHERE shared
    UNION SELECT paper_id FROM {library}.main.library_links WHERE user_name = {user}"""


def create_views(private: DuckDBPyConnection, user: str) -> None:
    """Gives the connection, which is to be closed after one query, a temporary view for each name."""
    row = private.execute("SELECT current_database()").fetchone()
    assert row is not None
    names = {"library": '"' + row[0].replace('"', '""') + '"', "user": quoted(user)}
    visible = _VISIBLE.format(**names)
    for view, definition in VIEWS.items():
        private.execute(f"CREATE TEMP VIEW {view} AS {definition.format(visible=visible, **names)}")

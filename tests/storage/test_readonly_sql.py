"""A user's own SQL: what it can do, and everything it must not."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from tests.storage.small_papers import DIMENSION, draft
from workbench.errors import InvalidInputError
from workbench.matrix import MatrixRow
from workbench.records import Dropped, Evidence
from workbench.scope import Scope
from workbench.storage import (
    conversations,
    evaluations,
    generations,
    ledger,
    matrices,
    memories,
    messages,
    papers,
    presets,
    projects,
    questions,
    readonly_sql,
    retrievals,
    shares,
)
from workbench.storage.database import Database
from workbench.tuning import Gold, Question


@pytest.fixture(scope="module")
def two_users(tmp_path_factory: pytest.TempPathFactory) -> Database:
    """Ann has one paper, Bob one paper of his own and one that he shares; each has a project and more.

    Made once: every test here must leave it as it was, and checks that it did.
    """
    database = Database(tmp_path_factory.mktemp("sql") / "library.duckdb")
    with database.write() as cursor:
        generation = generations.begin(cursor, "small", DIMENSION).generation
        for user, word in (("ann", "mine"), ("bob", "secret"), ("bob", "shared")):
            paper_id = papers.insert(cursor, draft(word), generation=generation)
            papers.link(cursor, user, paper_id, file=f"{word}.txt")
            project = projects.create(cursor, user, f"{word} project", goal=f"{word} goal")
            projects.add_paper(cursor, user, project.id, paper_id)
            ledger.record(cursor, user, file=word, stage="read", state="done", seconds=1, paper_id=paper_id)
            dropped = (Dropped(1, paper_id, 0.5, f"{word} reason"),)
            retrievals.record(cursor, user, Evidence(f"{word} query", Scope.ALL, "All notes", (), dropped))
            thread = conversations.create(cursor, user, title=f"{word} thread")
            messages.add_question(cursor, user, thread.id, f"{word} question", scope=Scope.ORPHANS)
            memories.remember(cursor, user, f"{word} memory", key=word, project_id=None)
            labelled = Question(word, f"{word} question", (Gold(f"{word}.txt", 1),))
            questions.add(cursor, user, labelled, project_id=project.id)
            presets.save(cursor, user, project.id, f"{word} preset", {"top_k": 4})
            presets.choose(cursor, user, project.id, f"{word} preset")
            figures = dict.fromkeys(("mean", "low", "high", "p"), 0.5)
            differences = dict.fromkeys(("difference", "difference_low", "difference_high"), float("nan"))
            result = {"set": 0, "parameters": {}, "metric": word, "questions": 1} | figures | differences
            evaluations.record(
                cursor,
                user,
                scope=Scope.ALL,
                scope_label=f"{word} scope",
                questions=1,
                options={},
                seconds=1,
                results=[result],
                scores=[(0, word, f"{word} question", "m", 1, 2)],
            )
            matrix = matrices.begin(cursor, user, Scope.ALL, [f"{word} question"], {})
            row = MatrixRow(
                question=f"{word} question",
                paper_id=paper_id,
                title="",
                file="",
                answer=f"{word} answer",
                quote="",
                page=None,
                page_label=None,
                page_unit="page",
                char_start=None,
                char_end=None,
                support=None,
                refused=True,
                provider=word,
            )
            matrices.put(cursor, matrix, 0, row, revision=1)
        shares.share(cursor, "bob", paper_id)
    return database


def run(database: Database, query: str, parameters: Any = None, *, user: str = "ann") -> pandas.DataFrame:
    with database.read() as cursor:
        return readonly_sql.run(cursor, user, query, parameters)


def values(database: Database, query: str, parameters: Any = None, *, user: str = "ann") -> list[list[Any]]:
    return list(run(database, query, parameters, user=user).to_numpy().tolist())


def test_each_view_holds_the_users_rows_alone(two_users: Database) -> None:
    seen = {
        "papers": values(two_users, "SELECT title, file, shared FROM papers ORDER BY title"),
        "pages": values(two_users, "SELECT count(*), count(DISTINCT paper_id) FROM pages"),
        "chunks": values(two_users, "SELECT count(*), count(DISTINCT paper_id) FROM chunks"),
        "projects": values(two_users, "SELECT name, goal, status FROM projects"),
        "project_papers": values(two_users, "SELECT count(*) FROM project_papers"),
        "retrievals": values(two_users, "SELECT query FROM retrievals"),
        "retrieval_passages": values(two_users, "SELECT reason FROM retrieval_passages"),
        "ledger": values(two_users, "SELECT file FROM ledger"),
        "conversations": values(two_users, "SELECT kind, title FROM conversations"),
        "messages": values(two_users, "SELECT role, text FROM messages"),
        "memories": values(two_users, "SELECT text FROM memories"),
        "questions": values(two_users, "SELECT label, question FROM questions"),
        "question_gold": values(two_users, "SELECT file, page FROM question_gold"),
        "evaluations": values(two_users, "SELECT scope_label FROM evaluations"),
        "evaluation_results": values(two_users, "SELECT metric, mean FROM evaluation_results"),
        "evaluation_scores": values(two_users, "SELECT label, part, whole FROM evaluation_scores"),
        "presets": values(two_users, "SELECT name, parameters, chosen FROM presets"),
        "matrices": values(two_users, "SELECT questions FROM matrices"),
        "matrix_cells": values(two_users, "SELECT provider, cell->>'answer' FROM matrix_cells"),
    }
    assert seen == {
        "papers": [["On mine", "mine.txt", False], ["On shared", "shared.txt", True]],
        "pages": [[4, 2]],
        "chunks": [[8, 2]],
        "projects": [["mine project", "mine goal", "active"]],
        "project_papers": [[1]],
        "retrievals": [["mine query"]],
        "retrieval_passages": [["mine reason"]],
        "ledger": [["mine"]],
        "conversations": [["thread", "mine thread"]],
        "messages": [["user", "mine question"]],
        "memories": [["mine memory"]],
        "questions": [["mine", "mine question"]],
        "question_gold": [["mine.txt", 1]],
        "evaluations": [["mine scope"]],
        "evaluation_results": [["mine", 0.5]],
        "evaluation_scores": [["mine", 1.0, 2.0]],
        "presets": [["mine preset", '{"top_k": 4}', True]],
        "matrices": [['["mine question"]']],
        "matrix_cells": [["mine", "mine answer"]],
    }
    assert set(seen) == set(readonly_sql.VIEWS)
    for view in readonly_sql.VIEWS:
        assert "user_name" not in run(two_users, f"SELECT * FROM {view}").columns
        assert "secret" not in run(two_users, f"SELECT * FROM {view}").to_csv()


@pytest.mark.parametrize(
    ("query", "parameters", "expected"),
    [
        ("SELECT title FROM papers WHERE year = ? AND title LIKE ?", [2020, "On m%"], [["On mine"]]),
        ("SELECT title FROM papers WHERE title = $t", {"t": "On mine"}, [["On mine"]]),
        ("SELECT title FROM Papers p WHERE p.TITLE = 'On mine';", None, [["On mine"]]),
        ("-- a comment\nSELECT 'a;b' AS x", None, [["a;b"]]),
        ("FROM papers SELECT count(*)", None, [[2]]),
        ("WITH a AS (SELECT 1 AS n), b AS (SELECT n + 1 AS n FROM a) SELECT * FROM b", None, [[2]]),
        (
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 3)"
            " SELECT max(n) FROM t",
            None,
            [[3]],
        ),
        ("WITH papers AS (SELECT 'own' AS title) SELECT title FROM papers", None, [["own"]]),
        (
            "WITH papers AS (SELECT * FROM papers WHERE shared) SELECT title FROM papers",
            None,
            [["On shared"]],
        ),
        ("SELECT count(*) FROM papers JOIN chunks USING (paper_id) WHERE NOT shared", None, [[4]]),
        (
            "SELECT (SELECT count(*) FROM pages WHERE pages.paper_id = p.paper_id) FROM papers p LIMIT 1",
            None,
            [[2]],
        ),
        ("SELECT sum(i) FROM range(4) t(i)", None, [[6]]),
        ("SELECT unnest([1, 2])", None, [[1], [2]]),
        ("SELECT row_number() OVER (ORDER BY title) FROM papers QUALIFY title = 'On shared'", None, [[2]]),
        ("SELECT unnest(authors) FROM papers WHERE NOT shared", None, [["A. Author"], ["B. Author"]]),
        ("SELECT parameters->>'$.none' IS NULL FROM retrievals", None, [[True]]),
        ("VALUES (1), (2)", None, [[1], [2]]),
        ("SELECT 1 UNION ALL SELECT 2 ORDER BY 1 DESC", None, [[2], [1]]),
        (
            "SELECT * FROM (PIVOT (SELECT kind, 1 AS n FROM papers) ON kind IN ('txt') USING sum(n))",
            None,
            [[2]],
        ),
        ("SELECT strftime(added_at, '%Y') > '2000' FROM papers LIMIT 1", None, [[True]]),
    ],
)
def test_a_select_works_as_in_duckdb(two_users: Database, query: str, parameters: Any, expected: Any) -> None:
    assert values(two_users, query, parameters) == expected


ATTACKS = [
    # files
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_csv_auto('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "FROM '{file}'",
    "SELECT * FROM papers, '{file}'",
    "SELECT * FROM papers JOIN read_text('{file}') ON true",
    "SELECT (SELECT content FROM read_text('{file}'))",
    "SELECT 1 WHERE EXISTS (FROM '{file}')",
    "WITH x AS (FROM read_text('{file}')) SELECT * FROM x",
    "SELECT * FROM papers ORDER BY (SELECT content FROM read_text('{file}'))",
    "SELECT * FROM papers LIMIT (SELECT count(*) FROM '{file}')",
    "SELECT * FROM (VALUES ((SELECT content FROM read_text('{file}'))))",
    "SELECT * FROM papers p, LATERAL (SELECT * FROM '{file}')",
    "SELECT list_transform([1], lambda x: (SELECT content FROM read_text('{file}')))",
    "SELECT CASE WHEN true THEN (SELECT content FROM read_text('{file}')) END",
    "SELECT count(*) FILTER (WHERE (SELECT true FROM '{file}')) FROM papers",
    "SELECT sum(1) OVER (ORDER BY (SELECT 1 FROM '{file}')) FROM papers",
    "SELECT 1 UNION SELECT content FROM read_text('{file}')",
    "SELECT title FROM papers GROUP BY title HAVING (SELECT true FROM '{file}')",
    "SELECT * FROM (PIVOT '{file}' ON a IN (1) USING count(*))",
    "SELECT * FROM (PIVOT papers ON kind IN (SELECT content FROM read_text('{file}')) USING count(*))",
    "SELECT * FROM query('FROM ''{file}''')",
    # other tables
    "SELECT * FROM main.papers",
    "SELECT * FROM library.papers",
    "SELECT * FROM library.main.papers",
    "SELECT * FROM library.main.projects",
    'SELECT * FROM "library"."main"."papers"',
    "SELECT * FROM temp.papers",
    "SELECT * FROM library_links",
    "SELECT * FROM LIBRARY_LINKS",
    'SELECT * FROM "Library_Links"',
    "SELECT * FROM sources",
    "SELECT * FROM generations",
    "SELECT * FROM migrations",
    "SELECT * FROM vectors_1",
    "SELECT * FROM (WITH library_links AS (SELECT 1 AS a) SELECT * FROM library_links) x, library_links",
    "WITH Sources AS (SELECT 1 AS a) SELECT * FROM Sources",
    "SELECT * FROM query_table('library_links')",
    "SELECT * FROM query_table(['papers', 'library_links'])",
    "SELECT * FROM query('SELECT * FROM library_links')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('FROM library_links'))",
    "SELECT * FROM seq_scan('library_links')",
    "TABLE library_links",
    "SELECT title FROM papers WHERE paper_id IN (SELECT paper_id FROM library_links)",
    "SELECT * FROM (papers JOIN library_links USING (paper_id))",
    "SELECT * FROM papers SEMI JOIN library_links USING (paper_id)",
    "SELECT * FROM papers POSITIONAL JOIN library_links",
    # the catalogue and the settings
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_views",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_databases()",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM pg_tables",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_storage_info('papers')",
    "SELECT * FROM pragma_table_info('library_links')",
    "SELECT * FROM which_secret('x', 's3')",
    "SELECT current_setting('temp_directory')",
    "SELECT system.main.current_setting('temp_directory')",
    "SELECT CURRENT_SETTING('temp_directory')",
    "SELECT current_database()",
    "SELECT current_query()",
    "SELECT getenv('HOME')",
    "SELECT getvariable('x')",
    "SELECT pg_get_viewdef(1)",
    "SELECT nextval('library.main.paper_ids')",
    "SELECT currval('paper_ids')",
    "SELECT write_log('x')",
    "SELECT sleep_ms(100000)",
    "SELECT pg_sleep(100)",
    "SELECT 1 ORDER BY current_setting('temp_directory')",
    "SHOW TABLES",
    "DESCRIBE library_links",
    "SUMMARIZE library_links",
    "SELECT * FROM (DESCRIBE library_links)",
    "SELECT * FROM (SHOW ALL TABLES)",
    # statements
    "INSERT INTO papers VALUES (1)",
    "UPDATE projects SET name = 'x'",
    "DELETE FROM library.main.papers",
    "DROP VIEW papers",
    "DROP TABLE library.main.papers",
    "CREATE TABLE x AS SELECT 1",
    "CREATE TEMP VIEW x AS SELECT 1",
    "CREATE MACRO f() AS 1",
    "ALTER TABLE library.main.papers ADD COLUMN x INTEGER",
    "TRUNCATE library.main.papers",
    "ATTACH '{file}' AS other",
    "DETACH library",
    "USE library",
    "COPY papers TO '{file}.out'",
    "COPY (SELECT 1) TO '{file}.out'",
    "EXPORT DATABASE '{file}.out'",
    "IMPORT DATABASE '{file}.out'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{file}'",
    "PRAGMA database_list",
    "PRAGMA table_info('library_links')",
    "SET threads = 1",
    "SET enable_external_access = true",
    "RESET threads",
    "SET VARIABLE x = 1",
    "CALL pragma_version()",
    "CHECKPOINT",
    "VACUUM",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT * FROM library_links",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT 1; SELECT 2",
    "SELECT 1; DROP TABLE library.main.papers",
    "SELECT 1;; DELETE FROM library.main.papers",
    "WITH x AS (DELETE FROM library.main.papers RETURNING *) SELECT * FROM x",
    "PIVOT papers ON kind",
    "",
    ";",
    "SELEC 1",
    "SELECT nothing FROM papers",
    "SELECT * FROM nowhere",
    "SELECT 1 / 'x'",
    "SELECT 'a\x00b'",
    "SELECT '\ud800'",
]  # fmt: skip


def refusal(cursor: duckdb.DuckDBPyConnection, query: str) -> str:
    """The one-line refusal of a query, or what happened instead."""
    try:
        frame = readonly_sql.run(cursor, "ann", query)
    except InvalidInputError as error:
        return "refused" if len(str(error).splitlines()) == 1 and "hidden" not in str(error) else str(error)
    return f"gave {frame.to_dict()}"


@pytest.mark.parametrize("lease", ["read", "write"])
def test_everything_but_a_select_on_the_views_is_refused_in_one_line(
    two_users: Database, tmp_path: Path, lease: str
) -> None:
    """Beside a writer of this process the connection is a writable one; the answer must be the same."""
    file = tmp_path / "secret.csv"
    file.write_text("a,b\nhidden,1\n")
    with getattr(two_users, lease)() as cursor:
        answers = {attack: refusal(cursor, attack.replace("{file}", str(file))) for attack in ATTACKS}
    assert answers == dict.fromkeys(ATTACKS, "refused")
    assert [p.name for p in tmp_path.iterdir()] == ["secret.csv"]
    assert values(two_users, "SELECT count(*) FROM papers") == [[2]]
    assert values(two_users, "SELECT count(*) FROM papers", user="bob") == [[2]]


@pytest.mark.parametrize(
    "user", ["bob' OR '1'='1", "ann' --", "'; DROP TABLE projects; --", "ann\\", '"', "%"]
)
def test_a_hostile_user_name_sees_only_what_is_shared(two_users: Database, user: str) -> None:
    assert values(two_users, "SELECT title FROM papers", user=user) == [["On shared"]]
    assert values(two_users, "SELECT count(*) FROM projects", user=user) == [[0]]


@pytest.mark.parametrize(
    "parameters",
    [
        ["a\x00"],
        {"t": "\ud800"},
        [["\ud800"]],
        [{"a": "\ud800"}],
        [1, 2, 3],
        {"other": 1},
        [10**40],
        [object()],
    ],
)
def test_parameters_that_do_not_fit_are_refused_in_one_line(two_users: Database, parameters: Any) -> None:
    marker = "$t" if isinstance(parameters, dict) else "?"
    with pytest.raises(InvalidInputError) as raised:
        run(two_users, f"SELECT title FROM papers WHERE title = {marker}", parameters)
    assert len(str(raised.value).splitlines()) == 1


def test_numbers_out_of_a_frame_can_be_bound(two_users: Database) -> None:
    found = run(two_users, "SELECT paper_id, chunk_id / 2 AS half FROM chunks ORDER BY chunk_id LIMIT 1")
    query = "SELECT count(*) FROM chunks WHERE paper_id = ? AND chunk_id / 2 = ?"
    assert values(two_users, query, [found.paper_id[0], found.half[0]]) == [[1]]


def test_whole_columns_and_what_is_missing_in_a_frame_can_be_bound(two_users: Database) -> None:
    frame = pandas.DataFrame({"word": ["On one", None], "id": [1, 2]})
    for ids in (frame["id"], frame["id"].to_numpy(), frame.index + 1, frame["id"].tolist()):
        assert values(two_users, "SELECT len(?), list_sum(?)", [ids, ids]) == [[2, 3]]
    query = "SELECT ?[1], ?[2] IS NULL, ?::VARCHAR IS NULL"
    assert values(two_users, query, [frame["word"], frame["word"], pandas.NA]) == [["On one", True, True]]
    times = pandas.Series(pandas.to_datetime(["2020-01-02"]))
    for dates in (times, times.to_numpy()):
        assert values(two_users, "SELECT year(?[1]), ?[1] IS NULL", [dates, dates]) == [[2020, False]]
    with pytest.raises(InvalidInputError, match="half a character"):
        run(two_users, "SELECT ?", [pandas.Series(["\ud83d"], dtype=object)])


def test_python_variables_are_no_tables(two_users: Database) -> None:
    frame = pandas.DataFrame({"hidden": [42]})
    query = "SELECT * FROM (WITH frame AS (SELECT 1 AS a) SELECT * FROM frame) x, frame"
    with pytest.raises(InvalidInputError, match="frame does not exist"):
        run(two_users, query)
    assert len(frame) == 1


def test_a_query_that_never_ends_is_stopped(two_users: Database) -> None:
    begun = time.monotonic()
    with pytest.raises(InvalidInputError, match=r"stopped after 0\.3 s"), two_users.read() as cursor:
        readonly_sql.run(
            cursor, "ann", "SELECT count(*) FROM range(10000000) a, range(10000000) b", timeout=0.3
        )
    assert time.monotonic() - begun < 10
    assert values(two_users, "SELECT 1") == [[1]]


def test_the_views_are_gone_after_the_query(two_users: Database) -> None:
    with two_users.read() as cursor:
        readonly_sql.run(cursor, "ann", "SELECT * FROM papers")
        assert cursor.execute("SELECT count(*) FROM papers").fetchone() == (3,), "the table, not Ann's view"
        assert len(readonly_sql.run(cursor, "bob", "SELECT * FROM papers")) == 2
        with pytest.raises(InvalidInputError):
            readonly_sql.run(cursor, "ann", "SELECT nothing FROM papers")
        assert cursor.execute("SELECT count(*) FROM papers").fetchone() == (3,)


def test_a_library_of_any_name_can_be_queried(tmp_path: Path) -> None:
    for name in (
        'odd "name"; -- x.duckdb',
        "main.duckdb",
        "temp.duckdb",
        "papers.duckdb",
        "with space",
        "研究.db",
    ):
        assert values(Database(tmp_path / name), "SELECT count(*) FROM papers") == [[0]]


def test_times_come_without_a_package_for_time_zones(two_users: Database) -> None:
    """DuckDB converts zoned times to Python objects with pytz, which is not among the requirements."""
    code = (
        "import sys, warnings; sys.modules['pytz'] = None; warnings.simplefilter('error')\n"
        "from pathlib import Path; from workbench.storage import ledger, papers, projects, readonly_sql\n"
        "from workbench.storage.database import Database\n"
        "with Database(Path(sys.argv[1])).read() as c:\n"
        "    frame = readonly_sql.run(c, 'ann', 'SELECT added_at FROM papers')\n"
        "    records = [papers.list_papers(c, 'ann')[0].added_at]\n"
        "    records += [ledger.stage_ends(c, 'ann')[0].finished_at]\n"
        "    records += [projects.list_projects(c, 'ann')[0].created_at]\n"
        "print((records[0].replace(tzinfo=None) == frame.added_at[0]), *(r.tzinfo for r in records))"
    )
    run_ = subprocess.run(
        [sys.executable, "-c", code, str(two_users.path)], capture_output=True, text=True, check=False
    )
    assert (run_.stdout, run_.stderr) == ("True UTC UTC UTC\n", "")


def test_every_function_duckdb_has_is_either_harmless_or_refused() -> None:
    """A new version of DuckDB may bring functions that reach files or settings: look before allowing them."""
    suspicious = ("secret", "setting", "env", "attach", "execute", "sleep", "log", "pragma", "read_", "query")
    with duckdb.connect(":memory:") as connection:
        names = [
            row[0]
            for row in connection.execute(
                "SELECT DISTINCT function_name FROM duckdb_functions()"
                " WHERE function_type IN ('scalar', 'macro')"
            ).fetchall()
        ]
    known_harmless = {"log", "log10", "log2", "json_deserialize_sql"}
    left = sorted(
        name
        for name in names
        if any(word in name for word in suspicious) and readonly_sql.is_allowed_function(name)
    )
    assert set(left) <= known_harmless, left


@pytest.mark.parametrize(
    ("query", "much"),
    [
        ("SELECT * FROM range(100000000000)", "1,000,000 rows"),
        ("SELECT repeat('x', 100000) AS t FROM range(100000000)", "512 MB"),
    ],
    ids=["rows", "bytes"],
)
def test_more_than_a_frame_should_hold_stops_the_query(two_users: Database, query: str, much: str) -> None:
    with pytest.raises(InvalidInputError, match=f"more than {much}: add LIMIT"):
        run(two_users, query)
    assert run(two_users, "SELECT count(*) AS n FROM range(1000)")["n"].tolist() == [1000]


def test_rows_that_come_in_several_parts_keep_their_order_and_kinds(two_users: Database) -> None:
    found = run(two_users, "SELECT range AS n, range / 2 AS half FROM range(200000) ORDER BY n DESC")
    assert found["n"].tolist() == list(range(199_999, -1, -1))
    assert found.index.tolist()[-1] == 199_999
    assert [str(kind) for kind in found.dtypes] == ["int64", "float64"]


@pytest.mark.parametrize(
    ("query", "parameters", "says"),
    [
        (None, None, "query must be text"),
        ("SELECT ?", 5, "parameters must be a list"),
        ("SELECT 1", "x", "list"),
    ],
)
def test_a_query_or_parameters_of_the_wrong_kind_are_refused(
    two_users: Database, query: Any, parameters: Any, says: str
) -> None:
    with pytest.raises(InvalidInputError, match=says):
        run(two_users, query, parameters)

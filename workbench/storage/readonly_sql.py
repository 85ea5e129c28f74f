"""A user's own SQL over a user's own data: one SELECT, on views that show nothing else.

Three walls, each enough against most mistakes and only together against malice: the query is parsed by
DuckDB and every table and function in it is checked before it runs; the views hold the user's rows alone;
and the connection itself reaches no file, no setting and no write.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
from duckdb import DuckDBPyConnection

from workbench.errors import InvalidInputError
from workbench.storage.cleaning import clean_text
from workbench.storage.leases import interruptible
from workbench.storage.opening import FILE_TROUBLE
from workbench.storage.users_views import VIEWS, create_views

if TYPE_CHECKING:
    import pandas

MAX_ROWS = 1_000_000
MAX_BYTES = 512 * 1024 * 1024
_VECTORS_AT_ONCE = 16  # of 2048 rows, once the first vector has shown that its rows are small
_SMALL_VECTOR = 1024 * 1024  # bytes

_TABLE_FUNCTIONS = {"generate_series", "json_each", "json_tree", "range", "repeat", "unnest"}
_REFUSED_FUNCTIONS = {
    "col_description", "current_catalog", "current_connection_id", "current_database", "current_query",
    "current_query_id", "current_schema", "current_schemas", "current_setting", "current_transaction_id",
    "currval", "get_block_size", "getenv", "getvariable", "in_search_path", "json_deserialize_sql",
    "json_execute_serialized_sql", "json_serialize_plan", "json_serialize_sql", "nextval", "obj_description",
    "parse_duckdb_log_message", "shobj_description", "sleep_ms", "stats", "txid_current", "write_log",
}  # fmt: skip
_REFUSED_PREFIXES = ("duckdb_", "has_", "inet_", "pg_", "pragma_", "read_")
_FUNCTIONS_WITH_THOSE_PREFIXES = {"pg_size_pretty", "pg_typeof"}

# Every kind of node DuckDB's parser gives for a SELECT, apart from expressions (those have a class).
_NODES = {
    "CTE_NODE", "RECURSIVE_CTE_NODE", "SELECT_NODE", "SET_OPERATION_NODE",
    "BASE_TABLE", "EMPTY", "EXPRESSION_LIST", "JOIN", "PIVOT", "SUBQUERY", "TABLE_FUNCTION",
    "DISTINCT_MODIFIER", "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "ORDER_MODIFIER",
    "ASCENDING", "DESCENDING", "INVALID", "ORDER_DEFAULT",
}  # fmt: skip


def run(
    cursor: DuckDBPyConnection,
    user: str,
    query: str,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    timeout: float = 60.0,
) -> pandas.DataFrame:
    """The rows of one SELECT as a DataFrame.

    The query sees the views ``papers``, ``pages``, ``chunks``, ``projects``, ``project_papers``,
    ``retrievals``, ``retrieval_passages``, ``ledger``, ``conversations``, ``messages``, ``memories``,
    ``questions``, ``question_gold``, ``evaluations``, ``evaluation_results``, ``evaluation_scores``,
    ``presets``, ``matrices`` and ``matrix_cells``, each with the user's own rows; times are in UTC.
    ``parameters`` are bound to ``?`` or ``$name``. Raises InvalidInputError, in one line, for anything that
    is not a SELECT on those, for DuckDB's own complaints, for more than ``MAX_ROWS`` rows or ``MAX_BYTES``
    bytes, and after ``timeout`` seconds.
    """
    if not isinstance(query, str):
        raise InvalidInputError(f"The query must be text, not {type(query).__name__}.")
    if not (parameters is None or isinstance(parameters, Mapping | list | tuple)):
        raise InvalidInputError(
            f"parameters must be a list, one value for each “?”, or a dictionary for “$name”, not "
            f"{type(parameters).__name__}."
        )
    bound: dict[str, Any] | list[Any]
    if isinstance(parameters, Mapping):
        bound = {name: _bindable(value) for name, value in parameters.items()}
    else:
        bound = [_bindable(value) for value in parameters or ()]
    for text in (user, query, *_texts(bound)):
        if clean_text(text) != text:
            raise InvalidInputError(
                "This text holds a NUL or half a character (a lone surrogate): remove it."
            )
    # A connection of its own, so that the views are gone afterwards whatever happens.
    private = cursor.cursor()
    try:
        _check(private, query)
        create_views(private, user)
        with interruptible(private):
            return _rows(private, query, bound, timeout)
    except duckdb.InterruptException as error:
        raise InvalidInputError(
            f"The query was stopped after {timeout:g} s: narrow it with WHERE or LIMIT."
        ) from error
    except FILE_TROUBLE:
        raise
    except duckdb.Error as error:
        raise InvalidInputError(f"The query cannot run: {_one_line(error)}") from error
    finally:
        private.close()


def parameter_names(query: str) -> frozenset[str]:
    """The names of the parameters ``$name`` in a query, as DuckDB reads it: not those in quotation marks and
    comments. None for what is not SQL."""
    try:
        statements = duckdb.extract_statements(query)
    except (duckdb.Error, UnicodeError):
        return frozenset()
    return frozenset(name for statement in statements for name in statement.named_parameters)


def _rows(
    private: DuckDBPyConnection, query: str, bound: dict[str, Any] | list[Any], timeout: float
) -> pandas.DataFrame:
    timer = threading.Timer(timeout, private.interrupt)
    timer.daemon = True
    private.execute("BEGIN TRANSACTION READ ONLY")
    timer.start()
    try:
        return _collected(private.execute(query, bound))
    finally:
        timer.cancel()


def _collected(running: DuckDBPyConnection) -> pandas.DataFrame:
    """The rows as they come. More than one frame should hold stops the query."""
    import pandas

    frames: list[pandas.DataFrame] = []
    rows = held = 0
    vectors = 1
    while True:
        frame = running.fetch_df_chunk(vectors)
        if frames and frame.empty:
            break
        frames.append(frame)
        size = int(frame.memory_usage(deep=True).sum())
        rows, held = rows + len(frame), held + size
        if rows > MAX_ROWS or held > MAX_BYTES:
            running.interrupt()
            much = f"{MAX_ROWS:,} rows" if rows > MAX_ROWS else f"{MAX_BYTES // 1024**2} MB"
            raise InvalidInputError(
                f"The query gives more than {much}: add LIMIT, choose fewer columns, or count and sum in SQL."
            )
        if frame.empty:
            break
        vectors = _VECTORS_AT_ONCE if size // vectors < _SMALL_VECTOR else 1
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)


def _check(private: DuckDBPyConnection, query: str) -> None:
    """Raises InvalidInputError unless the query is one SELECT that names only what it may."""
    row = private.execute("SELECT json_serialize_sql($1::VARCHAR)", [query]).fetchone()
    assert row is not None
    parsed = json.loads(row[0])
    if parsed["error"]:
        message = " ".join(str(parsed.get("error_message", "")).split())
        if "Only SELECT" in message:
            raise InvalidInputError("Only SELECT runs here: the library is changed through the workbench.")
        raise InvalidInputError(f"The query is not valid SQL: {message}")
    statements = parsed["statements"]
    if len(statements) != 1:
        raise InvalidInputError(f"One SELECT at a time: this text holds {len(statements)} statements.")
    own = _own_names(statements)
    _check_own_names(private, own)
    for node in _nodes(statements):
        _check_node(node, own)


def _check_node(node: dict[str, Any], own: set[str]) -> None:
    kind = node.get("type")
    if (
        "class" not in node
        and isinstance(kind, str)
        and kind not in _NODES
        and not kind.endswith("_TYPE_INFO")
    ):
        if kind == "SHOW_REF":  # SHOW, DESCRIBE, SUMMARIZE
            raise InvalidInputError("Only SELECT runs here: SELECT * FROM papers LIMIT 1 shows the columns.")
        raise InvalidInputError(f"Only a plain SELECT runs here, without {kind.replace('_', ' ').lower()}.")
    if kind == "BASE_TABLE":
        _check_table(node, own)
    if kind == "TABLE_FUNCTION":
        name = str(node["function"].get("function_name", "")).lower()
        if name not in _TABLE_FUNCTIONS:
            raise InvalidInputError(f"The table function {name} is not available here: use the views.")
    if "function_name" in node:
        _check_function(node)


def _check_table(node: dict[str, Any], own: set[str]) -> None:
    qualifiers = [node.get("catalog_name"), node.get("schema_name")]
    name = str(node["table_name"])
    if any(qualifiers) or (name.lower() not in VIEWS and name.lower() not in own):
        shown = ".".join([*(str(q) for q in qualifiers if q), name])
        raise InvalidInputError(f"There is no table {_short(shown)} here: use {', '.join(VIEWS)}.")


def _check_function(node: dict[str, Any]) -> None:
    name = str(node["function_name"])
    if not is_allowed_function(name) or node.get("catalog") or node.get("schema") not in (None, "", "main"):
        raise InvalidInputError(f"The function {_short(name)} is not available here.")


def is_allowed_function(name: str) -> bool:
    """Whether a query may call this function: not those that reach files, settings or sequences."""
    lowered = name.lower()
    if lowered in _FUNCTIONS_WITH_THOSE_PREFIXES:
        return True
    return lowered not in _REFUSED_FUNCTIONS and not lowered.startswith(_REFUSED_PREFIXES)


def _own_names(tree: Any) -> set[str]:
    """The names a query gives to its own WITH clauses, in lower case."""
    own = set()
    for node in _nodes(tree):
        for entry in node.get("cte_map", {}).get("map", ()):
            own.add(str(entry["key"]).lower())
    return own


def _check_own_names(private: DuckDBPyConnection, own: set[str]) -> None:
    """A WITH name is known in its own subquery only. Were it also a table's name, the same word elsewhere in
    the query would mean that table.
    """
    relations = private.execute(
        "SELECT lower(table_name) FROM duckdb_tables() UNION SELECT lower(view_name) FROM duckdb_views()"
        " WHERE schema_name IN ('main', 'pg_catalog')"
    ).fetchall()
    taken = own & ({row[0] for row in relations} - set(VIEWS))
    if taken:
        raise InvalidInputError(f"WITH cannot use the name {_short(min(taken))} here: choose another one.")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object in the parsed query, however deep."""
    waiting = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def _texts(value: Any) -> Iterator[str]:
    """Every text in the parameters, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _bindable(value: Any) -> Any:
    """``value`` as DuckDB takes it: it refuses numpy's numbers and arrays, and pandas' columns and NA."""
    if type(value).__module__.split(".")[0] not in ("numpy", "pandas") or isinstance(value, datetime):
        return value
    if type(value).__module__ == "numpy" and value.dtype.kind == "M":
        value = value.astype("datetime64[us]")  # of nanoseconds numpy makes bare numbers
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, list):
        return [None if _is_missing(item) else item for item in plain]
    return None if _is_missing(plain) else plain


def _is_missing(value: Any) -> bool:
    """None, NaN and NA: what a column of a DataFrame has where it has no value."""
    return (
        value is None or type(value).__name__ == "NAType" or value != value
    )  # NaN alone differs from itself


def _one_line(error: duckdb.Error) -> str:
    message = str(error).strip()
    return message.splitlines()[0] if message else type(error).__name__


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:59] + "…"

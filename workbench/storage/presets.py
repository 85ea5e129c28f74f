"""Each project's named sets of search parameters, and which of them takes effect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import NotFoundError
from workbench.storage import projects
from workbench.storage.cleaning import checked_name, clean_text, name_key
from workbench.storage.moments import utc
from workbench.tuning import Preset

_PRESET = """
    SELECT name, project_id, parameters, chosen, created_at AT TIME ZONE 'UTC', updated_at AT TIME ZONE 'UTC'
    FROM presets WHERE user_name = ? AND project_id = ?
"""


def save(
    cursor: DuckDBPyConnection, user: str, project_id: int, name: str, parameters: Mapping[str, Any]
) -> Preset:
    """Keeps the parameters under a name, in place of what had it, in any case. Raises NotFoundError for a
    project that is not the user's, InvalidInputError for what can be no name."""
    owned = projects.get(cursor, user, project_id).id
    chosen = checked_name(name, what="preset")
    values = [json.dumps(dict(parameters)), user, owned, name_key(chosen)]
    known = cursor.execute(_PRESET + " AND name_key = ?", [user, owned, name_key(chosen)]).fetchone()
    if known is not None:
        cursor.execute(
            "UPDATE presets SET parameters = ?, updated_at = now()"
            " WHERE user_name = ? AND project_id = ? AND name_key = ?",
            values,
        )
    else:
        cursor.execute(
            "INSERT INTO presets (parameters, user_name, project_id, name_key, name, chosen)"
            " VALUES (?, ?, ?, ?, ?, false)",
            [*values, chosen],
        )
    return get(cursor, user, owned, chosen)


def get(cursor: DuckDBPyConnection, user: str, project_id: int, name: str) -> Preset:
    """The preset of this name, in any case. Raises NotFoundError."""
    owned = projects.get(cursor, user, project_id)
    key = name_key(clean_text(name))
    row = cursor.execute(_PRESET + " AND name_key = ?", [user, owned.id, key]).fetchone()
    if row is None:
        raise NotFoundError(
            f"Preset not found: “{clean_text(name)}”. List the presets of “{owned.name}” to see their names."
        )
    return _preset(row)


def list_presets(cursor: DuckDBPyConnection, user: str, project_id: int) -> list[Preset]:
    """The project's presets, by name. Raises NotFoundError for a project that is not the user's."""
    owned = projects.get(cursor, user, project_id).id
    return [_preset(row) for row in cursor.execute(_PRESET + " ORDER BY name_key", [user, owned]).fetchall()]


def choose(cursor: DuckDBPyConnection, user: str, project_id: int, name: str | None) -> None:
    """Makes one preset the one that takes effect, or none of them. Raises NotFoundError."""
    owned = projects.get(cursor, user, project_id).id
    key = None if name is None else name_key(get(cursor, user, owned, name).name)
    cursor.execute(
        "UPDATE presets SET chosen = (name_key IS NOT DISTINCT FROM ?)"
        " WHERE user_name = ? AND project_id = ?",
        [key, user, owned],
    )


def chosen(cursor: DuckDBPyConnection, user: str, project_id: int) -> Preset | None:
    """The preset that takes effect in a project of the user's, None where there is none."""
    row = cursor.execute(_PRESET + " AND chosen", [user, project_id]).fetchone()
    return None if row is None else _preset(row)


def delete(cursor: DuckDBPyConnection, user: str, project_id: int, name: str) -> None:
    """Deletes the preset; where it was chosen, the settings take effect again. Raises NotFoundError."""
    found = get(cursor, user, project_id, name)
    cursor.execute(
        "DELETE FROM presets WHERE user_name = ? AND project_id = ? AND name_key = ?",
        [user, found.project_id, name_key(found.name)],
    )


def _preset(row: tuple[Any, ...]) -> Preset:
    name, project_id, parameters, is_chosen, created, updated = row
    return Preset(name, project_id, json.loads(parameters), is_chosen, utc(created), utc(updated))

"""``wb.presets``: a project's named sets of search parameters, one of which may take effect."""

from __future__ import annotations

from typing import Any

from workbench.errors import InvalidInputError
from workbench.naming import ProjectLike, project_key
from workbench.rendering import Listing
from workbench.retrieval.parameters import SearchParameters
from workbench.storage import presets as store
from workbench.storage import projects
from workbench.storage.database import Database
from workbench.tuning import Preset


class Presets:
    """``wb.presets``: what is tuned per project. A call's own numbers win over the project's chosen preset,
    which wins over the settings."""

    def __init__(self, database: Database, user: str) -> None:
        self._database, self._user = database, user

    def save(self, project: ProjectLike, name: str, *, choose: bool = True, **parameters: Any) -> Preset:
        """Keeps parameters under a name, in place of those it had, and makes them take effect unless
        ``choose`` is False.

        Parameters are ``top_k``, ``max_per_paper``, ``min_relevance``, ``qualify_fraction`` and
        ``keyword_weight`` (0 to 1, the part of words in the fused relevance); what is not given stays as the
        settings have it. Raises InvalidInputError for others and for values that cannot be, NotFoundError for
        an unknown project.
        """
        given = {key: value for key, value in parameters.items() if value is not None}
        if not given:
            raise InvalidInputError("A preset needs a parameter: give top_k, max_per_paper or another.")
        checked = SearchParameters().with_values(given).values()
        if not isinstance(name, str):
            raise InvalidInputError(f"A preset's name is a text, not {type(name).__name__}.")
        with self._database.write() as cursor:
            project_id = projects.get(cursor, self._user, project_key(project)).id
            kept = {key: checked[key] for key in given}
            saved = store.save(cursor, self._user, project_id, name, kept)
            if choose:
                store.choose(cursor, self._user, project_id, saved.name)
            return store.get(cursor, self._user, project_id, saved.name)

    def get(self, project: ProjectLike, name: str) -> Preset:
        """The preset of this name, in any case. Raises NotFoundError."""
        with self._database.read() as cursor:
            project_id = projects.get(cursor, self._user, project_key(project)).id
            return store.get(cursor, self._user, project_id, name)

    def list(self, project: ProjectLike) -> Listing[Preset]:
        """The project's presets, by name."""
        with self._database.read() as cursor:
            project_id = projects.get(cursor, self._user, project_key(project)).id
            return Listing(Preset, store.list_presets(cursor, self._user, project_id))

    def chosen(self, project: ProjectLike) -> Preset | None:
        """The preset that takes effect in the project, None where the settings do."""
        with self._database.read() as cursor:
            project_id = projects.get(cursor, self._user, project_key(project)).id
            return store.chosen(cursor, self._user, project_id)

    def choose(self, project: ProjectLike, name: str | None) -> Preset | None:
        """Makes a preset take effect in the project's searches and answers; None gives the project back to
        the settings. Raises NotFoundError."""
        with self._database.write() as cursor:
            project_id = projects.get(cursor, self._user, project_key(project)).id
            store.choose(cursor, self._user, project_id, name)
            return store.chosen(cursor, self._user, project_id)

    def delete(self, project: ProjectLike, name: str) -> None:
        """Deletes the preset; where it took effect, the settings do again. Raises NotFoundError."""
        with self._database.write() as cursor:
            project_id = projects.get(cursor, self._user, project_key(project)).id
            store.delete(cursor, self._user, project_id, name)

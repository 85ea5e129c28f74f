"""What a search may see: orphans, one project, or all of a user's papers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.errors import InvalidInputError

ALL_STORED = -1
_LONGEST_SHOWN = 40  # characters of what is no scope, such as a whole project


@dataclass(frozen=True, slots=True)
class Scope:
    """One of ``Scope.ORPHANS``, ``Scope.ALL`` or ``Scope.project(p)``.

    ``rag_project_id`` is the stored form: ``None`` for orphans, ``-1`` for all papers, a positive
    project id for one project. Whether that project exists, and is the user's own, is decided
    where the scope is resolved to papers.
    """

    rag_project_id: int | None = None

    ORPHANS: ClassVar[Scope]
    ALL: ClassVar[Scope]

    def __post_init__(self) -> None:
        value = self.rag_project_id
        if value is None or value == ALL_STORED:
            return
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise InvalidInputError(
                f"{value!r} is not a scope: use Scope.ORPHANS, Scope.ALL or Scope.project(…)."
            )

    @classmethod
    def project(cls, project: object) -> Scope:
        """The scope of one project, given the project or its id."""
        project_id = getattr(project, "id", project)
        if isinstance(project_id, bool) or not isinstance(project_id, int) or project_id <= 0:
            hint = " For a name there is wb.projects.get(name)." if isinstance(project_id, str) else ""
            raise InvalidInputError(
                f"{project_id!r} is not a project id: ids are positive whole numbers.{hint}"
            )
        return cls(project_id)

    @property
    def project_id(self) -> int | None:
        """The project's id, or ``None`` where the scope is not a project."""
        value = self.rag_project_id
        return value if value is not None and value > 0 else None

    def __repr__(self) -> str:
        if self.rag_project_id is None:
            return "Scope.ORPHANS"
        return "Scope.ALL" if self.rag_project_id == ALL_STORED else f"Scope.project({self.rag_project_id})"


def as_scope(given: object) -> Scope:
    """``given``, if it is a scope. Anything else is an error: no mistake may widen what a search sees."""
    if isinstance(given, Scope):
        return given
    shown = repr(given)
    if len(shown) > _LONGEST_SHOWN:
        shown = shown[:_LONGEST_SHOWN] + "…"
    raise InvalidInputError(f"{shown} is not a scope: use Scope.ORPHANS, Scope.ALL or Scope.project(…).")


Scope.ORPHANS = Scope(None)
Scope.ALL = Scope(ALL_STORED)

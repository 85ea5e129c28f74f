"""What a dashboard may stand at: a project, by its id, or one of the two places that are none."""

from __future__ import annotations

from workbench import Scope

ORPHANS = 0
"""The papers that are in no project. Project ids start at 1."""
ALL = -1
"""All papers."""


def scope_of(place: int) -> Scope:
    """The scope that ``ALL``, ``ORPHANS`` or a project's id stands for."""
    return Scope(place or None)


def place_of(scope: Scope) -> int:
    """The place that the scope is of."""
    return scope.rag_project_id or ORPHANS

"""The projects panel's state: the user's projects, which one is chosen, and making a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List

from widgets.panel import PanelState, action
from workbench import Scope

if TYPE_CHECKING:
    from workbench import Workbench

ORPHANS = 0
"""``chosen`` when no project is: the papers that are in none. Project ids start at 1."""


class ProjectsState(PanelState):
    """``projects`` are ``{"id", "name", "papers"}`` in the order shown, ``orphans`` counts papers in none.

    ``chosen`` is a project's id or ``ORPHANS``. ``created`` counts projects made here, so that the
    front end can clear and close its form.
    """

    projects = List(Dict()).tag(sync=True)
    orphans = Int(0).tag(sync=True)
    chosen = Int(ORPHANS).tag(sync=True)
    created = Int(0).tag(sync=True)
    loaded = Bool(False).tag(sync=True)

    def __init__(self, workbench: Workbench, **options: Any) -> None:
        super().__init__(**options)
        self._workbench = workbench

    @property
    def scope(self) -> Scope:
        """What the chosen entry lets a search see."""
        return Scope.project(self.chosen) if self.chosen != ORPHANS else Scope.ORPHANS

    @property
    def name(self) -> str | None:
        """The chosen project's name, or ``None`` for orphans."""
        return next((p["name"] for p in self.projects if p["id"] == self.chosen), None)

    def refresh(self) -> None:
        """Read projects and counts again; the first time, choose the project used last."""
        listed = self._workbench.projects.list()
        self.projects = [{"id": p.id, "name": p.name, "papers": p.paper_count} for p in listed]
        self.orphans = len(self._workbench.papers.list(scope=Scope.ORPHANS))
        known = {p.id for p in listed}
        if self.chosen not in known and (self.chosen != ORPHANS or not self.loaded):
            latest = max(listed, key=lambda p: p.updated_at, default=None)
            self.chosen = latest.id if latest else ORPHANS
        self.loaded = True

    @action
    def choose(self, *, id: int) -> None:
        if id == ORPHANS or any(p["id"] == id for p in self.projects):
            self.chosen = id

    @action
    def create(self, *, name: str) -> None:
        """Make a project and choose it."""

        def make() -> None:
            project = self._workbench.projects.create(name.strip())
            self.refresh()
            self.chosen = project.id
            self.created += 1

        self.in_background("creating the project", make)

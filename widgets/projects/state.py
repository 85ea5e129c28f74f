"""The projects panel's state: what may be asked (a project, the orphans, everything), and looking after
projects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.panel import PanelState, action
from widgets.places import ALL, ORPHANS, scope_of
from widgets.wording import counted
from workbench import InvalidInputError, Scope

if TYPE_CHECKING:
    from workbench import Project, Workbench


class ProjectsState(PanelState):
    """``projects`` are the active ones, ``{"id", "name", "papers"}`` in the order shown; ``archived`` the
    others. ``orphans`` counts papers in no project, ``all_papers`` every paper.

    ``chosen`` is a project's id, ``ORPHANS`` or ``ALL``. ``created`` counts projects made here, so that the
    front end can clear and close its form. ``told`` is one line about what was done last.
    """

    projects = List(Dict()).tag(sync=True)
    archived = List(Dict()).tag(sync=True)
    orphans = Int(0).tag(sync=True)
    all_papers = Int(0).tag(sync=True)
    told = Unicode("").tag(sync=True)
    chosen = Int(ORPHANS).tag(sync=True)
    created = Int(0).tag(sync=True)
    loaded = Bool(False).tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_delete: Callable[[int], None] = lambda _: None,
        on_choose: Callable[[int], None] = lambda _: None,
        **options: Any,
    ) -> None:
        """``on_delete`` is called with the id of a project that has gone, ``on_choose`` with what a person
        chose here, even if it was chosen already."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_delete, self._on_choose = on_delete, on_choose

    @property
    def scope(self) -> Scope:
        """What the chosen entry lets a search see."""
        return scope_of(self.chosen)

    @property
    def name(self) -> str | None:
        """The chosen project's name, or ``None`` for orphans."""
        return next((p["name"] for p in self.projects if p["id"] == self.chosen), None)

    def refresh(self) -> None:
        """Read projects and counts again; the first time, choose the project used last."""
        with self._refreshing:
            every = self._workbench.projects.list(status=None)
            listed = [p for p in every if p.status == "active"]
            self.projects = [_entry(p) for p in listed]
            self.archived = [_entry(p) for p in every if p.status != "active"]
            self.orphans = len(self._workbench.papers.list(scope=Scope.ORPHANS))
            self.all_papers = len(self._workbench.papers.list(scope=Scope.ALL))
            known = {ORPHANS, ALL, *(p.id for p in listed)}
            if self.chosen not in known or not self.loaded:
                latest = max(listed, key=lambda p: p.updated_at, default=None)
                self.chosen = latest.id if latest else ORPHANS
            self.loaded = True

    @action
    def choose(self, *, id: int) -> None:
        if self.follow(id):
            self._on_choose(id)

    def follow(self, id: int) -> bool:
        """Choose what was chosen elsewhere; False where it is not here to choose."""
        if id not in (ORPHANS, ALL) and not any(p["id"] == id for p in self.projects):
            return False
        self.told = ""
        self.chosen = id
        return True

    @action
    def create(self, *, name: str) -> None:
        """Make a project and choose it."""

        def make() -> None:
            project = self._workbench.projects.create(name.strip())
            self.refresh()
            self.chosen = project.id
            self.created += 1

        self.in_background("creating the project", make)

    @action
    def rename(self, *, id: int, name: str) -> None:
        if not name.strip():
            raise InvalidInputError("A project needs a name.")
        self._change("renaming the project", lambda: self._update(id, name=name.strip()))

    @action
    def archive(self, *, id: int) -> None:
        """Take the project out of sight; nothing in it changes."""

        def put_away() -> str:
            name = self._workbench.projects.get(id).name
            self._update(id, status="archived")
            return f"“{name}” is archived. Nothing in it changes; restore it under Archived."

        self._change("archiving the project", put_away)

    @action
    def restore(self, *, id: int) -> None:
        """Bring an archived project back and choose it."""

        def bring_back() -> str:
            self._update(id, status="active")
            self.refresh()
            self.chosen = id
            return ""

        self._change("restoring the project", bring_back)

    @action
    def delete(self, *, id: int) -> None:
        """Delete the project with its chat; its papers stay in the library."""

        def go() -> str:
            project = self._workbench.projects.get(id)
            self._workbench.projects.delete(id)
            self._on_delete(id)
            held = counted(project.paper_count, "paper")
            stays = f" Its {held} {'stays' if project.paper_count == 1 else 'stay'} in the library."
            return f"“{project.name}” is deleted.{stays if project.paper_count else ''}"

        self._change("deleting the project", go)

    def _update(self, id: int, **values: str) -> str:
        self._workbench.projects.update(id, **values)
        return ""

    def _change(self, doing: str, change: Callable[[], str]) -> None:
        """Carry out ``change``, show what it tells, and read the projects again."""

        def work() -> None:
            told = change()
            self.refresh()
            self.told = told

        self.in_background(doing, work)


def _entry(project: Project) -> dict[str, Any]:
    return {"id": project.id, "name": project.name, "papers": project.paper_count}

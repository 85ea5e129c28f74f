"""What the verbs share: opening the library the options name, a project by its name, choosing a scope."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.errors import InvalidInputError, NotFoundError
from workbench.records import Project
from workbench.scope import Scope

if TYPE_CHECKING:
    from workbench.api import Workbench
    from workbench.settings import Settings

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

_LONGEST_ID = 18  # digits


class Opening:
    """What the global options say; the library opens when a verb needs it."""

    def __init__(self, library: str | None, user: str | None) -> None:
        self.library, self.user = library, user

    def settings(self) -> Settings:
        """The settings with what the options say."""
        from workbench.settings import Settings

        if self.library is not None and not self.library.strip():
            raise InvalidInputError("--library is empty: give the path of the library file, or leave it out.")
        return Settings.load(library=Path(self.library) if self.library else None, user=self.user)

    @contextlib.contextmanager
    def workbench(self, *, must_exist: bool = False) -> Iterator[Workbench]:
        import workbench

        settings = self.settings()
        if must_exist and not settings.library.exists():
            raise InvalidInputError(
                f"There is no library at {settings.library}. Check --library, or add a paper first."
            )
        with workbench.open(settings=settings) as opened:
            yield opened


pass_opening = click.make_pass_decorator(Opening)


def project_named(wb: Workbench, text: str) -> Project:
    """The project with this name, else the one with this id, as ``projects list`` shows it."""
    try:
        return wb.projects.get(text)
    except NotFoundError:
        if not text.isdecimal() or len(text) > _LONGEST_ID:
            raise
        return wb.projects.get(int(text))


def scope_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The three options that choose a scope."""
    for option in (
        click.option("--orphans", is_flag=True, help="Only papers in no project (the default)."),
        click.option("--all", "all_papers", is_flag=True, help="All papers of your library."),
        click.option("--project", metavar="NAME", help="Only the papers of this project."),
    ):
        function = option(function)
    return function


def chosen_scope(wb: Workbench, project: str | None, *, all_papers: bool, orphans: bool) -> Scope:
    """The scope that the options name. Raises InvalidInputError where they contradict each other."""
    if (project is not None) + all_papers + orphans > 1:
        raise InvalidInputError("--project, --all and --orphans exclude each other: give one.")
    if project is not None:
        return Scope.project(project_named(wb, project))
    return Scope.ALL if all_papers else Scope.ORPHANS

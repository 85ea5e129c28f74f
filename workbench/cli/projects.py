"""Verbs on projects."""

from __future__ import annotations

from dataclasses import asdict

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, pass_opening


@click.group()
def projects() -> None:
    """Create, list and change projects."""


@projects.command("create")
@click.argument("name")
@click.option("--description")
@click.option("--goal")
@as_json_option
@pass_opening
def projects_create(
    opening: Opening, name: str, description: str | None, goal: str | None, as_json: bool
) -> None:
    """Create a project."""
    with opening.workbench() as wb:
        project = wb.projects.create(name, description, goal)
    if as_json:
        terminal.show_json({"project": asdict(project)})
    else:
        terminal.show(f"Created project “{terminal.one_line(project.name)}”.")


@projects.command("list")
@click.option("--archived", is_flag=True, help="Archived projects instead of active ones.")
@as_json_option
@pass_opening
def projects_list(opening: Opening, archived: bool, as_json: bool) -> None:
    """List your projects."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.list("archived" if archived else "active")
    if as_json:
        terminal.show_json({"projects": [asdict(p) for p in found]})
        return
    terminal.show_rows(
        ["id", "papers", "name", "description"], [[p.id, p.paper_count, p.name, p.description] for p in found]
    )


@projects.command("rename")
@click.argument("project")
@click.argument("name")
@pass_opening
def projects_rename(opening: Opening, project: str, name: str) -> None:
    """Give a project another name."""
    with opening.workbench(must_exist=True) as wb:
        renamed = wb.projects.update(project, name=name)
    terminal.show(f"The project is now called “{terminal.one_line(renamed.name)}”.")


@projects.command("archive")
@click.argument("project")
@click.option("--undo", is_flag=True, help="Make it active again.")
@pass_opening
def projects_archive(opening: Opening, project: str, undo: bool) -> None:
    """Put a project out of sight, with nothing lost."""
    with opening.workbench(must_exist=True) as wb:
        changed = wb.projects.update(project, status="active" if undo else "archived")
    terminal.show(f"“{terminal.one_line(changed.name)}” is {changed.status}.")


@projects.command("delete")
@click.argument("project")
@pass_opening
def projects_delete(opening: Opening, project: str) -> None:
    """Delete a project. Its papers stay in the library."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.get(project)
        wb.projects.delete(found)
    terminal.show(
        f"Deleted project “{terminal.one_line(found.name)}”;"
        f" its {found.paper_count} papers stay in the library."
    )


@projects.command("add")
@click.argument("project")
@click.argument("paper_ids", nargs=-1, type=int, required=True, metavar="ID…")
@pass_opening
def projects_add(opening: Opening, project: str, paper_ids: tuple[int, ...]) -> None:
    """Put papers of the library into a project."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.add(project, *paper_ids)
    terminal.show(f"“{terminal.one_line(found.name)}” has {found.paper_count} papers.")


@projects.command("remove")
@click.argument("project")
@click.argument("paper_id", type=int)
@pass_opening
def projects_remove(opening: Opening, project: str, paper_id: int) -> None:
    """Take a paper out of one project only."""
    with opening.workbench(must_exist=True) as wb:
        wb.projects.remove(project, paper_id)
        found = wb.projects.get(project)
    terminal.show(f"“{terminal.one_line(found.name)}” has {found.paper_count} papers.")

"""Verbs on projects."""

from __future__ import annotations

from dataclasses import asdict

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, pass_opening, project_named
from workbench.errors import InvalidInputError, NotFoundError
from workbench.records import Project


@click.group()
def projects() -> None:
    """Create, list and change projects.

    PROJECT is a project's name, or its id as the list shows it.
    """


@projects.command("create")
@click.argument("name")
@click.option("--description", help="What the project is about.")
@click.option("--goal", help="What you want to find out.")
@as_json_option
@pass_opening
def projects_create(
    opening: Opening, name: str, description: str | None, goal: str | None, as_json: bool
) -> None:
    """Create a project."""
    with opening.workbench() as wb:
        project = wb.projects.create(name, description, goal)
    _report(project, f"Created project “{project.name}”.", as_json=as_json)


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


@projects.command("show")
@click.argument("project")
@as_json_option
@pass_opening
def projects_show(opening: Opening, project: str, as_json: bool) -> None:
    """Show a project with its summary and papers."""
    with opening.workbench(must_exist=True) as wb:
        found = project_named(wb, project)
        summary, held = wb.summaries.get(found), wb.projects.papers(found)
        preset = wb.presets.chosen(found)
    if as_json:
        more = {"summary": summary.text, "summary_updated_at": summary.updated_at}
        more["preset"] = None if preset is None else preset.name
        terminal.show_json({"project": asdict(found) | more, "papers": [asdict(paper) for paper in held]})
        return
    terminal.show(terminal.one_line(f"{found.name} ({found.status}, {_papers(found)})"))
    for name, text in (("About", found.description), ("Goal", found.goal), ("Summary", summary.text)):
        if text:
            terminal.show(terminal.one_line(f"{name}: {text}"))
    if preset is not None:
        numbers = ", ".join(f"{name} {value:g}" for name, value in preset.parameters.items())
        terminal.show(terminal.one_line(f"Searches: preset “{preset.name}” ({numbers})"))
    for paper in held:
        state = "" if paper.state == "ready" else " (indexing…)"
        terminal.show(f"  {paper.id}  {terminal.one_line(paper.title)}{state}")


@projects.command("find")
@click.argument("query")
@as_json_option
@pass_opening
def projects_find(opening: Opening, query: str, as_json: bool) -> None:
    """List the five projects nearest to a few words, archived or not.

    An empty QUERY gives the five that were made first.
    """
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.search(query)
    if as_json:
        terminal.show_json({"projects": [asdict(match) for match in found]})
        return
    rows = [[m.id, f"{m.score:.2f}", m.title, m.summary_snippet] for m in found]
    terminal.show_rows(["id", "score", "name", "about"], rows)


@projects.command("describe")
@click.argument("project")
@click.option("--description", help="What the project is about; an empty text removes it.")
@click.option("--goal", help="What you want to find out; an empty text removes it.")
@as_json_option
@pass_opening
def projects_describe(
    opening: Opening, project: str, description: str | None, goal: str | None, as_json: bool
) -> None:
    """Change what a project says it is about."""
    given = {"description": description, "goal": goal}
    changes = {name: text for name, text in given.items() if text is not None}
    if not changes:
        raise InvalidInputError("Say what to change: --description, --goal.")
    with opening.workbench(must_exist=True) as wb:
        changed = wb.projects.update(project_named(wb, project), **changes)
    _report(changed, f"Changed project “{changed.name}”.", as_json=as_json)


@projects.command("rename")
@click.argument("project")
@click.argument("name")
@as_json_option
@pass_opening
def projects_rename(opening: Opening, project: str, name: str, as_json: bool) -> None:
    """Give a project another name."""
    with opening.workbench(must_exist=True) as wb:
        renamed = wb.projects.update(project_named(wb, project), name=name)
    _report(renamed, f"The project is now called “{renamed.name}”.", as_json=as_json)


@projects.command("archive")
@click.argument("project")
@click.option("--undo", is_flag=True, help="Make it active again.")
@as_json_option
@pass_opening
def projects_archive(opening: Opening, project: str, undo: bool, as_json: bool) -> None:
    """Put a project out of sight, with nothing lost."""
    with opening.workbench(must_exist=True) as wb:
        changed = wb.projects.update(project_named(wb, project), status="active" if undo else "archived")
    _report(changed, f"“{changed.name}” is {changed.status}.", as_json=as_json)


@projects.command("delete")
@click.argument("project")
@yes_option
@as_json_option
@pass_opening
def projects_delete(opening: Opening, project: str, yes: bool, as_json: bool) -> None:
    """Delete a project with its chat. Its papers stay in the library."""
    with opening.workbench(must_exist=True) as wb:
        found = project_named(wb, project)
        confirm(f"Delete project “{found.name}” with its chat?", yes=yes)
        wb.projects.delete(found)
    text = (
        f"Deleted project “{found.name}” with its chat. Its papers ({found.paper_count}) stay in the library."
    )
    _report(found, text, as_json=as_json)


@projects.command("add")
@click.argument("project")
@click.argument("paper_ids", nargs=-1, type=int, required=True, metavar="ID…")
@as_json_option
@pass_opening
def projects_add(opening: Opening, project: str, paper_ids: tuple[int, ...], as_json: bool) -> None:
    """Put papers of the library into a project.

    ID is a paper's number, as "workbench papers list" shows it.
    """
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.add(project_named(wb, project), *paper_ids)
    _report(found, f"“{found.name}” has {_papers(found)}.", as_json=as_json)


@projects.command("remove")
@click.argument("project")
@click.argument("paper_ids", nargs=-1, type=int, required=True, metavar="ID…")
@as_json_option
@pass_opening
def projects_remove(opening: Opening, project: str, paper_ids: tuple[int, ...], as_json: bool) -> None:
    """Take papers out of this project only.

    ID is a paper's number, as "workbench papers list" shows it.
    """
    with opening.workbench(must_exist=True) as wb:
        found = project_named(wb, project)
        strangers = set(paper_ids) - {paper.id for paper in wb.projects.papers(found)}
        if strangers:  # before any is taken out
            named = ", ".join(map(str, sorted(strangers)))
            raise NotFoundError(f"Paper not found in project “{found.name}”: {named}.")
        for paper_id in dict.fromkeys(paper_ids):
            wb.projects.remove(found, paper_id)
        left = wb.projects.get(found.id)
    _report(left, f"“{left.name}” has {_papers(left)}.", as_json=as_json)


def _report(project: Project, text: str, *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"project": asdict(project)})
    else:
        terminal.show(terminal.one_line(text))


def _papers(project: Project) -> str:
    return "1 paper" if project.paper_count == 1 else f"{project.paper_count} papers"

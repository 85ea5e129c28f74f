"""Verbs on project summaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, pass_opening, project_named
from workbench.records import ProjectSummary


@click.group()
def summaries() -> None:
    """What your projects are about, in a few sentences each.

    They are written by themselves while the workbench is open; WORKBENCH_SUMMARIES says how.
    """


@summaries.command("list")
@click.option("--archived", is_flag=True, help="Archived projects instead of active ones.")
@as_json_option
@pass_opening
def summaries_list(opening: Opening, archived: bool, as_json: bool) -> None:
    """Show the summaries of your projects."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.summaries.list("archived" if archived else "active")
    _show(found, as_json=as_json)


@summaries.command("show")
@click.argument("project")
@as_json_option
@pass_opening
def summaries_show(opening: Opening, project: str, as_json: bool) -> None:
    """Show one project's summary."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.summaries.get(project_named(wb, project))
    _show([found], as_json=as_json)


@summaries.command("refresh")
@click.argument("projects", nargs=-1, metavar="PROJECT…")
@as_json_option
@pass_opening
def summaries_refresh(opening: Opening, projects: tuple[str, ...], as_json: bool) -> None:
    """Write summaries anew and wait for them.

    Of the projects named, or of all active ones.
    """
    with opening.workbench(must_exist=True) as wb:
        chosen = [project_named(wb, name) for name in projects] or wb.projects.list()
        found = [wb.summaries.refresh(project) for project in chosen]
    _show(found, as_json=as_json)


def _show(found: Sequence[ProjectSummary], *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"summaries": [asdict(summary) for summary in found]})
        return
    for summary in found:
        moment, writer = summary.updated_at, summary.written_by
        written = f"{moment:%Y-%m-%d %H:%M} UTC, {writer}" if moment else "outdated: its papers have changed"
        written = f" ({written})" if summary.text else ""
        terminal.show(terminal.one_line(f"{summary.name}{written}"))
        terminal.show(f"  {terminal.one_line(summary.text or 'No summary yet.')}\n")

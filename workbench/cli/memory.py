"""Verbs on what was said in earlier questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, chosen_scope, pass_opening
from workbench.errors import InvalidInputError
from workbench.records import Memory
from workbench.scope import Scope

if TYPE_CHECKING:
    from workbench.api import Workbench


@click.group(short_help="See, add and forget what you said of your work.")
def memory() -> None:
    """See, add and forget what you said of yourself and your work.

    Each project has memories of its own. ID is a memory's number as the list shows it.
    """


def _which(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--orphans", is_flag=True, help="Only memories of no project."),
        click.option("--project", metavar="NAME", help="Only memories of this project."),
    ):
        function = option(function)
    return function


@memory.command("list")
@_which
@as_json_option
@pass_opening
def memory_list(opening: Opening, project: str | None, orphans: bool, as_json: bool) -> None:
    """List what is remembered, last seen first."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.memory.list(_scope(wb, project, orphans))
        _show(wb, found, as_json=as_json)


@memory.command("recall")
@click.argument("query")
@_which
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="How many at most.")
@as_json_option
@pass_opening
def memory_recall(
    opening: Opening, query: str, project: str | None, orphans: bool, limit: int, as_json: bool
) -> None:
    """Show what a question would call up, nearest first."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.memory.recall(query, scope=_scope(wb, project, orphans), limit=limit)
        _show(wb, found, as_json=as_json)


@memory.command("add")
@click.argument("text")
@click.option("--project", metavar="NAME", help="For this project; else for no project.")
@as_json_option
@pass_opening
def memory_add(opening: Opening, text: str, project: str | None, as_json: bool) -> None:
    """Have something remembered, such as "I use mice".

    Only plain statements are kept, as in conversations: no questions, requests or suppositions.
    """
    with opening.workbench() as wb:
        found = wb.memory.remember(text, scope=chosen_scope(wb, project, all_papers=False, orphans=False))
        if not found:
            raise InvalidInputError("There is no statement in this to remember: say it in a plain sentence.")
        _show(wb, found, as_json=as_json)


@memory.command("edit")
@click.argument("memory_id", type=int, metavar="ID")
@click.argument("text")
@as_json_option
@pass_opening
def memory_edit(opening: Opening, memory_id: int, text: str, as_json: bool) -> None:
    """Put a memory into other words."""
    with opening.workbench(must_exist=True) as wb:
        changed = wb.memory.update(memory_id, text)
    if as_json:
        terminal.show_json({"memory": asdict(changed)})
    else:
        terminal.show(terminal.one_line(f"Memory {changed.id}: {changed.text}"))


@memory.command("forget")
@click.argument("memory_ids", nargs=-1, type=int, required=True, metavar="ID…")
@yes_option
@as_json_option
@pass_opening
def memory_forget(opening: Opening, memory_ids: tuple[int, ...], yes: bool, as_json: bool) -> None:
    """Delete memories for good."""
    with opening.workbench(must_exist=True) as wb:
        confirm(f"Forget {', '.join(map(str, memory_ids))} for good?", yes=yes)
        wb.memory.forget(*memory_ids)
    if as_json:
        terminal.show_json({"forgotten": list(memory_ids)})
    else:
        terminal.show(f"Forgotten: {', '.join(map(str, memory_ids))}.")


def _scope(wb: Workbench, project: str | None, orphans: bool) -> Scope:
    return chosen_scope(wb, project, all_papers=project is None and not orphans, orphans=orphans)


def _show(wb: Workbench, found: Sequence[Memory], *, as_json: bool) -> None:
    if as_json:
        terminal.show_json({"memories": [asdict(memory) for memory in found]})
        return
    names = {project.id: project.name for project in wb.projects.list(status=None)}
    rows = [[m.id, f"{m.seen_at:%Y-%m-%d}", names.get(m.project_id or 0, ""), m.text] for m in found]
    terminal.show_rows(["id", "last seen", "project", "text"], rows)

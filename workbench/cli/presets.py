"""Verbs on a project's own search numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, pass_opening, project_named
from workbench.cli.tuned import number_options
from workbench.errors import InvalidInputError
from workbench.tuning import Preset

_OPTION = "--project"
_project_option = click.option(
    _OPTION, "named", expose_value=False, metavar="NAME", help="The same as PROJECT."
)


class _OfProject(click.Command):
    """A verb whose first argument is PROJECT, which may be given as the option other verbs have for it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [w for arg in args for w in (arg.split("=", 1) if arg.startswith(f"{_OPTION}=") else [arg])]
        if _OPTION in words[:-1]:
            at = words.index(_OPTION)
            words = [words[at + 1], *words[:at], *words[at + 2 :]]
        return super().parse_args(ctx, words)


@click.group()
def presets() -> None:
    """Give a project search numbers of its own.

    PROJECT is a project's name, or its id. One preset of a project can take effect: its numbers stand above
    the settings, and below what a call gives.
    """


@presets.command("save", cls=_OfProject)
@click.argument("project")
@click.argument("name")
@_project_option
@number_options
@click.option("--no-choose", is_flag=True, help="Keep it, and leave in effect what is in effect.")
@as_json_option
@pass_opening
def presets_save(
    opening: Opening, /, project: str, name: str, no_choose: bool, as_json: bool, **numbers: Any
) -> None:
    """Keep numbers under a NAME and let them take effect."""
    with opening.workbench(must_exist=True) as wb:
        saved = wb.presets.save(project_named(wb, project), name, choose=not no_choose, **numbers)
    if as_json:
        terminal.show_json({"preset": asdict(saved)})
    else:
        terminal.show(terminal.one_line(f"Preset “{saved.name}”: {_numbers(saved)}{_effect(saved)}."))


@presets.command("list", cls=_OfProject)
@click.argument("project")
@_project_option
@as_json_option
@pass_opening
def presets_list(opening: Opening, project: str, as_json: bool) -> None:
    """List a project's presets."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.presets.list(project_named(wb, project))
    if as_json:
        terminal.show_json({"presets": [asdict(p) for p in found]})
        return
    rows = [["*" if p.chosen else "", p.name, _numbers(p)] for p in found]
    terminal.show_rows(["in effect", "name", "numbers"], rows)


@presets.command("choose", cls=_OfProject)
@click.argument("project")
@click.argument("name", required=False)
@_project_option
@click.option("--none", "nothing", is_flag=True, help="Give the project back to the settings.")
@as_json_option
@pass_opening
def presets_choose(opening: Opening, project: str, name: str | None, nothing: bool, as_json: bool) -> None:
    """Let the preset NAME take effect, or none."""
    if (name is None) != nothing:
        raise InvalidInputError("Say which preset takes effect: its NAME, or --none.")
    with opening.workbench(must_exist=True) as wb:
        chosen = wb.presets.choose(project_named(wb, project), name)
    if as_json:
        terminal.show_json({"preset": None if chosen is None else asdict(chosen)})
    elif chosen is None:
        terminal.show("The settings take effect.")
    else:
        terminal.show(terminal.one_line(f"Preset “{chosen.name}”: {_numbers(chosen)}{_effect(chosen)}."))


@presets.command("delete", cls=_OfProject)
@click.argument("project")
@click.argument("name")
@_project_option
@yes_option
@as_json_option
@pass_opening
def presets_delete(opening: Opening, project: str, name: str, yes: bool, as_json: bool) -> None:
    """Delete a preset; where it took effect, the settings do again."""
    with opening.workbench(must_exist=True) as wb:
        chosen = project_named(wb, project)
        confirm(f"Delete preset “{name}” of “{chosen.name}”?", yes=yes)
        wb.presets.delete(chosen, name)
    if as_json:
        terminal.show_json({"deleted": name})
    else:
        terminal.show(terminal.one_line(f"Deleted preset “{name}”."))


def _numbers(preset: Preset) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in preset.parameters.items())


def _effect(preset: Preset) -> str:
    return " (in effect)" if preset.chosen else ""

"""Verbs that look after the library: status, doctor, compact, backup."""

from __future__ import annotations

import sys

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, pass_opening


@click.command()
@as_json_option
@pass_opening
def status(opening: Opening, as_json: bool) -> None:
    """Say where the library is and what it holds."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.status()
    if as_json:
        terminal.show_json(found)
        return
    for name, value in found.items():
        if name != "warnings":
            terminal.show(f"{name:11} {terminal.one_line(value)}")
    for warning in found["warnings"]:
        click.echo(f"note: {terminal.one_line(warning)}", err=True)


@click.command()
@as_json_option
@pass_opening
def doctor(opening: Opening, as_json: bool) -> None:
    """Check the library; exit status 0 only if it is healthy."""
    with opening.workbench(must_exist=True) as wb:
        findings = wb.doctor()
    if as_json:
        terminal.show_json({"healthy": not findings, "findings": findings})
    else:
        for finding in findings or ["The library is healthy."]:
            terminal.show(finding)
    if findings:
        sys.exit(1)


@click.command()
@pass_opening
def compact(opening: Opening) -> None:
    """Give back the space that removed papers left in the library file."""
    with opening.workbench(must_exist=True) as wb:
        before = wb.settings.library.stat().st_size
        wb.compact()
        after = wb.settings.library.stat().st_size
    terminal.show(f"{before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now.")


@click.command()
@click.argument("path")
@pass_opening
def backup(opening: Opening, path: str) -> None:
    """Write a checked copy of the library to PATH."""
    with opening.workbench(must_exist=True) as wb:
        written = wb.backup(path)
    terminal.show(f"Wrote {written}.")

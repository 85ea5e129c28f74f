"""Asking before something is deleted, where a person is there to answer."""

from __future__ import annotations

import sys

import click

from workbench.cli import terminal

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask first.")


def confirm(question: str, *, yes: bool) -> None:
    """Asks on a terminal, and ends the program with status 1 where the answer is not yes. A script, whose
    standard input or standard error is no terminal, is not asked: nobody would see the question."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    try:
        agreed = click.confirm(terminal.one_line(question), err=True)
    except click.Abort:  # Ctrl+C or the end of the input: the cursor stands behind the question
        click.echo(err=True)
        raise
    if not agreed:
        terminal.fail("Nothing was changed.")

"""Verbs that start something: dashboard, lab, demo."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from workbench.cli import terminal
from workbench.cli.opening import Opening, as_json_option, pass_opening
from workbench.cli.questions import ask
from workbench.errors import InvalidInputError

_PORT = click.IntRange(1, 65535)


@click.command(short_help="Serve the dashboard on this machine.")
@click.option("--port", type=_PORT, default=8866, show_default=True, help="The next free one if it is taken.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--base-url", metavar="PATH", default="/", help="The path under which a reverse proxy has it.")
@pass_opening
def dashboard(opening: Opening, port: int, no_browser: bool, base_url: str) -> None:
    """Serve the dashboard on this machine. A new library starts with the sample project."""
    from widgets.launch import voila_command
    from workbench.sample import add_sample_if_new

    library, environment = _prepare_program(opening, add_sample_if_new)
    _run(voila_command(library, port=port, open_browser=not no_browser, base_url=base_url), environment)


@click.command()
@click.option("--port", type=_PORT, default=8888, show_default=True, help="The next free one if it is taken.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@pass_opening
def lab(opening: Opening, port: int, no_browser: bool) -> None:
    """Open JupyterLab on the notebooks, with the library at hand."""
    from workbench.sample import add_sample_if_new, notebooks_folder

    _, environment = _prepare_program(opening, add_sample_if_new)
    arguments = [sys.executable, "-m", "jupyterlab", f"--port={port}", f"--notebook-dir={notebooks_folder()}"]
    if os.name == "posix" and os.geteuid() == 0:  # in a container: Jupyter refuses, the dashboard does not
        arguments.append("--allow-root")
    _run(arguments + (["--no-browser"] if no_browser else []), environment)


@click.command()
@click.option(
    "--question",
    default="How fast is an exact search inside a project, and why not use a graph index there?",
    show_default=True,
    help="What to ask.",
)
@as_json_option
@pass_opening
@click.pass_context
def demo(context: click.Context, opening: Opening, question: str, as_json: bool) -> None:
    """Ask the sample project a question, in the terminal.

    The sample project is added to your library first, if it is not there.
    """
    from workbench.sample import SAMPLE_PROJECT, add_sample

    with opening.workbench() as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        add_sample(wb, progress=bar)
    if not as_json:
        terminal.show(f"> {terminal.one_line(question)}\n")
    context.invoke(
        ask, question=question, project=SAMPLE_PROJECT, all_papers=False, orphans=False, as_json=as_json
    )


def _prepare_program(opening: Opening, add_sample_if_new: Any) -> tuple[Path, dict[str, str]]:
    """Makes a new library ready and hands its place to the program through the environment. Raises
    InvalidInputError where the folder this runs in is gone: no server starts there."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise InvalidInputError(
            "The folder you are in does not exist any more: change to another one and start again."
        ) from None
    with contextlib.closing(terminal.ProgressBar()) as bar, opening.workbench() as wb:
        add_sample_if_new(wb, progress=bar)
        library, user = wb.settings.library, wb.user
    return library, {**os.environ, "WORKBENCH_LIBRARY": str(library.resolve()), "WORKBENCH_USER": user}


def _run(arguments: list[str], environment: dict[str, str]) -> None:
    """Becomes the program where the system can, so that ending the command ends the program too."""
    if os.name == "posix":
        sys.stdout.flush()
        os.execve(arguments[0], arguments, environment)
    try:
        sys.exit(subprocess.run(arguments, env=environment, check=False).returncode)
    except KeyboardInterrupt:
        sys.exit(130)

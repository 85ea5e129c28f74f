"""All verbs of the command line, and what becomes of their errors."""

from __future__ import annotations

import logging
import os
import sys

import click

from workbench.cli import (
    care,
    chat,
    conversations,
    exchange,
    labels,
    matrix,
    measuring,
    memory,
    notes,
    papers,
    presets,
    programs,
    projects,
    questions,
    summaries,
    terminal,
)
from workbench.cli.opening import Opening
from workbench.cli.stopping import Stopping
from workbench.crash_reports import write_crash_report
from workbench.errors import WorkbenchError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--library",
    metavar="PATH",
    help="The library file. Default: $WORKBENCH_LIBRARY, else the user's data folder.",
)
@click.option("--user", metavar="NAME", help="Whose library. Default: $WORKBENCH_USER, else the login.")
@click.version_option(package_name="research-workbench")
@click.pass_context
def command(context: click.Context, library: str | None, user: str | None) -> None:
    """Papers in projects, cited answers, every claim on its page.

    Start with "workbench add FILE", then "workbench ask QUESTION --all". "workbench COMMAND --help" tells
    the rest.
    """
    context.obj = Opening(library, user)


for _verb in (
    papers.add,
    papers.papers,
    papers.reprocess,
    projects.projects,
    notes.notes,
    memory.memory,
    summaries.summaries,
    questions.search,
    questions.ask,
    matrix.matrix,
    chat.chat,
    conversations.conversations,
    labels.questions,
    measuring.eval_,
    measuring.replay,
    presets.presets,
    exchange.import_,
    exchange.export,
    care.status,
    care.doctor,
    care.compact,
    care.backup,
    care.restore,
    programs.dashboard,
    programs.lab,
    programs.demo,
):
    command.add_command(_verb)


def run(arguments: list[str] | None, stopping: Stopping) -> None:
    """Runs a verb and exits. No traceback reaches a person: it goes to the log instead."""
    _fill_closed_streams()
    try:
        command.main(args=arguments, prog_name="workbench", standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.exceptions.Abort as abort:
        told = abort.__cause__.args if isinstance(abort.__cause__, KeyboardInterrupt) else ()
        raise KeyboardInterrupt(*told) from None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
    except click.ClickException as error:
        terminal.fail(error.format_message(), error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        sys.exit(1)
    except WorkbenchError as error:
        terminal.fail(error)
    except Exception as error:  # the last door before a person: whatever it is, it must be one line
        if stopping.asked:
            raise KeyboardInterrupt from error
        logging.getLogger("workbench").debug("unexpected", exc_info=True)
        terminal.fail(f"The workbench itself failed ({type(error).__name__}: {error}). {_to_attach(error)}")


def _fill_closed_streams() -> None:
    """Opens on nothing what the shell closed (``>&-``): the next file, the library for one, would get its
    number, and whatever the process prints in that file."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _to_attach(error: Exception) -> str:
    report = write_crash_report(error, doing="a command line")
    if report is None:
        return "Please report this line."
    return f"Please report it with {report}, which holds no text of your papers."

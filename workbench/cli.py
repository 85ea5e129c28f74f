"""The command line: ``workbench …``. Each verb is a thin layer over the public API.

Exit status 0 only if all went well. An error is one plain line on standard error.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench import terminal
from workbench.errors import InvalidInputError, WorkbenchError
from workbench.records import AnswerDone, Notice, Paper, Project, TextDelta
from workbench.scope import Scope

if TYPE_CHECKING:
    from workbench.api import Workbench

_as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


class _Opening:
    """What the global options say; the library opens when a verb needs it."""

    def __init__(self, library: str | None, user: str | None) -> None:
        self.library, self.user = library, user

    @contextlib.contextmanager
    def workbench(self, *, must_exist: bool = False) -> Iterator[Workbench]:
        import workbench
        from workbench.settings import Settings

        settings = Settings.load(library=Path(self.library) if self.library else None, user=self.user)
        if must_exist and not settings.library.exists():
            raise InvalidInputError(f"There is no library at {settings.library}. Check --library, or add a paper first.")
        with workbench.open(settings=settings) as opened:
            yield opened


_opening = click.make_pass_decorator(_Opening)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--library", metavar="PATH", help="The library file. Default: $WORKBENCH_LIBRARY, else the user's data folder.")
@click.option("--user", metavar="NAME", help="Whose library. Default: $WORKBENCH_USER, else the login.")
@click.version_option(package_name="research-workbench")
@click.pass_context
def command(context: click.Context, library: str | None, user: str | None) -> None:
    """Papers in projects, cited answers, every claim on its page."""
    context.obj = _Opening(library, user)


# --- papers ----------------------------------------------------------------------------------


@command.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--project", metavar="NAME", help="Also put the papers into this project.")
@_as_json
@_opening
def add(opening: _Opening, files: tuple[str, ...], project: str | None, as_json: bool) -> None:
    """Add files or folders to the library."""
    with opening.workbench() as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        report = wb.papers.add_many([Path(f) for f in files], project=project, progress=bar)
    if as_json:
        terminal.show_json({"files": [terminal.outcome_json(f) for f in report.files]})
    else:
        for outcome in report.files:
            terminal.show(terminal.outcome_line(outcome))
    if report.failed:
        sys.exit(1)


@command.group()
def papers() -> None:
    """List or remove papers."""


@papers.command("list")
@click.option("--project", metavar="NAME", help="Only this project's papers.")
@click.option("--orphans", is_flag=True, help="Only papers in no project.")
@_as_json
@_opening
def papers_list(opening: _Opening, project: str | None, orphans: bool, as_json: bool) -> None:
    """List the papers of the library."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.papers.list(_scope(wb, project, all_papers=not orphans and project is None, orphans=orphans))
    if as_json:
        terminal.show_json({"papers": [_paper_json(p) for p in found]})
        return
    rows = [[p.id, p.state if p.state == "ready" else "indexing…", p.year, p.pages, p.title, p.file] for p in found]
    terminal.show_rows(["id", "state", "year", "pages", "title", "file"], rows)


@papers.command("remove")
@click.argument("paper_id", type=int)
@_opening
def papers_remove(opening: _Opening, paper_id: int) -> None:
    """Take a paper out of the library and out of every project."""
    with opening.workbench(must_exist=True) as wb:
        paper = wb.papers.get(paper_id)
        wb.papers.remove(paper)
    terminal.show(f"Removed “{terminal.one_line(paper.title)}”.")


@command.command()
@click.argument("paper_ids", nargs=-1, type=int, metavar="ID…")
@click.option("--all", "everything", is_flag=True, help="Every paper of the library.")
@_as_json
@_opening
def reprocess(opening: _Opening, paper_ids: tuple[int, ...], everything: bool, as_json: bool) -> None:
    """Read stored files again and renew their chunks and vectors."""
    if bool(paper_ids) == everything:
        raise InvalidInputError("Name the papers by id, or say --all.")
    with opening.workbench(must_exist=True) as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        wanted = [p.id for p in wb.papers.list()] if everything else list(paper_ids)
        outcomes = [wb.papers.reprocess(paper_id, progress=bar) for paper_id in wanted]
    if as_json:
        terminal.show_json({"files": [terminal.outcome_json(o) for o in outcomes]})
    else:
        for outcome in outcomes:
            terminal.show(terminal.outcome_line(outcome))
    if any(o.status == "failed" for o in outcomes):
        sys.exit(1)


# --- projects --------------------------------------------------------------------------------


@command.group()
def projects() -> None:
    """Create, list and change projects."""


@projects.command("create")
@click.argument("name")
@click.option("--description")
@click.option("--goal")
@_as_json
@_opening
def projects_create(
    opening: _Opening, name: str, description: str | None, goal: str | None, as_json: bool
) -> None:
    """Create a project."""
    with opening.workbench() as wb:
        project = wb.projects.create(name, description, goal)
    if as_json:
        terminal.show_json({"project": _project_json(project)})
    else:
        terminal.show(f"Created project “{terminal.one_line(project.name)}”.")


@projects.command("list")
@click.option("--archived", is_flag=True, help="Archived projects instead of active ones.")
@_as_json
@_opening
def projects_list(opening: _Opening, archived: bool, as_json: bool) -> None:
    """List your projects."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.list("archived" if archived else "active")
    if as_json:
        terminal.show_json({"projects": [_project_json(p) for p in found]})
        return
    terminal.show_rows(["id", "papers", "name", "description"], [[p.id, p.paper_count, p.name, p.description] for p in found])


@projects.command("rename")
@click.argument("project")
@click.argument("name")
@_opening
def projects_rename(opening: _Opening, project: str, name: str) -> None:
    """Give a project another name."""
    with opening.workbench(must_exist=True) as wb:
        renamed = wb.projects.update(project, name=name)
    terminal.show(f"The project is now called “{terminal.one_line(renamed.name)}”.")


@projects.command("archive")
@click.argument("project")
@click.option("--undo", is_flag=True, help="Make it active again.")
@_opening
def projects_archive(opening: _Opening, project: str, undo: bool) -> None:
    """Put a project out of sight, with nothing lost."""
    with opening.workbench(must_exist=True) as wb:
        changed = wb.projects.update(project, status="active" if undo else "archived")
    terminal.show(f"“{terminal.one_line(changed.name)}” is {changed.status}.")


@projects.command("delete")
@click.argument("project")
@_opening
def projects_delete(opening: _Opening, project: str) -> None:
    """Delete a project. Its papers stay in the library."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.get(project)
        wb.projects.delete(found)
    terminal.show(f"Deleted project “{terminal.one_line(found.name)}”; its {found.paper_count} papers stay in the library.")


@projects.command("add")
@click.argument("project")
@click.argument("paper_ids", nargs=-1, type=int, required=True, metavar="ID…")
@_opening
def projects_add(opening: _Opening, project: str, paper_ids: tuple[int, ...]) -> None:
    """Put papers of the library into a project."""
    with opening.workbench(must_exist=True) as wb:
        found = wb.projects.add(project, *paper_ids)
    terminal.show(f"“{terminal.one_line(found.name)}” has {found.paper_count} papers.")


@projects.command("remove")
@click.argument("project")
@click.argument("paper_id", type=int)
@_opening
def projects_remove(opening: _Opening, project: str, paper_id: int) -> None:
    """Take a paper out of one project only."""
    with opening.workbench(must_exist=True) as wb:
        wb.projects.remove(project, paper_id)
        found = wb.projects.get(project)
    terminal.show(f"“{terminal.one_line(found.name)}” has {found.paper_count} papers.")


# --- questions -------------------------------------------------------------------------------


def _scope_options(function: Any) -> Any:
    for option in (
        click.option("--orphans", is_flag=True, help="Only papers in no project (the default)."),
        click.option("--all", "all_papers", is_flag=True, help="All papers of the library."),
        click.option("--project", metavar="NAME", help="Only this project's papers."),
    ):
        function = option(function)
    return function


def _scope(wb: Workbench, project: str | None, *, all_papers: bool, orphans: bool) -> Scope:
    if (project is not None) + all_papers + orphans > 1:
        raise InvalidInputError("--project, --all and --orphans exclude each other: give one.")
    if project is not None:
        return Scope.project(wb.projects.get(project))
    return Scope.ALL if all_papers else Scope.ORPHANS


@command.command()
@click.argument("query")
@_scope_options
@click.option("--top-k", type=int, help="How many passages at most.")
@click.option("--max-per-paper", type=int, help="How many of one paper while others have some to offer.")
@click.option("--min-relevance", type=float, help="Relevance (0 to 1) below which a passage never counts.")
@click.option("--mode", type=click.Choice(["hybrid", "vector", "keyword"]), default="hybrid", show_default=True)
@_as_json
@_opening
def search(
    opening: _Opening,
    query: str,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    as_json: bool,
    **limits: Any,
) -> None:
    """Show the passages that a question finds."""
    with opening.workbench(must_exist=True) as wb:
        evidence = wb.search(query, scope=_scope(wb, project, all_papers=all_papers, orphans=orphans), **limits)
    if as_json:
        terminal.show_json(terminal.evidence_json(evidence))
        return
    for warning in evidence.warnings:
        click.echo(f"note: {terminal.one_line(warning)}", err=True)
    if not evidence.passages:
        terminal.show(f"Nothing found in: {terminal.one_line(evidence.scope_label)}.")
    for p in evidence.passages:
        pages = f"{p.page_start}" if p.page_start == p.page_end else f"{p.page_start}–{p.page_end}"
        terminal.show(f"[{p.n}] {p.score:.2f}  {terminal.one_line(p.title)}, {p.page_unit} {pages}")
        terminal.show(f"    {terminal.one_line(p.text)[:240]}")


@command.command()
@click.argument("question")
@_scope_options
@click.option("--provider", type=click.Choice(["auto", "ollama", "extractive"]), help="Who writes the answer.")
@click.option("--top-k", type=int, help="How many passages at most.")
@_as_json
@_opening
def ask(
    opening: _Opening,
    question: str,
    project: str | None,
    all_papers: bool,
    orphans: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer a question from the papers, each statement with its page."""
    with opening.workbench(must_exist=True) as wb:
        scope = _scope(wb, project, all_papers=all_papers, orphans=orphans)
        if as_json:
            terminal.show_json(terminal.answer_json(wb.ask(question, scope=scope, **options)))
            return
        for event in wb.stream(question, scope=scope, **options):
            if isinstance(event, TextDelta):
                terminal.show(event.text, end="")
            elif isinstance(event, Notice):
                click.echo(f"note: {terminal.one_line(event.text)}", err=True)
            elif isinstance(event, AnswerDone):
                terminal.show("\n")
                for citation in event.answer.citations:
                    terminal.show(terminal.citation_line(citation))


# --- the library -----------------------------------------------------------------------------


@command.command()
@_as_json
@_opening
def status(opening: _Opening, as_json: bool) -> None:
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


@command.command()
@_as_json
@_opening
def doctor(opening: _Opening, as_json: bool) -> None:
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


@command.command()
@_opening
def compact(opening: _Opening) -> None:
    """Give back the space that removed papers left in the library file."""
    with opening.workbench(must_exist=True) as wb:
        before = wb.settings.library.stat().st_size
        wb.compact()
        after = wb.settings.library.stat().st_size
    terminal.show(f"{before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now.")


@command.command()
@click.argument("path")
@_opening
def backup(opening: _Opening, path: str) -> None:
    """Write a checked copy of the library to PATH."""
    with opening.workbench(must_exist=True) as wb:
        written = wb.backup(path)
    terminal.show(f"Wrote {written}.")


# --- programs --------------------------------------------------------------------------------


@command.command()
@click.option("--port", type=int, default=8866, show_default=True)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@_opening
def dashboard(opening: _Opening, port: int, no_browser: bool) -> None:
    """Serve the dashboard on this machine. A new library starts with the sample project."""
    from widgets.launch import voila_command
    from workbench.sample import add_sample_if_new

    library, environment = _prepare_program(opening, add_sample_if_new)
    _run(voila_command(library, port=port, open_browser=not no_browser), environment)


@command.command()
@click.option("--port", type=int, default=8888, show_default=True)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@_opening
def lab(opening: _Opening, port: int, no_browser: bool) -> None:
    """Open JupyterLab on the notebooks, with the library at hand."""
    from workbench.sample import add_sample_if_new, notebooks_folder

    _, environment = _prepare_program(opening, add_sample_if_new)
    arguments = [sys.executable, "-m", "jupyterlab", f"--port={port}", f"--notebook-dir={notebooks_folder()}"]
    _run(arguments + (["--no-browser"] if no_browser else []), environment)


@command.command()
@click.option("--question", default="How fast is an exact search inside a project, and why not use a graph index there?", show_default=True)
@_opening
@click.pass_context
def demo(context: click.Context, opening: _Opening, question: str) -> None:
    """Ask the sample project a question, in the terminal."""
    from workbench.sample import SAMPLE_PROJECT, add_sample

    with opening.workbench() as wb, contextlib.closing(terminal.ProgressBar()) as bar:
        add_sample(wb, progress=bar)
    terminal.show(f"> {question}\n")
    context.invoke(ask, question=question, project=SAMPLE_PROJECT, all_papers=False, orphans=False, as_json=False)


def _prepare_program(opening: _Opening, add_sample_if_new: Any) -> tuple[Path, dict[str, str]]:
    """Makes a new library ready and hands its place to the program through the environment."""
    with contextlib.closing(terminal.ProgressBar()) as bar, opening.workbench() as wb:
        add_sample_if_new(wb, progress=bar)
        library, user = wb.settings.library, wb.user
    return library, {**os.environ, "WORKBENCH_LIBRARY": str(library.resolve()), "WORKBENCH_USER": user}


def _run(arguments: list[str], environment: dict[str, str]) -> None:
    try:
        sys.exit(subprocess.run(arguments, env=environment, check=False).returncode)
    except KeyboardInterrupt:
        sys.exit(130)


def _paper_json(paper: Paper) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(paper)


def _project_json(project: Project) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(project)


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits. No traceback reaches a person: it goes to the log instead."""
    try:
        command.main(args=arguments, prog_name="workbench", standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.exceptions.Abort:
        _fail("Stopped.", 130)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except KeyboardInterrupt:
        _fail("Stopped. What was finished is kept.", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        sys.exit(1)
    except WorkbenchError as error:
        _fail(str(error), 1)
    except Exception as error:  # the last door before a person: whatever it is, it must be one line
        logging.getLogger("workbench").debug("unexpected", exc_info=True)
        _fail(f"The workbench itself failed ({type(error).__name__}: {error}). Please report this line.", 1)


def _fail(text: str, status: int) -> None:
    click.echo(f"workbench: {terminal.one_line(text)}", err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()

"""Verbs that look after the library: status, doctor, compact, backup, restore."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import click

from workbench.cli import terminal
from workbench.cli.confirming import confirm, yes_option
from workbench.cli.opening import Opening, as_json_option, pass_opening
from workbench.errors import LibraryError, LibraryLockedError


@click.command()
@as_json_option
@pass_opening
def status(opening: Opening, as_json: bool) -> None:
    """Say where the library is and what it holds.

    Also which embedder and which chat model serve it, and what they lack.
    """
    with opening.workbench(must_exist=True) as wb:
        found = wb.status()
    if as_json:
        terminal.show_json(found)
        return
    for name, value in found.items():
        if name == "bytes":
            terminal.show(f"{'size':11} {value / 1e6:.1f} MB")
        elif name != "warnings":
            terminal.show(f"{name:11} {terminal.one_line('none' if value is None else value)}")
    for warning in found["warnings"]:
        terminal.note(warning)


@click.command()
@as_json_option
@pass_opening
def doctor(opening: Opening, as_json: bool) -> None:
    """Check the library; exit status 0 only if it is healthy."""
    findings = _findings(opening)
    if as_json:
        terminal.show_json({"healthy": not findings, "findings": findings})
    else:
        for finding in findings or ["The library is healthy."]:
            terminal.show(terminal.one_line(finding))
    if findings:
        count = "1 thing is" if len(findings) == 1 else f"{len(findings)} things are"
        terminal.fail(f"{count} wrong with the library: restore a backup, or ask for help with these lines.")


def _findings(opening: Opening) -> list[str]:
    try:
        with opening.workbench(must_exist=True) as wb:
            return wb.doctor()
    except LibraryLockedError:
        raise
    except LibraryError as error:  # a file too damaged to open is a finding too
        return [str(error)]


@click.command()
@as_json_option
@pass_opening
def compact(opening: Opening, as_json: bool) -> None:
    """Give back the space that removed papers left."""
    with opening.workbench(must_exist=True) as wb:
        before = wb.settings.library.stat().st_size
        with _stopped_between(wb.settings.library, "The library was compacted already."):
            wb.compact()
        after = wb.settings.library.stat().st_size
    if as_json:
        terminal.show_json({"bytes_before": before, "bytes": after})
    else:
        terminal.show(f"{before / 1e6:.1f} MB before, {after / 1e6:.1f} MB now.")


@click.command()
@click.argument("path")
@as_json_option
@pass_opening
def backup(opening: Opening, path: str, as_json: bool) -> None:
    """Write a checked copy of the library to PATH.

    PATH is a file that is not there yet, or a folder.
    """
    with opening.workbench(must_exist=True) as wb:
        written = wb.backup(path)
    if as_json:
        terminal.show_json({"path": str(written)})
    else:
        terminal.show(f"Wrote {terminal.one_line(written)}.")


@click.command()
@click.argument("path")
@yes_option
@as_json_option
@pass_opening
def restore(opening: Opening, path: str, yes: bool, as_json: bool) -> None:
    """Put the backup PATH in the library's place.

    The backup is examined first. The library that was there is kept beside it under another name.
    """
    from workbench.storage.restoring import backup_file
    from workbench.storage.restoring import restore as put_in_place

    settings = opening.settings()
    source = backup_file(Path(path))
    with _stopped_between(settings.library, "The library was restored already."):
        if settings.library.exists():
            confirm(f"Put {_described(source)} in the place of {_described(settings.library)}?", yes=yes)
        kept = put_in_place(source, settings.library, lock_timeout=settings.lock_timeout)
    if as_json:
        terminal.show_json({"library": str(settings.library), "kept": None if kept is None else str(kept)})
        return
    terminal.show(f"{terminal.one_line(settings.library)} is the backup now.")
    if kept is not None:
        terminal.show(f"What was there is {terminal.one_line(kept)}.")


@contextmanager
def _stopped_between(library: Path, replaced: str) -> Iterator[None]:
    """Ctrl+C before another file has the library's place says that nothing was changed, then ``replaced``."""
    before = _file_there(library)
    try:
        yield
    except click.Abort:  # at the question, which ended its line
        raise click.Abort from KeyboardInterrupt("Nothing was changed.")
    except KeyboardInterrupt:
        now = _file_there(library)
        raise KeyboardInterrupt("Nothing was changed." if now == before else replaced) from None


def _file_there(library: Path) -> int | None:
    return library.stat().st_ino if library.exists() else None


def _described(file: Path) -> str:
    """What can be told of a library file without opening it: it may be damaged, or in use."""
    found = file.stat()
    when = datetime.fromtimestamp(found.st_mtime).astimezone()
    return f"{file} ({found.st_size / 1e6:.1f} MB, last written {when:%Y-%m-%d %H:%M})"

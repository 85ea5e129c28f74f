"""The sample project that a new library starts with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import ConflictError, LibraryError, NotFoundError
from workbench.records import Progress, Project
from workbench.scope import Scope

if TYPE_CHECKING:
    from workbench.api import Workbench

SAMPLE_PROJECT = "Sample: retrieval over papers"
_DESCRIPTION = (
    "Eight short papers on how retrieval over papers works and what we measured. Delete it when you like."
)


def checkout() -> Path:
    """The folder that holds ``data`` and ``notebooks``."""
    return Path(__file__).resolve().parents[1]


def notebooks_folder() -> Path:
    """The notebooks of the checkout, or where there is none the current folder."""
    folder = checkout() / "notebooks"
    return folder if folder.is_dir() else Path.cwd()


def sample_files() -> list[Path]:
    """The sample papers; none where only the package is installed."""
    return sorted((checkout() / "data").glob("*.pdf"))


def add_sample_if_new(wb: Workbench, *, progress: Callable[[Progress], None] | None = None) -> None:
    """Adds the sample project, if it is installed, to a library in which this user has nothing yet."""
    if sample_files() and not wb.projects.list(status=None) and not wb.papers.list():
        add_sample(wb, progress=progress)


def add_sample(wb: Workbench, *, progress: Callable[[Progress], None] | None = None) -> None:
    """Makes sure that the sample project is there, with its papers: as many as a project may hold.

    Raises LibraryError where the sample files are not installed (they come with a checkout), or one cannot be
    added.
    """
    files = sample_files()
    if not files:
        raise LibraryError(f"The sample papers are missing from {checkout() / 'data'}: use a full checkout.")
    project = _sample_project(wb)
    held = {paper.sha256 for paper in wb.papers.list(Scope.project(project))}
    fitting = files[: wb.settings.project_max_papers or None]
    missing = [f for f in fitting if hashlib.sha256(f.read_bytes()).hexdigest() not in held]
    report = wb.papers.add_many(missing, project=project, progress=progress)
    if report.failed:
        first = report.failed[0]
        raise LibraryError(f"The sample paper {first.file} could not be added: {first.error}")


def _sample_project(wb: Workbench) -> Project:
    try:
        return wb.projects.get(SAMPLE_PROJECT)
    except NotFoundError:
        pass
    try:
        return wb.projects.create(SAMPLE_PROJECT, _DESCRIPTION)
    except ConflictError:  # another process was faster
        return wb.projects.get(SAMPLE_PROJECT)

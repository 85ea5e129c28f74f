"""The sample project that a new library starts with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import LibraryError, NotFoundError
from workbench.records import Progress

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
    return checkout() / "notebooks"


def add_sample_if_new(wb: Workbench, *, progress: Callable[[Progress], None] | None = None) -> None:
    """Adds the sample project to a library in which this user has nothing yet."""
    if not wb.projects.list(status=None) and not wb.papers.list():
        add_sample(wb, progress=progress)


def add_sample(wb: Workbench, *, progress: Callable[[Progress], None] | None = None) -> None:
    """Makes sure that the sample project is there, with its papers. Raises LibraryError where the sample
    files are not installed (they come with a checkout)."""
    files = sorted((checkout() / "data").glob("*.pdf"))
    if not files:
        raise LibraryError(f"The sample papers are missing from {checkout() / 'data'}: use a full checkout.")
    try:
        project = wb.projects.get(SAMPLE_PROJECT)
    except NotFoundError:
        project = wb.projects.create(SAMPLE_PROJECT, _DESCRIPTION)
    if project.paper_count < len(files):
        wb.papers.add_many(files, project=project, progress=progress)

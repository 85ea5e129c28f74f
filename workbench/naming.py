"""How calls name a paper or a project: as a record, by id, a project also by its name."""

from __future__ import annotations

from workbench.errors import InvalidInputError
from workbench.records import Note, Paper, Project

ProjectLike = Project | int | str
PaperLike = Paper | Note | int


def project_key(project: ProjectLike) -> int | str:
    """What storage finds a project by: its id or its name."""
    return project.id if isinstance(project, Project) else project


def paper_id_of(paper: PaperLike) -> int:
    """The id of a paper or note, or the id itself. Raises InvalidInputError for anything else."""
    given = paper.id if isinstance(paper, Paper | Note) else paper
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidInputError(
            f"{given!r} is neither a paper nor a paper's id: list your papers to see them."
        )
    return given if 0 < given < 2**63 else 0  # which no paper has; the library cannot even ask for more

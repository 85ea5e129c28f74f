"""The whole library as rows: every paper with its projects and its state, and the files that did not become
papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from widgets.wording import counted, one_line
from workbench import Scope

if TYPE_CHECKING:
    from workbench import Paper, Project, StageEnd, Workbench

LONGEST_TITLE = 300
LONGEST_AUTHORS = 200
LONGEST_REASON = 240


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a paper (``id`` above 0), or a file that did not become one. ``state`` is ready, indexing,
    ocr or failed; ``projects`` are ids; ``own`` tells whether the paper is in the user's own library, and
    not only shared by somebody else."""

    id: int
    title: str
    file: str
    authors: str
    year: int | None
    pages: str
    page_count: int
    kind: str
    state: str
    reason: str
    projects: tuple[int, ...]
    own: bool
    shared: bool
    added: datetime
    text: str = ""
    """What a filter looks through."""


@dataclass(frozen=True, slots=True)
class Library:
    """Everything that the tab can show, at one moment. ``projects`` are the user's, by id."""

    entries: tuple[Entry, ...] = ()
    projects: dict[int, Project] = field(default_factory=dict)

    def papers(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.id]

    def members(self, project: int) -> int:
        return sum(project in entry.projects for entry in self.entries)


def read_library(workbench: Workbench) -> Library:
    """Reads it all from the library, in a few short calls."""
    projects = {project.id: project for project in workbench.projects.list(status=None)}
    places: dict[int, list[int]] = {}
    for project, members in workbench.projects.members().items():
        for paper in members:
            places.setdefault(paper, []).append(project)
    loose = {paper.id for paper in workbench.papers.list(Scope.ORPHANS)}
    papers = workbench.papers.list(Scope.ALL)
    failures = workbench.papers.index_failures() if any(p.state != "ready" for p in papers) else {}
    names = {id: project.name for id, project in projects.items()}

    def entry(paper: Paper) -> Entry:
        inside = tuple(sorted(places.get(paper.id, ()), key=lambda p: names.get(p, "").casefold()))
        own = bool(inside) or paper.id in loose
        return _entry(paper, inside, names, own, failures.get(paper.id))

    ends = workbench.papers.stage_ends()
    newest = {end.file: end for end in ends if end.paper_id is None and end.state == "failed"}
    return Library((*map(entry, papers), *map(_failed, newest.values())), projects)


def _entry(
    paper: Paper, inside: tuple[int, ...], names: dict[int, str], own: bool, failure: str | None
) -> Entry:
    authors = one_line("; ".join(paper.authors), LONGEST_AUTHORS)
    title, file = one_line(paper.title, LONGEST_TITLE) or "Untitled", one_line(paper.file)
    known = [title, file, authors, str(paper.year or ""), paper.kind, *(names.get(p, "") for p in inside)]
    return Entry(
        id=paper.id,
        title=title,
        file=file,
        authors=authors,
        year=paper.year,
        pages=counted(paper.pages, paper.page_unit),
        page_count=paper.pages,
        kind=paper.kind,
        state="ready" if paper.state == "ready" else "indexing" if failure is None else "failed",
        reason=one_line(failure or "", LONGEST_REASON),
        projects=inside,
        own=own,
        shared=paper.shared,
        added=paper.added_at,
        text=" ".join(known).casefold(),
    )


def _failed(end: StageEnd) -> Entry:
    """The row of a file that did not become a paper."""
    reason, file = one_line(end.error or "", LONGEST_REASON), one_line(end.file)
    return Entry(
        id=0,
        title=file,
        file=end.file,
        authors="",
        year=None,
        pages="",
        page_count=0,
        kind="",
        state="ocr" if "OCR" in reason else "failed",
        reason=reason,
        projects=(),
        own=True,
        shared=False,
        added=end.finished_at,
        text=f"{file} {reason}".casefold(),
    )


_STATE_ORDER = {"failed": 0, "ocr": 1, "indexing": 2, "ready": 3}
_KEYS: dict[str, Callable[[Entry], Any]] = {
    "added": lambda e: (e.added, e.id),
    "title": lambda e: e.title.casefold(),
    "authors": lambda e: e.authors.casefold(),
    "year": lambda e: e.year,
    "pages": lambda e: e.page_count,
    "kind": lambda e: e.kind,
    "state": lambda e: _STATE_ORDER[e.state],
}
SORTS = tuple(_KEYS)


def chosen_entries(library: Library, *, query: str, show: str) -> list[Entry]:
    """The entries that hold every word of ``query``. ``show`` is "all", "loose" (in no project), "problems"
    (anything but ready) or a project's id as text."""
    words = query.casefold().split()
    return [e for e in library.entries if _is_shown(e, show) and all(word in e.text for word in words)]


def _is_shown(entry: Entry, show: str) -> bool:
    if show == "problems":
        return entry.state != "ready"
    if show == "loose":
        return bool(entry.id) and entry.own and not entry.projects
    return show == "all" or (show.isdecimal() and int(show) in entry.projects)


def sorted_entries(entries: Iterable[Entry], *, sort: str, descending: bool) -> list[Entry]:
    """In the order asked for, equal ones newest first; what is not known (a year, an author) comes last."""
    key = _KEYS[sort]
    found = sorted(entries, key=lambda e: (e.added, e.id), reverse=True)
    known = [e for e in found if key(e) not in (None, "")]
    return sorted(known, key=key, reverse=descending) + [e for e in found if key(e) in (None, "")]


def shown_row(entry: Entry, projects: dict[int, Project]) -> dict[str, Any]:
    """What the front end draws of an entry."""
    return {
        "id": entry.id,
        "title": entry.title,
        "file": one_line(entry.file),
        "authors": entry.authors,
        "year": str(entry.year or ""),
        "pages": entry.pages,
        "kind": entry.kind,
        "state": entry.state,
        "reason": entry.reason,
        "projects": [
            {"id": p, "name": one_line(projects[p].name, 200)} for p in entry.projects if p in projects
        ],
        "own": entry.own,
        "shared": entry.shared,
        "added": f"{entry.added:%-d %b %Y}",
    }

"""What one search sees: the papers its scope covers, and what to say of those it does not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.records import Paper, SilentPaper
from workbench.scope import Scope
from workbench.storage import papers, scopes, shares, summaries

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_SUMMARIES = 3  # where nothing else can be shown
REST = ", papers that were silent"  # behind the scope's label, where those that spoke are left out


@dataclass(frozen=True)
class View:
    """What one search sees: the scope's label and papers, and which of them it searches (None: the whole
    library, so that an index need not filter).

    ``shared`` are those that are not the user's own, ``blended`` those of them that the scope itself does
    not cover; ``papers`` has them too, ``in_scope`` does not count them. ``narrowed``: a part of the scope is
    left out.
    """

    label: str
    papers: dict[int, Paper]
    searched: list[int] | None
    left_out: int
    in_scope: int
    shared: frozenset[int]
    blended: frozenset[int]
    narrowed: bool = False

    def silent(self, heard: Collection[int]) -> list[SilentPaper]:
        """The papers of the scope that are not among ``heard``, by id."""
        return [
            SilentPaper(p.id, p.title)
            for p in sorted(self.papers.values(), key=lambda p: p.id)
            if p.id not in heard and p.id not in self.blended
        ]


def view_of(
    cursor: DuckDBPyConnection,
    user: str,
    scope: Scope,
    *,
    vectors_needed: bool,
    paper: int | None,
    blend: bool,
    without: Collection[int] = (),
) -> View:
    """The papers of the scope, or ``paper`` alone, and with ``blend`` those that others share beside them.
    ``without`` are left out of all: then the scope is the rest, and its label says so.

    Where ``vectors_needed`` and any paper has them, those without are left out.
    """
    if paper is None:
        ids = scopes.paper_ids(cursor, user, scope, without=without)
        label = scopes.label(cursor, user, scope) + (REST if without else "")
    else:
        title = papers.get(cursor, user, paper).title
        ids, label = tuple(i for i in (paper,) if i not in without), title
    own = papers.linked_ids(cursor, user)
    inside = frozenset(ids)
    guests: frozenset[int] = frozenset()
    if blend and paper is None:
        guests = frozenset(shares.shared_ids(cursor)) - own - inside - frozenset(without)
    visible = {p.id: p for p in papers.list_papers(cursor, user, [*ids, *sorted(guests)])}
    ready = [p.id for p in visible.values() if p.state == "ready"]
    if not vectors_needed or not ready:
        ready = list(visible)  # keywords need no vectors, so nothing has to be left out
    whole = bool(ready) and len(ready) == papers.count(cursor)
    return View(
        label,
        visible,
        searched=None if whole else ready,
        left_out=len(inside - set(ready)),
        in_scope=len(inside),
        shared=frozenset(visible) - own,
        blended=guests,
        narrowed=bool(without),
    )


def not_ready(count: int) -> list[str]:
    """How many papers are left out, in a line, where any are."""
    if not count:
        return []
    what = "1 paper is" if count == 1 else f"{count} papers are"
    return [
        f"{what} still indexing and left out: ask again when that is done. If it does not end, run"
        " `workbench reprocess --all`, or resume it in the dashboard's ledger."
    ]


def stored_summaries(cursor: DuckDBPyConnection, user: str, scope: Scope) -> tuple[str, ...]:
    """What is stored of the scope's projects: of one, or of all that are active where all notes are asked."""
    if scope == Scope.ORPHANS:
        return ()
    if scope.project_id is not None:
        found = [summaries.get(cursor, user, scope.project_id)]
    else:
        found = summaries.list_summaries(cursor, user, status="active")
    return tuple(f"{s.name}: {s.text}" for s in found if s.text)[:MOST_SUMMARIES]


def elsewhere(cursor: DuckDBPyConnection, user: str, scope: Scope, view: View) -> list[str]:
    """Where the user's other papers are, for a search of the orphans that finds nothing."""
    others = len(scopes.paper_ids(cursor, user, Scope.ALL, shared=False)) - view.in_scope
    if scope != Scope.ORPHANS or view.narrowed or not others:
        return []
    what = "1 paper of yours is" if others == 1 else f"{others} papers of yours are"
    return [f"{what} in projects, where this search did not look: choose a project, or all notes."]

"""The Library tab's state: every paper of the library in pages of rows, and what is done to chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.library.picking import NEW_PROJECT, fit
from widgets.library.rows import (
    SORTS,
    Entry,
    Library,
    chosen_entries,
    read_library,
    shown_row,
    sorted_entries,
)
from widgets.library.telling import of_batch, of_removal
from widgets.listing import ListingState
from widgets.panel import action
from widgets.papers.outcomes import reason
from widgets.papers.state import PapersState
from widgets.wording import counted, one_line
from workbench import ConflictError, InvalidInputError, NotFoundError, Scope

if TYPE_CHECKING:
    from workbench import Workbench


class LibraryState(ListingState):
    """``page`` has rows as ``shown_row`` makes them, and counts: of what matches the papers are ``matching``,
    of all rows ``papers``, and those that are not ready ``problems``.

    ``query``, ``show``, ``sort`` and ``descending`` say which rows and in what order. ``chosen`` are ids of
    papers, on whatever page. ``projects`` are targets, ``{"id", "name", "papers", "archived"}``; ``target``
    is one's id, 0 for none, −1 for a new one. ``selection`` tells of the chosen papers, ``{"count", "pages",
    "notes", "projects", "borrowed", "fits", "says", "over"}``. ``added`` counts what went into a project, so
    that the front end can clear its form. ``into`` says where new papers go.
    """

    show = Unicode("all").tag(sync=True)
    sort = Unicode("added").tag(sync=True)
    descending = Bool(True).tag(sync=True)
    chosen = List(Int()).tag(sync=True)
    projects = List(Dict()).tag(sync=True)
    limit = Int(0).tag(sync=True)
    target = Int(0).tag(sync=True)
    selection = Dict().tag(sync=True)
    added = Int(0).tag(sync=True)
    into = Unicode("").tag(sync=True)
    chats = Bool(False).tag(sync=True)

    looks = frozenset({"query", "show", "sort", "descending"})

    def __init__(
        self,
        workbench: Workbench,
        papers: PapersState,
        *,
        on_change: Callable[[], None],
        on_read: Callable[[int], None],
        on_chat: Callable[[int], None] | None = None,
        **options: Any,
    ) -> None:
        """``papers`` adds files. ``on_change`` is called when library or projects hold other papers,
        ``on_read`` with a paper to show, ``on_chat`` with one to talk about."""
        super().__init__(workbench, papers.work, on_change=on_change, on_read=on_read, **options)
        self._papers, self._on_chat = papers, on_chat
        self._library = Library()
        self.limit = workbench.settings.project_max_papers
        self.chats = on_chat is not None
        self._arrange()
        papers.observe(lambda change: self._batch_done(change["new"]["outcomes"]), "batch")

    # --- reading and showing -----------------------------------------------------------------

    def _read(self) -> None:
        """Read the library. A chosen paper that has gone is no longer chosen."""
        library = read_library(self._workbench)
        with self._arranging:
            self._library = library
            known = {entry.id for entry in library.papers()}
            self.chosen = [id for id in self.chosen if id in known]
            self.projects = [
                {
                    "id": project.id,
                    "name": one_line(project.name, 200),
                    "papers": project.paper_count,
                    "archived": project.status != "active",
                }
                for project in library.projects.values()
            ]
            if self.target > 0 and self.target not in library.projects:
                self.target = 0
            if self.show.isdecimal() and int(self.show) not in library.projects:
                self.show = "all"
            self._arrange()

    def shown(self) -> None:
        """The tab comes into view."""
        self.in_background("reading the library", self.refresh)

    def projects_changed(self, projects: Iterable[dict[str, Any]]) -> None:
        """Projects, ``{"id", "name", "papers"}``, are these now: follow where that is news."""
        known = {p["id"]: (p["name"], p["papers"]) for p in self.projects}
        if self.loaded and known != {p["id"]: (one_line(p["name"], 200), p["papers"]) for p in projects}:
            self.in_background("reading the library", self.refresh)

    @property
    def scope(self) -> Scope:
        """Where new papers go: the project shown, if one is."""
        return Scope.project(int(self.show)) if self.show.isdecimal() else Scope.ORPHANS

    def _arrange(self) -> None:
        """Find, sort and cut what is to be shown, and tell of the choice."""
        with self._arranging:
            found = chosen_entries(self._library, query=self.query, show=self.show)
            ordered = sorted_entries(found, sort=self.sort, descending=self.descending)
            self.page = {
                **self._cut(ordered, lambda entry: shown_row(entry, self._library.projects)),
                "matching": sum(entry.id > 0 for entry in ordered),
                "papers": len(self._library.papers()),
                "problems": sum(entry.state != "ready" for entry in self._library.entries),
            }
            project = self._library.projects.get(self.scope.project_id or 0)
            self.into = one_line(project.name, 60) if project else ""
            self._tell_selection()

    def _tell_selection(self) -> None:
        chosen = self._entries(self.chosen)
        projects = sorted({p for entry in chosen for p in entry.projects})
        fits = fit(self._library, self.chosen, target=self.target, limit=self.limit)
        self.selection = {
            "count": len(chosen),
            "pages": sum(entry.page_count for entry in chosen),
            "notes": sum(entry.kind == "note" for entry in chosen),
            "projects": [
                one_line(self._library.projects[p].name, 60) for p in projects if p in self._library.projects
            ],
            "borrowed": sum(not entry.own for entry in chosen),
            "fits": fits.fits,
            "says": fits.says,
            "over": fits.over,
        }

    def _entries(self, ids: Iterable[int]) -> list[Entry]:
        wanted = set(ids)
        return [entry for entry in self._library.papers() if entry.id in wanted]

    @action
    def look(self, *, start: int = 0, **how: str | bool) -> None:
        """As in every listing. Raises InvalidInputError for what the library cannot be sorted by."""
        if how.get("sort", self.sort) not in SORTS:
            raise InvalidInputError("The library cannot be sorted by that.")
        super().look(start=start, **how)

    def _failed_files(self) -> list[str]:
        return [entry.file for entry in self._library.entries if not entry.id]

    # --- choosing ----------------------------------------------------------------------------

    @action
    def choose(self, *, ids: Sequence[int], on: bool) -> None:
        """Tick papers, or take their ticks away. Files that are no papers cannot be ticked."""
        with self._arranging:
            known = {entry.id for entry in self._library.papers()}
            kept = dict.fromkeys(id for id in self.chosen if on or id not in set(ids))
            more = [id for id in ids if on and id in known]
            self.chosen = list(dict.fromkeys([*kept, *more]))
            self._tell_selection()

    @action
    def choose_matching(self) -> None:
        """Tick every paper that the filter leaves, on all pages."""
        found = chosen_entries(self._library, query=self.query, show=self.show)
        self.choose(ids=[entry.id for entry in found], on=True)

    @action
    def choose_none(self) -> None:
        with self._arranging:
            self.chosen = []
            self._tell_selection()

    @action
    def choose_target(self, *, id: int) -> None:
        """Say which project the chosen papers are for, so that its limit is told at once."""
        with self._arranging:
            self.target = id if id == NEW_PROJECT or id in self._library.projects else 0
            self._tell_selection()

    # --- what is done to chosen papers -------------------------------------------------------

    @action
    def add_chosen(self, *, name: str = "") -> None:
        """Put the chosen papers into the target, all of them or none; ``name`` is a new project's."""
        ids, target = list(self.chosen), self.target
        if not ids or not target:
            return
        if target == NEW_PROJECT and not name.strip():
            raise InvalidInputError("Give the new project a name.")
        self.in_background("adding to the project", lambda: self._add(ids, target, name.strip()))

    def _add(self, ids: list[int], target: int, name: str) -> None:
        fits = fit(self._library, ids, target=target, limit=self.limit)
        if not fits.fits:
            raise ConflictError(fits.says)
        made = self._workbench.projects.create(name) if target == NEW_PROJECT else None
        try:
            project = self._workbench.projects.add(made.id if made else target, *ids)
        except (ConflictError, NotFoundError) as error:
            if made is not None:
                self._workbench.projects.delete(made)
            self._followed(ids)
            raise ConflictError(self._not_added(error, ids)) from error
        self.chosen, self.target = [], 0
        self.added += 1
        self._changed()
        self.told = f"“{one_line(project.name, 60)}” holds {counted(project.paper_count, 'paper')} now."

    def _followed(self, ids: list[int]) -> None:
        """What the library holds has changed under the person's hands: read it, and keep the choice."""
        self.refresh()
        self.chosen = [entry.id for entry in self._entries(ids)]
        self._tell_selection()
        self._on_change()

    def _not_added(self, error: Exception, ids: list[int]) -> str:
        gone = len(ids) - len(self.chosen)
        if isinstance(error, ConflictError) or not gone:
            return f"Nothing was added. {reason(str(error))}"
        return (
            f"Nothing was added: {counted(gone, 'chosen paper')} {'is' if gone == 1 else 'are'} no longer in "
            "your library. Add again for the rest."
        )

    @action
    def take_out(self, *, id: int, project: int) -> None:
        """Take one paper out of one project; it stays in the library."""

        def work() -> None:
            try:
                self._workbench.projects.remove(project, id)
            finally:
                self._changed()
            self.told = "The paper is out of that project. It stays in the library."

        self.in_background("taking the paper out", work)

    @action
    def remove(self, *, ids: Sequence[int]) -> None:
        """Take papers out of the library and every project. Those that others share only stay theirs."""
        wanted = [entry for entry in self._entries(ids) if entry.own]

        def work() -> None:
            gone: list[str] = []
            try:
                with self.work.turn():
                    for nth, entry in enumerate(wanted, start=1):
                        if self.work.cancelled:
                            break
                        percent = 100 * (nth - 1) // len(wanted)
                        self.work.tell(entry.title, "removing", percent, nth=nth, files=len(wanted))
                        with suppress(NotFoundError):  # another window was faster: it is gone, as asked
                            self._workbench.papers.remove(entry.id)
                        gone.append(entry.title)
            finally:
                self.choose(ids=[entry.id for entry in wanted[: len(gone)]], on=False)
                self._changed()
            self.told = of_removal(gone, left=len(wanted) - len(gone))

        self.in_background("removing from the library", work)

    @action
    def reprocess(self, *, ids: Sequence[int]) -> None:
        """Read papers again from their stored files; until each is complete the old index answers."""
        self._process_again([(entry.id, entry.title) for entry in self._entries(ids)])

    @action
    def add_path(self, *, path: str) -> None:
        """Add the file, or every file of the folder, at ``path``."""
        self.told = ""
        self._papers.add_from(path, self.scope)

    @action
    def chat_about(self, *, id: int) -> None:
        if self._on_chat is not None:
            self._on_chat(id)

    def _batch_done(self, outcomes: Sequence[dict[str, str]]) -> None:
        self.told = of_batch(outcomes)

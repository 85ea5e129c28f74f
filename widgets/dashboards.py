"""Panels arranged as dashboards. A notebook opens a workbench, shows a dashboard, and stops."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from logging.handlers import RotatingFileHandler
from typing import Any, NamedTuple

import ipywidgets
from platformdirs import user_log_path

from widgets.chat.view import Chat
from widgets.conversations.view import Conversations
from widgets.header.view import Header
from widgets.ledger.view import Ledger
from widgets.library.view import LibraryTable, library_tab
from widgets.opening.view import Opening
from widgets.panel import Run, in_thread
from widgets.papers.view import PaperList, papers_panel
from widgets.places import ALL
from widgets.projects.view import Projects
from widgets.tuning.view import Tuning
from widgets.uploads.view import Uploads
from widgets.viewer.view import Viewer
from widgets.wording import ALL_NAME, ORPHANS_NAME
from workbench import Conversation, ConversationInfo, Scope, Workbench


class Tab(NamedTuple):
    """One view of the dashboard: ``name`` on its tab, the widget between sidebar and page, and what to do
    each time it is shown."""

    name: str
    widget: ipywidgets.DOMWidget
    shown: Callable[[], None] = lambda: None


def dashboard(opener: Callable[[], Workbench], *, run: Run = in_thread) -> ipywidgets.Box:
    """The research workbench as one widget.

    ``opener`` opens the library, as ``workbench.open`` does. It runs beside the kernel's main thread, so
    that the page shows at once; where it fails the page says why and offers to try again.
    """
    log_to_file()
    page = ipywidgets.Box()
    page.add_class("wb-page")

    def show(opened: Workbench) -> None:
        opened.papers.go_on_moving()
        page.children = [Dashboard(opened, run=run).box]
        opening.close()

    opening = Opening(opener, on_open=show, run=run)
    page.children = [opening]
    opening.start()
    return page


class Dashboard:
    """The panels of one open workbench and what they tell each other. ``box`` is the widget to show."""

    def __init__(self, workbench: Workbench, *, run: Run = in_thread) -> None:
        self.projects = Projects(
            workbench, on_delete=self._project_gone, on_choose=lambda id: self.chat.go_to(id), run=run
        )
        self.papers = PaperList(
            workbench,
            on_change=self._library_changed,
            on_read=self._read,
            on_ask=self._chat_about,
            run=run,
        )
        self.uploads = self._uploads(workbench, lambda: self.papers.scope, run)
        self.library = LibraryTable(
            workbench,
            self.papers,
            on_change=self._rearranged,
            on_read=self._read,
            on_chat=self._chat_about,
            run=run,
        )
        self.ledger = Ledger(
            workbench, self.papers.work, on_change=self._rearranged, on_read=self._read, run=run
        )
        self.library_uploads = self._uploads(workbench, lambda: self.library.scope, run)
        self.chat = Chat(
            workbench,
            on_cite=self._cite,
            on_scope=self._scope_chosen,
            on_change=lambda: self.conversations.look(),
            on_missing=self._project_missing,
            run=run,
        )
        self.conversations = Conversations(
            workbench,
            on_open=self._open,
            on_new=self._begin,
            on_leaving=self.chat.end,
            on_rename=self.chat.open_conversation,
            on_clear=self.chat.cleared,
            on_delete=self.chat.gone,
            run=run,
        )
        self.viewer = Viewer(workbench, run=run)
        self.tuning = Tuning(workbench, on_open=self._open_passage, run=run)
        self._cited_turn = -1
        self.tabs = [tab._replace(widget=framed(tab.widget)) for tab in self._tabs()]
        self.header = Header(
            workbench, views=[tab.name for tab in self.tabs], on_look=self._look_again, run=run
        )
        self.box = self._arranged()
        self.projects.observe(lambda _: self._project_chosen(), "chosen")
        self.projects.observe(lambda _: self.chat.offer_scopes(self.projects.projects), "projects")
        self.projects.observe(lambda _: self._projects_listed(), ["projects", "archived"])
        self.ledger.observe(lambda change: self._checked(change["new"]), "health")
        self.header.observe(lambda _: setattr(self.chat, "known", self.header.told), "told")
        self.papers.observe(lambda _: self._papers_listed(), "papers")
        self.chat.observe(lambda _: self._thread_shown(), "thread")
        self.chat.observe(lambda change: setattr(self.conversations, "shown", change["new"]), "conversation")
        self.chat.observe(lambda change: self._answers_shown(change["new"]), "turns")
        self.chat.observe(lambda change: setattr(self.conversations, "answering", change["new"]), "answering")
        self.viewer.observe(lambda _: self._citation_stepped(), "citation")
        self.viewer.observe(lambda change: self._fold(change["new"] > 0), "paper")
        self.projects.in_background("reading the library", self._fill)

    def _tabs(self) -> list[Tab]:
        """The views in the order of their tabs; the first is shown at the start."""
        library = library_tab(self.library, self.library_uploads)
        return [
            Tab("Chat", self.chat),
            Tab("Library", library, self.library.shown),
            Tab("Tuning", self.tuning, self._tune),
            Tab("Ledger", self.ledger, self.ledger.shown),
        ]

    def _uploads(self, workbench: Workbench, scope: Callable[[], Scope], run: Run) -> Uploads:
        """A place to drop files, which go to the scope that it stands for."""
        most = workbench.settings.max_file_mb * 1_000_000
        return Uploads(self.papers.add_uploads, max_bytes=most, scope=scope, run=run)

    def _arranged(self) -> ipywidgets.Box:
        """Sidebar, the shown tab's widget, and the page. All tabs stay drawn, so that what is half typed or
        scrolled in one is there on return; the style sheet hides all but the shown one."""
        lists = ipywidgets.VBox([self.projects, papers_panel(self.papers, self.uploads)])
        lists.add_class("wb-lists")
        side = ipywidgets.VBox([lists, self.conversations])
        side.add_class("wb").add_class("wb-side")
        views = ipywidgets.Box([tab.widget.add_class("wb-tab") for tab in self.tabs])
        views.add_class("wb-views")
        columns = ipywidgets.GridBox([side, views, self.viewer])
        columns.add_class("wb-columns")
        app = ipywidgets.VBox([self.header, columns])
        app.add_class("wb").add_class("wb-app")
        self.header.observe(lambda change: self._show_tab(change["new"]), "view")
        self._mark_tab(app, self.header.view)
        return app

    def _mark_tab(self, app: ipywidgets.Box, shown: str) -> None:
        for tab in self.tabs:
            (tab.widget.add_class if tab.name == shown else tab.widget.remove_class)("wb-shown")
        # Beside the chat the page has its place even when empty; the other tabs are wide until one is opened.
        (app.add_class if shown == self.tabs[0].name else app.remove_class)("wb-chatting")

    def _show_tab(self, name: str) -> None:
        self._mark_tab(self.box, name)
        next(tab for tab in self.tabs if tab.name == name).shown()

    def _fill(self) -> None:
        self.projects.refresh()
        self.chat.offer_scopes(self.projects.projects)
        self._project_chosen()
        self._refresh_header()
        self.conversations.look()

    def _project_chosen(self) -> None:
        """Papers, thread and tuning follow the project."""
        self.chat.show(self.projects.chosen)
        self.papers.in_background("listing the papers", self._list_papers)
        if self.header.view == "Tuning":
            self._tune()

    def _tune(self) -> None:
        """The tuning panel shows the place that is chosen now, with what was asked there since."""
        chosen = self.projects.chosen
        name = self.projects.name or (ALL_NAME if chosen == ALL else ORPHANS_NAME)
        self.tuning.show(chosen, name)

    def _scope_chosen(self, scope: int) -> None:
        """A scope that was chosen in the thread is the one that the whole dashboard shows."""
        self.projects.follow(scope)

    def _thread_shown(self) -> None:
        """The viewer shows nothing of another thread; beside a paper's chat it shows that paper."""
        self._cited_turn = -1
        if not self.chat.paper:
            self.viewer.clear()
        elif self.viewer.paper != self.chat.paper:
            self.viewer.show_paper(self.chat.paper)

    def _open(self, conversation: Conversation, info: ConversationInfo) -> None:
        self._show_chat()
        self.chat.open_conversation(conversation, info)

    def _begin(self) -> None:
        self._show_chat()
        self.chat.act({"do": "new"})

    def _chat_about(self, paper: int) -> None:
        self._show_chat()
        self.chat.open_paper(paper)

    def _show_chat(self) -> None:
        self.header.view = self.tabs[0].name

    def _project_gone(self, project: int) -> None:
        self.chat.forget(project)
        self.papers.forget(Scope.project(project))
        self.conversations.look()

    def _project_missing(self) -> None:
        """Another window has deleted a project."""
        self.projects.in_background("reading the projects", self.projects.refresh)

    def _list_papers(self) -> None:
        self.papers.show(self.projects.scope)
        self._papers_listed()

    def _papers_listed(self) -> None:
        self.chat.suggest(self._titles())

    def _library_changed(self) -> None:
        """Counts follow; a fault in showing them must not end the work that changed the library."""
        with self.projects.shown_errors("reading the projects"):
            self.projects.refresh()
        if self.header.view == "Library":  # a tab reads everything again when it comes into view
            with self.library.shown_errors("reading the library"):
                self.library.library_changed()
        if self.header.view == "Ledger":
            with self.ledger.shown_errors("reading the ledger"):
                self.ledger.library_changed()
        self._refresh_header()

    def _rearranged(self) -> None:
        """A tab has changed what projects hold or what there is: the sidebar follows."""
        self.projects.refresh()
        self._list_papers_again()
        self._refresh_header()

    def _look_again(self) -> None:
        """Panels follow what another window or program has done."""
        self.chat.in_background("reading the conversation", self.chat.look)
        self.conversations.look()
        self.projects.in_background("reading the library", self._library_changed)
        self.papers.in_background("listing the papers", self.papers.refresh)

    def _projects_listed(self) -> None:
        if self.header.view == "Library":
            self.library.projects_changed([*self.projects.projects, *self.projects.archived])

    def _checked(self, health: dict[str, Any]) -> None:
        """The header must not call healthy what the check does not."""
        if health["state"] != "checking" and self.header.found != len(health["findings"]):
            self.header.found = len(health["findings"])
            self._refresh_header()

    def _list_papers_again(self) -> None:
        with self.papers.shown_errors("listing the papers"):
            self.papers.refresh()

    def _refresh_header(self) -> None:
        self.header.in_background("reading the library's state", self.header.refresh)

    def _read(self, paper: int) -> None:
        self._cited_turn = -1
        self.chat.active = {}
        self.viewer.show_paper(paper)

    def _cite(self, citations: Sequence[dict[str, Any]], k: int, turn: int) -> None:
        self._cited_turn = turn if self.chat.active else -1
        self.viewer.show_citation(citations, k)

    def _open_passage(self, passages: Sequence[dict[str, Any]], k: int) -> None:
        """Show a replayed passage; no marker of the chat belongs to it."""
        self._cited_turn = -1
        self.chat.active = {}
        self.viewer.show_citation(passages, k)

    def _answers_shown(self, turns: Sequence[dict[str, Any]]) -> None:
        """The page that a reader of the newest answer is likely to open first is made ready."""
        if turns and turns[-1].get("citations"):
            self.viewer.prepare(turns[-1]["citations"])

    def _citation_stepped(self) -> None:
        """The marker of the citation that the viewer shows is the active one in the thread."""
        if self._cited_turn >= 0 and self.viewer.citation >= 0:
            self.chat.active = {"turn": self._cited_turn, "k": self.viewer.citation}
        elif self.viewer.citation < 0:
            self.chat.active = {}

    def _fold(self, page_open: bool) -> None:
        """On a narrow screen the open page takes the place of the projects; the style sheet decides."""
        if page_open:
            self.box.add_class("wb-page-open")
        else:
            self.box.remove_class("wb-page-open")

    def _titles(self) -> list[str]:
        return [paper["title"] for paper in self.papers.papers]


def framed(widget: ipywidgets.DOMWidget) -> ipywidgets.Box:
    """A box around a tab's widget: a leaf's own view does not hear of classes that change later."""
    return ipywidgets.Box([widget])


def log_to_file() -> None:
    """Send what panels log to ``dashboard.log`` in the user's log folder, once per kernel."""
    log = logging.getLogger("widgets")
    if any(isinstance(handler, RotatingFileHandler) for handler in log.handlers):
        return
    folder = user_log_path("research-workbench", ensure_exists=True)
    handler = RotatingFileHandler(
        folder / "dashboard.log", maxBytes=1 << 20, backupCount=2, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)

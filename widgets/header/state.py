"""The header's state: which view is shown, and the library's health in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from traitlets import List, Unicode

from widgets.panel import PanelState, action
from widgets.wording import counted, one_line

if TYPE_CHECKING:
    from workbench import Workbench


class HeaderState(PanelState):
    """``views`` are the dashboard's tabs by name, ``view`` the one shown.

    ``facts`` are short texts (chat model, papers, health); ``health`` is "good", "warning" or "".
    """

    views = List(Unicode()).tag(sync=True)
    view = Unicode("").tag(sync=True)
    facts = List(Unicode()).tag(sync=True)
    health = Unicode("").tag(sync=True)
    notes = List(Unicode()).tag(sync=True)

    def __init__(self, workbench: Workbench, *, views: list[str], **options: Any) -> None:
        super().__init__(views=views, view=views[0], **options)
        self._workbench = workbench

    def refresh(self) -> None:
        """Read the library's state again."""
        status = self._workbench.status()
        self.error = ""
        self.notes = [one_line(w) for w in status["warnings"]]
        self.health = "warning" if self.notes else "good"
        model = status["chat_model"]
        self.facts = [
            "No chat model: answers in the papers' words" if model == "extractive" else str(model),
            counted(status["papers"], "paper"),
            counted(len(self.notes), "notice") if self.notes else "all healthy",
        ]

    @action
    def choose(self, *, view: str) -> None:
        if view in self.views:
            self.view = view

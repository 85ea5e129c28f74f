"""The header's state: which view is shown, and the library's health in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets import Int, List, Unicode

from widgets.panel import PanelState, action
from widgets.wording import counted, one_line

if TYPE_CHECKING:
    from workbench import Workbench

NO_MODEL = "No chat model"
"""How the library's notice begins where no chat model is at hand: a state to work in, not a problem."""

SET_SO = "Answers are the papers' own sentences, as WORKBENCH_CHAT is set. Set it to auto to use Ollama."


class HeaderState(PanelState):
    """``views`` are the dashboard's tabs by name, ``view`` the one shown.

    ``facts`` are short texts (chat model, papers, health); ``health`` is "good", "warning" or "". ``notes``
    are problems; ``explained`` says what answers without a chat model are and how to have one, empty where
    there is a model. ``beats`` counts the page's questions whether anybody is here: one that stays without
    its count is how the page learns that this program has ended.
    """

    views = List(Unicode()).tag(sync=True)
    view = Unicode("").tag(sync=True)
    facts = List(Unicode()).tag(sync=True)
    health = Unicode("").tag(sync=True)
    notes = List(Unicode()).tag(sync=True)
    explained = Unicode("").tag(sync=True)
    told = List(Unicode()).tag(sync=True)
    beats = Int(0).tag(sync=True)

    error_stays = True  # until the library could be read: the page's next beat must not wipe it out

    def __init__(
        self, workbench: Workbench, *, views: list[str], on_look: Callable[[], None], **options: Any
    ) -> None:
        """``on_look`` is called when the library has changed, and when a person comes back to the page:
        another program may have worked on the library meanwhile."""
        super().__init__(views=views, view=views[0], **options)
        self._workbench, self._on_look = workbench, on_look
        self._seen = _written(workbench.settings.library)
        self.found = 0
        """What the last check of the library found, as the Ledger tab counts it."""

    def refresh(self) -> None:
        """Read the library's state again."""
        status = self._workbench.status()
        self.error = ""
        told = [one_line(w) for w in status["warnings"]]
        without = status["chat_model"] == "extractive"
        calm = [note for note in told if without and note.startswith(NO_MODEL)]
        found = f"The check of the library found {counted(self.found, 'thing')}: see the Ledger tab."
        self.notes = [*(note for note in told if note not in calm), *([found] if self.found else [])]
        self.health = "warning" if self.notes else "good"
        self.explained = (calm or [SET_SO])[0] if without else ""
        self.told = told
        self.facts = [
            "No chat model: answers in the papers' words" if without else str(status["chat_model"]),
            counted(status["papers"], "paper"),
            counted(len(self.notes), "notice") if self.notes else "all healthy",
        ]

    @action
    def beat(self) -> None:
        """The page asks, now and then, whether anybody is here, and what is new."""
        self.beats += 1
        written = _written(self._workbench.settings.library)
        if written != self._seen:
            self._seen = written
            self._on_look()

    @action
    def look(self) -> None:
        self._on_look()

    @action
    def choose(self, *, view: str) -> None:
        if view in self.views:
            self.view = view


def _written(library: Path) -> list[tuple[int, int]]:
    """What changes with the library's file and its log: cheap to ask, where reading the library is not."""
    states = []
    for path in (library, library.with_name(library.name + ".wal")):
        try:
            known = path.stat()
        except OSError:
            continue
        states.append((known.st_mtime_ns, known.st_size))
    return states

"""The path line's state: the file or folder named there goes to the panel that adds it."""

from __future__ import annotations

from typing import Any

from traitlets import Int, Unicode

from widgets.panel import PanelState, action


class PathState(PanelState):
    """``prompt`` stands in the empty field; ``taken`` counts the paths that were accepted."""

    prompt = Unicode("").tag(sync=True)
    taken = Int(0).tag(sync=True)

    def __init__(self, papers: PanelState, **options: Any) -> None:
        super().__init__(**options)
        self._papers = papers

    @action
    def add_path(self, *, path: str) -> None:
        """Have the panel add what is there; it shows what is wrong with a path that it refuses."""
        self._papers.act({"do": "add_path", "with": {"path": path}})
        if not self._papers.error:
            self.taken += 1

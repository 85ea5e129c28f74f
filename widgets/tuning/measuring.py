"""The part of the tuning panel's state that measures: labelled questions, the work under way, figures."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from traitlets import Dict, List

from widgets.panel import PanelState, action
from widgets.places import scope_of
from widgets.tuning.labels import listed
from widgets.tuning.measures import TRIED, earlier, grid, shown
from workbench import InvalidInputError, Scope

if TYPE_CHECKING:
    from workbench import Progress, Workbench


class MeasuringState(PanelState):
    """``labelled`` are the labelled questions of the place, ``measured`` what was measured on such before.

    ``job`` is empty or the measurement under way, ``{"where", "done", "of", "stopping"}``; ``figures`` is
    the one that is shown, as ``measures.shown`` has it.
    """

    labelled = List(Dict()).tag(sync=True)
    measured = List(Dict()).tag(sync=True)
    job = Dict().tag(sync=True)
    figures = Dict().tag(sync=True)

    numbers: Any
    place: Any
    name: Any
    told: Any
    _workbench: Workbench

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._cancelled = threading.Event()
        # Held while what was read of a place is shown, and while the place changes.
        self._applying = threading.RLock()

    @property
    def scope(self) -> Scope:
        """The scope of the place."""
        return scope_of(self.place)

    def leave_figures(self) -> None:
        """Show nothing of a place that is left."""
        self.labelled, self.measured, self.figures = [], [], {}

    def read_measured(self, scope: Scope) -> None:
        """Read labelled questions and earlier measurements again; the first time show the latest of these."""
        labelled = listed(self._workbench.questions.list(scope))
        measured = earlier(self._workbench, scope)
        latest = measured[0]["id"] if measured and not self.figures else 0
        figures = shown(self._workbench.evaluations.figures(latest)) if latest else {}
        with self._applying:
            if scope == self.scope:
                self.labelled, self.measured = labelled, measured
                self.figures = self.figures or figures

    @action
    def measure(self, *, vary: str = "") -> None:
        """Measure the controls' numbers, and other values of the one that ``vary`` names."""
        if self.job:
            raise InvalidInputError("A measurement is under way: cancel it first, or wait.")
        if not any(question["pages"] for question in self.labelled):
            raise InvalidInputError("There is no labelled question here yet: mark passages as right first.")
        if vary and vary not in TRIED:
            raise InvalidInputError(f"{vary!r} is no number of a search.")
        self._cancelled.clear()
        self.told = ""
        self.job = {"where": self.name, "done": 0, "of": len(self.labelled), "stopping": False}
        scope, tried = self.scope, grid(self.numbers, vary)
        self.in_background("measuring", lambda: self._measure(scope, tried))

    @action
    def cancel_measuring(self) -> None:
        """Stop after the question in hand; nothing is kept."""
        if self.job:
            self._cancelled.set()
            self.job = {**self.job, "stopping": True}

    @action
    def show_measured(self, *, id: int) -> None:
        """Show the figures of an earlier measurement."""
        if all(entry["id"] != id for entry in self.measured):
            return
        scope = self.scope

        def read() -> None:
            figures = shown(self._workbench.evaluations.figures(id))
            if scope == self.scope:
                self.figures = figures

        self.in_background("reading the figures", read)

    def _measure(self, scope: Scope, tried: dict[str, list[Any]]) -> None:
        try:
            frame = self._workbench.evaluate(
                scope=scope, grid=tried, progress=self._progress, cancelled=self._cancelled.is_set
            )
            if self._cancelled.is_set():
                if frame.attrs["evaluation"] is not None:
                    self._workbench.evaluations.delete(frame.attrs["evaluation"])
                told, figures = "Cancelled. Nothing of it is kept.", None
            else:
                told, figures = "", shown(frame)
            if scope == self.scope:
                self.told = told
                self.figures = figures or self.figures
                self.measured = earlier(self._workbench, scope)
        finally:
            self.job = {}

    def _progress(self, step: Progress) -> None:
        stopping = self._cancelled.is_set()
        self.job = {**self.job, "done": step.done, "of": step.total, "stopping": stopping}

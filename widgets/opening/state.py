"""What the page shows until the library is open: that it is being opened, or why it cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traitlets import Bool

from widgets.panel import PanelState, action

if TYPE_CHECKING:
    from workbench import Workbench


class OpeningState(PanelState):
    """``busy`` while the library is being opened; ``error`` says why it could not be."""

    busy = Bool(False).tag(sync=True)

    def __init__(
        self,
        opener: Callable[[], Workbench],
        *,
        on_open: Callable[[Workbench], None],
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._opener = opener
        self._on_open = on_open

    @action
    def start(self) -> None:
        """Open the library and hand it on."""
        if self.busy:
            return
        self.busy = True
        self.in_background("opening the library", self._attempt)

    def _attempt(self) -> None:
        try:
            self._on_open(self._opener())
        finally:
            self.busy = False

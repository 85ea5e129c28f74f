"""What the page shows until the library is open: that it is being opened, or why it cannot be."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traitlets import Bool

from widgets.panel import PanelState, action

if TYPE_CHECKING:
    from workbench import Workbench


class OpeningState(PanelState):
    """``busy`` while the library is being opened; ``error`` says why it could not be."""

    busy = Bool(False).tag(sync=True)

    error_stays = True  # a page that greets after the first try has failed must still learn why

    def __init__(
        self,
        opener: Callable[[], Workbench],
        *,
        on_open: Callable[[Workbench], None],
        **options: Any,
    ) -> None:
        """``on_open`` gets the open workbench once the page is there to show it."""
        super().__init__(**options)
        self._opener = opener
        self._on_open: Callable[[Workbench], None] | None = on_open
        self._opened: Workbench | None = None
        self._greeted = False
        self._handing_on = threading.Lock()

    @action
    def start(self) -> None:
        """Open the library; it is handed on when the page has greeted."""
        if not self.busy:
            self.busy, self.error = True, ""
            self.in_background("opening the library", self._attempt)

    @action
    def greet(self) -> None:
        """The page is there. What is made before that, a page still loading may never hear of."""
        self._greeted = True
        self._hand_on()

    def _attempt(self) -> None:
        try:
            self._opened = self._opener()
        finally:
            self.busy = False
        self._hand_on()

    def _hand_on(self) -> None:
        with self._handing_on:
            if self._greeted and self._opened is not None and self._on_open is not None:
                hand_on, self._on_open = self._on_open, None
                hand_on(self._opened)

"""The base of every leaf: a panel's state shown by one ES module and one style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget


class Leaf(anywidget.AnyWidget):
    """The face of a panel. A leaf's class is ``class Chat(ChatState, Leaf)`` with ``_esm`` and ``_css``."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._on_message)

    def resend(self) -> None:
        """Send the front end all it shows again; what changed while its page was loading never arrived."""
        self.send_state([name for name in self.keys if not name.startswith("_")])

    def act(self, message: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> None:
        """Carry out one message of the front end; every panel's state has its own."""
        raise TypeError("A leaf needs a panel's state before it among its bases.")

    def _on_message(self, _: object, message: dict[str, Any], buffers: Sequence[memoryview]) -> None:
        if message.get("do") == "resend":
            self.resend()
        else:
            self.act(message, buffers)

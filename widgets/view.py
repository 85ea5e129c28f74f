"""The base of every leaf: a panel's state shown by one ES module and one style sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import anywidget

# Signs that turn the reading direction, and with it what is shown beside them. One stands in for one, so that
# offsets into a text hold.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Leaf(anywidget.AnyWidget):
    """The face of a panel. A leaf's class is ``class Chat(ChatState, Leaf)`` with ``_esm`` and ``_css``."""

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._on_message)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """What goes to the front end: the state, with no sign in any text that turns the text around it."""
        state = super().get_state(key=key, drop_defaults=drop_defaults)
        return {name: value if name.startswith("_") else _unturned(value) for name, value in state.items()}

    def resend(self) -> None:
        """Send the front end all it shows again; what changed while its page was loading never arrived."""
        self.send_state([name for name in self.keys if not name.startswith("_")])

    def act(self, message: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> None:
        """Carry out one message of the front end; every panel's state has its own."""
        raise TypeError("A leaf needs a panel's state before it among its bases.")

    def _on_message(self, _: object, message: dict[str, Any], buffers: Sequence[memoryview]) -> None:
        if isinstance(message, dict) and message.get("do") == "resend":
            self.resend()
        else:
            self.act(message, buffers)


def _unturned(value: Any) -> Any:
    if isinstance(value, str):
        return _TURNING.sub("\ufffd", value)
    if isinstance(value, (list, tuple)):
        return [_unturned(item) for item in value]
    if isinstance(value, dict):
        return {name: _unturned(item) for name, item in value.items()}
    return value

"""The chat panel's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.chat.state import ChatState
from widgets.view import Leaf


class Chat(ChatState, Leaf):
    """Questions, streamed and cited answers, and the composer."""

    _esm = module("menu.js", "saving.js", "chat/why.js", "chat/composer.js", "chat/chat.js")
    _css = style("chat/chat.css")

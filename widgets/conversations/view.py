"""The conversations panel's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.conversations.state import ConversationsState
from widgets.view import Leaf


class Conversations(ConversationsState, Leaf):
    """What was asked before, to find, open, rename, export, clear and delete."""

    _esm = module("menu.js", "saving.js", "conversations/conversations.js")
    _css = style("conversations/conversations.css")

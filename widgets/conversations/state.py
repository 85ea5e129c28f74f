"""The conversations panel's state: what was asked before, newest first, to find, open and look after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List, Unicode

from widgets.conversations.exports import ExportsState
from widgets.panel import action
from widgets.wording import one_line, scope_name
from workbench import InvalidInputError, NotFoundError

if TYPE_CHECKING:
    from workbench import Conversation, ConversationInfo, Workbench

FIRST = 20
"""Rows at first, and that many more each time a person asks for more."""


class ConversationsState(ExportsState):
    """``conversations`` are rows, ``{"id", "title", "kind", "scope", "used", "messages"}``, the one used last
    first; ``more`` is how many others there are. ``used`` is a time in ISO 8601.

    ``query`` are the words that all rows hold; ``shown`` is the id of the conversation shown, 0 for none,
    ``answering`` of the one in which an answer streams.
    ``told`` is one line about what was done last.
    """

    conversations = List(Dict()).tag(sync=True)
    more = Int(0).tag(sync=True)
    query = Unicode("").tag(sync=True)
    shown = Int(0).tag(sync=True)
    answering = Int(0).tag(sync=True)
    told = Unicode("").tag(sync=True)
    loaded = Bool(False).tag(sync=True)

    def __init__(
        self,
        workbench: Workbench,
        *,
        on_open: Callable[[Conversation, ConversationInfo], None] = lambda *_: None,
        on_new: Callable[[], None] = lambda: None,
        on_leaving: Callable[[int], None] = lambda _: None,
        on_rename: Callable[[Conversation, ConversationInfo], None] = lambda *_: None,
        on_clear: Callable[[int], None] = lambda _: None,
        on_delete: Callable[[int], None] = lambda _: None,
        **options: Any,
    ) -> None:
        """``on_open`` is called with a conversation to show, ``on_new`` to begin one. ``on_leaving`` is
        called with the id of one whose messages are about to go, ``on_clear`` and ``on_delete`` when they
        have; ``on_rename`` with the one shown when it has another title."""
        super().__init__(**options)
        self._workbench = workbench
        self._on_open, self._on_new, self._on_rename = on_open, on_new, on_rename
        self._on_leaving, self._on_clear, self._on_delete = on_leaving, on_clear, on_delete
        self._most = FIRST

    def refresh(self) -> None:
        """Read the conversations again. Chats of projects and papers count once something was asked there."""
        with self._refreshing:
            found = [
                info
                for info in self._workbench.conversations.find(self.query, None)
                if info.kind == "thread" or info.messages
            ]
            self.conversations = [_row(info) for info in found[: self._most]]
            self.more = max(0, len(found) - self._most)
            self.loaded = True

    @action
    def look(self) -> None:
        """Read the conversations again: another window may have changed them."""
        self.in_background("listing the conversations", self.refresh)

    @action
    def search(self, *, words: str) -> None:
        """List only conversations in which all these words stand."""
        self.query, self._most = words, FIRST
        self.look()

    @action
    def show_more(self) -> None:
        self._most += FIRST
        self.look()

    @action
    def new(self) -> None:
        """Begin a conversation."""
        self.told = ""
        self._on_new()

    @action
    def show(self, *, id: int) -> None:
        """Open a conversation."""
        self.told = ""

        def work() -> None:
            with self._listed_anew():
                conversation = self._workbench.conversations.get(id)
                self._on_open(conversation, conversation.info)

        self.in_background("opening the conversation", work)

    @action
    def rename(self, *, id: int, title: str) -> None:
        """Give a conversation a title of its own."""
        if not title.strip():
            raise InvalidInputError("A conversation needs a title: give at least one character.")

        def work() -> str:
            renamed = self._workbench.conversations.update(id, title=title)
            if id == self.shown:
                self._on_rename(renamed, renamed.info)
            return ""

        self._change("renaming the conversation", work)

    @action
    def clear(self, *, id: int) -> None:
        """Remove a conversation's messages, after the answer that still streams in it."""

        def work() -> str:
            self._on_leaving(id)
            self._workbench.conversations.clear(id)
            self._on_clear(id)
            return ""

        self._change("clearing the conversation", work)

    @action
    def delete(self, *, id: int) -> None:
        """Delete a conversation, after the answer that still streams in it."""

        def work() -> str:
            self._on_leaving(id)
            title = self._workbench.conversations.get(id).title
            self._workbench.conversations.delete(id)
            self._on_delete(id)
            return f"“{one_line(title, 80)}” is deleted."

        self._change("deleting the conversation", work)

    def _change(self, doing: str, change: Callable[[], str]) -> None:
        """Carry out ``change``, read the conversations again, and show what it tells."""

        def work() -> None:
            with self._listed_anew():
                told = change()
                self.refresh()
                self.told = told

        self.in_background(doing, work)

    @contextmanager
    def _listed_anew(self) -> Iterator[None]:
        """Where a conversation turns out to be gone, its row goes too before that is said."""
        try:
            yield
        except NotFoundError:
            self.refresh()
            raise


def _row(info: ConversationInfo) -> dict[str, Any]:
    return {
        "id": info.id,
        "title": one_line(info.title, 200),
        "kind": info.kind,
        "scope": one_line(scope_name(info.scope_label), 120),
        "used": info.used_at.isoformat(),
        "messages": info.messages,
    }

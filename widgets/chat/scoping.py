"""What the shown thread's next question sees, and the choice of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Dict, Int, List

from widgets.chat.answering import AnsweringState
from widgets.chat.threads import Thread, Threads
from widgets.panel import action
from widgets.places import ALL, ORPHANS, scope_of
from widgets.wording import ALL_NAME, ORPHANS_NAME, one_line, scope_name
from workbench import NotFoundError

if TYPE_CHECKING:
    from workbench import ConversationInfo, Workbench


class ScopedState(AnsweringState):
    """``scope`` is what the next question sees: a project's id, ``ORPHANS`` or ``ALL``; ``scopes`` are the
    choices, ``{"value", "label"}``, and ``fixed`` where there is none: in the chat of a project or a paper.
    ``pulse`` counts changes of the shown thread's scope."""

    scope = Int(ORPHANS).tag(sync=True)
    fixed = Bool(False).tag(sync=True)
    scopes = List(Dict()).tag(sync=True)
    pulse = Int(0).tag(sync=True)

    _on_scope: Callable[[int], None]
    _on_missing: Callable[[], None]

    def __init__(self, workbench: Workbench, **options: Any) -> None:
        super().__init__(workbench, **options)
        self._threads = Threads()
        self._projects: Sequence[dict[str, Any]] = ()

    def _draw_head(self) -> None:
        """Show what there is of the thread beside its turns."""

    def offer_scopes(self, projects: Sequence[dict[str, Any]]) -> None:
        """Let questions see one of these projects, the papers in none, or all papers."""
        self._projects = projects
        self._draw_scope()

    @action
    def choose_scope(self, *, value: int) -> None:
        """Let the shown conversation's next question see other papers; the conversation stays."""
        thread = self._shown
        if thread.kind != "thread" or value == thread.scope:
            return
        if any(choice["value"] == value for choice in self.scopes):
            self.in_background("setting the scope", lambda: self._set_scope(thread, value))

    def _set_scope(self, thread: Thread, value: int) -> None:
        if thread.conversation is not None:
            try:
                self._workbench.conversations.update(thread.conversation, scope=scope_of(value))
            except NotFoundError as error:
                self._on_missing()
                raise NotFoundError(f"The scope stays as it was. {error}") from error
        with self._lock:
            thread.scope, thread.notice = value, ""
            self._threads.shown(thread)
            if thread is self._shown:
                self._move(thread)

    def _take_info(self, thread: Thread, info: ConversationInfo) -> None:
        """What the library says of the thread: another scope is shown as such."""
        before = thread.scope
        thread.take(info)
        if thread.scope != before and thread is self._shown:
            self._move(thread)

    def _move(self, thread: Thread) -> None:
        """The shown thread has another scope: the chip pulses and the panels follow."""
        self._draw_head()
        self.pulse += 1
        self._on_scope(thread.scope)

    def _draw_scope(self) -> None:
        thread = self._shown
        choices = [
            {"value": ORPHANS, "label": ORPHANS_NAME},
            *({"value": p["id"], "label": one_line(p["name"], 120)} for p in self._projects),
            {"value": ALL, "label": ALL_NAME},
        ]
        if thread.scope_label and not any(choice["value"] == thread.scope for choice in choices):
            choices.append({"value": thread.scope, "label": scope_name(thread.scope_label)})  # archived
        self.scopes, self.scope, self.fixed = choices, thread.scope, thread.kind != "thread"

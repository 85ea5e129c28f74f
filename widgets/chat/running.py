"""One answer on its way, as far as it has come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from widgets.chat.threads import AGAIN, Thread
from widgets.chat.turns import Turn, provisional_citations
from widgets.richtext import Marker, answer_html
from widgets.wording import one_line
from workbench import EvidenceFound, Notice, TextDelta, asked_line, scope_line

if TYPE_CHECKING:
    from workbench import Event


@dataclass(slots=True, eq=False)
class Run:
    """One answer on its way, the ``index``-th of its thread.

    With ``silent_of``, a stored answer's message, it is asked of the papers that gave that one no passage;
    with ``again``, as if its question had not been answered. ``before`` is the run that has to be over first,
    and ``over`` is set when this one is, with what there is of it stored. ``told`` is what no
    record of the answer says.
    """

    question: str
    thread: Thread
    index: int
    silent_of: int = 0
    again: bool = False
    before: Run | None = None
    text: str = ""
    asked: str = ""
    citations: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    shown_at: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    close: Callable[[], None] = lambda: None

    def take(self, event: Event) -> None:
        """Add what the event brings."""
        if isinstance(event, EvidenceFound):
            self.citations = provisional_citations(event.evidence)
            asked = one_line(asked_line(event.evidence))
            self.asked = asked or (AGAIN if self.again else "")
        elif isinstance(event, Notice):
            line = one_line(event.text)
            if scope_line([event.text]):
                self.asked = f"{self.asked} {line}".strip()
            elif line != self.asked:
                self.notes.append(line)
        elif isinstance(event, TextDelta):
            self.text += event.text

    def turn(self, state: str) -> Turn:
        """The turn as far as it is known."""
        markers = [Marker(c["n"], c["support"]) for c in self.citations]
        return {
            "question": self.question,
            "state": state,
            "html": answer_html(_closed_emphasis(self.text), markers=markers),
            "text": self.text,
            "citations": self.citations,
            "asked": self.asked,
            "notes": [*self.told, *self.notes],
        }


def _closed_emphasis(text: str) -> str:
    """``text`` with bold that is still open at its end closed, so that no stars flicker while it streams."""
    if text.rpartition("\n\n")[2].count("**") % 2 == 0:
        return text
    return text[:-2] if text.endswith("**") else text.rstrip() + "**"


@contextmanager
def closed(events: Iterator[Event]) -> Iterator[Iterator[Event]]:
    """Close the stream at the end, which stops the server's work where it still goes on."""
    try:
        yield events
    finally:
        close_of(events)()


def close_of(events: Iterator[Event]) -> Callable[[], None]:
    """What ends the stream, from any thread."""
    close: Callable[[], None] = getattr(events, "close", lambda: None)
    return close

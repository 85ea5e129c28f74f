"""What a chat model's stream brings in, made fit to show: without private reasoning, signs that are not to be
seen, or halves of characters."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from workbench.errors import ProviderError
from workbench.providers.thinking import ThinkingFilter

LOOP_TAIL, LOOP_TIMES, LOOP_WINDOW = 100, 8, 6000  # characters that come so often in so many are a loop

_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_HIGH_HALF = re.compile("[\ud800-\udbff]$")


@dataclass
class Pieces:
    """Feed it what the model sends; it gives back text. ``read`` counts what has come in, shown or not."""

    name: str
    longest: int  # of what is taken from one piece
    read: int = 0
    _half: str = ""  # the first half of a character whose second half may come in the next piece
    _thinking: ThinkingFilter = field(default_factory=ThinkingFilter)

    def feed(self, piece: str) -> str:
        """Raises ProviderError where reasoning turns out to have been shown as text."""
        self.read += max(1, len(piece))
        text, self._half = self._half + piece[: self.longest], ""
        if half := _HIGH_HALF.search(text):
            text, self._half = text[:-1], half.group()
        shown = self._thinking.feed(_whole(text))
        if self._thinking.strayed:
            raise ProviderError(f"{self.name} mixed its private reasoning into its answer.")
        return shown

    def finish(self) -> str:
        """What was held back when the stream ended."""
        return self._thinking.finish()


def loop_start(text: str) -> int | None:
    """Where the first of many repetitions ends, with which ``text`` ends; None where it does not repeat."""
    tail, recent = text[-LOOP_TAIL:], text[-LOOP_WINDOW:]
    if len(text) < LOOP_TAIL * LOOP_TIMES or recent.count(tail) < LOOP_TIMES:
        return None
    return len(text) - len(recent) + recent.index(tail) + LOOP_TAIL


def _whole(text: str) -> str:
    """Characters sent as two halves put together; a half alone is left out, as are control characters."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return _UNSHOWN.sub("", joined)

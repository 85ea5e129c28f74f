"""The answer of a chat model while it is written: markers checked, a refusal recognised by its sign, and a
tool call that nobody asked for kept out of sight."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from workbench.chat.pieces import Pieces, loop_start
from workbench.chat.prompts import REFUSAL_SIGN, surely_cut
from workbench.chat.tool_calls import calls_in_text, opens_like_a_call
from workbench.interfaces import ChatMessage, ChatModel, ChatUsage
from workbench.records import Event, TextDelta
from workbench.retrieval.markers import MarkerStream

LONGEST_ANSWER = 40_000  # characters, shown or not; a model might otherwise write for ever


@dataclass
class Draft:
    """The answer as far as it has come. ``text`` is what the markers let through; ``called_tool`` says that
    the reply was a tool call written out, which is never shown and never run."""

    markers: MarkerStream
    text: str = ""
    refused: bool = False
    called_tool: bool = False
    warnings: list[str] = field(default_factory=list)
    first_token: float | None = None
    _opening: str = ""  # held back while it may be the sign of a refusal, or a tool call
    _decided: bool = False
    _loop: int | None = None  # where the text was before it began to repeat itself

    @property
    def empty(self) -> bool:
        return not self.text.strip() and not self.markers.unknown

    def read(self, model: ChatModel, messages: Sequence[ChatMessage]) -> Iterator[Event]:
        pieces = Pieces(model.name, LONGEST_ANSWER)
        with closing(model.stream(messages)) as stream:
            for piece in stream:
                if isinstance(piece, ChatUsage):
                    self._check(messages, piece)
                    continue
                self.first_token = self.first_token or time.perf_counter()
                yield from self._take(pieces.feed(piece))
                if self._must_stop(pieces.read):
                    break
        yield from self._take(pieces.finish())
        yield from self.finish()

    def _take(self, text: str) -> Iterator[Event]:
        if self._decided:
            yield from self._show(self.markers.feed(text))
            return
        self._opening += text
        if not (_may_be_refusal(self._opening) or opens_like_a_call(self._opening)):
            yield from self._decide()

    def _must_stop(self, read: int) -> bool:
        """Whether the model will not end by itself; then the reader is told."""
        self._loop = loop_start(self.text)
        if self._loop is not None:
            self.warnings.append("The answer was stopped: the chat model repeated itself again and again.")
        elif read > LONGEST_ANSWER:
            self.warnings.append(
                f"The answer was stopped after {LONGEST_ANSWER} characters: the chat model did not end it."
                " Ask for less, or try another chat model."
            )
        return self._loop is not None or read > LONGEST_ANSWER

    def finish(self) -> Iterator[Event]:
        """The rest of the text, at the end of the stream or where it broke off."""
        if not self._decided:
            self.called_tool = opens_like_a_call(self._opening) and bool(calls_in_text(self._opening))
            self._opening = "" if self.called_tool else self._opening
            yield from self._decide()
        yield from self._show(self.markers.close())
        if self._loop is not None:
            self.text = self.text[: self._loop]

    def _decide(self) -> Iterator[Event]:
        self._decided = True
        opening = _without_signs(self._opening)
        self.refused = opening.upper().startswith(REFUSAL_SIGN)
        yield from self._show(self.markers.feed(opening if self.refused else self._opening.lstrip()))

    def _show(self, text: str) -> Iterator[Event]:
        self.text += text
        if text and not self.refused:
            yield TextDelta(text)

    def _check(self, messages: Sequence[ChatMessage], usage: ChatUsage) -> None:
        if surely_cut(messages, usage.prompt_tokens):
            self.warnings.append(
                "The chat model's server cut the prompt, so rules or passages may be missing; raise its"
                " context length or lower WORKBENCH_CONTEXT_WINDOW."
            )
        if usage.answer_cut:
            self.warnings.append(
                "The answer is incomplete: it stopped where the chat model's window was full. Ask for less,"
                " or raise WORKBENCH_CONTEXT_WINDOW."
            )


def _without_signs(opening: str) -> str:
    """The opening without white space, emphasis and quotation marks before its first word."""
    return opening.lstrip(" \n\t*_#>\"'“")


def _may_be_refusal(opening: str) -> bool:
    start = _without_signs(opening).upper()
    return len(start) < len(REFUSAL_SIGN) and REFUSAL_SIGN.startswith(start)

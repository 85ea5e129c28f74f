"""A chat model without a model: it says what it was told to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from workbench.errors import ProviderError
from workbench.interfaces import ChatMessage, ChatUsage, Stoppable, ToolDecision
from workbench.providers.answer_stream import AnswerStream, Pieces

Reply: TypeAlias = str | Iterable[str | ProviderError]
Script: TypeAlias = Reply | Sequence[Sequence[str | ProviderError]] | Callable[[Sequence[ChatMessage]], Reply]

Decisions: TypeAlias = (
    Sequence[ToolDecision | ProviderError] | Callable[[Sequence[ChatMessage]], ToolDecision]
)


class FakeChat:
    """Replies from ``script``, in the pieces given.

    ``script`` is one reply (a text, or its pieces), a list of replies (lists of pieces) given one after
    another with the last repeated, or a function from the messages to a reply. A ProviderError among
    the pieces is raised in its place. ``received`` holds the messages of each call, ``closed`` counts
    the answers that were stopped before their end.

    ``decisions`` is what it does with tools, one after another and then nothing more, or a function from the
    messages to a decision; ``offered`` holds the messages of each time it was asked.
    """

    def __init__(
        self,
        script: Script = "",
        *,
        name: str = "fake-chat",
        context_window: int = 8192,
        prompt_tokens: int | None = None,
        decisions: Decisions = (),
    ) -> None:
        self.name = name
        self.context_window = context_window
        self.received: list[tuple[ChatMessage, ...]] = []
        self.closed = 0
        self.offered: list[tuple[ChatMessage, ...]] = []
        self._decisions = decisions
        self._script = script
        self._prompt_tokens = prompt_tokens

    def stream(self, messages: Sequence[ChatMessage]) -> AnswerStream:
        """Pieces of the reply, then a ChatUsage."""
        self.received.append(tuple(messages))
        return AnswerStream(self._pieces(self._reply(messages)))

    def call_tools(
        self,
        messages: Sequence[ChatMessage],
        definitions: Sequence[Mapping[str, Any]],
        *,
        stoppable: Stoppable | None = None,
    ) -> ToolDecision:
        """The next of ``decisions``; a ProviderError among them is raised."""
        self.offered.append(tuple(messages))
        if callable(self._decisions):
            return self._decisions(messages)
        number = len(self.offered) - 1
        decision = self._decisions[number] if number < len(self._decisions) else ToolDecision()
        if isinstance(decision, ProviderError):
            raise decision
        return decision

    def _reply(self, messages: Sequence[ChatMessage]) -> Reply:
        script = self._script
        if callable(script):
            return script(messages)
        if isinstance(script, list | tuple) and script and isinstance(script[0], list | tuple):
            turn: Reply = script[min(len(self.received), len(script)) - 1]
            return turn
        return cast(Reply, script)

    def _pieces(self, reply: Reply) -> Pieces:
        said = False
        try:
            for piece in [reply] if isinstance(reply, str) else reply:
                if isinstance(piece, ProviderError):
                    raise piece
                said = said or bool(piece.strip())
                yield piece
        except GeneratorExit:
            self.closed += 1
            raise
        if not said:
            raise ProviderError(
                f"{self.name} answered with nothing: ask again, or choose another chat model."
            )
        yield ChatUsage(self._prompt_tokens)

"""Chat with a model on an Ollama server, through LlamaIndex."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import ProviderError
from workbench.interfaces import ChatMessage, Stoppable, ToolDecision
from workbench.providers.answer_stream import AnswerStream, Pieces
from workbench.providers.llama_index_chat import answer_pieces, llama_index_messages
from workbench.providers.llama_index_tools import decide
from workbench.providers.ollama_connection import (
    KEEP_ALIVE,
    ModelFacts,
    explain,
    failures,
    model_facts,
    open_client,
)
from workbench.providers.thinking import ThinkingFilter
from workbench.providers.wording import one_line

if TYPE_CHECKING:
    import httpx
    from llama_index.core.llms import ChatResponse
    from llama_index.llms.ollama import Ollama

DECISION_TOKENS, THINKING_TOKENS = 256, 2048  # the longest decision about tools, and one with reasoning
ANSWER_TIMEOUT = 300.0  # s to the first piece and between pieces: a large model may load for minutes


class OllamaChat:
    """A chat model of Ollama's.

    ``context_window`` is sent as ``num_ctx`` with every call and is also the longest answer allowed, so
    that a model caught in a loop ends. ``timeout`` (s) is the longest silence.
    """

    def __init__(
        self,
        host: str,
        model: str,
        *,
        context_window: int = 8192,
        temperature: float = 0.0,
        timeout: float = ANSWER_TIMEOUT,
        keep_alive: str = KEEP_ALIVE,
    ) -> None:
        self.host = host
        self.model = model
        self.name = f"ollama/{model}"
        self.context_window = context_window
        self._temperature = temperature
        self._timeout = timeout
        self._keep_alive = keep_alive
        self._begins_thinking = False
        self._facts: ModelFacts | None = None
        self._refuses_tools = False

    def stream(self, messages: Sequence[ChatMessage]) -> AnswerStream:
        """Pieces of the answer, then a ChatUsage. Closing it hangs up at once, from any thread."""
        connection = _Connection()
        return AnswerStream(self._pieces(messages, connection), cut=connection.cut)

    def call_tools(
        self,
        messages: Sequence[ChatMessage],
        definitions: Sequence[Mapping[str, Any]],
        *,
        stoppable: Stoppable | None = None,
    ) -> ToolDecision:
        """The tools the model wants run; none where it cannot call any, as the server says of it."""
        self._facts = self._facts or model_facts(self.host, self.model)
        capabilities = self._facts.capabilities if self._facts else ()
        if self._refuses_tools or (capabilities and "tools" not in capabilities):
            return ToolDecision()
        tokens = THINKING_TOKENS if "thinking" in capabilities else DECISION_TOKENS
        connection = _Connection()
        if stoppable is not None:
            stoppable(connection.cut)
        with open_client(self.host, timeout=self._timeout, event_hooks=connection.hooks()) as client:
            llm = self._llm(client, longest=min(tokens, self.context_window))
            try:
                return decide(llm, llama_index_messages(messages), definitions)
            except failures() as error:
                return self._undecided(error)

    def _undecided(self, error: Exception) -> ToolDecision:
        """A failure that concerns the tools only lets the answer come without them."""
        import ollama

        if isinstance(error, ollama.ResponseError) and "does not support tools" in error.error:
            self._refuses_tools = True
            return ToolDecision()
        if isinstance(error, ollama.ResponseError) and error.status_code != 404:
            raise ProviderError(
                f"{self.model} did not decide about tools: {one_line(error.error)}"
            ) from error
        if isinstance(error, ValueError | KeyError):
            raise ProviderError(f"{self.model} called a tool in a way that cannot be read.") from error
        raise explain(error, host=self.host, model=self.model) from error

    def _pieces(self, messages: Sequence[ChatMessage], connection: _Connection) -> Pieces:
        thinking = ThinkingFilter(begins_inside=self._begins_thinking)
        try:
            yield from answer_pieces(self._responses(messages, connection), thinking, name=self.name)
        except ProviderError:
            # Some templates open the reasoning in the prompt, so that only its end is ever seen.
            # That is known after the first answer, which fails; the next ones are read rightly.
            self._begins_thinking = thinking.strayed
            raise

    def _responses(self, messages: Sequence[ChatMessage], connection: _Connection) -> Iterator[ChatResponse]:
        last: ChatResponse | None = None
        # A client per answer: its one connection can be cut without touching another answer's.
        with open_client(self.host, timeout=self._timeout, event_hooks=connection.hooks()) as client:
            llm = self._llm(client, longest=self.context_window)
            try:
                for last in llm.stream_chat(llama_index_messages(messages)):
                    yield last
            except failures() as error:
                raise explain(error, host=self.host, model=self.model, begun=last is not None) from error
        if last is None or not _is_done(last):
            raise ProviderError("Ollama broke off in the middle of its answer. Ask again.")

    def _llm(self, client: Any, *, longest: int) -> Ollama:
        from llama_index.llms.ollama import Ollama

        return Ollama(
            model=self.model,
            client=client,
            temperature=self._temperature,
            context_window=self.context_window,
            keep_alive=self._keep_alive,
            additional_kwargs={"num_predict": longest},
        )


def _is_done(response: ChatResponse) -> bool:
    return bool(isinstance(response.raw, dict) and response.raw.get("done"))


class _Connection:
    """The socket of one request, so that another thread can hang up while the client waits for data.

    Closing the client from outside would not wake a thread that is reading; shutting the socket down does.
    httpcore hands the socket over in its documented ``trace`` extension.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._cut = False

    def hooks(self) -> dict[str, list[Any]]:
        def watch(request: httpx.Request) -> None:
            request.extensions["trace"] = self._trace

        return {"request": [watch]}

    def cut(self) -> None:
        with self._lock:
            self._cut = True
            if self._socket is not None:
                # Already closed by its own side, or by the server: nothing is left to cut.
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def _trace(self, event: str, info: dict[str, Any]) -> None:
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                already_cut = self._cut
            if already_cut:
                self.cut()

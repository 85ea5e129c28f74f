"""Any LlamaIndex ``LLM`` object as a chat model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.interfaces import ChatMessage, ChatUsage, Stoppable, ToolDecision
from workbench.providers.answer_stream import AnswerStream, Pieces
from workbench.providers.control_tokens import without_control_tokens
from workbench.providers.llama_index_tools import decide
from workbench.providers.thinking import ThinkingFilter
from workbench.providers.wording import encodable, one_line

if TYPE_CHECKING:
    from llama_index.core.llms import LLM, ChatResponse
    from llama_index.core.llms import ChatMessage as LlamaIndexMessage

SMALLEST_WINDOW = 1024  # LlamaIndex reports -1 or 0 where a model's window is unknown
WINDOW_IF_UNKNOWN = 4096


class LlamaIndexChat:
    """A chat model on top of ``llm``. ``context_window`` overrides what the object says of itself."""

    def __init__(self, llm: LLM, *, context_window: int | None = None) -> None:
        self._llm = llm
        metadata = llm.metadata
        named = metadata.model_name not in {"", "unknown"}  # LlamaIndex's word where a vendor gives no name
        self.name = f"llama-index/{metadata.model_name if named else llm.class_name()}"
        stated = context_window or metadata.context_window
        self.context_window = stated if stated >= SMALLEST_WINDOW else WINDOW_IF_UNKNOWN

    def stream(self, messages: Sequence[ChatMessage]) -> AnswerStream:
        """Pieces of the answer, then a ChatUsage. Closing it closes the object's own generator."""
        return AnswerStream(self._pieces(messages))

    def call_tools(
        self,
        messages: Sequence[ChatMessage],
        definitions: Sequence[Mapping[str, Any]],
        *,
        stoppable: Stoppable | None = None,
    ) -> ToolDecision:
        """The tools the model wants run; none where it cannot call any."""
        from llama_index.core.llms.function_calling import FunctionCallingLLM

        llm = self._llm
        if not isinstance(llm, FunctionCallingLLM) or not llm.metadata.is_function_calling_model:
            return ToolDecision()
        try:
            return decide(llm, llama_index_messages(messages), definitions)
        except NotImplementedError:
            return ToolDecision()
        # Of any vendor, as below; its answer may still come, so this is not "unavailable".
        except Exception as error:
            reason = one_line(error) or type(error).__name__
            raise ProviderError(f"{self.name} did not decide about tools: {reason}") from error

    def _pieces(self, messages: Sequence[ChatMessage]) -> Pieces:
        yield from answer_pieces(self._responses(messages), ThinkingFilter(), name=self.name)

    def _responses(self, messages: Sequence[ChatMessage]) -> Iterator[ChatResponse]:
        begun = False
        try:
            for response in self._begin(llama_index_messages(messages)):
                begun = True
                yield response
        # The object may be of any vendor, whose errors share no base but this one.
        except Exception as error:
            reason = one_line(error) or type(error).__name__
            if begun:
                raise ProviderError(f"{self.name} failed in the middle of its answer: {reason}") from error
            raise ProviderUnavailableError(f"{self.name} does not answer: {reason}") from error

    def _begin(self, messages: list[LlamaIndexMessage]) -> Iterable[ChatResponse]:
        try:
            stream: Iterable[ChatResponse] = self._llm.stream_chat(messages)
            return stream
        except NotImplementedError:
            return [self._llm.chat(messages)]


def llama_index_messages(messages: Sequence[ChatMessage]) -> list[LlamaIndexMessage]:
    """The same messages in LlamaIndex's own class, fit to be sent and without a template's signs."""
    from llama_index.core.llms import ChatMessage as LlamaIndexMessage

    return [
        LlamaIndexMessage(role=message.role, content=without_control_tokens(encodable(message.content)))
        for message in messages
    ]


def answer_pieces(responses: Iterable[ChatResponse], thinking: ThinkingFilter, *, name: str) -> Pieces:
    """The answer's text without its thinking, then what the server reports.

    An answer without any text is a ProviderError, and so is one whose reasoning turns out to have been
    shown as its text.
    """
    said = False
    seen = 0
    last: ChatResponse | None = None
    for last in responses:
        whole = last.message.content or ""
        piece = whole[seen:] if last.delta is None else last.delta
        seen = len(whole)
        text = thinking.feed(piece)
        if thinking.strayed:
            raise ProviderError(f"{name} mixed its private reasoning into its answer: ask again.")
        if text:
            said = said or not text.isspace()
            yield text
    if rest := thinking.finish():
        said = said or not rest.isspace()
        yield rest
    if not said:
        raise ProviderError(f"{name} answered with nothing: ask again, or choose another chat model.")
    yield usage_of(last)


def usage_of(response: ChatResponse | None) -> ChatUsage:
    """What the last response says of the prompt's size, wherever the vendor puts it."""
    if response is None:
        return ChatUsage()
    raw = _fields(response.raw)
    places = (raw, _fields(raw.get("usage")), response.additional_kwargs)
    names = ("prompt_eval_count", "prompt_tokens", "input_tokens")
    counts = [place.get(name) for place in places for name in names]
    tokens = next((count for count in counts if isinstance(count, int) and count > 0), None)
    return ChatUsage(tokens, answer_cut=raw.get("done_reason") == "length")


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return vars(value) if hasattr(value, "__dict__") else {}

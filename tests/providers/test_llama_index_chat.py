from __future__ import annotations

from collections.abc import Generator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage as LlamaIndexMessage
from llama_index.core.llms import ChatResponse, CompletionResponse, CustomLLM, LLMMetadata, MockLLM

from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.interfaces import ChatMessage, ChatUsage
from workbench.providers.llama_index_chat import LlamaIndexChat

QUESTION = (ChatMessage("system", "Rules."), ChatMessage("user", "What does p53 bind?"))


class VendorError(Exception):
    """An error without any common base, as vendors have them."""


class VendorLLM(CustomLLM):
    """Answers with prepared responses, records its messages, and can fail."""

    responses: Any = ()
    window: int = 32_000
    received: list[Any] = []
    closed: list[bool] = []

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.window, model_name="vendor-1")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def stream_chat(
        self, messages: Sequence[LlamaIndexMessage], **kwargs: Any
    ) -> Generator[ChatResponse, None, None]:
        self.received.append([(message.role.value, message.content) for message in messages])

        def answer() -> Generator[ChatResponse, None, None]:
            try:
                for response in self.responses:
                    if isinstance(response, Exception):
                        raise response
                    yield response
            finally:
                self.closed.append(True)

        return answer()


class OnlyWholeAnswers(VendorLLM):
    """A vendor without streaming."""

    def stream_chat(self, messages: Sequence[LlamaIndexMessage], **kwargs: Any) -> Any:
        raise NotImplementedError

    def chat(self, messages: Sequence[LlamaIndexMessage], **kwargs: Any) -> ChatResponse:
        return response("It binds DNA [1].", None)


def response(whole: str, delta: str | None, **more: Any) -> ChatResponse:
    return ChatResponse(message=LlamaIndexMessage(role="assistant", content=whole), delta=delta, **more)


def test_messages_arrive_in_order_with_their_roles() -> None:
    llm = VendorLLM(responses=[response("yes", "yes")], received=[])
    list(LlamaIndexChat(llm).stream([*QUESTION, ChatMessage("assistant", "DNA \ud800")]))
    assert llm.received == [[("system", "Rules."), ("user", "What does p53 bind?"), ("assistant", "DNA ?")]]


def test_the_window_is_the_objects_own_unless_it_is_unknown_or_given() -> None:
    assert LlamaIndexChat(VendorLLM()).name == "llama-index/vendor-1"
    assert LlamaIndexChat(VendorLLM()).context_window == 32_000
    assert LlamaIndexChat(VendorLLM(window=-1)).context_window == 4096
    assert LlamaIndexChat(VendorLLM(), context_window=8192).context_window == 8192


def test_pieces_are_found_where_the_vendor_sends_only_the_whole_so_far() -> None:
    llm = VendorLLM(
        responses=[response("It ", None), response("It binds ", None), response("It binds DNA.", None)]
    )
    assert list(LlamaIndexChat(llm).stream(QUESTION)) == ["It ", "binds ", "DNA.", ChatUsage()]


def test_a_vendor_without_streaming_answers_in_one_piece() -> None:
    assert list(LlamaIndexChat(OnlyWholeAnswers()).stream(QUESTION)) == ["It binds DNA [1].", ChatUsage()]


def test_thinking_never_reaches_the_answer() -> None:
    llm = VendorLLM(
        responses=[response("", "<thi"), response("", "nk>[3]</think>It "), response("", "binds.")]
    )
    assert list(LlamaIndexChat(llm).stream(QUESTION))[:-1] == ["It ", "binds."]


@pytest.mark.parametrize(
    "more",
    [
        {"raw": {"prompt_eval_count": 77}},
        {"raw": {"usage": {"prompt_tokens": 77}}},
        {"raw": SimpleNamespace(usage=SimpleNamespace(input_tokens=77))},
        {"additional_kwargs": {"prompt_tokens": 77}},
    ],
)
def test_the_size_of_the_prompt_is_found_wherever_the_vendor_puts_it(more: dict[str, Any]) -> None:
    llm = VendorLLM(responses=[response("yes", "yes", **more)])
    assert list(LlamaIndexChat(llm).stream(QUESTION)) == ["yes", ChatUsage(77)]


def test_a_vendors_own_error_is_ours_on_one_line() -> None:
    at_once = VendorLLM(responses=[VendorError("no\n credit")])
    with pytest.raises(ProviderUnavailableError, match="^llama-index/vendor-1 does not answer: no credit$"):
        list(LlamaIndexChat(at_once).stream(QUESTION))
    later = VendorLLM(responses=[response("It ", "It "), VendorError()])
    stream = LlamaIndexChat(later).stream(QUESTION)
    assert next(stream) == "It "
    with pytest.raises(ProviderError, match="failed in the middle of its answer: VendorError$"):
        next(stream)


def test_closing_closes_the_vendors_stream() -> None:
    llm = VendorLLM(responses=[response("It ", "It "), response("It binds", "binds")], closed=[])
    stream = LlamaIndexChat(llm).stream(QUESTION)
    next(stream)
    stream.close()
    assert llm.closed == [True]


def test_llama_indexes_own_mock_works() -> None:
    pieces = list(LlamaIndexChat(MockLLM()).stream(QUESTION))
    assert "p53" in "".join(piece for piece in pieces if isinstance(piece, str))

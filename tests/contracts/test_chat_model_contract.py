"""What every chat model promises, whatever writes its text."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage as LlamaIndexMessage
from llama_index.core.llms import ChatResponse, CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool

from tests.ollama_server import OllamaServer
from workbench.errors import ProviderError
from workbench.interfaces import (
    ChatMessage,
    ChatModel,
    ChatUsage,
    ToolCall,
    ToolCallingModel,
    ToolDecision,
)
from workbench.providers.fake_chat import FakeChat
from workbench.providers.llama_index_chat import LlamaIndexChat
from workbench.providers.ollama_chat import OllamaChat

QUESTION = (
    ChatMessage("system", "Answer from the passages."),
    ChatMessage("user", "Passages: [1] p53 binds DNA."),
    ChatMessage("assistant", "It binds DNA [1]."),
    ChatMessage("user", "What does p53 bind? \u03b1 🚀"),
)


class ScriptedLLM(CustomLLM):
    """A LlamaIndex model of an unknown vendor: completes with the pieces it was given."""

    pieces: Any = ()

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=4096, model_name="scripted")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text="".join(self.pieces))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> Generator[CompletionResponse, None, None]:
        text = ""
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            text += piece
            yield CompletionResponse(text=text, delta=piece)


class CallingLLM(FunctionCallingLLM):
    """A model of an unknown vendor that can call functions."""

    calls: Any = ()
    text: str = ""
    fails: Any = None
    able: bool = True
    described: list[Any] = []  # pydantic copies it for each object

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=4096, model_name="caller", is_function_calling_model=self.able)

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], **given: Any) -> dict[str, Any]:
        self.described.extend(tool.metadata.to_openai_tool() for tool in tools)
        return {"messages": given["chat_history"]}

    def chat(self, messages: Sequence[LlamaIndexMessage], **kwargs: Any) -> ChatResponse:
        if self.fails:
            raise self.fails
        return ChatResponse(message=LlamaIndexMessage(role="assistant", content=self.text))

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [ToolSelection(tool_id="1", tool_name=name, tool_kwargs=kwargs) for name, kwargs in self.calls]

    def _unused(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    stream_chat = achat = astream_chat = _unused
    acomplete = stream_complete = astream_complete = _unused

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError


@dataclass(frozen=True)
class Kind:
    """How one kind of chat model is made to behave."""

    says: Callable[..., ChatModel]
    breaks_off_after: Callable[..., ChatModel]
    never_ends: Callable[[], ChatModel]
    decides: Callable[..., ToolCallingModel]


def ollama_kind(server: OllamaServer) -> Kind:
    model = OllamaChat(server.url, "llama3.1")

    def says(*pieces: str) -> ChatModel:
        server.reply(*pieces)
        server.reply(*pieces)
        return model

    def breaks_off_after(*pieces: str) -> ChatModel:
        server.reply(*pieces, "never sent", drop_after=len(pieces))
        return model

    def never_ends() -> ChatModel:
        server.reply_endlessly("on ")
        return model

    def decides(*calls: ToolCall, text: str) -> ToolCallingModel:
        server.decide(*({"name": c.name, "arguments": dict(c.arguments)} for c in calls), text=text)
        return model

    return Kind(says, breaks_off_after, never_ends, decides)


def llama_index_kind() -> Kind:
    def says(*pieces: Any) -> ChatModel:
        return LlamaIndexChat(ScriptedLLM(pieces=pieces))

    return Kind(
        says,
        lambda *pieces: says(*pieces, RuntimeError("the vendor's own error")),
        lambda: LlamaIndexChat(ScriptedLLM(pieces=repeat("on "))),
        lambda *calls, text: LlamaIndexChat(
            CallingLLM(calls=[(c.name, dict(c.arguments)) for c in calls], text=text)
        ),
    )


def fake_kind() -> Kind:
    return Kind(
        lambda *pieces: FakeChat(pieces),
        lambda *pieces: FakeChat([*pieces, ProviderError("broke off")]),
        lambda: FakeChat(repeat("on ")),
        lambda *calls, text: FakeChat(decisions=[ToolDecision(calls, text)]),
    )


@pytest.fixture(params=["ollama", "llama-index", "fake"])
def kind(request: pytest.FixtureRequest, ollama_server: OllamaServer) -> Kind:
    if request.param == "ollama":
        return ollama_kind(ollama_server)
    return llama_index_kind() if request.param == "llama-index" else fake_kind()


def read(model: ChatModel, messages: Sequence[ChatMessage] = QUESTION) -> tuple[list[str], list[ChatUsage]]:
    """All pieces of an answer, and all reports of usage, which must come last."""
    everything = list(model.stream(messages))
    pieces = [item for item in everything if isinstance(item, str)]
    usages = [item for item in everything if isinstance(item, ChatUsage)]
    assert everything == [*pieces, *usages]
    return pieces, usages


def test_pieces_come_in_order_and_one_report_of_usage_last(kind: Kind) -> None:
    pieces, usages = read(kind.says("p53 binds", " DNA", " [1", "]."))
    assert "".join(pieces) == "p53 binds DNA [1]."
    assert len(usages) == 1


def test_it_names_itself_and_its_window(kind: Kind) -> None:
    model = kind.says("yes")
    assert model.name
    assert model.context_window >= 1024


@pytest.mark.parametrize("pieces", [(), ("",), (" ", "\n")])
def test_an_answer_without_text_is_an_error(kind: Kind, pieces: tuple[str, ...]) -> None:
    with pytest.raises(ProviderError, match="answered with nothing"):
        read(kind.says(*pieces))


def test_breaking_off_gives_the_pieces_so_far_and_then_an_error(kind: Kind) -> None:
    stream = kind.breaks_off_after("p53 ", "binds ").stream(QUESTION)
    assert [next(stream), next(stream)] == ["p53 ", "binds "]
    with pytest.raises(ProviderError):
        next(stream)
    assert list(stream) == []


def test_a_closed_answer_gives_nothing_more(kind: Kind) -> None:
    stream = kind.never_ends().stream(QUESTION)
    with closing(stream):  # type: ignore[type-var]  # every stream here has close()
        assert [next(stream), next(stream)] == ["on ", "on "]
    assert list(stream) == []
    stream.close()  # type: ignore[attr-defined]


def test_closing_before_the_first_piece_is_fine(kind: Kind) -> None:
    stream = kind.says("never read").stream(QUESTION)
    stream.close()  # type: ignore[attr-defined]
    assert list(stream) == []


def test_the_next_answer_works_after_an_error(kind: Kind) -> None:
    with pytest.raises(ProviderError):
        read(kind.breaks_off_after("p53 "))
    assert read(kind.says("fine"))[0] == ["fine"]


def test_two_answers_may_be_read_at_the_same_time(kind: Kind) -> None:
    model = kind.says("p53 ", "binds ", "DNA.")
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: "".join(read(model)[0]), range(2)))
    assert answers == ["p53 binds DNA."] * 2


# --- tools -----------------------------------------------------------------------------------

TOOL = {
    "type": "function",
    "function": {
        "name": "set_rag_scope",
        "description": "Sets the scope.",
        "parameters": {
            "type": "object",
            "properties": {"project_id": {"type": ["integer", "null"], "description": "An id."}},
            "required": ["project_id"],
        },
    },
}
CALLS = (ToolCall("set_rag_scope", {"project_id": None}), ToolCall("search_projects", {"query": "α [1]"}))


def test_calls_of_tools_come_whole_and_in_order_and_nothing_is_run(kind: Kind) -> None:
    assert kind.decides(*CALLS, text="").call_tools(QUESTION, [TOOL]) == ToolDecision(CALLS)


def test_words_in_place_of_a_call_come_as_text(kind: Kind) -> None:
    assert kind.decides(text="READ").call_tools(QUESTION, [TOOL]) == ToolDecision(text="READ")


def test_a_decision_may_be_made_stoppable(kind: Kind) -> None:
    stops: list[Callable[[], None]] = []
    decision = kind.decides(text="READ").call_tools(QUESTION, [TOOL], stoppable=stops.append)
    for stop in stops:  # after the end it does nothing
        stop()
    assert decision == ToolDecision(text="READ")

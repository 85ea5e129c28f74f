"""Tools offered through LlamaIndex: to an Ollama server with its faults, and to any other model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.contracts.test_chat_model_contract import CallingLLM, ScriptedLLM
from tests.ollama_server import CHAT_MODEL, OllamaServer
from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.interfaces import ChatMessage, ToolCall, ToolDecision
from workbench.providers.fake_chat import FakeChat
from workbench.providers.llama_index_chat import LlamaIndexChat
from workbench.providers.ollama_chat import OllamaChat

QUESTION = (ChatMessage("system", "Rules."), ChatMessage("user", "Use my dragon project."))
SCHEMA = {
    "type": "object",
    "properties": {"project_id": {"type": ["integer", "null"], "description": "An id."}},
    "required": ["project_id"],
}
DEFINITIONS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {"name": "set_rag_scope", "description": "Sets the scope.", "parameters": SCHEMA},
    }
]
SET_SCOPE = {"name": "set_rag_scope", "arguments": {"project_id": 3}}


@pytest.fixture
def chat(ollama_server: OllamaServer) -> OllamaChat:
    return OllamaChat(ollama_server.url, "llama3.1", context_window=6000)


def decide(chat: OllamaChat | LlamaIndexChat) -> ToolDecision:
    return chat.call_tools(QUESTION, DEFINITIONS)


# --- Ollama ----------------------------------------------------------------------------------


def test_a_request_describes_the_tools_and_keeps_the_models_window_and_is_not_streamed(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    decide(chat)
    (sent,) = ollama_server.sent("/api/chat")
    assert sent["tools"] == DEFINITIONS
    assert sent["messages"] == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Use my dragon project."},
    ]
    assert (sent["stream"], sent["keep_alive"]) == (False, "15m")
    assert sent["options"] == {"temperature": 0.0, "num_ctx": 6000, "num_predict": 256}


def test_calls_come_with_their_arguments_in_order_and_words_without_reasoning(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    search = {"name": "search_projects", "arguments": {"query": "dragons"}}
    ollama_server.decide(search, SET_SCOPE)
    ollama_server.decide(text="<think>Which one?</think>\n\nREAD")
    ollama_server.decide(text="Which one?</think>READ")
    ollama_server.decide(text="<think>Which one? {")
    assert decide(chat) == ToolDecision(
        (ToolCall("search_projects", {"query": "dragons"}), ToolCall("set_rag_scope", {"project_id": 3}))
    )
    assert [decide(chat) for _ in range(3)] == [ToolDecision(text="READ")] * 2 + [ToolDecision()]


def test_a_call_written_as_text_is_handed_on_as_text(chat: OllamaChat, ollama_server: OllamaServer) -> None:
    written = '{"name": "set_rag_scope", "arguments": {"project_id": 3}}'
    ollama_server.decide(text=written)
    assert decide(chat) == ToolDecision(text=written)


def test_a_model_that_reasons_gets_room_for_it(chat: OllamaChat, ollama_server: OllamaServer) -> None:
    ollama_server.models[CHAT_MODEL] = ("completion", "tools", "thinking")
    decide(chat)
    assert ollama_server.sent("/api/chat")[0]["options"]["num_predict"] == 2048


def test_a_model_without_tools_is_not_asked_and_its_facts_are_looked_up_once(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.models[CHAT_MODEL] = ("completion",)
    assert [decide(chat), decide(chat)] == [ToolDecision()] * 2
    assert [request.path for request in ollama_server.requests] == ["/api/show"]


def test_a_server_that_does_not_say_what_a_model_can_is_tried_once(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.decide(status=400, error="registry.ollama.ai/library/llama3.1 does not support tools")

    class Silent(tuple[str, ...]):
        """Capabilities that an old server does not report, of a model that chats."""

        def __contains__(self, item: object) -> bool:
            return True

    ollama_server.models[CHAT_MODEL] = Silent()
    assert [decide(chat), decide(chat)] == [ToolDecision()] * 2
    assert len(ollama_server.sent("/api/chat")) == 1


@pytest.mark.parametrize(
    ("faults", "message"),
    [
        (
            {"status": 500, "error": "error parsing tool call: raw='{', err=unexpected end"},
            "llama3.1 did not decide about tools: error parsing tool call: raw='{', err=unexpected end",
        ),
        (
            {"tool_calls": ({"name": "set_rag_scope", "arguments": "not an object"},)},
            "llama3.1 called a tool in a way that cannot be read.",
        ),
    ],
)
def test_a_failure_of_the_tools_only_leaves_the_model_available(
    chat: OllamaChat, ollama_server: OllamaServer, faults: dict[str, Any], message: str
) -> None:
    calls = faults.pop("tool_calls", ())
    ollama_server.decide(*calls, **faults)
    with pytest.raises(ProviderError) as caught:
        decide(chat)
    assert (str(caught.value), type(caught.value)) == (message, ProviderError)
    assert decide(chat) == ToolDecision(text="READ")


def test_a_server_that_is_away_or_has_no_such_model_is_unavailable(ollama_server: OllamaServer) -> None:
    with pytest.raises(ProviderUnavailableError, match="get it with `ollama pull qwen3`"):
        decide(OllamaChat(ollama_server.url, "qwen3"))
    ollama_server.stop()
    with pytest.raises(ProviderUnavailableError, match="Ollama does not answer at"):
        decide(OllamaChat(ollama_server.url, "llama3.1"))


def test_another_thread_may_end_a_decision_and_the_server_hears_of_it(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.decide(text="READ", first_delay=30)
    cuts: list[Callable[[], None]] = []
    ended: list[Exception] = []

    def ask() -> None:
        try:
            chat.call_tools(QUESTION, DEFINITIONS, stoppable=cuts.append)
        except ProviderError as error:
            ended.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    until = time.monotonic() + 10
    while not ollama_server.sent("/api/chat") and time.monotonic() < until:
        time.sleep(0.01)
    cuts[0]()
    thread.join(5)
    assert len(ended) == 1
    assert ollama_server.disconnected.wait(5)


# --- any LlamaIndex model --------------------------------------------------------------------


def test_any_model_that_can_call_functions_gets_the_same_tools() -> None:
    llm = CallingLLM(calls=[("set_rag_scope", {"project_id": None})], text="<think>hm</think> Setting it.")
    assert decide(LlamaIndexChat(llm)) == ToolDecision(
        (ToolCall("set_rag_scope", {"project_id": None}),), "Setting it."
    )
    assert llm.described == DEFINITIONS


def test_a_model_that_cannot_call_functions_decides_nothing() -> None:
    assert (
        decide(LlamaIndexChat(CallingLLM(able=False, fails=RuntimeError("never called")))) == ToolDecision()
    )
    assert decide(LlamaIndexChat(ScriptedLLM())) == ToolDecision()
    assert decide(LlamaIndexChat(CallingLLM(fails=NotImplementedError()))) == ToolDecision()


def test_a_vendors_error_is_one_line_and_does_not_mean_that_the_model_is_away() -> None:
    with pytest.raises(ProviderError) as caught:
        decide(LlamaIndexChat(CallingLLM(fails=RuntimeError("quota\nexceeded"))))
    assert type(caught.value) is ProviderError
    assert str(caught.value) == "llama-index/caller did not decide about tools: quota exceeded"


def test_the_fake_decides_what_it_was_told_and_then_nothing_more() -> None:
    fake = FakeChat(decisions=[ToolDecision((ToolCall("a", {}),)), ProviderError("stumbled")])
    assert fake.call_tools(QUESTION, DEFINITIONS) == ToolDecision((ToolCall("a", {}),))
    with pytest.raises(ProviderError, match="stumbled"):
        fake.call_tools(QUESTION, DEFINITIONS)
    assert fake.call_tools(QUESTION, DEFINITIONS) == ToolDecision()
    assert (fake.offered, fake.received) == ([QUESTION] * 3, [])

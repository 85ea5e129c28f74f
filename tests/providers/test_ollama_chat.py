from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from tests.ollama_server import CHAT_MODEL, OllamaServer
from workbench.errors import ProviderError, ProviderUnavailableError
from workbench.interfaces import ChatMessage, ChatUsage
from workbench.providers.answer_stream import AnswerStream
from workbench.providers.ollama_chat import ANSWER_TIMEOUT, OllamaChat

QUESTION = (ChatMessage("system", "Rules."), ChatMessage("user", "What does p53 bind?"))


@pytest.fixture
def chat(ollama_server: OllamaServer) -> OllamaChat:
    return OllamaChat(ollama_server.url, "llama3.1", context_window=6000)


def test_a_request_carries_the_messages_window_and_keep_alive_the_same_each_time(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply("yes")
    ollama_server.reply("no")
    list(chat.stream(QUESTION))
    list(chat.stream(QUESTION[1:]))
    first, second = ollama_server.sent("/api/chat")
    assert first["messages"] == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "What does p53 bind?"},
    ]
    assert first["model"] == "llama3.1"
    assert first["stream"] is True
    assert first["options"] == {"temperature": 0.0, "num_ctx": 6000, "num_predict": 6000}
    assert first["keep_alive"] == "15m"
    assert {**first, "messages": []} == {**second, "messages": []}


def test_the_model_is_asked_for_its_answer_and_nothing_else(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply("yes")
    list(chat.stream(QUESTION))
    assert [request.path for request in ollama_server.requests] == ["/api/chat"]


def test_the_server_says_how_much_of_the_prompt_it_read(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply("yes", prompt_tokens=4096)
    ollama_server.reply("yes", report_prompt=False)
    ollama_server.reply("yes", prompt_tokens=7, done_reason="length")
    assert list(chat.stream(QUESTION))[-1] == ChatUsage(4096)
    assert list(chat.stream(QUESTION))[-1] == ChatUsage(None)
    assert list(chat.stream(QUESTION))[-1] == ChatUsage(7, answer_cut=True)


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_stream_cut_into_odd_slices_is_read_whole(
    chat: OllamaChat, ollama_server: OllamaServer, size: int
) -> None:
    ollama_server.reply("α-Synuclein ", "蛋白质 ", "🚀 [1", "].", slice_bytes=size)
    assert list(chat.stream(QUESTION))[:-1] == ["α-Synuclein ", "蛋白质 ", "🚀 [1", "]."]


def test_thinking_never_reaches_the_answer(chat: OllamaChat, ollama_server: OllamaServer) -> None:
    ollama_server.reply("It binds [1].", thinking=("Perhaps ", "[3]."))
    ollama_server.reply("<thi", "nk>Perhaps [3].</thi", "nk>\n\nIt ", "binds [1].")
    assert list(chat.stream(QUESTION))[:-1] == ["It binds [1]."]
    assert list(chat.stream(QUESTION))[:-1] == ["It ", "binds [1]."]


def test_thinking_that_never_ends_is_an_answer_with_nothing(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply("<think>Perhaps [3].", " Or [4].")
    ollama_server.reply(thinking=("Perhaps [3].",))
    for _ in range(2):
        with pytest.raises(ProviderError, match=r"ollama/llama3\.1 answered with nothing: ask again"):
            list(chat.stream(QUESTION))


def test_reasoning_without_an_opening_tag_is_an_error_once_and_hidden_from_then_on(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    for _ in range(3):
        ollama_server.reply("Perhaps [3]. ", "</think>", "It binds [1].")
    with pytest.raises(ProviderError, match="mixed its private reasoning into its answer: ask again"):
        list(chat.stream(QUESTION))
    assert list(chat.stream(QUESTION))[:-1] == ["It binds [1]."]
    assert list(chat.stream(QUESTION))[:-1] == ["It binds [1]."]


def test_a_model_that_stops_reasoning_so_is_read_rightly_again(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply("Perhaps [3]. </think>It binds [1].")
    for _ in range(2):
        ollama_server.reply("It binds [1].")
    for expected in ("mixed its private reasoning", "answered with nothing"):
        with pytest.raises(ProviderError, match=expected):
            list(chat.stream(QUESTION))
    assert list(chat.stream(QUESTION))[:-1] == ["It binds [1]."]


def test_a_tool_call_nobody_asked_for_is_an_answer_with_nothing(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply("", tool_calls=[{"name": "search_projects", "arguments": {"query": "p53"}}])
    with pytest.raises(ProviderError, match="answered with nothing"):
        list(chat.stream(QUESTION))


# --- failures -------------------------------------------------------------------------------


def reason(stream: Iterator[str | ChatUsage]) -> str:
    """The error before the first piece."""
    with pytest.raises(ProviderUnavailableError) as raised:
        next(stream)
    return str(raised.value)


def test_a_server_that_is_down_says_how_to_start_it(chat: OllamaChat, ollama_server: OllamaServer) -> None:
    ollama_server.stop()
    url = ollama_server.url
    assert reason(chat.stream(QUESTION)) == (
        f"Ollama does not answer at {url}: start Ollama with `ollama serve`, or correct OLLAMA_HOST."
    )


def test_a_model_that_is_not_pulled_says_how_to_get_it(ollama_server: OllamaServer) -> None:
    chat = OllamaChat(ollama_server.url, "qwen3:4b")
    assert (
        reason(chat.stream(QUESTION)) == "Ollama has no model qwen3:4b: get it with `ollama pull qwen3:4b`."
    )


def test_a_host_that_is_no_address_is_said_to_be_none() -> None:
    chat = OllamaChat("http://[bad", "llama3.1")
    assert "OLLAMA_HOST='http://[bad' is not an address" in reason(chat.stream(QUESTION))


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (500, "llama runner\n process has terminated", "(llama runner process has terminated)"),
        (500, "model requires more system memory (9.1 GiB)", "Lower WORKBENCH_CONTEXT_WINDOW (num_ctx)"),
        (400, '"nomic" does not support chat', "set WORKBENCH_CHAT_MODEL to a chat model"),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(
    chat: OllamaChat, ollama_server: OllamaServer, status: int, error: str, expected: str
) -> None:
    ollama_server.reply("never", status=status, error=error)
    said = reason(chat.stream(QUESTION))
    assert expected in said
    assert "\n" not in said


def test_silence_is_borne_for_as_long_as_allowed(ollama_server: OllamaServer) -> None:
    ollama_server.reply("slow but sure", first_delay=0.6)
    ollama_server.reply("too slow", first_delay=5)
    patient = OllamaChat(ollama_server.url, "llama3.1", timeout=5)
    assert list(patient.stream(QUESTION))[:-1] == ["slow but sure"]
    impatient = OllamaChat(ollama_server.url, "llama3.1", timeout=1.0)
    assert "did not answer in time; llama3.1 may still be loading" in reason(impatient.stream(QUESTION))
    assert ANSWER_TIMEOUT >= 300  # a large model loads for minutes


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"drop_after": 2}, "Ollama broke off in the middle of its answer. Ask again."),
        ({"done": False}, "Ollama broke off in the middle of its answer. Ask again."),
        (
            {"error_after": 2, "error": "cuda\nout of memory"},
            "Ollama broke off in the middle of its answer: cuda out of memory. Ask again.",
        ),
    ],
)
def test_an_answer_that_breaks_off_is_an_error_after_its_pieces(
    chat: OllamaChat, ollama_server: OllamaServer, fault: dict[str, object], expected: str
) -> None:
    ollama_server.reply("It ", "binds ", *(["more"] if fault.get("done", True) else []), **fault)
    stream = chat.stream(QUESTION)
    assert [next(stream), next(stream)] == ["It ", "binds "]
    with pytest.raises(ProviderError) as raised:
        next(stream)
    assert not isinstance(raised.value, ProviderUnavailableError)
    assert str(raised.value) == expected


# --- stopping -------------------------------------------------------------------------------


def test_the_server_sees_within_a_second_that_an_answer_was_closed(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply_endlessly()
    stream = chat.stream(QUESTION)
    next(stream)
    closed_at = time.monotonic()
    stream.close()
    assert ollama_server.disconnected.wait(1)
    assert ollama_server.disconnects[0] - closed_at < 1


def test_the_server_sees_within_a_second_that_an_answer_was_forgotten(
    chat: OllamaChat, ollama_server: OllamaServer
) -> None:
    ollama_server.reply_endlessly()
    stream = chat.stream(QUESTION)
    next(stream)
    del stream
    assert ollama_server.disconnected.wait(1)


def read_in_thread(stream: AnswerStream) -> tuple[threading.Thread, list[object]]:
    """A thread that reads the stream; the list gets its pieces, and the error if there is one."""
    got: list[object] = []

    def read() -> None:
        try:
            got.extend(stream)
        except ProviderError as error:
            got.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread, got


@pytest.mark.parametrize("already_streaming", [False, True])
def test_another_thread_may_stop_an_answer_that_is_being_waited_for(
    chat: OllamaChat, ollama_server: OllamaServer, already_streaming: bool
) -> None:
    pause = {"piece_delay": 30.0} if already_streaming else {"first_delay": 30.0}
    ollama_server.reply("first ", "second", **pause)
    stream = chat.stream(QUESTION)
    thread, got = read_in_thread(stream)
    deadline = time.monotonic() + 20  # the first use imports LlamaIndex
    while time.monotonic() < deadline and not (got if already_streaming else ollama_server.sent("/api/chat")):
        time.sleep(0.01)
    closed_at = time.monotonic()
    stream.close()
    thread.join(1)
    assert not thread.is_alive()
    assert ollama_server.disconnected.wait(1)
    assert time.monotonic() - closed_at < 1
    assert got == (["first "] if already_streaming else [])


def test_an_interrupt_while_waiting_hangs_up(chat: OllamaChat, ollama_server: OllamaServer) -> None:
    ollama_server.reply("first ", "second", piece_delay=30.0)
    stream = chat.stream(QUESTION)
    assert next(stream) == "first "
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    threading.Timer(0.2, signal.pthread_kill, (main_thread, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert ollama_server.disconnected.wait(1)
    assert list(stream) == []


def test_the_test_server_lists_the_default_model() -> None:
    assert OllamaServer().has("llama3.1")
    assert OllamaServer.full_name("llama3.1") == CHAT_MODEL

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.llms import MockLLM

from tests.ollama_server import OllamaServer
from tests.providers.tiny_onnx import write_model
from workbench.errors import InvalidInputError, ProviderUnavailableError, SettingsError
from workbench.interfaces import ChatMessage
from workbench.providers.choose import as_chat_model, choose_chat, choose_embedder
from workbench.providers.fake_chat import FakeChat
from workbench.providers.onnx_embedder import OnnxEmbedder
from workbench.settings import Settings

NOMIC = "ollama/nomic-embed-text [search_document: |search_query: ]"
MINILM = "all-MiniLM-L6-v2-int8@8199be6f699a"
QUESTION = (ChatMessage("user", "What does p53 bind?"),)


def settings_for(server: OllamaServer, **more: Any) -> Settings:
    return Settings.load(ollama_host=server.url, **more)


def chosen(settings: Settings, recorded: str | None = None) -> tuple[str | None, tuple[str, ...]]:
    embedder, warnings = choose_embedder(settings, recorded=recorded)
    return embedder.name if embedder else None, warnings


# --- embedders --------------------------------------------------------------------------------


def test_auto_takes_ollama_where_it_answers_and_has_the_model(ollama_server: OllamaServer) -> None:
    assert chosen(settings_for(ollama_server)) == (NOMIC, ())


def test_auto_takes_the_built_in_embedder_where_ollama_lacks_the_model(ollama_server: OllamaServer) -> None:
    ollama_server.models = {}
    assert chosen(settings_for(ollama_server)) == (MINILM, ())


def test_auto_takes_the_built_in_embedder_at_once_where_ollama_is_down(ollama_server: OllamaServer) -> None:
    ollama_server.stop()
    begun = time.monotonic()
    assert chosen(settings_for(ollama_server)) == (MINILM, ())
    assert time.monotonic() - begun < 0.8


def test_auto_waits_at_most_a_second_for_a_server_that_says_nothing(ollama_server: OllamaServer) -> None:
    ollama_server.slow = 5
    begun = time.monotonic()
    assert chosen(settings_for(ollama_server)) == (MINILM, ())
    assert time.monotonic() - begun < 2


def test_something_else_on_ollamas_port_is_no_ollama() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        settings = Settings.load(ollama_host=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        assert chosen(settings) == (MINILM, ())


def test_the_embedders_that_are_set_are_taken(ollama_server: OllamaServer, tmp_path: Path) -> None:
    folder = write_model(tmp_path, ["alpha"])
    assert chosen(settings_for(ollama_server, embedder="onnx")) == (MINILM, ())
    assert chosen(settings_for(ollama_server, embedder="fake")) == ("fake-words-64", ())
    assert chosen(settings_for(ollama_server, embedder="ollama")) == (NOMIC, ())
    assert chosen(settings_for(ollama_server, embedder=str(folder))) == (OnnxEmbedder(folder).name, ())


def test_a_set_embedder_that_cannot_be_had_is_an_error_that_says_what_to_do(
    ollama_server: OllamaServer, tmp_path: Path
) -> None:
    with pytest.raises(
        SettingsError, match="WORKBENCH_EMBEDDER='chroma': allowed are auto, onnx, ollama, fake"
    ):
        chosen(settings_for(ollama_server, embedder="chroma"))
    with pytest.raises(ProviderUnavailableError, match=r"must have one model\.onnx"):
        chosen(settings_for(ollama_server, embedder=str(tmp_path)))
    with pytest.raises(ProviderUnavailableError, match="`ollama pull bge-m3`"):
        chosen(settings_for(ollama_server, embedder="ollama", embed_model="bge-m3"))
    ollama_server.stop()
    with pytest.raises(ProviderUnavailableError, match="start Ollama with `ollama serve`"):
        chosen(settings_for(ollama_server, embedder="ollama"))


def test_the_embedder_a_library_was_indexed_with_wins(ollama_server: OllamaServer, tmp_path: Path) -> None:
    folder = write_model(tmp_path, ["alpha"])
    own = OnnxEmbedder(folder).name
    assert chosen(settings_for(ollama_server), MINILM) == (MINILM, ())
    assert chosen(settings_for(ollama_server), NOMIC) == (NOMIC, ())
    assert chosen(settings_for(ollama_server), "fake-words-16") == ("fake-words-16", ())
    assert chosen(settings_for(ollama_server, embedder=str(folder)), own) == (own, ())
    assert chosen(settings_for(ollama_server, embed_model="bge-m3"), NOMIC) == (NOMIC, ())
    name, warnings = chosen(settings_for(ollama_server, embedder="ollama"), MINILM)
    assert name == MINILM
    assert warnings == (
        f"This library was indexed with {MINILM}, which is used although WORKBENCH_EMBEDDER is ollama."
        " Reprocess its papers to change that.",
    )


@pytest.mark.parametrize("setting", ["auto", "ollama", "onnx"])
def test_without_the_recorded_embedder_search_is_by_keywords_and_never_with_another(
    ollama_server: OllamaServer, setting: str
) -> None:
    settings = settings_for(ollama_server, embedder=setting)
    ollama_server.models = {}
    assert chosen(settings, NOMIC) == (
        None,
        (
            f"Searching by keywords only: this library was indexed with {NOMIC}."
            " Ollama has no model nomic-embed-text: get it with `ollama pull nomic-embed-text`.",
        ),
    )
    ollama_server.stop()
    name, (warning,) = chosen(settings, NOMIC)
    assert name is None
    assert "start Ollama with `ollama serve`" in warning


@pytest.mark.parametrize(
    ("recorded", "advice"),
    [
        ("my-model@0123456789ab", "Set WORKBENCH_EMBEDDER to the folder of that model"),
        ("all-MiniLM-L6-v2-int8@000000000000", "Set WORKBENCH_EMBEDDER to the folder of that model"),
        ("ollama/nomic-embed-text", "reprocess the papers with another"),  # made without prefixes
        ("fake-words-99999999", "reprocess the papers with another"),
        ("from the future", "reprocess the papers with another"),
    ],
)
def test_a_recorded_embedder_nobody_knows_leaves_keywords(
    ollama_server: OllamaServer, tmp_path: Path, recorded: str, advice: str
) -> None:
    folder = write_model(tmp_path, ["alpha"])
    for setting in ("auto", str(folder)):
        name, (warning,) = chosen(settings_for(ollama_server, embedder=setting), recorded)
        assert name is None
        assert warning.startswith(f"Searching by keywords only: this library was indexed with {recorded}.")
        assert advice in warning


# --- chat models ------------------------------------------------------------------------------


def test_auto_takes_ollamas_chat_model_with_the_window_that_is_set(ollama_server: OllamaServer) -> None:
    model, warnings = choose_chat(settings_for(ollama_server, context_window=6000), project=False)
    assert model is not None
    assert (model.name, model.context_window, warnings) == ("ollama/llama3.1", 6000, ())
    assert choose_chat(settings_for(ollama_server, context_window=6000), project=False)[0] is model


def test_the_window_is_never_larger_than_the_models_own(ollama_server: OllamaServer) -> None:
    ollama_server.context_length = 2048
    model, _ = choose_chat(settings_for(ollama_server), project=False)
    assert model is not None
    assert model.context_window == 2048


def test_a_project_has_its_own_chat_model_where_one_is_set(ollama_server: OllamaServer) -> None:
    ollama_server.models["qwen3:4b"] = ("completion", "thinking")
    settings = settings_for(ollama_server, project_chat_model="qwen3:4b")
    names = [choose_chat(settings, project=project)[0].name for project in (True, False)]  # type: ignore[union-attr]
    assert names == ["ollama/qwen3:4b", "ollama/llama3.1"]
    only_general = settings_for(ollama_server, chat_model="qwen3:4b")
    assert choose_chat(only_general, project=True)[0].name == "ollama/qwen3:4b"  # type: ignore[union-attr]


def test_extractive_asks_no_server(ollama_server: OllamaServer) -> None:
    assert choose_chat(settings_for(ollama_server, chat="extractive"), project=False) == (None, ())
    assert ollama_server.requests == []


def test_auto_without_a_chat_model_answers_in_the_papers_words_and_says_why(
    ollama_server: OllamaServer,
) -> None:
    begin = "No chat model, so answers are the papers' own sentences. "
    settings = settings_for(ollama_server, chat_model="qwen3")
    assert choose_chat(settings, project=False) == (
        None,
        (f"{begin}Ollama has no model qwen3: get it with `ollama pull qwen3`.",),
    )
    settings = settings_for(ollama_server, chat_model="nomic-embed-text")
    assert choose_chat(settings, project=False) == (
        None,
        (f"{begin}nomic-embed-text cannot chat: set WORKBENCH_CHAT_MODEL to a chat model.",),
    )
    ollama_server.stop()
    model, (warning,) = choose_chat(settings, project=False)
    assert model is None
    assert warning.startswith(f"{begin}Ollama does not answer at {ollama_server.url}: start Ollama")


def test_ollama_that_was_asked_for_and_cannot_be_had_is_an_error(ollama_server: OllamaServer) -> None:
    ollama_server.models = {}
    with pytest.raises(ProviderUnavailableError, match=r"`ollama pull llama3\.1`"):
        choose_chat(settings_for(ollama_server, chat="ollama"), project=False)
    ollama_server.stop()
    with pytest.raises(ProviderUnavailableError, match="start Ollama with `ollama serve`"):
        choose_chat(settings_for(ollama_server, chat="ollama"), project=False)


def test_a_host_that_is_no_address_is_an_error_that_names_the_variable() -> None:
    with pytest.raises(ProviderUnavailableError, match=r"OLLAMA_HOST='http://\[bad' is not an address"):
        choose_chat(Settings.load().model_copy(update={"ollama_host": "http://[bad"}), project=False)


def test_a_servers_own_listening_address_is_called_on_this_computer(ollama_server: OllamaServer) -> None:
    for host in (f"0.0.0.0:{ollama_server.port}", f"localhost:{ollama_server.port}"):
        model, warnings = choose_chat(Settings.load(ollama_host=host), project=False)
        assert model is not None
        assert warnings == ()
        assert list(model.stream(QUESTION))


def test_a_proxy_in_the_environment_is_not_asked_for_this_computer(
    ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert choose_chat(settings_for(ollama_server), project=False)[0] is not None


def test_models_that_are_passed_in_are_taken_as_they_are_or_wrapped() -> None:
    fake = FakeChat("yes")
    assert as_chat_model(fake) is fake
    wrapped = as_chat_model(MockLLM())
    assert wrapped.name == "llama-index/MockLLM"
    assert "".join(piece for piece in wrapped.stream(QUESTION) if isinstance(piece, str))
    with pytest.raises(InvalidInputError, match="A str is no chat model: pass a LlamaIndex LLM"):
        as_chat_model("gpt-9")


def test_nothing_outside_this_computer_is_called_and_nothing_heavy_is_imported_before_it_is_needed() -> None:
    script = """
import socket, sys
real = socket.socket.connect
def connect(self, address):
    assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), address
    return real(self, address)
socket.socket.connect = connect
from workbench.providers.choose import choose_chat, choose_embedder
heavy = {"numpy", "onnxruntime", "tokenizers", "llama_index", "llama_index.core", "ollama", "httpx"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
from tests.ollama_server import OllamaServer
from workbench.interfaces import ChatMessage
from workbench.settings import Settings
server = OllamaServer().start()
settings = Settings.load(ollama_host=server.url)
embedder, _ = choose_embedder(settings, recorded=None)
embedder.embed_documents(["p53"])
model, _ = choose_chat(settings, project=False)
assert list(model.stream([ChatMessage("user", "p53?")]))
server.stop()
embedder, _ = choose_embedder(settings, recorded=None)
embedder.embed_query("p53")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=Path.cwd())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

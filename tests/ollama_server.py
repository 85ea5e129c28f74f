"""A local HTTP server that speaks Ollama's API, well or badly on demand.

In a test, use the fixture ``ollama_server``::

    ollama_server.reply("It binds ", "DNA [1].")              # the next chat answer
    ollama_server.reply("It binds ", drop_after=1)            # cut off after one piece
    assert ollama_server.sent("/api/chat")[0]["options"]["num_ctx"] == 8192

By hand: ``python tests/ollama_server.py --port 11434``, then run the workbench as usual.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from workbench.providers.fake_embedder import FakeEmbedder

CHAT_MODEL = "llama3.1:latest"
EMBED_MODEL = "nomic-embed-text:latest"
CREATED = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class ChatReply:
    """One answer of ``/api/chat`` and the ways in which it goes wrong. Delays are seconds."""

    pieces: Iterable[str] = ()
    thinking: Sequence[str] = ()  # sent in the message's own field, before the pieces
    tool_calls: Sequence[dict[str, Any]] = ()  # [{"name": …, "arguments": {…}}], sent after the pieces
    first_delay: float = 0.0  # before the response's first byte, as while a model loads
    piece_delay: float = 0.0
    status: int = 200  # other than 200: refused with ``error`` before the stream begins
    error: str = "llama runner process has terminated"
    error_after: int | None = None  # an error line after so many pieces
    drop_after: int | None = None  # the connection is cut after so many pieces
    done: bool = True  # False: the stream ends properly, but without its last line
    done_reason: str = "stop"
    report_prompt: bool = True  # False: no prompt_eval_count
    prompt_tokens: int | None = None  # None: about 4 characters a token, at most num_ctx
    slice_bytes: int | None = None  # slices of so many bytes, across lines and characters


@dataclass(frozen=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    body: dict[str, Any]


@dataclass
class EmbedFaults:
    """The ways in which ``/api/embed`` goes wrong."""

    nan_word: str | None = None  # a batch with this word fails with Ollama's own message about NaN
    nan_in_reply: str | None = None  # a text with this word gets a vector of NaN, with status 200
    max_inputs: int | None = None  # more inputs than this are refused
    cut_silently: bool = False  # too long a text is cut, with status 200, whatever was asked
    lost_vectors: int = 0  # so many vectors are missing from the end of each reply
    status: int = 200  # other than 200: refused
    delay: float = 0.0


Answer = Callable[[list[dict[str, Any]]], "ChatReply | str"]


@dataclass
class OllamaServer:
    """State that tests read and set. ``requests`` holds what arrived, ``disconnects`` when clients left."""

    models: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {CHAT_MODEL: ("completion", "tools"), EMBED_MODEL: ("embedding",)}
    )
    context_length: int = 131_072  # of chat models
    embed_context: int = 2048
    embed_dimension: int = 768
    embed_faults: EmbedFaults = field(default_factory=EmbedFaults)
    slow: float = 0.0  # before every answer of /api/tags and /api/version
    answer: Answer = field(default_factory=lambda: cite_first_passage)
    replies: deque[ChatReply] = field(default_factory=deque)
    decisions: deque[ChatReply] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)
    disconnects: list[float] = field(default_factory=list)
    disconnected: threading.Event = field(default_factory=threading.Event)
    streaming: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    _http: _HttpServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> OllamaServer:
        """Listens on 127.0.0.1; after ``stop`` on the same port again."""
        server = self

        class Handler(_Handler):
            ollama = server

        self._http = _HttpServer(("127.0.0.1", self.port), Handler)
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Connections are cut, and refused from now on, as when Ollama is not running."""
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http.cut_connections()
            self._http = None

    def reply(self, *pieces: str, **faults: Any) -> None:
        """Queues the next chat answer; see ``ChatReply`` for the faults."""
        self.replies.append(ChatReply(pieces, **faults))

    def decide(self, *tool_calls: dict[str, Any], text: str = "", **faults: Any) -> None:
        """Queues what becomes of the next request that offers tools; without one it is the word READ."""
        self.decisions.append(ChatReply((text,), tool_calls=tool_calls, **faults))

    def reply_endlessly(self, piece: str = "and so on ", *, piece_delay: float = 0.02, **faults: Any) -> None:
        """Queues an answer that goes on until the client hangs up; ``disconnected`` is set when it does."""
        self.replies.append(ChatReply(_forever(piece), piece_delay=piece_delay, **faults))

    def sent(self, path: str) -> list[dict[str, Any]]:
        """Bodies of the requests to ``path``, in order."""
        return [request.body for request in self.requests if request.path == path]

    def has(self, model: str) -> bool:
        return self.full_name(model) in self.models

    @staticmethod
    def full_name(model: str) -> str:
        return model if ":" in model.rsplit("/", 1)[-1] else f"{model}:latest"

    def next_reply(self, messages: list[dict[str, Any]], *, tools: bool) -> ChatReply:
        if tools:
            return self.decisions.popleft() if self.decisions else ChatReply(("READ",))
        if self.replies:
            return self.replies.popleft()
        reply = self.answer(messages)
        return ChatReply(re.findall(r"\S+\s*", reply), piece_delay=0.01) if isinstance(reply, str) else reply

    def left(self) -> None:
        self.disconnects.append(time.monotonic())
        self.disconnected.set()


def _forever(piece: str) -> Iterator[str]:
    while True:
        yield piece


def cite_first_passage(messages: list[dict[str, Any]]) -> str:
    """The answer when none is queued: the first sentence of the prompt's first passage, with its number."""
    prompt = messages[-1]["content"] if messages else ""
    found = re.search(r"\[(\d+)\][^\n]*\n<<<\n(.+?[.!?])(?:\s|$)", prompt, re.DOTALL)
    return f"{' '.join(found[2].split())} [{found[1]}]" if found else "The test server has nothing to say."


class _GoneError(Exception):
    """The client hung up."""


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.connections: set[socket.socket] = set()

    def cut_connections(self) -> None:
        for connection in tuple(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Quiet: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    ollama: OllamaServer
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)  # type: ignore[attr-defined]  # always an _HttpServer

    def finish(self) -> None:
        self.server.connections.discard(self.connection)  # type: ignore[attr-defined]
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        self._record({})
        with contextlib.suppress(_GoneError):
            self._wait(self.ollama.slow)
            self._get()

    def _get(self) -> None:
        if self.path == "/api/version":
            self._send(200, {"version": "0.12.6"})
        elif self.path == "/api/tags":
            self._send(200, {"models": [self._model(name) for name in self.ollama.models]})
        elif self.path == "/api/ps":
            self._send(200, {"models": []})
        else:
            self._send(404, {"error": "404 page not found"})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        self._record(body)
        routes = {"/api/show": self._show, "/api/chat": self._chat, "/api/embed": self._embed}
        route = routes.get(self.path)
        if route is None:
            self._send(404, {"error": "404 page not found"})
        elif not self.ollama.has(str(body.get("model"))):
            self._send(404, {"error": f"model '{body.get('model')}' not found"})
        else:
            with contextlib.suppress(_GoneError):
                route(body)

    def _record(self, body: dict[str, Any]) -> None:
        self.ollama.requests.append(Request(self.command, self.path, body))

    def _model(self, name: str) -> dict[str, Any]:
        details = {"format": "gguf", "family": "llama", "parameter_size": "8B", "quantization_level": "Q4_0"}
        return {
            "name": name,
            "model": name,
            "modified_at": CREATED,
            "size": 1,
            "digest": "0",
            "details": details,
        }

    def _show(self, body: dict[str, Any]) -> None:
        capabilities = self.ollama.models[self.ollama.full_name(body["model"])]
        embeds = "embedding" in capabilities
        architecture = "nomic-bert" if embeds else "llama"
        info = {
            "general.architecture": architecture,
            f"{architecture}.context_length": self.ollama.embed_context
            if embeds
            else self.ollama.context_length,
            f"{architecture}.embedding_length": self.ollama.embed_dimension if embeds else 4096,
        }
        self._send(200, {"details": {}, "model_info": info, "capabilities": list(capabilities)})

    # --- chat --------------------------------------------------------------------------------

    def _chat(self, body: dict[str, Any]) -> None:
        capabilities = self.ollama.models[self.ollama.full_name(body["model"])]
        tools = bool(body.get("tools"))
        if "completion" not in capabilities:
            self._send(400, {"error": f'"{body["model"]}" does not support chat'})
            return
        if tools and "tools" not in capabilities:
            self._send(400, {"error": f"{body['model']} does not support tools"})
            return
        reply = self.ollama.next_reply(body.get("messages", []), tools=tools)
        self._wait(reply.first_delay)
        if reply.status != 200:
            self._send(reply.status, {"error": reply.error})
        elif not body.get("stream", True):
            message = {"role": "assistant", "content": "".join(reply.pieces), "tool_calls": _calls(reply)}
            self._send(200, {"model": body["model"], "message": message, **self._ending(reply, body)})
        else:
            self._begin_stream()
            self._stream(reply, body)

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.ollama.streaming.set()

    def _stream(self, reply: ChatReply, body: dict[str, Any]) -> None:
        lines = self._lines(reply, body)
        if reply.slice_bytes is None:
            for line in lines:
                self._write_chunk(line)
        else:
            whole = b"".join(lines)
            for start in range(0, len(whole), reply.slice_bytes):
                self._write_chunk(whole[start : start + reply.slice_bytes])
        if reply.drop_after is not None:
            self._cut()
        else:
            self.wfile.write(b"0\r\n\r\n")

    def _lines(self, reply: ChatReply, body: dict[str, Any]) -> Iterator[bytes]:
        for text in reply.thinking:
            yield self._line(body, {"role": "assistant", "content": "", "thinking": text})
        for number, piece in enumerate(reply.pieces):
            if number == reply.error_after:
                yield json.dumps({"error": reply.error}).encode() + b"\n"
                return
            if number == reply.drop_after:
                return
            yield self._line(body, {"role": "assistant", "content": piece})
            self._wait(reply.piece_delay)
        if reply.tool_calls:
            yield self._line(body, {"role": "assistant", "content": "", "tool_calls": _calls(reply)})
        if reply.done and reply.drop_after is None:
            yield self._line(body, {"role": "assistant", "content": ""}, **self._ending(reply, body))

    def _line(self, body: dict[str, Any], message: dict[str, Any], **more: Any) -> bytes:
        line = {"model": body["model"], "created_at": CREATED, "message": message, "done": False, **more}
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def _ending(self, reply: ChatReply, body: dict[str, Any]) -> dict[str, Any]:
        ending: dict[str, Any] = {"done": True, "done_reason": reply.done_reason, "eval_count": 1}
        if reply.report_prompt:
            said = sum(len(message.get("content", "")) for message in body.get("messages", []))
            window = body.get("options", {}).get("num_ctx", 4096)
            ending["prompt_eval_count"] = reply.prompt_tokens or min(said // 4 + 8, window)
        return ending

    # --- embeddings --------------------------------------------------------------------------

    def _embed(self, body: dict[str, Any]) -> None:
        faults = self.ollama.embed_faults
        given = body.get("input", [])
        texts = [given] if isinstance(given, str) else list(given)
        self._wait(faults.delay)
        problem = self._embed_problem(texts, faults)
        if problem is not None:
            self._send(problem[0], {"error": problem[1]})
            return
        limit = self.ollama.embed_context
        embedder = FakeEmbedder(self.ollama.embed_dimension, max_tokens=limit + 2)
        cut = [_first_tokens(text, embedder, limit) for text in texts]
        vectors = [row.tolist() for row in embedder.embed_documents(cut)]
        for number, text in enumerate(texts):
            if faults.nan_in_reply and faults.nan_in_reply in text:
                vectors[number] = [float("nan")] * self.ollama.embed_dimension
        read = sum(len(embedder.token_spans(text)) + 2 for text in cut)
        kept = vectors[: len(vectors) - faults.lost_vectors]
        self._send(200, {"model": body["model"], "embeddings": kept, "prompt_eval_count": read})

    def _embed_problem(self, texts: list[str], faults: EmbedFaults) -> tuple[int, str] | None:
        counter = FakeEmbedder(8)
        if faults.status != 200:
            return faults.status, "embedding failed"
        if faults.max_inputs is not None and len(texts) > faults.max_inputs:
            return 400, f"at most {faults.max_inputs} inputs"
        if faults.nan_word and any(faults.nan_word in text for text in texts):
            return 500, "failed to encode response: json: unsupported value: NaN"
        too_long = any(len(counter.token_spans(text)) > self.ollama.embed_context for text in texts)
        if too_long and not faults.cut_silently:
            return 400, "the input length exceeds the context length"
        return None

    # --- the wire ----------------------------------------------------------------------------

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            self.ollama.left()

    def _write_chunk(self, data: bytes) -> None:
        if self._gone():
            self.ollama.left()
            raise _GoneError
        try:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        except OSError as error:
            self.ollama.left()
            raise _GoneError from error

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._gone():
                self.ollama.left()
                self.close_connection = True
                raise _GoneError
            time.sleep(min(left, 0.02))

    def _gone(self) -> bool:
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def _cut(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _first_tokens(text: str, embedder: FakeEmbedder, limit: int) -> str:
    spans = embedder.token_spans(text)
    return text if len(spans) <= limit else text[: spans[limit - 1][1]]


def _calls(reply: ChatReply) -> list[dict[str, Any]]:
    return [{"function": dict(call)} for call in reply.tool_calls]


@pytest.fixture
def ollama_server() -> Iterator[OllamaServer]:
    """A fresh server with one chat model and one embedding model; it stops after the test."""
    server = OllamaServer().start()
    yield server
    server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=11434)
    server = OllamaServer(port=parser.parse_args().port).start()
    print(f"Ollama's API on {server.url}, models: {', '.join(server.models)}. Ctrl+C stops it.")
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    server.stop()


if __name__ == "__main__":
    main()

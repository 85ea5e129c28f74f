"""A small reverse proxy, as an institute puts before its notebooks: paths lead to servers, websockets too."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

_OF_ONE_CONNECTION = {"connection", "content-length", "content-encoding", "transfer-encoding", "upgrade"}
_LARGEST = 100 * 1024 * 1024


@contextmanager
def reverse_proxy(servers: Mapping[str, str]) -> Iterator[str]:
    """The proxy's address. ``servers`` are the addresses behind it (``http://127.0.0.1:8866``), each by the
    path that leads there; the path stays as it is, so the server's ``base_url`` is that path."""
    loop = asyncio.new_event_loop()
    [socket] = bind_sockets(0, "127.0.0.1")
    started = threading.Event()

    def run() -> None:
        asyncio.set_event_loop(loop)
        routes = [(f"{path}.*", Forward, {"server": server}) for path, server in servers.items()]
        serving = HTTPServer(Application(routes, websocket_max_message_size=_LARGEST))
        serving.add_socket(socket)
        loop.call_soon(started.set)
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


class Forward(WebSocketHandler):
    """Hands one request, or one websocket, to the server behind, with the host that the browser asked."""

    behind: WebSocketClientConnection | None = None

    def initialize(self, server: str) -> None:
        self.server = server

    def check_origin(self, origin: str) -> bool:
        return True  # the server behind checks it, against the host that it is given

    async def get(self, *_: Any, **__: Any) -> None:
        if self.request.headers.get("Upgrade", "").lower() == "websocket":
            address = self.server.replace("http", "ws", 1) + self.request.uri
            asked = HTTPRequest(address, headers=self._passed_on())
            try:
                self.behind = await websocket_connect(
                    asked, max_message_size=_LARGEST, subprotocols=self._subprotocols()
                )
            except HTTPClientError as refused:
                self.set_status(refused.code)
                await self.finish()
                return
            await super().get()
        else:
            await self._forward()

    async def post(self, *_: Any) -> None:
        await self._forward()

    put = delete = patch = head = options = post

    def _subprotocols(self) -> list[str]:
        named = self.request.headers.get("Sec-WebSocket-Protocol", "")
        return [name.strip() for name in named.split(",") if name.strip()]

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return self.behind.selected_subprotocol if self.behind is not None else None

    async def _forward(self) -> None:
        asked = HTTPRequest(
            self.server + (self.request.uri or ""),
            method=self.request.method or "GET",
            headers=self._passed_on(),
            body=self.request.body or None,
            follow_redirects=False,
            allow_nonstandard_methods=True,
            request_timeout=120,
        )
        reply = await AsyncHTTPClient().fetch(asked, raise_error=False)
        self.set_status(reply.code)
        self.clear_header("Content-Type")
        for name, value in reply.headers.get_all():
            if name.lower() not in _OF_ONE_CONNECTION:
                self.add_header(name, value)
        if reply.body:
            self.write(reply.body)
        await self.finish()

    def _passed_on(self) -> dict[str, str]:
        return {
            name: value
            for name, value in self.request.headers.items()
            if name.lower() not in _OF_ONE_CONNECTION and not name.lower().startswith("sec-websocket")
        }

    async def open(self, *_: Any, **__: Any) -> None:
        self.bringing = asyncio.ensure_future(self._bring_back())

    async def _bring_back(self) -> None:
        assert self.behind is not None
        with contextlib.suppress(WebSocketClosedError):  # the browser has gone meanwhile
            while (message := await self.behind.read_message()) is not None:
                await self.write_message(message, binary=isinstance(message, bytes))
        self.close()

    async def on_message(self, message: str | bytes) -> None:
        assert self.behind is not None
        await self.behind.write_message(message, binary=isinstance(message, bytes))

    def on_close(self) -> None:
        if self.behind is not None:
            self.behind.close()

"""A server is ended while a chat model is slow: it ends soon, with its kernels, and the question is kept."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Browser, expect
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

import workbench
from tests.browser.conftest import Served, serve, serve_verb
from tests.mineral_papers import minerals
from tests.ollama_server import OllamaServer
from workbench import Settings, Workbench

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "What is the melting point of arvenite?"
TOKEN = "a-token-for-tests"
ENDS_WITHIN = 40.0
"""Seconds: the kernels are given twelve, and the machine may be busy."""

expect.set_options(timeout=40_000)


def opened(library: Path) -> Workbench:
    settings = Settings.load(library=library, user="ada", embedder="fake", chat="extractive")
    return workbench.open(settings=settings)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a library in which one paper is."""
    folder = tmp_path / "library"
    folder.mkdir()
    with opened(folder / "library.duckdb") as wb:
        wb.papers.add(minerals(1)[0].write(tmp_path))
    return tmp_path


@pytest.fixture
def slow(ollama: OllamaServer) -> OllamaServer:
    """A chat model that would begin its answer in five minutes."""
    ollama.replies.clear()
    ollama.reply("The melting point", first_delay=300)
    return ollama


def wait_until_asked(slow: OllamaServer) -> None:
    deadline = time.monotonic() + 60
    while slow.replies and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not slow.replies, "the chat model was not asked"


def end(served: Served, *signals: signal.Signals) -> None:
    """Sends the signals and checks that neither the server nor a process of its is there soon after."""
    family = psutil.Process(served.process.pid).children(recursive=True)
    assert family, "no kernel runs"
    for each in signals:
        served.process.send_signal(each)
    served.process.wait(ENDS_WITHIN)
    _, alive = psutil.wait_procs(family, timeout=10)
    assert [" ".join(process.cmdline()) for process in alive] == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_dashboard_that_is_ended_while_it_answers_takes_its_kernels_along(
    browser: Browser, home: Path, slow: OllamaServer, how: signal.Signals
) -> None:
    with serve(home, slow) as served:
        page = browser.new_page()
        page.goto(served.url)
        box = page.get_by_label("Question", exact=True)
        box.fill(QUESTION)
        box.press("Enter")
        expect(page.locator(".wb-turn")).to_have_count(1)
        wait_until_asked(slow)
        end(served, how)
        page.close()
        assert "Traceback" not in served.log.read_text("utf-8")
    with opened(served.library) as wb:
        (info,) = [info for info in wb.conversations.find("", None) if info.messages]
        assert [m.text for m in wb.conversations.get(info.id).messages if m.role == "user"] == [QUESTION]
        assert wb.doctor() == []


@pytest.mark.parametrize("how", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGINT)])
def test_a_notebook_server_that_is_ended_while_a_cell_waits_takes_its_kernels_along(
    home: Path, slow: OllamaServer, how: tuple[signal.Signals, ...]
) -> None:
    """JupyterLab asks back at the first Ctrl+C, and ends at the second."""
    with serve_verb(home, slow, "lab", token=TOKEN) as served:
        asking = f"import workbench\nworkbench.open().ask({QUESTION!r}, scope=workbench.Scope.ALL)"
        execute(urlsplit(served.url).netloc, asking)
        wait_until_asked(slow)
        end(served, *how)
    with opened(served.library) as wb:
        assert wb.doctor() == []


def execute(address: str, source: str) -> None:
    """Begins to run a cell in a new kernel."""
    authorised = {"Authorization": f"token {TOKEN}"}
    connection = HTTPConnection(address, timeout=60)
    connection.request("POST", "/api/kernels", headers=authorised)
    kernel = json.loads(connection.getresponse().read())["id"]
    content = {"code": source, "silent": False}
    header = {"msg_id": "1", "msg_type": "execute_request", "session": "1", "username": "", "version": "5.3"}
    message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}

    async def send() -> None:
        asked = HTTPRequest(f"ws://{address}/api/kernels/{kernel}/channels", headers=authorised)
        socket = await websocket_connect(asked)
        await socket.write_message(json.dumps(message))
        await socket.read_message()  # it is at work
        socket.close()

    with ThreadPoolExecutor() as pool:  # this thread's loop is Playwright's
        pool.submit(asyncio.run, send()).result()

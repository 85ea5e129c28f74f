"""A served dashboard over a real library, and a real Chromium that may talk to this machine only."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.ollama_server import OllamaServer
from widgets.launch import voila_command

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 40
CHECKOUT = Path(__file__).parents[2]


@dataclass
class Served:
    """A dashboard that runs. ``log`` is what its server wrote."""

    url: str
    library: Path
    ollama: OllamaServer
    process: subprocess.Popen[str]
    log: Path


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaServer]:
    """A chat server of this module's own, at an address its dashboard knows."""
    server = OllamaServer().start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Served]:
    """The dashboard of an empty library, started by the command that the CLI runs."""
    with serve(tmp_path_factory.mktemp("home"), ollama) as running:
        yield running


@contextmanager
def serve(home: Path, ollama: OllamaServer, *options: str) -> Iterator[Served]:
    """A dashboard over a new library in ``home``, with more options of the server's."""
    library, log = home / "library" / "library.duckdb", home / "server.log"
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "WORKBENCH_USER": "ada",
        "WORKBENCH_CHAT": "ollama",
        "WORKBENCH_EMBEDDER": "fake",
        "WORKBENCH_LOCK_TIMEOUT": "2",
        "OLLAMA_HOST": ollama.url,
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(CHECKOUT),
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            [*voila_command(library, port=_free_port(), open_browser=False), *options],
            env=environment,
            cwd=home,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        yield Served(_address(process, log), library, ollama, process, log)
    finally:
        process.terminate()
        process.wait(20)


def kernels(served: Served) -> list[int]:
    """Ids of the kernels that run; one that is just ending does not count."""
    found = []
    for child in psutil.Process(served.process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "ipykernel_launcher" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _address(process: subprocess.Popen[str], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"The dashboard is at (\S+)", log.read_text("utf-8"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"The dashboard did not start:\n{log.read_text('utf-8')}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()

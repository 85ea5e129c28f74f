"""A served dashboard over a real library, and a real Chromium that may talk to this machine only."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
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
START_SECONDS = 120
CHECKOUT = Path(__file__).parents[2]


@dataclass
class Served:
    """A dashboard that runs: a page of its own under Voila, or a notebook to be run in JupyterLab. ``log`` is
    what its server wrote."""

    url: str
    library: Path
    ollama: OllamaServer
    process: subprocess.Popen[str]
    log: Path
    in_lab: bool = False


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
def serve(
    home: Path, ollama: OllamaServer, *options: str, library: Path | None = None, **variables: str
) -> Iterator[Served]:
    """A dashboard over a library (default: a new one in ``home``), with more options of the server's and
    other variables of its environment."""
    library = library or home / "library" / "library.duckdb"
    command = [*voila_command(library, port=_free_port(), open_browser=False), *options]
    with _running(command, home, ollama, **variables) as (process, log):
        yield Served(_address(process, log, r"The dashboard is at (\S+)"), library, ollama, process, log)


@contextmanager
def serve_lab(
    home: Path, ollama: OllamaServer, *, path: str = "lab/tree/dashboard.ipynb", **variables: str
) -> Iterator[Served]:
    """JupyterLab with the dashboard's notebook, over a new library in ``home``; ``path`` is what to visit."""
    folder = home / "notebooks"
    folder.mkdir()
    shutil.copy(CHECKOUT / "notebooks" / "dashboard.ipynb", folder)
    port, token = _free_port(), "a-token-for-tests"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"),
        *(f"--IdentityProvider.token={token}", f"--notebook-dir={folder}"),
    ]
    with _running(command, home, ollama, **variables) as (process, log):
        _address(process, log, rf"(http://127\.0\.0\.1:{port})/lab")
        url = f"http://127.0.0.1:{port}/{path}?token={token}"
        library = home / "library" / "library.duckdb"
        yield Served(url, library, ollama, process, log, in_lab=path.startswith("lab/"))


@contextmanager
def serve_verb(home: Path, ollama: OllamaServer, verb: str, *, token: str) -> Iterator[Served]:
    """What ``workbench dashboard`` or ``workbench lab`` starts, over a new library in ``home``."""
    port = _free_port()
    command = [sys.executable, "-m", "workbench.cli", verb, "--no-browser", f"--port={port}"]
    with _running(command, home, ollama, JUPYTER_TOKEN=token) as (process, log):
        _address(process, log, rf"(http://127\.0\.0\.1:{port}/)")
        _wait_for(port)  # JupyterLab tells its address before it listens there
        url, library = f"http://127.0.0.1:{port}/?token={token}", home / "library" / "library.duckdb"
        yield Served(url, library, ollama, process, log)


@contextmanager
def _running(
    command: list[str], home: Path, ollama: OllamaServer, **variables: str
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    log = home / "server.log"
    environment = {
        **os.environ,
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "WORKBENCH_LIBRARY": str(home / "library" / "library.duckdb"),
        "WORKBENCH_USER": "ada",
        "WORKBENCH_CHAT": "ollama",
        "WORKBENCH_EMBEDDER": "fake",
        "WORKBENCH_LOCK_TIMEOUT": "2",
        "OLLAMA_HOST": ollama.url,
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(CHECKOUT),
        **variables,
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            command, env=environment, cwd=home, stdout=output, stderr=subprocess.STDOUT, text=True
        )
    try:
        yield process, log
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


def _address(process: subprocess.Popen[str], log: Path, told: str) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(told, log.read_text("utf-8"))
        if found:
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"The server did not start:\n{log.read_text('utf-8')}")


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()

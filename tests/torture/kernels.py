"""A real Jupyter kernel in a process of its own, and all that goes wrong in its cells."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[2]
STARTING = 60.0
"""Seconds in which a kernel must be there, on a machine that is busy with others."""


class Kernel:
    """A kernel whose workbench is told by its environment, as Voila and JupyterLab tell it.

    ``faults`` are errors of cells and whatever was written to a cell's standard error. ``hear`` is called
    with the type and the content of every message for the page.
    """

    def __init__(
        self, name: str, home: Path, *, hear: Callable[[str, Any], None] = lambda *_: None,
        **variables: str,
    ) -> None:  # fmt: skip
        self.name, self.faults, self._hear = name, list[str](), hear
        home.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT), **variables}
        self._log = (home / "kernel.log").open("w", encoding="utf-8")
        self._manager = KernelManager()
        # As the product's servers are started: this Python, whatever kernels the machine has besides.
        self._manager.kernel_spec.argv[0] = sys.executable
        self._manager.start_kernel(env=environment, cwd=str(home), stdout=self._log, stderr=self._log)
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=STARTING)

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def run(self, source: str, *, patience: float = STARTING) -> None:
        """Runs a cell to its end, or tells that it has none."""
        request, end = self._client.execute(source), time.monotonic() + patience
        while time.monotonic() < end:
            if self._take(0.5) == ("idle", request):
                return
        self.faults.append(f"{self.name}: a cell did not end within {patience:g} s: {source[:60]}")

    def listen(self, seconds: float) -> None:
        """Takes one thing that has been sent to the page, if one comes."""
        self._take(seconds)

    def send(self, comm: str, content: Any, buffers: list[bytes]) -> None:
        """A message of the page's to the widget behind ``comm``."""
        data = {"method": "custom", "content": content}
        message = self._client.session.msg("comm_msg", {"comm_id": comm, "data": data})
        self._client.session.send(self._client.shell_channel.socket, message, buffers=buffers)

    def end(self) -> None:
        """Ends the process, by its own way out if it takes that in time."""
        self._client.stop_channels()
        self._manager.shutdown_kernel()
        self._log.close()

    def _take(self, seconds: float) -> tuple[str, str] | None:
        """One message, if one comes: its type or the kernel's state, and the request it belongs to."""
        try:
            message = self._client.get_iopub_msg(timeout=seconds)
        except Empty:
            return None
        kind, content = message["msg_type"], message["content"]
        if kind == "error":
            self.faults.append(f"{self.name}: a cell ended with {content['ename']}: {content['evalue']}")
        elif kind == "stream" and content["name"] == "stderr":
            self.faults.append(f"{self.name}: a cell shows {content['text'].strip()[-300:]}")
        self._hear(kind, content)
        return (content["execution_state"] if kind == "status" else kind), message["parent_header"].get(
            "msg_id", ""
        )

"""A browser that dies says no goodbye; its kernel goes all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.conftest import CHROMIUM, CHROMIUM_FLAGS, kernels, serve
from tests.ollama_server import OllamaServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.2)
    return true()


def test_a_killed_browser_loses_its_kernel_after_the_idle_time_and_an_open_one_keeps_it(
    tmp_path: Path, ollama: OllamaServer
) -> None:
    soon = ("--MappingKernelManager.cull_idle_timeout=4", "--MappingKernelManager.cull_interval=1")
    with serve(tmp_path, ollama, *soon) as served:
        browser = subprocess.Popen(
            [CHROMIUM, "--headless", f"--user-data-dir={tmp_path / 'profile'}", *CHROMIUM_FLAGS, served.url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            assert wait_until(lambda: len(kernels(served)) == 1, 30)
            time.sleep(12)  # three times the idle time, with the page open
            assert len(kernels(served)) == 1
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait(10)
        assert wait_until(lambda: not kernels(served), 20), served.log.read_text("utf-8")

"""What every test may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest_plugins = ["tests.ollama_server"]


def pytest_configure() -> None:
    """A shell starts what it puts in the background deaf to Ctrl+C, which tests of interrupts press."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_summaries_in_the_background() -> Iterator[None]:
    """They would ask a test's chat model at some moment; tests of them switch them on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_SUMMARIES", "off")
        yield


@pytest.fixture(scope="session", autouse=True)
def _logs_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What a test makes fail on purpose is not reported in the user's log folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real papers and labelled questions, which is not part of this repository.

    ``WORKBENCH_SHARED`` names it; otherwise it is the folder ``shared`` beside the checkout. A test that
    needs it is skipped where it is absent, and fails there in continuous integration.
    """
    given = os.environ.get("WORKBENCH_SHARED")
    folder = Path(given) if given else Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        reason = f"No folder of shared papers at {folder}: set WORKBENCH_SHARED to run this test."
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder

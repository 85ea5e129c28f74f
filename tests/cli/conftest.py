"""Running the command line: inside this process where that is enough, else as a program of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.mineral_papers import minerals
from workbench.cli import main
from workbench.providers.fake_embedder import FakeEmbedder


@dataclass(frozen=True)
class Run:
    """What one command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on standard output."""
        loaded = json.loads(self.out)
        assert isinstance(loaded, dict)
        return loaded

    @property
    def error(self) -> str:
        """The one line of error, without the program's name."""
        [line] = [line for line in self.err.splitlines() if not line.startswith("note: ")]
        assert line.startswith("workbench: ")
        return line.removeprefix("workbench: ")

    def checked(self) -> Run:
        """Itself, once the promises of every command are seen to hold."""
        assert "Traceback" not in self.err
        errors = [line for line in self.err.splitlines() if not line.startswith("note: ")]
        assert len(errors) == (self.status != 0), self.err
        assert not set(self.out + self.err) & {chr(c) for c in (*range(9), *range(11, 32), 127)}
        return self


Cli = Callable[..., Run]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small embedder, no Ollama, no setting of the developer's, and a data folder of the test's own."""
    for name in list(os.environ):
        if name.startswith(("WORKBENCH_", "PROJECT_")) and name != "WORKBENCH_SHARED":
            monkeypatch.delenv(name)
    monkeypatch.setenv("WORKBENCH_EMBEDDER", "fake")
    monkeypatch.setenv("WORKBENCH_CHAT", "extractive")
    monkeypatch.setenv("WORKBENCH_SUMMARIES", "off")  # a summary would take what a test scripted
    monkeypatch.setenv("WORKBENCH_USER", "ann")
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data-home"))


@pytest.fixture(scope="session")
def mineral_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("minerals")
    return [mineral.write(folder) for mineral in minerals(5)]


@pytest.fixture(scope="session")
def made_library(mineral_files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann's papers: 1 arvenite and 2 bolmarite in project 1, "Minerals"; 3 cendrite is an orphan."""
    path = tmp_path_factory.mktemp("made") / "library.duckdb"
    with workbench.open(path, user="ann", embedder=FakeEmbedder()) as wb:
        wb.papers.add_many(mineral_files[:2], project=wb.projects.create("Minerals"))
        wb.papers.add(mineral_files[2])
    return path


@pytest.fixture
def library(made_library: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir(mode=0o700)
    return Path(shutil.copy(made_library, folder / "library.duckdb"))


def run_here(*arguments: str | Path) -> Run:
    """Runs a command inside this process."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(a) for a in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return Run(status, out.getvalue(), err.getvalue()).checked()


@pytest.fixture
def cli(library: Path) -> Cli:
    """Runs a command on the library."""
    return lambda *arguments: run_here("--library", library, *arguments)


def program(*arguments: str | Path) -> list[str]:
    """The command line as a program of its own."""
    return [sys.executable, "-m", "workbench.cli", *map(str, arguments)]


def run_apart(*arguments: str | Path, **environment: str) -> Run:
    """Runs a command as a program of its own."""
    done = subprocess.run(
        program(*arguments), env={**os.environ, **environment}, capture_output=True, timeout=60, check=False
    )
    return Run(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

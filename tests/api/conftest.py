"""A small library of minerals, made once and copied for each test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.mineral_papers import Mineral, minerals
from workbench import Workbench
from workbench.providers.fake_embedder import FakeEmbedder

DEAD_OLLAMA = "http://127.0.0.1:9"

Open = Callable[..., Workbench]


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the developer's, no Ollama, a user's data folder of the test's own, and no summaries in
    the background unless a test asks for them: each would be one more question to its chat model."""
    for name in list(os.environ):
        if name.startswith(("WORKBENCH_", "PROJECT_")) and name != "WORKBENCH_SHARED":
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", DEAD_OLLAMA)
    monkeypatch.setenv("WORKBENCH_SUMMARIES", "off")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data-home"))


@pytest.fixture(scope="session")
def mineral_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of the first five minerals."""
    folder = tmp_path_factory.mktemp("minerals")
    return [mineral.write(folder) for mineral in minerals(5)]


@pytest.fixture(scope="session")
def five() -> list[Mineral]:
    """Arvenite, bolmarite and cendrite are papers 1 to 3, dravosite and elbergite not in yet."""
    return minerals(5)


@pytest.fixture(scope="session")
def made_library(mineral_files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ann's papers: 1 and 2 in project 1, "Minerals"; 3 is an orphan."""
    path = tmp_path_factory.mktemp("made") / "library.duckdb"
    with workbench.open(path, user="ann", embedder=FakeEmbedder()) as wb:
        project = wb.projects.create("Minerals", "Two minerals", "Compare them")
        wb.papers.add_many(mineral_files[:2], project=project)
        wb.papers.add(mineral_files[2])
    return path


@pytest.fixture
def library(made_library: Path, tmp_path: Path) -> Path:
    """A copy of the library, alone in its folder."""
    folder = tmp_path / "library"
    folder.mkdir(mode=0o700)
    return Path(shutil.copy(made_library, folder / "library.duckdb"))


@pytest.fixture
def open_as(library: Path) -> Iterator[Open]:
    """Opens the library as a user; answers are extractive unless a chat model or settings are given."""
    with ExitStack() as opened:

        def open_library(user: str = "ann", **options: Any) -> Workbench:
            options.setdefault("embedder", FakeEmbedder())
            if "settings" not in options:
                settings = {"library": library, "user": user, "chat": "extractive"}
                options["settings"] = workbench.Settings.load(**settings)
            return opened.enter_context(workbench.open(library, user=user, **options))

        yield open_library


@pytest.fixture
def wb(open_as: Open) -> Workbench:
    """Ann's library."""
    return open_as("ann")

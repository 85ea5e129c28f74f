from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench import Settings, SettingsError, WorkbenchError


def write_toml(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "workbench.toml").write_text(text, "utf-8")
    return folder / "library.duckdb"


def test_a_file_beside_the_library_is_weaker_than_the_environment_and_that_than_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = write_toml(tmp_path / "here", "top_k = 7\nmin_relevance = 0.2\nuser = 'file'\n")
    monkeypatch.setenv("WORKBENCH_MIN_RELEVANCE", "0.3")
    monkeypatch.setenv("WORKBENCH_USER", "environment")
    loaded = Settings.load(library=library, user="argument")
    assert (loaded.top_k, loaded.min_relevance, loaded.user, loaded.max_chunks_per_paper, loaded.library) == (
        7,
        0.3,
        "argument",
        5,
        library,
    )


def test_the_file_beside_the_library_of_the_environment_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = write_toml(tmp_path / "here", "top_k = 4\n")
    monkeypatch.setenv("WORKBENCH_LIBRARY", str(library))
    loaded = Settings.load()
    assert (loaded.library, loaded.top_k) == (library, 4)


def test_opening_a_library_reads_its_file(tmp_path: Path) -> None:
    library = write_toml(tmp_path / "here", "project_max_papers = 1\nuser = 'carl'\n")
    with workbench.open(library) as wb:
        assert (wb.user, wb.settings.project_max_papers) == ("carl", 1)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("PROJECT_MAX_PAPERS", "WORKBENCH_PROJECT_MAX_PAPERS", "project_max_papers"),
        ("PROJECT_CHAT_TOP_K", "WORKBENCH_TOP_K", "top_k"),
        ("PROJECT_CHAT_MAX_CHUNKS_PER_PAPER", "WORKBENCH_MAX_CHUNKS_PER_PAPER", "max_chunks_per_paper"),
        ("PROJECT_CHAT_MIN_RELEVANCE", "WORKBENCH_MIN_RELEVANCE", "min_relevance"),
    ],
)
def test_the_older_names_count_and_the_new_ones_come_first(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, field: str
) -> None:
    monkeypatch.setenv(old, "1")
    assert getattr(Settings.load(), field) == 1
    monkeypatch.setenv(new, "0.5" if field == "min_relevance" else "2")
    assert getattr(Settings.load(), field) == (0.5 if field == "min_relevance" else 2)


def test_a_variable_of_another_program_or_an_empty_one_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "TOP_K": "3",
        "CHAT": "?",
        "LIBRARY": "/x",
        "top_k": "9",
        "WORKBENCH_TOP_K": "",
    }.items():
        monkeypatch.setenv(name, value)
    loaded = Settings.load(user="ann")
    assert (loaded.top_k, loaded.chat, loaded.library.name) == (15, "auto", "library.duckdb")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("WORKBENCH_TOP_K", "many", "allowed is a whole number from 1 to 200"),
        ("PROJECT_CHAT_TOP_K", "0", "allowed is a whole number from 1 to 200"),
        ("WORKBENCH_PROJECT_MAX_PAPERS", "-1", "allowed is a whole number from 0 to 100,000"),
        ("WORKBENCH_MIN_RELEVANCE", "nan", "allowed is a number from 0 to 1"),
        ("WORKBENCH_LOCK_TIMEOUT", "0", "allowed is a number above 0 to 3,600"),
        ("WORKBENCH_CONTEXT_WINDOW", "1e9", "allowed is a whole number from 1,024 to 1,000,000"),
        ("WORKBENCH_CHAT", "gpt", "allowed: auto, ollama, extractive"),
        ("WORKBENCH_VECTOR_INDEX", "annoy", "Input should be 'exact' or 'hnsw'"),
    ],
)
def test_a_bad_value_names_its_variable_and_what_is_allowed(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        Settings.load()
    assert str(caught.value) == f"{variable}={value!r}: {says}."


def test_a_bad_argument_and_a_bad_line_of_the_file_name_their_place(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^top_k=0: allowed is a whole number from 1 to 200\.$"):
        Settings.load(top_k=0)
    library = write_toml(tmp_path / "range", "top_k = 201\n")
    with pytest.raises(SettingsError, match=r"^top_k=201 in workbench.toml: allowed is a whole number"):
        Settings.load(library=library)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("top_q = 3\n", r"No such setting in workbench.toml: top_q\. Known: "),
        ("top_k == 3\n", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_understood_is_an_error(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        workbench.open(write_toml(tmp_path / "here", text))


@pytest.mark.parametrize("given", [{"nope": 1}, {"user": ""}])
def test_an_unknown_argument_or_an_empty_user_is_an_error(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="nope|user=''"):
        Settings.load(**given)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings.load().top_k = 3  # type: ignore[misc]  # the point of the test


def test_the_library_cannot_be_set_in_the_file_beside_it(tmp_path: Path) -> None:
    library = write_toml(tmp_path / "here", "library = '/nowhere/else.duckdb'\n")
    with pytest.raises(SettingsError, match=r"library cannot be set in .*workbench\.toml"):
        Settings.load(library=library)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name is needed")
def test_a_pipe_in_place_of_the_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "workbench.toml")
    with pytest.raises(SettingsError, match="is not a file that can be read"):
        Settings.load(library=tmp_path / "library.duckdb")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("OLLAMA_HOST", "http://[::1", r"^OLLAMA_HOST='http://\[::1': allowed is an address"),
        ("WORKBENCH_EMBEDDER", "~nosuch", "^WORKBENCH_EMBEDDER='~nosuch': there is no such home folder"),
        ("WORKBENCH_LIBRARY", "~nosuch/x", "^WORKBENCH_LIBRARY='~nosuch/x' cannot be used"),
        (
            "WORKBENCH_LIBRARY",
            "/tmp/" + "n" * 300,
            "^WORKBENCH_LIBRARY=.* cannot be used: File name too long",
        ),
    ],
    ids=["half an address", "nobody's embedder", "nobody's library", "long name"],
)
def test_a_value_that_no_address_or_path_can_have_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=says):
        Settings.load()


def test_a_link_to_itself_is_no_library(tmp_path: Path) -> None:
    loop = tmp_path / "loop.duckdb"
    loop.symlink_to(loop)
    with pytest.raises(WorkbenchError, match=r"loop\.duckdb"):
        workbench.open(loop, user="ann")

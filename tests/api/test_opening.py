from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import workbench
from workbench import InvalidInputError, LibraryError, Scope, Settings, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

HEAVY = (
    "numpy duckdb pandas llama_index onnxruntime tantivy pypdfium2 docx ollama httpx ipywidgets tokenizers"
)


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, workbench; print([m for m in {HEAVY.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    assert workbench.__all__ == sorted(workbench.__all__)
    assert dir(workbench) == workbench.__all__
    undocumented = [
        name for name in workbench.__all__ if name != "Event" and not getattr(workbench, name).__doc__
    ]
    assert undocumented == []


def test_every_public_call_says_what_you_get(wb: Workbench) -> None:
    parts = {"": wb, "papers.": wb.papers, "projects.": wb.projects, "chunks.": wb.chunks, "notes.": wb.notes}
    parts |= {"bibliography.": wb.bibliography, "memory.": wb.memory, "summaries.": wb.summaries}
    calls = {
        f"{prefix}{name}": getattr(part, name)
        for prefix, part in parts.items()
        for name in dir(part)
        if not name.startswith("_") and callable(getattr(part, name))
    }
    assert [name for name, call in calls.items() if not call.__doc__] == []
    assert set(calls) >= set(
        "aask ask audit backup close compact doctor query_engine retriever search sql status stream"
        " chunks.frame chunks.list papers.add papers.add_many papers.add_texts papers.chunks papers.get"
        " papers.list papers.page_image papers.page_view papers.pages papers.remove papers.reprocess"
        " papers.share papers.unshare papers.index_soon papers.reprocess_all"
        " notes.create notes.delete notes.get notes.list notes.update"
        " projects.add projects.create projects.delete projects.get projects.list"
        " projects.papers projects.remove projects.search projects.update"
        " bibliography.add bibliography.bibtex bibliography.conversation"
        " memory.forget memory.list memory.recall memory.remember"
        " summaries.backfill summaries.get summaries.list summaries.papers_changed summaries.project_changed"
        " summaries.refresh".split()
    )


def test_a_library_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "papers.duckdb"
    with workbench.open(path, user="ann", embedder=FakeEmbedder()) as wb:
        assert (wb.user, wb.papers.list(), wb.projects.list(), wb.doctor()) == ("ann", [], [], [])
        assert wb.search("anything").passages == ()
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_without_a_path_the_library_lies_in_the_users_data_folder(tmp_path: Path) -> None:
    with workbench.open(user="ann", embedder=FakeEmbedder()) as wb:
        expected = tmp_path / "data-home" / "research-workbench" / "library.duckdb"
        assert wb.status()["library"] == str(expected)
        assert expected.exists()


def test_the_user_is_the_login_or_the_hubs_user(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    with workbench.open(library) as wb:
        assert wb.user == "ann"
    monkeypatch.setenv("JUPYTERHUB_USER", "bob")
    with workbench.open(library) as wb:
        assert wb.user == "bob"


def test_arguments_win_over_the_settings_that_come_with_them(library: Path, tmp_path: Path) -> None:
    settings = Settings.load(library=tmp_path / "other.duckdb", user="bob", top_k=3)
    with workbench.open(library, user="ann", settings=settings) as wb:
        assert (wb.settings.library, wb.user, wb.settings.user, wb.settings.top_k) == (
            library,
            "ann",
            "ann",
            3,
        )
        assert len(wb.papers.list()) == 3
    assert not (tmp_path / "other.duckdb").exists()


def test_a_path_of_the_home_folder_and_a_relative_one_work(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(library.parent.parent))
    with workbench.open("~/library/library.duckdb", user="ann") as wb:
        assert len(wb.papers.list()) == 3
    monkeypatch.chdir(library.parent)
    with workbench.open("library.duckdb", user="ann") as wb:
        os.chdir(tmp_path)  # a notebook may move on
        assert wb.status()["papers"] == 3
        assert len(wb.search("melting point", scope=Scope.ALL)) > 0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: p.mkdir(), "is a folder: give the name of a file"),
        (lambda p: p.write_text("Dear diary, this is no database at all." * 99), "is not a library"),
        (lambda p: p.write_bytes(os.urandom(9000)), "is not a library"),
    ],
)
def test_what_is_no_library_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], Any], says: str
) -> None:
    path = tmp_path / "thing.duckdb"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LibraryError, match=says):
        workbench.open(path, user="ann")
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_empty_file_becomes_a_library(tmp_path: Path) -> None:
    path = tmp_path / "empty.duckdb"
    path.touch()
    with workbench.open(path, user="ann") as wb:
        assert wb.doctor() == []


def test_after_closing_every_call_says_that_the_library_is_closed(
    wb: Workbench, library: Path, tmp_path: Path
) -> None:
    evidence = wb.search("melting point", scope=Scope.ALL)
    wb.close()
    wb.close()
    calls: list[Callable[[], Any]] = [
        lambda: wb.search("melting point"),
        lambda: wb.ask("What melts?"),
        lambda: wb.stream("What melts?"),
        lambda: wb.sql("SELECT 1"),
        lambda: wb.status(),
        lambda: wb.compact(),
        lambda: wb.backup(tmp_path / "copy.duckdb"),
        lambda: wb.papers.list(),
        lambda: wb.papers.add(b"Some text of a note."),
        lambda: wb.papers.add_texts([{"title": "A", "text": "Some text of a note."}]),
        lambda: wb.papers.page_image(1, 1),
        lambda: wb.papers.reprocess(1),
        lambda: wb.papers.remove(1),
        lambda: wb.projects.create("New"),
        lambda: wb.projects.list(),
        lambda: wb.chunks.list(),
    ]
    for call in calls:
        with pytest.raises(LibraryError, match="was closed: open it again to go on"):
            call()
    assert wb.doctor() == [f"The library {library} was closed: open it again to go on."]
    assert wb.audit("Arvenite melts at 77 degrees. [1]", evidence)[0].verdict == "unsupported"
    assert not (tmp_path / "copy.duckdb").exists()


def test_closing_ends_the_process_that_reads_files(wb: Workbench, mineral_files: list[Path]) -> None:
    psutil = pytest.importorskip("psutil")
    before = set(psutil.Process().children())
    wb.papers.add(mineral_files[3])
    started = set(psutil.Process().children()) - before
    assert len(started) == 1
    wb.close()
    assert psutil.wait_procs(started, timeout=5)[1] == []


def test_the_text_of_a_workbench_names_library_and_user(wb: Workbench, library: Path) -> None:
    assert repr(wb) == f"Workbench({str(library)!r}, user='ann')"


def test_something_that_is_no_chat_model_is_refused_when_it_is_needed(
    open_as: Callable[..., Workbench],
) -> None:
    wb = open_as("ann", chat_model=object())
    with pytest.raises(InvalidInputError, match="A object is no chat model: pass a LlamaIndex LLM"):
        wb.ask("What melts?", scope=Scope.ALL)

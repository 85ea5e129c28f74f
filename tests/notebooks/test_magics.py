from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import workbench
from tests.mineral_papers import minerals
from workbench import Answer, Scope, Settings
from workbench.providers.fake_embedder import FakeEmbedder

MELTING = "What is the melting point of arvenite?"
Run = Callable[[str], Any]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[InteractiveShell]:
    """A notebook's shell with ``wb``: paper 1 in project Minerals, paper 2 an orphan."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    settings = Settings.load(library=tmp_path / "library.duckdb", user="ann", chat="extractive")
    with workbench.open(settings=settings, user="ann", embedder=FakeEmbedder()) as wb:
        one, two = (mineral.write(tmp_path) for mineral in minerals(2))
        wb.papers.add(one, project=wb.projects.create("Minerals"))
        wb.papers.add(two)
        shell.user_ns["wb"] = wb
        shell.run_line_magic("load_ext", "workbench")
        yield shell
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, source: str) -> Any:
    """What a cell shows: standard output, and the data of each thing displayed."""
    with capture_output() as captured:
        shell.run_cell(source)
    return captured


def test_a_question_in_a_cell_is_answered_in_the_scope_and_kept(shell: InteractiveShell) -> None:
    shown = run(shell, f"%%ask --project Minerals answer\n{MELTING}")
    answer = shell.user_ns["answer"]
    assert isinstance(answer, Answer)
    assert answer.evidence.scope == Scope.project(1)
    assert "1013 degrees Celsius" in answer.text
    last = shown.outputs[-1].data
    assert "1013 degrees Celsius" in last["text/markdown"]
    assert {"text/plain", "text/markdown", "text/html"} <= set(last)


def test_the_scope_is_orphans_until_it_is_set(shell: InteractiveShell) -> None:
    assert run(shell, "%scope").stdout == "⊙ Orphan notes\n"
    assert run(shell, "%scope minerals").stdout == "⊙ Minerals\n"
    run(shell, f"%%ask answer\n{MELTING}")
    assert shell.user_ns["answer"].evidence.scope == Scope.project(1)
    assert run(shell, '%scope "all"').stdout == "⊙ All notes\n"


def test_sql_binds_the_notebooks_variables_and_never_pastes_them(shell: InteractiveShell) -> None:
    shell.user_ns["wanted"] = "' OR 1=1 --"
    run(shell, "%%wbsql found\nSELECT title FROM papers WHERE title = $wanted")
    assert len(shell.user_ns["found"]) == 0
    run(shell, "%%wbsql found\nSELECT count(*) AS n FROM papers")
    assert isinstance(shell.user_ns["found"], pandas.DataFrame)
    assert shell.user_ns["found"]["n"].tolist() == [2]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%scope Nowhere", "Project not found"),
        ("%%ask --all --orphans\nWhat?", "Give one of --project, --all and --orphans."),
        ("%%ask --all\n   ", "The question is empty"),
        ("%%wbsql\nDELETE FROM papers", "SELECT"),
        ("%%wbsql\nSELECT $nothing", "there is no variable nothing"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(shell: InteractiveShell, cell: str, told: str) -> None:
    shown = run(shell, cell)
    said = shown.stdout + shown.stderr
    assert told in said
    assert "Traceback" not in said


def test_without_wb_the_library_of_the_settings_is_opened(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del shell.user_ns["wb"]
    monkeypatch.setenv("WORKBENCH_LIBRARY", str(tmp_path / "other" / "library.duckdb"))
    assert run(shell, "%scope").stdout == "⊙ Orphan notes\n"
    opened = shell.user_ns["wb"]
    assert opened.status()["papers"] == 0
    opened.close()

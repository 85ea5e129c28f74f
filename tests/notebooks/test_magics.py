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
from workbench import Answer, ProviderError, Scope, Settings
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
        ("%%wbsql\nSELECT $1", "there is no variable 1"),
        ("%%wbsql\nSELECT $wb", "cannot run"),
        ("%%wbsql class\nSELECT 1", "“class” cannot name the variable"),
        ("%%ask wb\nWhat?", "“wb” cannot name the variable"),
        ("%%ask --all --top-k 201\nWhat?", "top_k must be a whole number from 1 to 200"),
        ("%%ask --all --top-k many\nWhat?", "invalid int value"),
        ("%%ask --project 'Minerals\nWhat?", "No closing quotation"),
        ("%%ask --all --provider ollama\nWhat?", "Ollama"),
        ("%scope #7", "Project not found"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(shell: InteractiveShell, cell: str, told: str) -> None:
    shown = run(shell, cell)
    said = shown.stdout + shown.stderr
    assert told in said
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1 or "usage:" in said
    assert [output.data for output in shown.outputs] == [], "and nothing else is left behind"


def test_a_dollar_sign_in_quotation_marks_and_comments_is_text(shell: InteractiveShell) -> None:
    shell.user_ns["wanted"] = "A study of arvenite"
    query = """SELECT '$nothing' AS a, $$ $nobody $$ AS b, "$column" FROM  -- $comment
        (SELECT title AS "$column" FROM papers WHERE title = $wanted /* $other */)"""
    run(shell, f"%%wbsql found\n{query}")
    assert shell.user_ns["found"].values.tolist() == [["$nothing", " $nobody ", "A study of arvenite"]]


def test_a_scope_is_named_by_a_projects_id_too_and_what_could_be_two_is_asked_back(
    shell: InteractiveShell,
) -> None:
    wb = shell.user_ns["wb"]
    assert run(shell, "%scope 1").stdout == "⊙ Minerals\n"
    assert run(shell, "%scope --all").stdout == "⊙ All notes\n"
    two, called_all = wb.projects.create("1"), wb.projects.create("All")
    assert "“1” by its name and “Minerals” by its id: write #2 or #1." in run(shell, "%scope 1").stderr
    assert run(shell, f"%scope #{two.id}").stdout == "⊙ 1\n"
    assert "could also mean your project “All”" in run(shell, "%scope all").stderr
    assert run(shell, f"%scope #{called_all.id}").stdout == "⊙ All\n"
    assert run(shell, "%scope --all").stdout == "⊙ All notes\n"
    run(shell, f"%%ask --project #1 answer\n{MELTING}")
    assert shell.user_ns["answer"].scope_label == "Minerals"


class _Interrupting:
    """A chat model whose reader presses the button that interrupts the kernel."""

    name, context_window = "interrupted", 8192

    def stream(self, messages: Any) -> Iterator[str]:
        yield "Half of <img src=x> an answer. "
        raise KeyboardInterrupt


class _Failing(_Interrupting):
    name = "failing"

    def stream(self, messages: Any) -> Iterator[str]:
        raise ProviderError("The chat model is gone.")
        yield ""


def test_an_interrupted_answer_keeps_what_was_there_without_a_traceback(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    _with_chat_model(shell, tmp_path, _Interrupting())
    shown = run(shell, f"%%ask --all answer\n{MELTING}")
    assert "answer" not in shell.user_ns
    assert shown.outputs[-1].data["text/markdown"].endswith("*Interrupted; this is not checked.*")
    assert "<img" not in shown.outputs[-1].data["text/markdown"]
    assert shown.stderr == ""


def test_a_chat_model_that_fails_leaves_no_ellipsis(shell: InteractiveShell, tmp_path: Path) -> None:
    _with_chat_model(shell, tmp_path, _Failing())
    shown = run(shell, f"%%ask --all\n{MELTING}")
    assert "Traceback" not in shown.stdout + shown.stderr
    assert not shown.outputs or shown.outputs[-1].data["text/plain"] != "…"


def _with_chat_model(shell: InteractiveShell, folder: Path, model: Any) -> None:
    shell.user_ns["wb"].close()
    settings = Settings.load(library=folder / "library.duckdb", user="ann")
    shell.user_ns["wb"] = workbench.open(settings=settings, embedder=FakeEmbedder(), chat_model=model)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%scope ", ["all", "orphans", "Minerals"]),
        ("%scope Mi", ["Minerals"]),
        ("%%ask --t", ["--top-k"]),
        ("%%ask --project M", ["Minerals"]),
    ],
)
def test_tab_offers_scopes_projects_and_options(
    shell: InteractiveShell, line: str, offered: list[str]
) -> None:
    _, found = shell.complete("", line, len(line))
    assert set(offered) <= set(found)


def test_without_wb_the_library_of_the_settings_is_opened(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del shell.user_ns["wb"]
    monkeypatch.setenv("WORKBENCH_LIBRARY", str(tmp_path / "other" / "library.duckdb"))
    assert run(shell, "%scope").stdout == "⊙ Orphan notes\n"
    opened = shell.user_ns["wb"]
    assert opened.status()["papers"] == 0
    opened.close()

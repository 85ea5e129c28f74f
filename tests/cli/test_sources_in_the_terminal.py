"""What stands below an answer, and how long lines are broken on a terminal."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import workbench
from tests.cli.conftest import Cli
from tests.ollama_server import OllamaServer
from workbench.cli import terminal
from workbench.cli.flow import Flow, cells, shorten
from workbench.cli.questions import show_answer
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.records import Answer, Citation, Evidence
from workbench.scope import Scope

MELTING = "What is the melting point of arvenite?"
SENTENCE = "The melting point of arvenite is 1013 degrees Celsius."


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


Shown = Callable[[Callable[[], None]], str]


@pytest.fixture
def on_screen(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What a function prints on a terminal of 40 columns."""
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((41, 24)))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def shown(work: Callable[[], None]) -> str:
        with contextlib.redirect_stdout(Screen()) as screen:
            work()
        return screen.getvalue()

    return shown


def flow_of(*pieces: str) -> Callable[[], None]:
    def work() -> None:
        flow = Flow()
        for piece in pieces:
            flow.feed(piece)
        flow.end()

    return work


# --- sources ------------------------------------------------------------------------------------


def ask_ollama(cli: Cli, server: OllamaServer, patch: pytest.MonkeyPatch, *pieces: str) -> list[str]:
    patch.setenv("WORKBENCH_CHAT", "ollama")
    patch.setenv("OLLAMA_HOST", server.url)
    server.reply(*pieces)
    lines = cli("ask", MELTING, "--project", "Minerals").out.splitlines()
    assert lines[-2:] == ["", "2 papers in scope, 2 retrieved, 1 cited."]
    return lines[:-2]


def test_a_quote_that_the_answer_says_in_other_words_stands_below_it(
    cli: Cli, ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ask_ollama(cli, ollama_server, monkeypatch, "Arvenite has its melting point at 1013 degrees. [1]")
    assert lines[-1] == f"[1] ✓ A study of arvenite, page 2 (paper 1): “{SENTENCE}”"


def test_a_quote_that_contradicts_the_answer_is_never_left_out(
    cli: Cli, ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = SENTENCE.replace("1013", "1031")
    lines = ask_ollama(cli, ollama_server, monkeypatch, f"{wrong} [1]")
    assert lines[-1] == f"[1] ✗ A study of arvenite, page 2 (paper 1): “{SENTENCE}”"


def test_each_source_is_named_once(
    cli: Cli, ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ask_ollama(cli, ollama_server, monkeypatch, f"{SENTENCE} [1] {SENTENCE} [1]")
    assert lines[-1:] == [line for line in lines if line.startswith("[1] ")]


def test_a_refusal_names_the_nearest_passages_once_and_marks_none(cli: Cli) -> None:
    lines = cli("ask", "Which choir sang at the wedding in Verona?", "--all").out.splitlines()
    assert lines[2] == "Nearest passages:"
    assert len(lines) == len(set(lines) - {""}) + lines.count("")
    assert not any(mark in line for line in lines for mark in "✓◐✗")


def test_a_long_quote_that_a_refusal_cuts_short_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    quote = " ".join(["Arvenite melts in the northern mines"] * 20)
    text = f"The papers in this scope do not answer this question.\n\n- A study, page 4: “{quote[:200]}…” [1]"
    cited = Citation(1, 7, "A study", "a.pdf", 4, quote, 0, len(quote), "unsupported", 0, 1)
    evidence = Evidence("q", Scope.ALL, "All notes", ())
    terminal.show_citations(Answer("q", text, (cited,), evidence, True, "extractive", "All notes"))
    assert capsys.readouterr().out == ""
    other = replace(cited, quote="Another sentence of the same page.")
    terminal.show_citations(Answer("q", text, (other,), evidence, True, "extractive", "All notes"))
    assert (
        capsys.readouterr().out == "\n[1] A study, page 4 (paper 7): “Another sentence of the same page.”\n"
    )


# --- terminals ----------------------------------------------------------------------------------


def test_no_word_is_broken_items_hang_and_headings_are_bold(on_screen: Shown) -> None:
    heading, item = (
        ("**A stu", "dy** (20", "19)\n\n"),
        ("- The melting point of arve", "nite is 1013 degrees. [1]"),
    )
    assert on_screen(flow_of(*heading, *item)).split("\n") == [
        "\x1b[1mA study\x1b[0m (2019)",
        "",
        "- The melting point of arvenite is 1013",
        "  degrees. [1]",
    ]


def test_text_without_spaces_is_broken_at_any_character(on_screen: Shown) -> None:
    text = on_screen(lambda: terminal.show_wrapped("鉱" * 25, hanging=2))
    assert text == f"{'鉱' * 20}\n  {'鉱' * 5}\n"


def test_bold_that_nobody_ends_ends_with_the_text(on_screen: Shown) -> None:
    assert on_screen(flow_of("**never closed")) == "\x1b[1mnever closed\x1b[0m"


def test_without_styles_the_text_stays_as_it_is(on_screen: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = on_screen(lambda: terminal.show_wrapped("**A study** \x1b[31mof arvenite"))
    assert text == "**A study** [31mof arvenite\n"


def test_a_person_who_waits_sees_what_goes_on_until_the_answer_comes(
    on_screen: Shown, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
            show_answer(wb.stream(MELTING, scope=Scope.project(1), top_k=1))

    gone = "\r\x1b[K"
    shown = on_screen(work)
    assert shown.startswith(
        f"{gone}Searching…{gone}{gone}Reading 1 passage of 1 paper…{gone}\x1b[1mA study of arvenite"
    )
    assert shown.count(gone) == 4
    monkeypatch.setenv("TERM", "dumb")
    assert "Searching" not in on_screen(work)


def test_rows_fit_the_terminal(on_screen: Shown) -> None:
    row = [1, "A study of arvenite and others", "arvenite-2019.pdf"]
    shown = on_screen(lambda: terminal.show_rows(["id", "title", "file"], [row]))
    assert shown.splitlines() == ["id  title              file", "1   A study of arven…  arvenite-2019.pdf"]


def test_texts_are_cut_by_columns() -> None:
    assert [shorten("arvenite", 8), shorten("arvenite", 7), shorten("鉱物学", 5)] == [
        "arvenite",
        "arveni…",
        "鉱物…",
    ]
    assert [cells("é"), cells("e\u0301"), cells("鉱")] == [1, 1, 2]

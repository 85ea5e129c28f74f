"""Verbs that delete ask first where a person is there to answer."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import workbench
from tests.cli.conftest import Cli, program
from workbench.cli import main
from workbench.cli.running import command
from workbench.providers.fake_embedder import FakeEmbedder

DELETING = {
    "papers remove 1": "Remove “A study of arvenite” from your library and your projects?",
    "papers remove 1 2": "Remove 2 papers from your library and your projects?",
    "projects delete Minerals": "Delete project “Minerals” with its chat?",
    "conversations clear 1": "Remove all messages of “Ores”?",
    "conversations delete 1": "Delete “Ores” with all its messages?",
    "questions delete q-1": "Delete q-1?",
    "memory forget 1": "Forget 1 for good?",
    "notes delete 4": "Delete note “Visit”?",
    "presets delete Minerals One": "Delete preset “One” of “Minerals”?",
}


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def everything(library: Path) -> Path:
    """The library with one of each thing that can be deleted."""
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
        wb.conversations.create(title="Ores")
        wb.questions.add("Where is arvenite?", 1, 1)
        wb.memory.remember("I study ores.")
        wb.notes.create("Visit", "We saw the mine.")
        wb.presets.save("Minerals", "One", top_k=3)
    return library


def asked(monkeypatch: pytest.MonkeyPatch, answer: str, *arguments: str | Path) -> tuple[int, str, str]:
    """Runs a command as on a terminal where ``answer`` is typed: status, output, standard error."""
    screen, out, status = Screen(), io.StringIO(), 0
    monkeypatch.setattr(sys, "stdin", Screen(answer))
    with contextlib.redirect_stderr(screen), contextlib.redirect_stdout(out):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return status, out.getvalue(), screen.getvalue()


@pytest.mark.parametrize(("verb", "question"), DELETING.items())
def test_a_verb_that_deletes_asks_on_a_terminal_and_takes_anything_but_yes_for_no(
    everything: Path, monkeypatch: pytest.MonkeyPatch, verb: str, question: str
) -> None:
    for answer in ("n\n", "\n"):
        status, out, shown = asked(monkeypatch, answer, "--library", everything, *verb.split())
        assert (status, out.strip()) == (1, "")
        assert shown.splitlines() == [f"{question} [y/N]: workbench: Nothing was changed."]
    status, out, _ = asked(monkeypatch, "y\n", "--library", everything, *verb.split())
    assert (status, bool(out.strip())) == (0, True), "the answers before left it in its place"


def test_an_input_that_ends_at_the_question_stops_the_verb_in_a_line_of_its_own(
    everything: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, shown = asked(monkeypatch, "", "--library", everything, "papers", "remove", "1")
    assert (status, out) == (130, "")
    assert shown.splitlines() == [
        "Remove “A study of arvenite” from your library and your projects? [y/N]: ",
        "workbench: Stopped. What was finished is kept.",
    ]


def test_restoring_asks_which_file_is_to_replace_which(
    everything: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written = tmp_path / "copy.duckdb"
    cli("backup", written)
    cli("papers", "remove", "1", "2", "3", "4")
    before = everything.read_bytes()
    status, out, shown = asked(monkeypatch, "n\n", "--library", everything, "restore", written)
    assert (status, out, everything.read_bytes()) == (1, "", before)
    facts = r" \([\d.]+ MB, last written [\d-]{10} \d\d:\d\d\)"
    question = f"Put {re.escape(str(written))}{facts} in the place of {re.escape(str(everything))}{facts}"
    assert re.fullmatch(rf"{question}\? \[y/N\]: workbench: Nothing was changed\.\n", shown)
    status, out, shown = asked(monkeypatch, "", "--library", everything, "restore", written)
    assert (status, shown.splitlines()[1:]) == (130, ["workbench: Stopped. Nothing was changed."])
    status, out, shown = asked(monkeypatch, "", "--library", everything, "restore", tmp_path / "none")
    assert (status, out, shown.startswith("workbench: There is no backup")) == (1, "", True)
    for answer, options in (("y\n", []), ("", ["--yes"])):
        status, out, shown = asked(monkeypatch, answer, "--library", everything, "restore", written, *options)
        assert (status, out.splitlines()[0]) == (0, f"{everything} is the backup now.")
        assert bool(shown) == bool(answer)
        assert len(cli("papers", "list", "--json").json["papers"]) == 4
        cli("papers", "remove", "1", "2", "3", "4")
    new = tmp_path / "new.duckdb"
    assert asked(monkeypatch, "", "--library", new, "restore", written) == (
        *(0, f"{new} is the backup now.\n", ""),
    )


def test_every_verb_that_deletes_can_be_told_not_to_ask() -> None:
    verbs = {
        f"{group.name} {verb.name}": {option for parameter in verb.params for option in parameter.opts}
        for group in command.commands.values()
        if isinstance(group, click.Group)
        for verb in group.commands.values()
    }
    asking = {name for name, options in verbs.items() if {"--yes", "-y"} <= options}
    assert asking == {" ".join(verb.split()[:2]) for verb in DELETING}
    deleting = {name for name in verbs if name.split()[1] in ("delete", "remove", "clear", "forget")}
    assert deleting - asking == {"projects remove"}, "which loses nothing: the papers stay"


def test_yes_goes_on_without_asking_and_so_does_a_script(
    everything: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = asked(monkeypatch, "", "--library", everything, "papers", "remove", "3", "--yes")
    assert done == (0, "Removed “A study of cendrite”.\n", "")
    assert cli("papers", "remove", "1", "--json").status == 0
    assert [paper["id"] for paper in cli("papers", "list", "--json").json["papers"]] == [2, 4]


def test_the_question_is_read_and_answered_on_a_real_terminal(everything: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        program("--library", everything, "papers", "remove", "1", "--json"),
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(leader, 4096)
    os.write(leader, b"n\n")
    out, _ = process.communicate(timeout=60)
    os.close(leader)
    assert (process.returncode, out.strip()) == (1, b"")
    assert "Remove “A study of arvenite” from your library" in shown.decode()

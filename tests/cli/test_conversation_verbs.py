from __future__ import annotations

import contextlib
import io
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

import pytest

import workbench
from tests.cli.conftest import Cli, Run, program, run_here
from workbench.providers.fake_embedder import FakeEmbedder

MELTING = "What is the melting point of arvenite?"
SENTENCE = "The melting point of arvenite is 1013 degrees Celsius."
OTHER = "The melting point of bolmarite is 1050 degrees Celsius."
SOURCE = "[1] ✓ A study of arvenite, page 2 (paper 1)"


class Piped:
    """Runs a command in this process with lines on its standard input."""

    def __init__(self, library: Path, patch: pytest.MonkeyPatch) -> None:
        self._library, self._patch = library, patch

    def __call__(self, lines: str, *arguments: str) -> Run:
        with self._patch.context() as patched:
            patched.setattr("sys.stdin", io.StringIO(lines))
            return run_here("--library", self._library, *arguments)


@pytest.fixture
def piped(library: Path, monkeypatch: pytest.MonkeyPatch) -> Piped:
    return Piped(library, monkeypatch)


# --- chat ---------------------------------------------------------------------------------------


def test_each_line_of_a_pipe_is_a_question_and_follow_ups_know_the_last(piped: Piped, cli: Cli) -> None:
    run = piped(f"{MELTING}\n\nAnd of bolmarite?\n", "chat", "--all")
    assert (run.status, run.err) == (0, "")
    first, second = run.out.split("> And of bolmarite?")
    assert first.startswith(f"> {MELTING}\n\n")
    assert SOURCE in first.splitlines()
    assert OTHER in second
    [kept] = cli("conversations", "list", "--json").json["conversations"]
    assert (kept["title"], kept["kind"], kept["messages"], kept["rag_project_id"], kept["scope_label"]) == (
        MELTING,
        "thread",
        4,
        -1,
        "All notes",
    )


def test_a_note_that_all_answers_have_is_shown_once(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CHAT", "auto")
    run = piped(f"{MELTING}\nAnd of bolmarite?\n", "chat", "--all")
    assert (run.status, run.err.count("note: No chat model")) == (0, 1)


def test_json_gives_one_object_with_all_turns(piped: Piped) -> None:
    run = piped(f"{MELTING}\nAnd of bolmarite?\n", "chat", "--project", "Minerals", "--json").json
    assert (run["conversation"]["kind"], run["conversation"]["scope_label"]) == ("project", "Minerals")
    assert [(t["question"], t["searched"], t["refused"]) for t in run["turns"]] == [
        (MELTING, MELTING, False),
        ("And of bolmarite?", "What is the melting point of bolmarite?", False),
    ]
    assert [t["message_id"] for t in run["turns"]] == [2, 4]
    assert run["turns"][0]["citations"][0]["quote"] == SENTENCE
    again = piped("hello\n", "chat", "--project", "1", "--json").json
    assert again["conversation"]["id"] == run["conversation"]["id"]
    assert again["turns"][0]["citations"] == []
    assert piped("", "chat", "--json").json == {"conversation": None, "turns": []}


def test_a_conversation_goes_on_by_its_number_and_a_paper_is_asked_alone(piped: Piped) -> None:
    begun = piped(f"{MELTING}\n", "chat", "--all", "--json").json["conversation"]["id"]
    went_on = piped("And of bolmarite?\n", "chat", "--conversation", str(begun), "--json").json
    assert went_on["conversation"]["messages"] == 4
    assert went_on["turns"][0]["searched"] == "What is the melting point of bolmarite?"
    paper = piped("What is the melting point?\n", "chat", "--paper", "1", "--json").json
    assert (paper["conversation"]["kind"], paper["conversation"]["paper_id"]) == ("paper", 1)
    assert {c["file"] for c in paper["turns"][0]["citations"]} == {"arvenite.pdf"}


def test_lines_with_a_slash_set_the_scope_and_clear(piped: Piped, cli: Cli) -> None:
    run = piped(f"/scope Minerals\n{MELTING}\n/scope all\n/clear\n/help\n/quit\nNot asked?\n", "chat")
    assert (run.status, "Not asked" in run.out) == (0, False)
    assert "note: Now searching: Minerals.\n" in run.err
    assert "note: Now searching: All notes.\nnote: Cleared.\n" in run.err
    assert SOURCE in run.out
    assert "/scope all" in run.out
    [kept] = cli("conversations", "list", "--json").json["conversations"]
    assert (kept["messages"], kept["rag_project_id"]) == (0, -1)


def test_the_scope_is_told_without_being_changed(piped: Piped, cli: Cli) -> None:
    run = piped("/scope\n/scope minerals\n/scope\n", "chat", "--all")
    assert run.err == "note: Now searching: All notes.\n" + "note: Now searching: Minerals.\n" * 2
    assert piped("/scope\n", "chat").err == "note: Now searching: Orphan notes only.\n"


def test_the_limits_of_a_search_count_in_questions_too(piped: Piped, cli: Cli) -> None:
    question = "melting point of arvenite, bolmarite and cendrite"
    limits = ["--min-relevance", "0.5", "--mode", "keyword", "--max-per-paper", "1", "--top-k", "1"]
    [turn] = piped(f"{question}\n", "chat", "--all", *limits, "--json").json["turns"]
    asked = cli("ask", question, "--all", *limits, "--json").json
    assert [{c["n"] for c in answer["citations"]} for answer in (turn, asked)] == [{1}, {1}]
    assert len({c["n"] for c in cli("ask", question, "--all", "--json").json["citations"]}) == 3


def test_what_cannot_be_done_is_a_note_and_the_next_line_goes_on(piped: Piped) -> None:
    run = piped(f"/scope Nowhere\n/dance\n{'x' * 5000}\n{MELTING}\n", "chat", "--all")
    assert run.status == 1
    assert run.error == "3 lines of the input could not be answered; the notes say why."
    assert "note: Project not found: “Nowhere”" in run.err
    assert SOURCE in run.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--all", "--project", "Minerals"], "exclude each other"),
        (["--conversation", "1", "--paper", "1"], "exclude each other"),
        (["--conversation", "9"], "Conversation not found"),
        (["--paper", "9"], "Paper not found"),
        (["--project", "Nowhere"], "Project not found"),
    ],
)
def test_a_chat_that_cannot_begin_is_one_line(piped: Piped, arguments: list[str], complaint: str) -> None:
    run = piped(f"{MELTING}\n", "chat", *arguments)
    assert (run.status, run.out) == (1, "")
    assert complaint in run.error


def test_in_a_terminal_there_is_a_prompt_and_words_alone_help_and_end(library: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        program("--library", library, "chat", "--project", "Minerals"),
        stdin=follower,
        stdout=follower,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "dumb"},
    )
    os.close(follower)
    seen = _read_until(leader, "> ")
    assert "Minerals. Type a question" in seen
    assert "What are the main findings" in seen
    os.write(leader, f"{MELTING}\n".encode())
    seen = _read_until(leader, "\n> ")
    assert SENTENCE in seen
    os.write(leader, b"And of bolmarite?\n")
    _read_until(leader, "\n> ")
    os.write(leader, b"help\n")
    assert "/scope NAME" in _read_until(leader, "\n> ")
    os.write(leader, b"quit\n")
    assert process.wait(30) == 0
    assert process.stderr is not None
    told = process.stderr.read().decode()
    assert "note: Searched for: What is the melting point of bolmarite?\n" in told
    assert 'note: Kept. "workbench chat --conversation 1" goes on.\n' in told
    os.close(leader)


def test_ctrl_c_at_the_prompt_ends_quietly(library: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        program("--library", library, "chat"), stdin=follower, stdout=follower, stderr=subprocess.PIPE
    )
    os.close(follower)
    _read_until(leader, "> ")
    # Python misses a signal between the prompt and the wait for input: a person presses the keys again.
    for _ in range(10):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
            break
    assert process.poll() == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    os.close(leader)


def test_ctrl_d_at_the_prompt_ends_quietly(library: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        program("--library", library, "chat"), stdin=follower, stdout=follower, stderr=subprocess.PIPE
    )
    os.close(follower)
    _read_until(leader, "> ")
    os.write(leader, b"\x04")
    assert process.wait(30) == 0
    assert process.stderr is not None
    assert process.stderr.read() == b""
    os.close(leader)


def _read_until(leader: int, mark: str) -> str:
    seen, until = b"", time.monotonic() + 60
    while not seen.decode("utf-8", "replace").replace("\r", "").endswith(mark):
        assert time.monotonic() < until, seen
        seen += os.read(leader, 4096)
    return seen.decode("utf-8", "replace").replace("\r", "")


# --- conversations ------------------------------------------------------------------------------


def test_a_conversation_is_shown_with_its_sources_and_what_became_of_them(piped: Piped, cli: Cli) -> None:
    piped(f"{MELTING}\n", "chat", "--all")
    cli("papers", "remove", 1)
    shown = cli("conversations", "show", 1).out.splitlines()
    assert shown[:3] == [f"{MELTING} (All notes)", "", f"> {MELTING}"]
    assert SOURCE in shown
    assert "(“A study of arvenite” has left your library.)" in shown
    found = cli("conversations", "show", 1, "--json").json
    question, answer = found["messages"]
    assert (question["role"], question["text"], question["rag_project_id"]) == ("user", MELTING, -1)
    assert answer["citations"][0]["quote"] == SENTENCE
    assert answer["changed"][0] == "“A study of arvenite” has left your library."
    assert (answer["stopped"], answer["searched"], answer["provider"]) == (False, MELTING, "extractive")


def test_conversations_are_listed_renamed_cleared_and_deleted(piped: Piped, cli: Cli) -> None:
    piped(f"{MELTING}\n", "chat", "--all")
    piped("hello\n", "chat", "--project", "Minerals")
    listed = cli("conversations", "list")
    assert MELTING in listed.out
    assert listed.err == "note: 1 chat of a project or paper is not listed: --everything lists them too.\n"
    assert cli("conversations", "list", "--everything").err == ""
    assert [
        c["id"] for c in cli("conversations", "list", "--everything", "--json").json["conversations"]
    ] == [
        2,
        1,
    ]
    assert cli("conversations", "rename", 1, "Melting").out == "The conversation is now called “Melting”.\n"
    assert cli("conversations", "clear", 1, "--json").json["conversation"]["messages"] == 0
    assert cli("conversations", "delete", 1).out == "Deleted “Melting”.\n"
    assert cli("conversations", "list", "--json").json == {"conversations": []}
    for verb in (["show", "1"], ["rename", "1", "x"], ["clear", "1"], ["delete", "1"]):
        assert "Conversation not found" in cli("conversations", *verb).error


def test_another_users_conversations_are_not_found(piped: Piped, library: Path) -> None:
    piped(f"{MELTING}\n", "chat", "--all")
    with workbench.open(library, user="bob", embedder=FakeEmbedder()) as bob:
        assert bob.conversations.list(None) == []
    assert (
        "Conversation not found"
        in run_here("--library", library, "--user", "bob", "chat", "--conversation", 1).error
    )

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import duckdb
import pytest

import workbench
from tests.cli.conftest import Cli, program, run_apart, run_here
from tests.mineral_papers import minerals, write_pdf
from workbench import Scope
from workbench.cli import terminal
from workbench.providers.fake_embedder import FakeEmbedder

HOSTILE = "\x1b]0;owned\x07\x1b[31mRed\x1b[0m\r\nworkbench: forged \u202ekcab\u2066 \x9b2J"
MELTING = "What is the melting point of arvenite?"


@pytest.fixture(scope="session")
def made_hostile_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    path = folder / "library.duckdb"
    text = f"The melting point of arvenite is 1013 degrees. {HOSTILE} End of the note."
    with workbench.open(path, user="ann", embedder=FakeEmbedder()) as wb:
        wb.projects.create("Ores")
        wb.papers.add_texts([{"title": HOSTILE, "text": text}])
        source = folder / "a\x1b[31mb\r.pdf"
        wb.papers.add(write_pdf(source, title=HOSTILE, pages=[[f"Arvenite melts. {HOSTILE}"]]), title=HOSTILE)
    with duckdb.connect(str(path)) as connection:  # as no call of ours would store it
        connection.execute("UPDATE projects SET name = ?, description = ?", [HOSTILE, HOSTILE])
        connection.execute("UPDATE library_links SET title = ?, file = ?", [HOSTILE, HOSTILE])
    return path


@pytest.fixture
def hostile_library(made_hostile_library: Path, tmp_path: Path) -> Path:
    """Two papers and a project whose names would command a terminal."""
    return Path(shutil.copy(made_hostile_library, tmp_path / "hostile.duckdb"))


@pytest.mark.parametrize(
    "verb",
    [
        ["papers", "list"],
        ["projects", "list"],
        ["search", MELTING, "--all"],
        ["ask", MELTING, "--all"],
        ["ask", "Who sang in Verona?", "--all"],
        ["search", HOSTILE, "--project", "1"],
        ["search", HOSTILE, "--project", HOSTILE],
        ["reprocess", "--all"],
        ["papers", "remove", "1"],
        ["projects", "delete", "1"],
        ["projects", "create", HOSTILE + " again"],
        ["add", f"/nowhere/{HOSTILE}.pdf"],
    ],
)
def test_no_name_or_text_commands_the_terminal(hostile_library: Path, verb: list[str]) -> None:
    run = run_here("--library", hostile_library, *verb)  # which looks for control characters in all it prints
    assert not set(run.out + run.err) & set("\x1b\r\x07\x9b\u202e\u2066")
    assert not any(line.startswith("workbench: forged") for line in run.out.splitlines())


def test_json_keeps_texts_whole_and_in_ascii(hostile_library: Path) -> None:
    run = run_here("--library", hostile_library, "search", MELTING, "--all", "--json")
    assert run.out.isascii()
    assert run.out.count("\n") == 1
    assert "melting point of arvenite is 1013" in run.json["passages"][0]["text"]


def test_a_file_name_that_is_no_text_is_shown_with_question_marks(cli: Cli, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/bad-\xff-name.txt"
    with open(path, "wb") as file:  # noqa: PTH123  # a path of bytes
        file.write(b"Mica splits into thin sheets.")
    run = cli("add", os.fsdecode(path), "--json")
    assert (run.status, run.json["files"][0]["status"]) == (0, "ready")
    assert run.json["files"][0]["file"] == "bad-?-name.txt"
    assert "bad-" in cli("papers", "list").out
    assert cli("add", os.fsdecode(path)).out.startswith("duplicate  bad-?-name.txt")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_any_encoding_of_the_terminal_will_do(library: Path, encoding: str) -> None:
    for verb in (
        ["ask", MELTING, "--all"],
        ["projects", "create", "Αρχαία ✓ 鉱物"],
    ):
        done = subprocess.run(
            program("--library", library, *verb),
            env={**os.environ, "PYTHONIOENCODING": encoding},
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        done.stdout.decode(encoding)


def test_a_reader_that_goes_away_ends_the_command_quietly(library: Path) -> None:
    process = subprocess.Popen(
        program("--library", library, "search", MELTING, "--all", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(60) == 1


def test_progress_says_which_file_of_how_many_on_a_terminal_only(
    library: Path, mineral_files: list[Path]
) -> None:
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (24, 100))
    process = subprocess.Popen(
        program("--library", library, "add", *mineral_files[2:], "--json"),
        stdout=subprocess.PIPE,
        stderr=follower,
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    out, _ = process.communicate(timeout=60)
    assert [f["status"] for f in json.loads(out)["files"]] == ["duplicate", "ready", "ready"]
    text = shown.decode("utf-8")
    assert "file 1 of 3: cendrite.pdf, read" in text
    assert "file 3 of 3: elbergite.pdf, index" in text
    assert run_apart("--library", library, "add", *mineral_files[2:]).err == ""


def test_a_bar_shows_the_share_of_a_stage_and_of_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    bar = terminal.ProgressBar()
    bar(workbench.Progress("embed", "big\x1b[31m.pdf", 30, 120, number=2, files=4))
    bar(workbench.Progress("index", "big.pdf", 1, 1, number=2, files=4))
    bar.close()
    assert " 25%|" in screen.getvalue()
    assert "file 2 of 4: big[31m.pdf, embed 25 %" in screen.getvalue()
    assert " 50%|" in screen.getvalue()


# --- streams that are closed or full ------------------------------------------------------------


def shell(redirected: str, *arguments: str | Path) -> tuple[int, str, str]:
    """What a command does whose streams a shell has redirected."""
    line = ["sh", "-c", f'exec "$@" {redirected}', "sh", *program(*arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_stream_that_the_shell_closed_is_an_empty_one(library: Path) -> None:
    command = ["--library", library, "papers", "remove", "1"]
    assert shell("<&- >&- 2>&-", *command) == (0, "", "")
    gone = "workbench: Paper not found: it is not in your library. List your papers to see their ids.\n"
    assert shell("<&-", *command) == (1, "", gone)
    assert shell("<&- 2>&-", "--library", library, "doctor") == (0, "The library is healthy.\n", "")
    note = ["--library", library, "notes", "create", "Empty", "--from", "-"]
    assert shell("<&-", *note)[0] == 1


@pytest.mark.parametrize("verb", [["papers", "list"], ["papers", "list", "--json"], ["export", "papers"]])
def test_an_output_that_takes_no_more_is_told_in_a_line(library: Path, verb: list[str]) -> None:
    assert shell(">/dev/full", "--library", library, *verb) == (
        1,
        "",
        "workbench: The output cannot be written: No space left on device.\n",
    )


def test_a_note_from_a_pipe_that_is_no_text_is_refused(library: Path) -> None:
    done = subprocess.run(
        program("--library", library, "notes", "create", "Coffee", "--from", "-"),
        input=b"caf\xe9",
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "1"},  # where Python takes any byte for text
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"workbench: - cannot be read: it is not a text in UTF-8.\n"


# --- stopping -----------------------------------------------------------------------------------


def press_and_run(body: str) -> tuple[int, str, str]:
    """A program whose verb ``papers list`` has another body; ``press`` is Ctrl+C."""
    script = f"""
import os, signal
import workbench.cli.opening
from workbench.cli import main
def press():
    os.kill(os.getpid(), signal.SIGINT)
def settings(self):
{body}
workbench.cli.opening.Opening.settings = settings
import sys
sys.argv[1:] = ["papers", "list"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_second_ctrl_c_at_once_does_not_disturb_the_end_of_the_first() -> None:
    body = """
    try:
        press()
    finally:
        press()
        print("tidied up")
"""
    status, out, err = press_and_run(body)
    assert (status, out, err.strip()) == (
        130,
        "tidied up\n",
        "workbench: Stopped. What was finished is kept.",
    )


def test_native_code_that_would_abort_at_the_end_does_not_after_ctrl_c() -> None:
    body = """
    import ctypes
    libc = ctypes.CDLL(None)
    libc.__cxa_atexit(ctypes.cast(libc.abort, ctypes.c_void_p), None, None)
    press()
"""
    status, out, err = press_and_run(body)
    assert (status, out, err.strip()) == (130, "", "workbench: Stopped. What was finished is kept.")


@pytest.mark.parametrize(
    ("when", "told"), [("before", "Nothing was changed."), ("after", "The library was restored already.")]
)
def test_ctrl_c_while_restoring_says_which_library_is_there(
    library: Path, tmp_path: Path, when: str, told: str
) -> None:
    written = tmp_path / "copy.duckdb"
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
        wb.backup(written)
        wb.papers.remove(1)
        left = len(wb.papers.list())
    script = f"""
import os, signal, sys
from pathlib import Path
from workbench.cli import main
library = Path({str(library)!r})
def press(frame, event, argument):
    if event == "return" and frame.f_code.co_name == ("_set_aside" if {when!r} == "before" else "restore"):
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(press)
main(["--library", str(library), "restore", {str(written)!r}])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", f"workbench: Stopped. {told}")
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
        assert len(wb.papers.list()) == left + (when == "after")


def test_an_error_that_ctrl_c_became_in_a_librarys_own_code_is_ctrl_c() -> None:
    body = """
    try:
        press()
    except KeyboardInterrupt:
        pass
    raise ImportError("initialization failed")
"""
    assert press_and_run(body) == (130, "", "workbench: Stopped. What was finished is kept.\n")


def test_ctrl_c_while_the_verbs_are_loaded_is_one_line() -> None:
    script = """
import os, signal, sys
class Pressing:
    def find_spec(self, name, *rest):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Pressing())
from workbench.cli import main
main(["--help"])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "workbench: Stopped. What was finished is kept.\n"


def test_ctrl_c_while_adding_leaves_a_sound_library_with_what_was_finished(tmp_path: Path) -> None:
    library, temporary = tmp_path / "new" / "library.duckdb", tmp_path / "tmp"
    temporary.mkdir()
    files = [m.write(tmp_path) for m in minerals(24)]
    process = subprocess.Popen(
        program("--library", library, "add", *files),
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
        deadline = time.monotonic() + 60
        while not wb.papers.list() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert err.decode().strip() == "workbench: Stopped. What was finished is kept."
        assert out == b""
        kept = [p.file for p in wb.papers.list()]
        assert kept == [m.file for m in minerals(24)][: len(kept)]
        assert 0 < len(kept) < 24
        assert wb.doctor() == []
        assert list(temporary.iterdir()) == []
        report = wb.papers.add_many(files[: len(kept) + 1])
        assert [f.status for f in report.files] == ["duplicate"] * len(kept) + ["ready"]
        question = minerals(1)[0].questions()[0]
        assert question.is_answered_by(wb.ask(question.text, scope=Scope.ALL, provider="extractive"))


def test_an_error_nobody_foresaw_is_one_line_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(self: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("workbench.api.Workbench.doctor", explode)
    run = cli("doctor")
    said = re.fullmatch(
        r"The workbench itself failed \(ZeroDivisionError: division by zero\)\. "
        r"Please report it with (\S+), which holds no text of your papers\.",
        run.error,
    )
    assert run.status == 1
    assert said is not None
    assert "ZeroDivisionError" in Path(said[1]).read_text("utf-8")

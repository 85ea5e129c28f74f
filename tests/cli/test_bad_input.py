from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from tests.cli.conftest import Cli, run_here
from tests.mineral_papers import write_pdf

Make = Callable[[Path], Path]


def encrypted(folder: Path) -> Path:
    path = folder / "locked.pdf"
    canvas = Canvas(str(path), pagesize=A4, encrypt=StandardEncryption("secret", strength=128))
    canvas.drawString(72, 700, "Nobody may read this without the password.")
    canvas.save()
    return path


def written(name: str, data: bytes) -> Make:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(data)
        return path

    return make


def folder_of_nothing(folder: Path) -> Path:
    path = folder / "empty-folder"
    path.mkdir()
    return path


BAD_FILES: dict[str, tuple[Make, str]] = {
    "missing": (lambda folder: folder / "missing.pdf", "there is no such file"),
    "empty folder": (folder_of_nothing, "the folder holds no files"),
    "empty file": (written("empty.pdf", b""), "empty"),
    "empty text": (written("empty.txt", b" \n\t \n"), "no text"),
    "encrypted": (encrypted, "password"),
    "no text layer": (lambda f: write_pdf(f / "scan.pdf", title="Scan", pages=[[], []]), "needs? OCR"),
    "corrupt": (written("corrupt.pdf", b"%PDF-1.7\n1 0 obj << /Type /Cata"), "damaged|PDF"),
    "junk": (written("junk.bin", bytes(range(256)) * 40), "no kind of file that can be read"),
    "junk called a paper": (written("junk.pdf", os.urandom(5000)), "no kind of file that can be read"),
    "an image": (
        written("image.png", b"\x89PNG\r\n\x1a\n" + bytes(500)),
        "this is a picture, not a document",
    ),
    "a device": (lambda folder: Path("/dev/null"), "device or a pipe"),
}


def test_a_file_that_cannot_become_a_paper_is_refused_with_its_reason_and_stops_nothing(
    cli: Cli, tmp_path: Path, mineral_files: list[Path]
) -> None:
    made = {name: make(tmp_path) for name, (make, _) in BAD_FILES.items()}
    run = cli("add", *made.values(), mineral_files[3], "--json")
    *refused, good = run.json["files"]
    assert [(f["file"], f["status"], f["paper_id"]) for f in refused] == [
        (path.name, "failed", None) for path in made.values()
    ]
    reasons = {name: f["error"] for name, f in zip(made, refused, strict=True)}
    unclear = {
        name: reason
        for name, reason in reasons.items()
        if "\n" in reason or not re.search(BAD_FILES[name][1], reason)
    }
    assert unclear == {}
    assert good["status"] == "ready"
    assert (run.status, run.error) == (1, f"{len(made)} of {len(made) + 1} files could not be added.")
    assert cli("doctor").status == 0


def test_a_wrong_ending_does_not_hide_what_a_file_is(
    cli: Cli, mineral_files: list[Path], tmp_path: Path
) -> None:
    disguised = tmp_path / "paper.txt"
    disguised.write_bytes(mineral_files[3].read_bytes())
    run = cli("add", disguised, "--json")
    assert [(f["status"], f["pages"]) for f in run.json["files"]] == [("ready", 3)]
    page = tmp_path / "page.pdf"
    page.write_text("<html><title>Mica</title><body><p>Mica splits into thin sheets.</p></body></html>")
    assert cli("add", page, "--json").json["files"][0]["status"] in {"ready", "failed"}
    assert cli("doctor").status == 0


def test_hard_files_are_added_or_refused_in_one_line_each(cli: Cli, shared: Path) -> None:
    names = [
        "encrypted/r6-user-password.pdf",
        "encrypted/r4-aes-user-password.pdf",
        "encrypted/r6-owner-password.pdf",
        "broken/empty-0-bytes.pdf",
        "broken/invalid-44-bytes.pdf",
        "broken/zero-pages.pdf",
        "broken/cyclic-toc.pdf",
        "broken/evil-xobjects.pdf",
        "broken/fuzz-378014596.pdf",
        "broken/html-named-pdf.pdf",
        "scanned/linn.pdf",
        "scanned/linn.txt",
        "formats/empty.txt",
        "formats/utf-16.txt",
        "formats/tables.docx",
        "active/javascript-openaction.pdf",
    ]
    folder = shared / "hard-files"
    rows = (line.split("\t") for line in (folder / "expected.tsv").read_text("utf-8").splitlines()[1:])
    expected = {row[0]: row[1] for row in rows}
    run = cli("add", *[folder / name for name in names], "--json")
    found = {name: f["status"] for name, f in zip(names, run.json["files"], strict=True)}
    surprises = {n: s for n, s in found.items() if expected.get(n, "any") not in {"any", s}}
    assert surprises == {}
    assert all(f["error"] and "\n" not in f["error"] for f in run.json["files"] if f["status"] == "failed")
    assert cli("doctor").status == 0


BAD_COMMANDS: dict[str, tuple[list[str], str]] = {
    "no such verb": (["frobnicate"], "No such command 'frobnicate'"),
    "no such option": (["search", "x", "--scope", "all"], "No such option"),
    "nothing to add": (["add"], "Missing argument 'FILE…'"),
    "nothing to ask": (["ask"], "Missing argument 'QUESTION'"),
    "an empty question": (["ask", " "], "The question is empty"),
    "an endless question": (["search", "word " * 2000], "at most 4000 work. Shorten it"),
    "unknown project to search": (["search", "x", "--project", "Nope"], "Project not found: “Nope”"),
    "unknown project to ask": (["ask", "x", "--project", "Nope"], "Project not found: “Nope”"),
    "unknown project to add to": (["add", "/dev/null", "--project", "Nope"], "Project not found: “Nope”"),
    "unknown project by number": (["papers", "list", "--project", "17"], "Project not found: 17"),
    "a number too long for an id": (["projects", "delete", "9" * 5000], "Project not found"),
    "two scopes": (["search", "x", "--project", "Minerals", "--all"], "exclude each other: give one"),
    "two other scopes": (["ask", "x", "--orphans", "--all"], "exclude each other: give one"),
    "scopes of a list": (["papers", "list", "--orphans", "--project", "1"], "exclude each other"),
    "no passages": (["search", "x", "--top-k", "0"], "--top-k': 0 is not in the range 1<=x<=200"),
    "half a passage": (["search", "x", "--top-k", "1.5"], "not a valid int"),
    "a relevance of 2": (["search", "x", "--min-relevance", "2"], "not in the range 0<=x<=1"),
    "a mode nobody knows": (["search", "x", "--mode", "magic"], "'hybrid', 'vector', 'keyword'"),
    "a provider nobody knows": (["ask", "x", "--provider", "gpt"], "'auto', 'ollama', 'extractive'"),
    "a provider that is away": (["ask", "x", "--provider", "ollama"], "start Ollama with `ollama serve`"),
    "a taken name": (["projects", "create", "minerals"], "a project named “Minerals” already"),
    "no name": (["projects", "create", "  "], "project"),
    "unknown paper": (["papers", "remove", "99"], "Paper not found"),
    "a paper by name": (["papers", "remove", "arvenite"], "'arvenite' is not a valid int"),
    "a paper with an endless id": (["papers", "remove", "9" * 60], "Paper not found"),
    "unknown paper for a project": (["projects", "add", "Minerals", "99"], "Paper not found"),
    "a backup to nowhere": (["backup", "/nowhere/at/all.duckdb"], "There is no folder /nowhere/at"),
    "a port out of range": (["dashboard", "--port", "70000"], "not in the range 1<=x<=65535"),
}


@pytest.mark.parametrize("name", BAD_COMMANDS)
def test_a_command_that_cannot_work_says_so_in_one_line_and_changes_nothing(cli: Cli, name: str) -> None:
    arguments, says = BAD_COMMANDS[name]
    run = cli(*arguments)
    assert run.status in {1, 2}
    assert says in run.error
    assert run.out == ""
    assert [p["paper_count"] for p in cli("projects", "list", "--json").json["projects"]] == [2]


# --- libraries ----------------------------------------------------------------------------------


def test_verbs_that_need_a_library_say_that_there_is_none_and_make_none(tmp_path: Path) -> None:
    path = tmp_path / "none.duckdb"
    for verb in (
        ["status"],
        ["doctor"],
        ["search", "x"],
        ["ask", "x"],
        ["papers", "list"],
        ["projects", "list"],
        ["reprocess", "--all"],
        ["compact"],
    ):
        run = run_here("--library", path, *verb)
        assert run.status == 1
        assert run.error == f"There is no library at {path}. Check --library, or add a paper first."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", [["status"], ["search", "x"], ["add", "/dev/null"], ["projects", "list"]])
def test_a_file_that_is_no_library_is_named_and_left_alone(tmp_path: Path, verb: list[str]) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are my notes." * 500)
    run = run_here("--library", path, *verb)
    assert run.status == 1
    assert run.error.startswith(f"{path} is not a library.")
    assert path.read_text() == "These are my notes." * 500


def test_an_empty_library_option_is_not_taken_for_the_default_library(tmp_path: Path) -> None:
    run = run_here("--library", "", "projects", "create", "Ores")
    assert (run.status, run.error) == (
        1,
        "--library is empty: give the path of the library file, or leave it out.",
    )
    assert not (tmp_path / "data-home").exists()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    run = run_here("--library", tmp_path / "file" / "library.duckdb", "projects", "create", "Ores")
    assert run.status == 1
    assert "cannot be made" in run.error


@pytest.fixture
def holder(library: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another program that has the library's file open."""
    code = f"import duckdb; c = duckdb.connect({str(library)!r}); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield process
        process.communicate(b"\n")


def test_a_library_that_another_program_holds_names_that_program(
    cli: Cli, library: Path, holder: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_LOCK_TIMEOUT", "0.3")
    for verb in (["status"], ["search", "x", "--json"], ["doctor", "--json"], ["add", "/dev/null"]):
        run = cli(*verb)
        assert (run.status, run.out) == (1, "")
        assert run.error.startswith(f"The library {library} is in use by process {holder.pid} (")
        assert "within 0.3 s. Wait for it to finish, or close that program, and try again." in run.error


# --- settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("WORKBENCH_TOP_K", "lots", "WORKBENCH_TOP_K='lots': allowed is a whole number from 1 to 200."),
        ("PROJECT_CHAT_TOP_K", "-1", "PROJECT_CHAT_TOP_K='-1': allowed is a whole number from 1 to 200."),
        ("WORKBENCH_CHAT", "gpt", "WORKBENCH_CHAT='gpt': allowed: auto, ollama, extractive."),
        (
            "WORKBENCH_EMBEDDER",
            "chroma",
            "WORKBENCH_EMBEDDER='chroma': allowed are auto, onnx, ollama, fake, or the folder of a model.",
        ),
        (
            "OLLAMA_HOST",
            "http://[::1",
            "OLLAMA_HOST='http://[::1': allowed is an address such as http://127.0.0.1:11434.",
        ),
    ],
)
def test_a_bad_environment_names_the_variable_and_what_is_allowed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    if variable == "OLLAMA_HOST":
        monkeypatch.setenv("WORKBENCH_CHAT", "ollama")
    monkeypatch.setenv(variable, value)
    run = cli("ask", "What is the melting point of cendrite?")
    assert run.status == 1
    assert run.error.startswith(says)


@pytest.mark.parametrize("verb", ["dashboard", "lab"])
def test_a_program_that_is_started_in_a_folder_that_is_gone_says_so(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    run = run_here("--library", str(tmp_path / "library.duckdb"), verb, "--no-browser")
    assert (run.status, run.out) == (1, "")
    assert run.error == (
        "The folder you are in does not exist any more: change to another one and start again."
    )

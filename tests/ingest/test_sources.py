from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest

from workbench.ingest.sources import Source, SourceFile, sha256_of, source_files


def found(tmp_path: Path, *sources: Source, max_file_mb: int = 1) -> list[SourceFile]:
    spool = tmp_path / "spool"
    spool.mkdir(exist_ok=True)
    return list(source_files(sources, spool=spool, max_file_mb=max_file_mb))


def test_files_bytes_and_open_files_are_taken_in_the_order_given(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"from a path")
    with (tmp_path / "b.txt").open("wb") as file:
        file.write(b"from an open file")
    with (tmp_path / "b.txt").open("rb") as opened:
        files = found(tmp_path, str(path), ("c.txt", b"from bytes"), b"bare", opened, io.BytesIO(b"memory"))
    assert [(f.name, f.path and f.path.read_bytes(), f.problem) for f in files] == [
        ("a.txt", b"from a path", None),
        ("c.txt", b"from bytes", None),
        ("unnamed", b"bare", None),
        ("b.txt", b"from an open file", None),
        ("unnamed", b"memory", None),
    ]


def test_a_folder_gives_its_files_sorted_and_names_the_hidden_ones_it_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    for name in ("b.txt", "a.txt", "sub/c.txt", ".hidden", ".git/config"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    files = found(tmp_path, folder)
    assert [(f.name, f.problem) for f in files] == [("a.txt", None), ("b.txt", None), ("c.txt", None)]
    assert files[0].notes == ("Hidden files of the folder papers were left out: .git/, .hidden.",)
    assert all(f.notes == () for f in files[1:])


def test_a_folder_gives_files_of_formats_that_are_read_and_names_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("a.PDF", "b.md", "questions.jsonl", "plot.png", "Makefile"):
        (folder / name).write_text(name)
    files = found(tmp_path, folder)
    assert [f.name for f in files] == ["a.PDF", "b.md"]
    assert files[0].notes == (
        "Files of other formats in the folder papers were left out: Makefile, plot.png, questions.jsonl."
        " Name a file itself to add it.",
    )
    assert [(f.name, f.problem) for f in found(tmp_path, folder / "questions.jsonl")] == [
        ("questions.jsonl", None)
    ]
    for name in ("a.PDF", "b.md"):
        (folder / name).unlink()
    assert [f.problem for f in found(tmp_path, folder)] == [
        "the folder holds no files to read (3 of other formats were left out)"
    ]


def test_a_folder_that_holds_a_library_does_not_give_the_librarys_own_files(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    for name in ("a.txt", "l.duckdb", "l.duckdb.derived/keywords.json", "mine.derived/b.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    assert [f.name for f in found(tmp_path, folder)] == ["a.txt", "b.txt"]


def test_a_folder_without_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".DS_Store").write_text("x")
    [file] = found(tmp_path, tmp_path / "empty")
    assert (file.name, file.path) == ("empty", None)
    assert file.problem == "the folder holds no files (1 hidden ones were left out)"


def test_links_are_followed_where_the_user_named_them_and_not_out_of_a_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not in the folder")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "in.txt").write_text("in the folder")
    (folder / "link-in.txt").symlink_to(folder / "in.txt")
    (folder / "link-out.txt").symlink_to(secret)
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / "outside").symlink_to(tmp_path)
    problems = {f.name: f.problem for f in found(tmp_path, folder)}
    assert problems.pop("loop.txt") is not None
    assert problems == {
        "in.txt": None,
        "link-in.txt": None,
        "link-out.txt": "a link out of the folder: name the file itself to add it",
    }
    [named] = found(tmp_path, folder / "link-out.txt")
    assert (named.name, named.path, named.problem) == ("link-out.txt", secret, None)


def test_what_cannot_be_read_has_a_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.txt").write_bytes(bytes(1_000_001))
    reasons = [
        f.problem
        for f in found(
            tmp_path,
            tmp_path / "absent.pdf",
            tmp_path / "pipe",
            tmp_path / "large.txt",
            bytes(1_000_001),
            io.StringIO("text"),
            "nul\0byte",
        )
    ]
    assert reasons[:5] == [
        "there is no such file",
        "this is a device or a pipe, not a file",
        "the file is larger than 1 MB: split it, or raise WORKBENCH_MAX_FILE_MB",
        "the file is larger than 1 MB: split it, or raise WORKBENCH_MAX_FILE_MB",
        "the file is open as text: open it in binary mode",
    ]
    assert reasons[5] is not None
    assert all(reason and "\n" not in reason for reason in reasons)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "locked.txt"
    path.write_text("x")
    path.chmod(0)
    [file] = found(tmp_path, path)
    assert file.problem == "the file may not be read: check its permissions"


def test_names_are_only_labels(tmp_path: Path) -> None:
    names = ["../../outside.txt", "a\\b.txt", "x" * 300 + ".txt", "🚀.txt"]
    files = found(tmp_path, *[(name, b"content") for name in names])
    assert [f.name for f in files] == names
    assert {f.path and f.path.parent for f in files} == {tmp_path / "spool"}
    assert not (tmp_path.parent / "outside.txt").exists()


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(range(256)) * 9000)
    assert sha256_of(path) == hashlib.sha256(path.read_bytes()).hexdigest()

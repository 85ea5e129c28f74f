"""Files that a person names to read from or to write to."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from workbench import named_files
from workbench.errors import InvalidInputError
from workbench.named_files import read_named, write_named


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    link = tmp_path / "loop"
    link.symlink_to(link)
    return link


@pytest.mark.parametrize("name", ["~nobody-has-this-name/x", "a\0b", "x" * 300, "no/such/folder/x", ".", ""])
def test_a_name_that_no_file_can_have_is_refused_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInputError, match=r"cannot be read: .+[^.]\.$"):
        read_named(name)
    with pytest.raises(InvalidInputError, match=r"cannot be written: .+[^.]\.$"):
        write_named(name, b"text")
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_itself_is_refused_in_a_sentence_and_stays(loop: Path) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_named(loop)
    with pytest.raises(InvalidInputError, match="cannot be written"):
        write_named(loop, b"text")
    assert loop.is_symlink()


def test_a_device_that_never_ends_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_files, "LARGEST", 1_000_000)
    with pytest.raises(InvalidInputError, match=r"^zero is larger than 1 MB: split it\.$"):
        read_named("/dev/zero")


def test_a_pipe_is_read_and_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=write_named, args=(pipe, b"through"))
    writing.start()
    assert read_named(pipe) == b"through"
    writing.join()
    assert pipe.is_fifo()


def test_a_file_takes_the_place_of_another_behind_its_link_and_nothing_is_left_beside_it(
    tmp_path: Path,
) -> None:
    name = "y" * 252 + ".md"  # as long as a name can be
    (tmp_path / name).write_bytes(b"old")
    (tmp_path / "link").symlink_to(name)
    assert write_named(tmp_path / "link", b"new") == tmp_path / "link"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {name: b"new", "link": b"new"}
    assert (tmp_path / "link").is_symlink()


def test_what_another_user_put_under_a_name_to_come_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"theirs")
    (tmp_path / ".talk.md.part").symlink_to("theirs")
    write_named(tmp_path / "talk.md", b"mine")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"
    assert (tmp_path / "talk.md").read_bytes() == b"mine"

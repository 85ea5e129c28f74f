"""Uploads arrive in slices, whole, under a label that is never a path."""

from __future__ import annotations

import hashlib
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from widgets.panel import at_once
from widgets.uploads.state import SLICE_BYTES, Upload, UploadsState, file_label
from workbench.scratch import HELD, LOCK


class Received:
    def __init__(self, *, max_bytes: int = 64 << 20) -> None:
        self.batches: list[list[Upload]] = []
        self.panel = UploadsState(
            lambda batch: self.batches.append(list(batch)), max_bytes=max_bytes, run=at_once
        )

    def send(self, name: str, data: bytes, *, key: str = "k", slice_bytes: int = SLICE_BYTES) -> None:
        self.panel.act({"do": "begin", "with": {"key": key, "name": name, "size": len(data)}})
        for offset in range(0, max(len(data), 1), slice_bytes):
            piece = memoryview(data[offset : offset + slice_bytes])
            self.panel.act({"do": "receive", "with": {"key": key, "offset": offset}}, [piece])

    def finish(self) -> None:
        self.panel.act({"do": "finish"})


def test_a_file_of_many_slices_arrives_whole() -> None:
    data = os.urandom(5 * SLICE_BYTES + 123)
    received = Received()
    received.send("big.pdf", data)
    assert received.panel.accepted["bytes"] == len(data)
    received.finish()
    ((upload,),) = received.batches
    assert upload.label == "big.pdf"
    assert hashlib.sha256(upload.path.read_bytes()).digest() == hashlib.sha256(data).digest()
    upload.discard()
    assert not upload.path.exists()


def test_slices_go_to_a_private_numbered_file_whatever_the_name_says() -> None:
    received = Received()
    received.send("../../outside.txt", b"data")
    received.finish()
    ((upload,),) = received.batches
    assert (upload.label, upload.path.name) == ("outside.txt", "upload-1")
    assert stat.S_IMODE(upload.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("a\\b.txt", "b.txt"),
        ("..", "upload"),
        ("", "upload"),
        ("line\nbreak\x00.pdf", "linebreak.pdf"),
        ("evil\u202efdp.exe", "evilfdp.exe"),
        ("📄 notes.md", "📄 notes.md"),
        ("<img src=x onerror=alert(1)>.pdf", "<img src=x onerror=alert(1)>.pdf"),
        ("x" * 300 + ".pdf", "x" * 195 + "….pdf"),
    ],
)
def test_a_label_is_the_last_part_of_a_name_without_control_characters(name: str, label: str) -> None:
    assert file_label(name) == label
    assert len(label) <= 200


def test_several_files_are_one_batch_and_an_empty_one_counts() -> None:
    received = Received()
    received.send("one.txt", b"1", key="a")
    received.send("none.txt", b"", key="b")
    received.finish()
    received.finish()
    assert [[u.label for u in batch] for batch in received.batches] == [["one.txt", "none.txt"]]


def test_a_file_over_the_limit_is_refused_before_it_is_sent_and_the_rest_goes_on() -> None:
    received = Received(max_bytes=1_000_000)
    received.send("huge.pdf", b"x" * 1_000_001, key="a")
    assert received.panel.accepted["bytes"] == -1
    received.send("small.pdf", b"x", key="b")
    received.finish()
    assert [[u.label for u in batch] for batch in received.batches] == [["small.pdf"]]
    assert received.panel.error == "huge.pdf is larger than 1 MB; raise WORKBENCH_MAX_FILE_MB."


def test_a_gap_or_an_overrun_ends_the_file() -> None:
    received = Received()
    for offset, data in ((2, b"xx"), (0, b"xxxxxx")):
        received.panel.act({"do": "begin", "with": {"key": "k", "name": "a.txt", "size": 4}})
        received.panel.act({"do": "receive", "with": {"key": "k", "offset": offset}}, [data])
        assert received.panel.error == "a.txt did not arrive whole. Add it again."
        assert received.panel.accepted["bytes"] == -1
    received.finish()
    assert received.batches == []


def test_a_cancelled_file_leaves_nothing_behind() -> None:
    received = Received()
    received.panel.act({"do": "begin", "with": {"key": "k", "name": "a.txt", "size": 4}})
    folder = Path(received.panel._private_folder())
    received.panel.act({"do": "cancel", "with": {"key": "k"}})
    received.panel.act({"do": "receive", "with": {"key": "k", "offset": 0}}, [b"late"])
    received.finish()
    assert {path.name for path in folder.iterdir()} == {LOCK, HELD}
    assert (received.batches, received.panel.error) == ([], "")


def test_a_full_disk_ends_the_file_in_a_sentence_and_the_browser_is_answered() -> None:
    received = Received()
    received.panel.act({"do": "begin", "with": {"key": "k", "name": "a.txt", "size": 4}})
    ended: list[int] = []
    received.panel.observe(lambda change: ended.append(change.new["bytes"]), names="accepted")
    folder = received.panel._private_folder()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))  # as a full disk: not one byte more
    try:
        received.panel.act({"do": "receive", "with": {"key": "k", "offset": 0}}, [b"data"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert received.panel.error == (
        "a.txt could not be kept (File too large): free some space on the disk, and add it again."
    )
    assert ended == [-1]
    assert {path.name for path in folder.iterdir()} == {LOCK, HELD}


def test_uploads_of_a_killed_kernel_go_at_the_next_start(tmp_path: Path) -> None:
    uploading = """
import os, signal
from widgets.panel import at_once
from widgets.uploads.state import UploadsState
panel = UploadsState(lambda batch: None, max_bytes=9, run=at_once)
panel.act({"do": "begin", "with": {"key": "k", "name": "a.txt", "size": 4}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", uploading], env=environment, check=False)
    (left,) = tmp_path.iterdir()
    assert (left / "upload-1").exists()
    another = "from workbench.scratch import scratch_folder\nwith scratch_folder(): pass"
    subprocess.run([sys.executable, "-c", another], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []

"""A report of a failure: enough to find it, and no word of a paper, a question or this machine."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import duckdb

import workbench
from workbench.crash_reports import KEPT, write_crash_report

PAPER = "the measured value of the secret paper was 42"


def failing(depth: int) -> None:
    text = PAPER
    if depth:
        failing(depth - 1)
    try:
        json.loads(text)
    except ValueError as error:
        raise RuntimeError(f"could not use {text!r}") from error


def report(folder: Path) -> str:
    try:
        failing(2)
    except RuntimeError as error:
        path = write_crash_report(error, doing="a test", folder=folder)
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return path.read_text("utf-8")


def test_a_report_names_the_place_the_causes_and_the_versions(tmp_path: Path) -> None:
    lines = report(tmp_path / "made on demand").splitlines()
    assert lines[2] == "Doing    a test"
    assert f"duckdb {duckdb.__version__}" in lines[4]
    kinds = [line for line in lines if line.startswith(("Failed", "Caused"))]
    assert kinds == ["Failed with builtins.RuntimeError", "Caused by json.decoder.JSONDecodeError"]
    assert [line.rpartition(" ")[2] for line in lines if "test_crash_reports.py" in line] == [
        "report", "failing", "failing", "failing", "failing",
    ]  # fmt: skip


def test_a_report_holds_no_word_of_a_paper_and_no_folder_of_the_machine(tmp_path: Path) -> None:
    text = report(tmp_path)
    assert "secret" not in text
    assert str(Path.home()) not in text
    assert str(Path(workbench.__file__).parents[1]) not in text


def test_the_newest_reports_are_kept(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        write_crash_report(ValueError(number), doing=f"number {number}", folder=tmp_path)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == KEPT
    assert f"number {KEPT + 2}" in kept[-1].read_text("utf-8")


def test_where_no_file_can_be_written_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert write_crash_report(ValueError(), doing="a test", folder=tmp_path / "file" / "below") is None

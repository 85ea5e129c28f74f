"""What ``workbench add`` reports when something is wrong with a source or with the library."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench
from tests.cli.conftest import Cli
from workbench.errors import InvalidInputError, LibraryError
from workbench.ingest import pipeline
from workbench.ingest.pipeline import Ingestor
from workbench.records import FileOutcome


def test_an_empty_path_is_refused_and_never_taken_for_the_current_folder(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "private.txt").write_text("A text that nobody meant to add.")
    monkeypatch.chdir(folder)
    before = cli("papers", "list", "--json").json
    run = cli("add", "", "--json")
    assert run.status == 1
    assert [(f["status"], f["error"]) for f in run.json["files"]] == [("failed", "the path is empty")]
    assert cli("papers", "list", "--json").json == before
    assert [f["file"] for f in cli("add", ".", "--json").json["files"]] == ["private.txt"]


def test_one_bad_source_leaves_the_others_to_go_in(cli: Cli, tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text("A good text.")
    run = cli("add", "~nosuchuser/x.pdf", good, "--json")
    assert run.status == 1
    assert [(f["file"], f["status"]) for f in run.json["files"]] == [
        ("x.pdf", "failed"),
        ("good.txt", "ready"),
    ]
    assert run.error == "1 of 2 files could not be added."


def test_a_mistyped_path_is_an_error_of_that_command_alone(cli: Cli, library: Path, tmp_path: Path) -> None:
    with workbench.open(library, user="ann") as wb:
        before = wb.papers.stage_ends()
    run = cli("add", tmp_path / "nowhere.pdf", "--json")
    assert (run.status, run.error) == (1, "The file could not be added.")
    assert [(f["file"], f["status"], f["error"]) for f in run.json["files"]] == [
        ("nowhere.pdf", "failed", "there is no such file")
    ]
    with workbench.open(library, user="ann") as wb:
        assert wb.papers.stage_ends() == before


def test_a_disk_that_fills_up_half_way_leaves_the_report(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full(Ingestor):
        def _add_file(
            self, work: pipeline.FileWork, source: pipeline.SourceFile, *, strict: bool
        ) -> FileOutcome:
            if source.name == "b.txt":
                raise LibraryError("The disk is full.")
            return super()._add_file(work, source, strict=strict)

    monkeypatch.setattr(pipeline, "Ingestor", Full)
    paths = []
    for name in "abc":
        paths.append(tmp_path / f"{name}.txt")
        paths[-1].write_text(f"The text of {name}.")
    run = cli("add", *paths, "--json")
    assert run.status == 1
    assert [(f["status"], f["error"]) for f in run.json["files"]] == [
        ("ready", None),
        ("failed", "The disk is full."),
        ("ready", None),
    ]


def test_wrong_arguments_of_adding_are_named(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with workbench.open(library, user="ann") as wb:
        for given in (None, "x.pdf", Path("x.pdf"), b"bytes"):
            with pytest.raises(InvalidInputError, match="A list of files and folders is needed"):
                wb.papers.add_many(given)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InvalidInputError, match="A list of records is needed, not NoneType"):
            wb.papers.add_texts(None)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InvalidInputError, match="A title is a text, not int"):
            wb.papers.add(b"A text.", title=7)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InvalidInputError, match="This title has 100,000 characters"):
            wb.papers.add(b"A text.", title="T" * 100_000)

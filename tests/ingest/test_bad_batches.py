"""One bad item of a batch, or a library that fails half way: every item has its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from workbench.errors import InvalidInputError, LibraryError, LibraryLockedError
from workbench.ingest.pipeline import Ingestor
from workbench.ingest.sandbox import Reader
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.records import IngestReport
from workbench.storage import papers
from workbench.storage.database import Database

FULL = LibraryError("The disk of library.duckdb is full:\nfree some space, and try again.")
LOCKED = LibraryLockedError("The library is in use by process 7.")


class FailingDatabase(Database):
    """Lets ``good`` writes through, then fails ``bad`` of them."""

    good, bad, tries = 10_000, 0, 0
    error: LibraryError = FULL

    @contextmanager
    def write(self) -> Iterator[DuckDBPyConnection]:
        self.tries += 1
        if self.good < self.tries <= self.good + self.bad:
            raise self.error
        with super().write() as cursor:
            yield cursor


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[FailingDatabase]:
    opened = FailingDatabase(tmp_path / "library" / "library.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def ingestor(failing: FailingDatabase, shared_reader: Reader) -> Ingestor:
    return Ingestor(failing, shared_reader, FakeEmbedder())


def told(report: IngestReport) -> list[tuple[str, str, str | None]]:
    return [(f.file, f.status, f.error) for f in report.files]


def files(count: int) -> list[tuple[str, bytes]]:
    return [(f"{n}.txt", f"The text of file {n}.".encode()) for n in range(count)]


def records(count: int) -> list[dict[str, str]]:
    return [{"title": f"T{n}", "text": f"Text {n}."} for n in range(count)]


# --- the library fails ---------------------------------------------------------------------------


def test_a_full_disk_fails_its_file_and_the_others_are_tried(
    ingestor: Ingestor, failing: FailingDatabase
) -> None:
    failing.good, failing.bad = 1, 1
    assert told(ingestor.add_many(files(3), user="ann")) == [
        ("0.txt", "ready", None),
        ("1.txt", "failed", "The disk of library.duckdb is full: free some space, and try again."),
        ("2.txt", "ready", None),
    ]


def test_a_library_held_by_another_program_fails_the_rest_without_a_wait_for_each(
    ingestor: Ingestor, failing: FailingDatabase
) -> None:
    failing.good, failing.bad, failing.error = 1, 10_000, LOCKED
    assert told(ingestor.add_many(files(4), user="ann")) == [
        ("0.txt", "ready", None),
        *[(f"{n}.txt", "failed", "The library is in use by process 7.") for n in (1, 2, 3)],
    ]
    assert failing.tries == 2
    with pytest.raises(LibraryLockedError):
        ingestor.add_many(files(4)[3:], user="ann", strict=True)


def test_texts_that_cannot_go_in_together_are_tried_one_by_one(
    ingestor: Ingestor, failing: FailingDatabase
) -> None:
    failing.good, failing.bad = 0, 2
    assert [(f, s) for f, s, _ in told(ingestor.add_texts(records(3), user="ann"))] == [
        ("T0", "failed"),
        ("T1", "ready"),
        ("T2", "ready"),
    ]


def test_texts_before_the_library_was_taken_are_reported(
    ingestor: Ingestor, failing: FailingDatabase
) -> None:
    failing.good, failing.bad, failing.error = 1, 10_000, LOCKED
    report = ingestor.add_texts(records(250), user="ann")
    assert [f.status for f in report.files] == ["ready"] * 200 + ["failed"] * 50
    assert {f.error for f in report.files[200:]} == {"The library is in use by process 7."}


# --- one bad item --------------------------------------------------------------------------------


def test_sources_of_every_wrong_kind_fail_alone(ingestor: Ingestor, tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text("A good text.")
    sources: list[Any] = [
        "~nosuchuser/x.pdf",
        (None, b"bytes"),
        ("only-a-name",),
        ("name.txt", None),
        None,
        7,
        "",
        Path(),
        "\ud800.txt",
        "nul\0.txt",
        "x" * 5000,
        good,
    ]
    report = ingestor.add_many(sources, user="ann")
    assert [f.status for f in report.files] == ["failed"] * 11 + ["ready"]
    reasons = [f.error or "" for f in report.files]
    assert all(0 < len(reason) < 200 and "\n" not in reason for reason in reasons[:-1])
    assert reasons[6] == "the path is empty"
    assert reasons[7] == "the path is empty: for the current folder give Path.cwd()"


def test_records_of_every_wrong_kind_fail_alone(ingestor: Ingestor) -> None:
    bad: list[Any] = [None, "text", 7, {}, {"text": None}, {"title": 3, "text": "x"}, ["title", "text"]]
    long = {"title": "T" * 100_000, "text": "A text under a title that is none."}
    report = ingestor.add_texts([*bad, long, *records(2)], user="ann")
    assert [f.status for f in report.files] == ["failed"] * 8 + ["ready"] * 2
    assert all(len(f.file) <= 255 and 0 < len(f.error or "") < 200 for f in report.files[:8])
    assert report.files[7].error == "This title has 100,000 characters, and 1,000 is the most: shorten it."


def test_a_bad_record_beside_a_long_text_fails_alone(ingestor: Ingestor) -> None:
    long = {"title": "Long", "text": "A sentence of the long text. " * 3000}
    report = ingestor.add_texts([long, None, {"title": ["x"], "text": long["text"]}, *records(1)], user="ann")  # type: ignore[list-item]  # that is the point
    assert [f.status for f in report.files] == ["ready", "failed", "failed", "ready"]


@pytest.mark.parametrize("given", [None, 7, "text", b"bytes", {"title": "T", "text": "x"}])
def test_what_is_no_list_of_records_is_refused(ingestor: Ingestor, given: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^A list of records is needed, not \w+\.$"):
        ingestor.add_texts(given, user="ann")


def test_halves_of_characters_and_nuls_do_no_harm(ingestor: Ingestor, failing: FailingDatabase) -> None:
    report = ingestor.add_many([("a\0b\udc80.txt", b"The first text."), ("", b"The second.")], user="ann")
    texts = [{"title": "T\ud800\0itle", "text": "Half \udfff and nul \0 here.", "source_id": "\ud800id\0"}]
    report = IngestReport((*report.files, *ingestor.add_texts(texts, user="ann").files))
    assert [f.status for f in report.files] == ["ready"] * 3
    with failing.read() as cursor:
        found = papers.list_papers(cursor, "ann")
    assert [paper.title for paper in found][1:] == ["The second.", "Title"]
    for paper in found:
        f"{paper.title}{paper.file}{paper.source_id}".encode()
        assert "\0" not in f"{paper.title}{paper.file}{paper.source_id}"

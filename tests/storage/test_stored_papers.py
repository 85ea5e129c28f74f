from __future__ import annotations

import hashlib
import resource
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.storage.small_papers import DIMENSION, draft, unit_vectors
from workbench.errors import (
    ConflictError,
    DocumentError,
    InvalidInputError,
    LibraryError,
    NotFoundError,
    ProviderError,
)
from workbench.records import Chunk, Page, Paper
from workbench.storage import chunks, generations, maintenance, papers, revisions, shares
from workbench.storage.database import Database
from workbench.storage.drafts import PaperDraft

AddPaper = Callable[..., int]


def rows(database: Database) -> dict[str, int]:
    """Rows of every table that holds a part of a paper."""
    tables = ("papers", "pages", "chunks", "sources", "library_links", "project_papers", "vectors_1")
    with database.read() as cursor:
        counts = {}
        for table in tables:
            row = cursor.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert row is not None
            counts[table] = row[0]
    return counts


def test_a_paper_comes_back_as_it_was_stored(database: Database, add_paper: AddPaper) -> None:
    made = draft("quasar")
    paper_id = add_paper("quasar")
    with database.read() as cursor:
        found = papers.get(cursor, "ann", paper_id)
        pages = papers.pages(cursor, paper_id)
        pieces = chunks.of_papers(cursor, [paper_id])
        second = papers.page(cursor, paper_id, 2)
    assert abs(datetime.now(UTC) - found.added_at) < timedelta(minutes=1)
    assert found == Paper(
        id=paper_id,
        title="On quasar",
        file="quasar.txt",
        kind="txt",
        pages=2,
        chunks=4,
        page_unit="page",
        state="ready",
        authors=("A. Author", "B. Author"),
        year=2020,
        doi="10.1000/x",
        source_id=None,
        sha256=made.sha256,
        shared=False,
        added_at=found.added_at,
    )
    assert pages == [Page(paper_id, p.page, p.label, p.text, p.char_start, p.char_end) for p in made.pages]
    assert second == pages[1]
    assert pieces == [
        Chunk(
            piece.id, paper_id, c.ordinal, c.text, c.blurb, c.page_start, c.page_end, c.char_start, c.char_end
        )
        for piece, c in zip(pieces, made.chunks, strict=True)
    ]


def test_a_paper_without_vectors_is_stored_and_marked_by_what_the_library_serves(database: Database) -> None:
    with database.write() as cursor:
        paper_id = papers.insert(cursor, draft("plain", dimension=None), generation=None)
        papers.link(cursor, "ann", paper_id, file="plain.txt")
        assert papers.get(cursor, "ann", paper_id).state == "ready", "keywords are all this library has"
        generation = generations.begin(cursor, "small", DIMENSION).generation
        assert papers.get(cursor, "ann", paper_id).state == "indexing"
        before = revisions.latest(cursor)
        papers.store_vectors(cursor, paper_id, unit_vectors("plain", 4), generation=generation)
        assert papers.get(cursor, "ann", paper_id).state == "ready"
        assert revisions.since(cursor, before) == {paper_id: True}
    assert maintenance.doctor(database) == []


def test_the_same_bytes_are_one_paper_with_a_link_for_each_user(
    database: Database, add_paper: AddPaper
) -> None:
    first = add_paper("common")
    assert add_paper("common", user="bob") == first
    with database.read() as cursor:
        assert [p.id for p in papers.list_papers(cursor, "ann")] == [first]
        assert [p.id for p in papers.list_papers(cursor, "bob")] == [first]
        assert papers.find_by_hash(cursor, draft("common").sha256) == first
        assert papers.find_by_hash(cursor, "0" * 64) is None
    assert rows(database)["papers"] == 1


def test_linking_twice_keeps_the_first_name_and_takes_a_new_title(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("once")
    with database.write() as cursor:
        assert papers.link(cursor, "ann", paper_id, file="other.txt", title="Other") is False
        assert (
            papers.link(cursor, "bob", paper_id, file="b.txt", source_id="zotero:1", title="My own") is True
        )
    with database.read() as cursor:
        mine, theirs = papers.get(cursor, "ann", paper_id), papers.get(cursor, "bob", paper_id)
    assert (mine.file, mine.title, mine.source_id) == ("once.txt", "Other", None)
    assert (theirs.file, theirs.title, theirs.source_id) == ("b.txt", "My own", "zotero:1")


@pytest.mark.parametrize("paper_id", [0, -1, 999, 2**62])
def test_an_unknown_paper_is_not_found_on_any_call(database: Database, paper_id: int) -> None:
    calls: list[Callable[..., object]] = [
        lambda c: papers.get(c, "ann", paper_id),
        lambda c: papers.link(c, "ann", paper_id, file="a"),
        lambda c: papers.unlink(c, "ann", paper_id),
        lambda c: shares.share(c, "ann", paper_id),
        lambda c: papers.page(c, paper_id, 1),
        lambda c: papers.write_source(c, paper_id, database.path.parent / "out"),
        lambda c: papers.replace_index(c, paper_id, draft("x", dimension=None), generation=None),
    ]
    for call in calls:
        with pytest.raises(NotFoundError), database.write() as cursor:
            call(cursor)
    assert not (database.path.parent / "out").exists()


def test_another_users_paper_is_as_absent_as_an_unknown_one(database: Database, add_paper: AddPaper) -> None:
    paper_id = add_paper("private")
    for call in (papers.get, papers.unlink, shares.share):
        errors = []
        for asked in (paper_id, 999):
            with pytest.raises(NotFoundError) as raised, database.write() as cursor:
                call(cursor, "bob", asked)
            errors.append(str(raised.value))
        assert errors[0] == errors[1]
    with database.read() as cursor:
        assert papers.list_papers(cursor, "bob") == []
        assert papers.list_papers(cursor, "bob", [paper_id]) == []
    assert rows(database)["library_links"] == 1


def test_a_shared_paper_is_seen_by_everyone_under_its_first_name(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("open")
    with database.write() as cursor:
        shares.share(cursor, "ann", paper_id)
    with database.read() as cursor:
        seen = papers.get(cursor, "bob", paper_id)
    assert (seen.id, seen.file, seen.title, seen.shared) == (paper_id, "open.txt", "On open", True)


def test_papers_are_listed_in_the_order_asked_for(database: Database, add_paper: AddPaper) -> None:
    one, two, three = (add_paper(word) for word in ("one", "two", "three"))
    with database.read() as cursor:
        assert [p.id for p in papers.list_papers(cursor, "ann")] == [one, two, three]
        assert [p.id for p in papers.list_papers(cursor, "ann", [three, one, 999, three])] == [three, one]
        assert papers.list_papers(cursor, "ann", []) == []


def test_the_last_user_to_leave_takes_the_paper_with_everything_made_from_it(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("secret")
    add_paper("secret", user="bob")
    with database.write() as cursor:
        papers.unlink(cursor, "ann", paper_id)
    assert rows(database)["chunks"] == 4
    with database.write() as cursor:
        papers.unlink(cursor, "bob", paper_id)
    assert set(rows(database).values()) == {0}
    with database.read() as cursor:
        assert revisions.since(cursor, 0) == {paper_id: False}
    assert maintenance.doctor(database) == []


def test_a_shared_paper_outlives_its_last_link(database: Database, add_paper: AddPaper) -> None:
    paper_id = add_paper("kept")
    with database.write() as cursor:
        shares.share(cursor, "ann", paper_id)
        papers.unlink(cursor, "ann", paper_id)
    with database.read() as cursor:
        assert papers.get(cursor, "ann", paper_id).file == "On kept"
    assert maintenance.doctor(database) == []


def test_a_removed_paper_can_be_added_again_at_once(database: Database, add_paper: AddPaper) -> None:
    first = add_paper("again")
    with database.write() as cursor:
        papers.unlink(cursor, "ann", first)
        second = papers.insert(cursor, draft("again"), generation=1)
        papers.link(cursor, "ann", second, file="again.txt")
    assert second > first
    assert rows(database)["chunks"] == 4
    assert maintenance.doctor(database) == []


def test_reprocessing_replaces_text_chunks_and_vectors_in_one_transaction(
    database: Database, add_paper: AddPaper
) -> None:
    paper_id = add_paper("mallard")
    with database.read() as cursor:
        old = [chunk.id for chunk in chunks.of_papers(cursor, [paper_id])]
        before = revisions.latest(cursor)
    with database.write() as cursor:
        papers.replace_index(cursor, paper_id, draft("quasar", pages=3, chunks=6), generation=1)
    with database.read() as cursor:
        found = papers.get(cursor, "ann", paper_id)
        new = chunks.of_papers(cursor, [paper_id])
        assert chunks.by_ids(cursor, old) == []
        assert revisions.since(cursor, before) == {paper_id: True}
    assert (found.title, found.pages, found.chunks, found.file) == ("On quasar", 3, 6, "mallard.txt")
    assert all("quasar" in chunk.text for chunk in new)
    assert maintenance.doctor(database) == []


def test_reprocessing_the_same_bytes_twice_keeps_one_paper(database: Database, add_paper: AddPaper) -> None:
    paper_id = add_paper("same")
    for _ in range(2):
        with database.write() as cursor:
            papers.replace_index(cursor, paper_id, draft("same", chunks=2), generation=1)
    assert rows(database) == {
        "papers": 1,
        "pages": 2,
        "chunks": 2,
        "sources": 1,
        "library_links": 1,
        "project_papers": 0,
        "vectors_1": 2,
    }


def test_reprocessing_into_another_papers_content_is_refused(database: Database, add_paper: AddPaper) -> None:
    paper_id, _ = add_paper("mine"), add_paper("other")
    with pytest.raises(ConflictError, match="exactly this content"), database.write() as cursor:
        papers.replace_index(cursor, paper_id, draft("other"), generation=1)
    assert maintenance.doctor(database) == []


def _with(array: numpy.ndarray, row: int, value: float) -> numpy.ndarray:
    changed = array.copy()
    changed[row, :] = value
    return changed


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        (_with(unit_vectors("bad", 4), 2, float("nan")), "not finite"),
        (_with(unit_vectors("bad", 4), 0, float("inf")), "not finite"),
        (_with(unit_vectors("bad", 4), 3, 0.0), "vector of zeros"),
        (unit_vectors("bad", 3), "shape"),
        (unit_vectors("bad", 4, DIMENSION + 1), "shape"),
        (unit_vectors("bad", 4).ravel(), "shape"),
    ],
)
def test_vectors_that_cannot_be_searched_are_refused_before_anything_is_written(
    database: Database, add_paper: AddPaper, vectors: numpy.ndarray, reason: str
) -> None:
    other = add_paper("good")
    before = rows(database)
    for write in (
        lambda c: papers.insert(c, replace(draft("bad"), vectors=vectors), generation=1),
        lambda c: papers.replace_index(c, other, replace(draft("bad"), vectors=vectors), generation=1),
        lambda c: papers.store_vectors(c, other, vectors, generation=1),
    ):
        with database.write() as cursor, pytest.raises(ProviderError, match=reason):
            write(cursor)
            # The caller may go on in the same transaction: nothing of the refused paper is in it.
    assert rows(database) == before
    assert maintenance.doctor(database) == []


def test_vectors_without_a_known_generation_are_refused(database: Database) -> None:
    with pytest.raises(InvalidInputError, match="Vectors need a generation"), database.write() as cursor:
        papers.insert(cursor, draft("early"), generation=None)
    with pytest.raises(NotFoundError, match="no generation 7"), database.write() as cursor:
        papers.insert(cursor, draft("early"), generation=7)


def _moved(made: PaperDraft, **changes: Any) -> PaperDraft:
    return replace(made, chunks=(replace(made.chunks[0], **changes), *made.chunks[1:]))


@pytest.mark.parametrize(
    "wrong",
    [
        _moved(draft("w"), char_start=1),
        _moved(draft("w"), char_end=10_000),
        _moved(draft("w"), page_start=2, page_end=2),
        _moved(draft("w"), page_end=3),
        _moved(draft("w"), page_start=0),
        _moved(draft("w"), ordinal=5),
        replace(draft("w"), pages=draft("w").pages[1:]),
        replace(draft("w"), pages=(replace(draft("w").pages[0], page=2), draft("w").pages[1])),
    ],
)
def test_a_draft_whose_numbers_contradict_its_text_is_never_stored(
    database: Database, wrong: PaperDraft
) -> None:
    with pytest.raises(InvalidInputError), database.write() as cursor:
        papers.insert(cursor, replace(wrong, vectors=None), generation=None)
    with database.read() as cursor:
        assert papers.find_by_hash(cursor, wrong.sha256) is None


def test_nul_and_half_characters_are_stored_as_replacements_at_the_same_places(database: Database) -> None:
    made = draft("x", pages=1, chunks=1, dimension=None)
    text = "Quan\x00tity \ud83d alone, 🚀 whole"
    page = replace(made.pages[0], text=text, char_end=len(text), label="i\x00v")
    chunk = replace(
        made.chunks[0], text=text[:12], char_start=0, char_end=12, heading="A\nB", blurb="b\ud800"
    )
    hostile = replace(
        made, pages=(page,), chunks=(chunk,), title="T\x00\u202e\ud800\n2", authors=("A\x00", "\n")
    )
    with database.write() as cursor:
        paper_id = papers.insert(cursor, hostile, generation=None)
        papers.link(
            cursor, "ann", paper_id, file="../../etc/a\\b\x00\ud800.txt", title="\n", source_id="s\x00"
        )
    with database.read() as cursor:
        paper = papers.get(cursor, "ann", paper_id)
        stored = papers.page(cursor, paper_id, 1)
        (piece,) = chunks.of_papers(cursor, [paper_id])
    assert stored.text == "Quan\ufffdtity \ufffd alone, 🚀 whole"
    assert stored.label == "i\ufffdv"
    assert piece.text == stored.text[piece.char_start : piece.char_end]
    assert piece.blurb == "b\ufffd"
    assert (paper.file, paper.title, paper.authors) == (
        "b\ufffd\ufffd.txt",
        "T\ufffd\ufffd 2",  # and no sign that turns the reading direction
        ("A\ufffd",),
    )
    assert maintenance.doctor(database) == []


def test_a_source_is_given_back_byte_for_byte_in_pieces(database: Database, tmp_path: Path) -> None:
    original = tmp_path / "original.bin"
    content = numpy.random.default_rng(1).bytes(9 * 1024 * 1024 + 17)
    original.write_bytes(content)
    made = replace(draft("big", dimension=None), sha256=hashlib.sha256(content).hexdigest(), source=original)
    with database.write() as cursor:
        paper_id = papers.insert(cursor, made, generation=None)
        papers.link(cursor, "ann", paper_id, file="original.bin")
    target = tmp_path / "copy.bin"
    target.write_text("what was there before")
    with database.read() as cursor:
        papers.write_source(cursor, paper_id, target)
    assert target.read_bytes() == content
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.bin", "home", "original.bin"]
    assert maintenance.doctor(database) == []


def test_a_disk_that_takes_no_more_of_a_source_is_told_in_a_sentence_and_what_was_there_stays(
    database: Database, tmp_path: Path
) -> None:
    target = tmp_path / "copy.bin"
    target.write_text("what was there before")
    with database.write() as cursor:
        paper_id = papers.insert(cursor, replace(draft("e", dimension=None), source=b"text"), generation=None)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    with database.read() as cursor:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))  # as a full disk: not one byte more
        try:
            with pytest.raises(
                LibraryError, match=r"\(File too large\): free some space there, and try again"
            ):
                papers.write_source(cursor, paper_id, target)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert target.read_text() == "what was there before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.bin", "home"]


def test_an_empty_source_is_given_back_empty(database: Database, tmp_path: Path) -> None:
    with database.write() as cursor:
        paper_id = papers.insert(cursor, replace(draft("e", dimension=None), source=b""), generation=None)
        papers.write_source(cursor, paper_id, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b""


def test_a_file_that_changed_after_it_was_read_is_not_stored(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "draft.txt"
    file.write_text("newer text")
    with pytest.raises(DocumentError, match="changed while it was being added"), database.write() as cursor:
        papers.insert(cursor, replace(draft("x", dimension=None), source=file), generation=None)
    with database.read() as cursor:
        assert cursor.execute("SELECT count(*) FROM papers").fetchone() == (0,)


def test_a_thousand_chunks_are_written_quickly(database: Database, add_paper: AddPaper) -> None:
    """Row by row this takes seconds of computing, however busy the machine."""
    add_paper("warm")
    begun = time.process_time()
    add_paper("long", pages=20, chunks=1000)
    assert time.process_time() - begun < 2


def test_chunks_come_in_the_order_of_the_ids(database: Database, add_paper: AddPaper) -> None:
    one, two = add_paper("one"), add_paper("two")
    with database.read() as cursor:
        ids = [chunk.id for chunk in chunks.of_papers(cursor, [two, one])]
        wanted = [ids[5], ids[0], 999_999, ids[3]]
        assert [chunk.id for chunk in chunks.by_ids(cursor, wanted)] == [ids[5], ids[0], ids[3]]
        assert chunks.by_ids(cursor, []) == []
        assert chunks.of_papers(cursor, []) == []
    assert ids == sorted(ids)


def test_any_number_of_chunks_can_be_asked_for(database: Database, add_paper: AddPaper) -> None:
    paper_ids = [add_paper("long", chunks=250), add_paper("short")]
    with database.read() as cursor:
        found = chunks.of_papers(cursor, paper_ids)
        ids = [chunk.id for chunk in found]
        backwards = ids[::-1]
        assert [chunk.id for chunk in chunks.by_ids(cursor, backwards)] == backwards
        assert chunks.by_ids(cursor, ids[:100]) == found[:100]
        assert chunks.of_papers(cursor, [*paper_ids, *range(1000, 1200)]) == found

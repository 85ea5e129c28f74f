"""A file's name belongs to the user who added the file: it is nowhere in what users have in common."""

from __future__ import annotations

import pytest

from workbench.ingest.pipeline import Ingestor
from workbench.ingest.sandbox import Reader
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.records import Reference
from workbench.storage import bibliography, chunks, papers
from workbench.storage.database import Database
from workbench.storage.index_source import LibraryIndexSource

TEXT = b"Rain fell on the hills for seven days. The river rose by two metres."
SECRET = ("bob-salary-negotiation-2026.txt", TEXT)


@pytest.fixture
def ingestor(database: Database, shared_reader: Reader) -> Ingestor:
    return Ingestor(database, shared_reader, FakeEmbedder())


def titles(database: Database, *users: str) -> list[tuple[str, str]]:
    """Title and file of each user's only paper."""
    seen = []
    for user in users:
        with database.read() as cursor:
            [paper] = papers.list_papers(cursor, user)
            seen.append((paper.title, paper.file))
    return seen


def in_common(database: Database) -> str:
    """Everything that a paper's users share: its title, blurbs and texts, and its keyword texts."""
    with database.read() as cursor:
        words = [papers.stored_title(cursor, 1)]
        found = chunks.of_papers(cursor, [1])
    words += [f"{chunk.blurb} {chunk.text}" for chunk in found]
    words += [str(row) for row in LibraryIndexSource(database).chunk_texts(1)]
    return "\n".join(words).casefold()


def test_each_user_sees_the_name_of_their_own_file(ingestor: Ingestor, database: Database) -> None:
    ingestor.add_many([SECRET], user="bob")
    ingestor.add_many([("my_rain notes.txt", TEXT)], user="alice")
    ingestor.add_many([TEXT], user="carol")
    assert titles(database, "bob", "alice", "carol") == [
        ("bob-salary-negotiation-2026", "bob-salary-negotiation-2026.txt"),
        ("my rain notes", "my_rain notes.txt"),
        ("Rain fell on the hills for seven days. The river rose by two metres.", "unnamed"),
    ]
    assert "salary" not in in_common(database)
    assert "notes" not in in_common(database)


def test_reading_again_gives_no_name_away_and_keeps_each_users_title(
    ingestor: Ingestor, database: Database
) -> None:
    ingestor.add_many([SECRET], user="bob", title="Bob's own title")
    ingestor.add_many([("x.txt", TEXT)], user="alice")
    for user in ("bob", "alice"):
        assert ingestor.reprocess(1, user=user).status == "ready"
    assert [title for title, _ in titles(database, "bob", "alice")] == ["Bob's own title", "x"]
    assert not {"bob", "salary"} & set(in_common(database).replace("-", " ").replace("'", " ").split())


def test_a_title_given_before_stays_when_the_same_file_comes_under_another_name(
    ingestor: Ingestor, database: Database
) -> None:
    ingestor.add_many([("a.txt", TEXT)], user="alice", title="Alice's title")
    ingestor.add_many([("b.txt", TEXT)], user="alice")
    assert titles(database, "alice") == [("Alice's title", "a.txt")]


def test_a_title_of_the_document_is_everybodys(ingestor: Ingestor, database: Database) -> None:
    data = b"# Floods of the valley\n\nRain fell on the hills."
    ingestor.add_many([("bob-secret.md", data)], user="bob")
    ingestor.add_many([("x.md", data)], user="alice")
    assert [title for title, _ in titles(database, "bob", "alice")] == ["Floods of the valley"] * 2
    assert "secret" not in in_common(database)


def test_an_older_library_loses_the_file_name_when_the_paper_is_read_again(
    ingestor: Ingestor, database: Database
) -> None:
    ingestor.add_many([SECRET], user="bob")
    ingestor.add_many([("x.txt", TEXT)], user="alice")
    with database.write() as cursor:
        cursor.execute("UPDATE papers SET title = 'bob-salary-negotiation-2026'")
        cursor.execute("UPDATE library_links SET title = NULL")
    ingestor.reprocess(1, user="bob")
    assert [title for title, _ in titles(database, "bob", "alice")] == [
        "bob-salary-negotiation-2026",
        "Rain fell on the hills for seven days. The river rose by two metres.",
    ]
    assert "salary" not in in_common(database)


def test_a_reference_names_a_paper_that_went_by_its_file_name(ingestor: Ingestor, database: Database) -> None:
    reference = Reference("b1", "article", "Floods", ("Ann Author",), 2020, None, (), {})
    ingestor.add_many([("x.txt", TEXT), ("y.txt", b"Another text.")], user="ann")
    ingestor.add_many([("y.txt", b"Another text.")], user="ann", title="Chosen")
    with database.write() as cursor:
        for paper_id in (1, 2):
            bibliography.put(cursor, "ann", paper_id, reference)
        assert [paper.title for paper in papers.list_papers(cursor, "ann")] == ["Floods", "Chosen"]


def test_records_keep_their_titles_when_they_are_read_again(ingestor: Ingestor, database: Database) -> None:
    ingestor.add_texts(
        [{"title": "Fig. 3 of rain", "text": "Rain fell."}, {"text": "Snow fell.", "source_id": "s.2"}],
        user="ann",
    )
    expected = ["Fig. 3 of rain", "Snow fell."]
    for _ in range(2):
        with database.read() as cursor:
            assert [paper.title for paper in papers.list_papers(cursor, "ann")] == expected
        for paper_id in (1, 2):
            ingestor.reprocess(paper_id, user="ann")

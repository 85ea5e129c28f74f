"""A library moves to another embedder in the background, and its old vectors answer until that is done."""

from __future__ import annotations

from pathlib import Path

import workbench
from tests.mineral_papers import minerals
from workbench import Scope, Settings
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.storage import generations, papers


def library(tmp_path: Path) -> Path:
    """Three papers with the vectors of an embedder of 32 dimensions."""
    path = tmp_path / "shelf" / "library.duckdb"
    with workbench.open(path, user="ann", embedder=FakeEmbedder(32)) as wb:
        wb.papers.add_texts(
            [{"title": m.title, "text": " ".join(" ".join(page) for page in m.pages())} for m in minerals(3)]
        )
    return path


def opened(path: Path) -> workbench.Workbench:
    settings = Settings.load(library=path, user="ann", embedder="fake", chat="extractive")  # 64 dimensions
    return workbench.open(path, user="ann", settings=settings)


def test_a_move_in_the_background_ends_with_the_new_vectors_alone(tmp_path: Path) -> None:
    with opened(library(tmp_path)) as wb:
        assert wb.status()["embedder"] == "fake-words-32"
        assert wb.papers.move_soon()
        assert wb._background.wait(60)
        found = wb.search("melting point", scope=Scope.ALL, mode="vector")
        assert found.passages
        assert found.warnings == ()
        assert wb.status()["embedder"] == "fake-words-64"
        with wb._database.read() as cursor:
            assert [g.embedder for g in generations.all_generations(cursor)] == ["fake-words-64"]
        assert wb.doctor() == []


def test_the_old_vectors_answer_until_the_move_is_complete_and_it_goes_on_where_it_was(
    tmp_path: Path,
) -> None:
    with opened(library(tmp_path)) as wb:
        first = wb.papers.list()[0]
        with wb._database.write() as cursor:
            new = generations.begin(cursor, "fake-words-64", 64)
            texts = [f"{c.blurb}\n{c.text}" for c in wb.papers.chunks(first)]
            array = FakeEmbedder(64).embed_documents(texts)
            papers.store_vectors(cursor, first.id, array, generation=new.generation)
        found = wb.search("melting point", scope=Scope.ALL, mode="vector")
        assert {passage.paper_id for passage in found.passages} == {p.id for p in wb.papers.list()}
        (told,) = [text for text in wb.status()["warnings"] if "under way" in text]
        assert (
            "A move to fake-words-64 is under way, 2 papers left: until then the old vectors answer." in told
        )
        assert wb.papers.move_soon()
        assert wb._background.wait(60)
        assert [text for text in wb.status()["warnings"] if "under way" in text] == []
        assert wb.status()["embedder"] == "fake-words-64"
        assert wb.doctor() == []

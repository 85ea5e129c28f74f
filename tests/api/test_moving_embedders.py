"""A library moves to another embedder in the background, and its old vectors answer until that is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import workbench
from tests.meanwhile import Meanwhile
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
            generations.move_to(cursor, new.generation)
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


STUCK = """
import sys, time
import workbench
from workbench import Settings
from workbench.providers.fake_embedder import FakeEmbedder

class Stuck(FakeEmbedder):
    embedded = 0
    def embed_documents(self, texts):
        self.embedded += 1
        if self.embedded > 1:
            print("stuck", flush=True)
            time.sleep(600)
        return super().embed_documents(texts)

wb = workbench.open(sys.argv[1], user="ann", embedder=Stuck(64))
if sys.argv[2] == "soon":
    wb.papers.move_soon()
    wb._background.wait(600)
else:
    wb.papers.reprocess_all()
"""

LEFT = (
    "A move to fake-words-64 is under way, {} papers left: until then the old vectors answer. It goes on"
    " where that embedder is set, in the dashboard or when papers are added; `workbench reprocess --all` or"
    " papers.move_soon() goes on with it now."
)


def cut_off(tmp_path: Path, how: str = "soon") -> Path:
    """A library whose move to 64 dimensions was killed when one of its three papers had the new vectors."""
    path = library(tmp_path)
    pipe = subprocess.PIPE
    child = subprocess.Popen([sys.executable, "-c", STUCK, str(path), how], stdout=pipe, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "stuck\n"
    child.kill()
    child.communicate()
    return path


def serving(wb: workbench.Workbench) -> list[tuple[str, bool]]:
    with wb._database.read() as cursor:
        return [(g.embedder, g.serving) for g in generations.all_generations(cursor)]


def more(wb: workbench.Workbench) -> None:
    wb.papers.add_texts([{"title": "One more", "text": "The melting point of one more mineral."}])
    assert wb._background.wait(60)


@pytest.mark.parametrize("how", ["soon", "all"])
def test_a_move_that_was_killed_goes_on_when_papers_are_added_with_its_embedder(
    tmp_path: Path, how: str
) -> None:
    with opened(cut_off(tmp_path, how)) as wb:
        assert wb._background.wait(60)
        assert serving(wb) == [("fake-words-32", True), ("fake-words-64", False)], "opening starts nothing"
        assert LEFT.format(2) in wb.status()["warnings"]
        found = wb.search("melting point", scope=Scope.ALL, mode="vector")
        assert {passage.paper_id for passage in found.passages} == {p.id for p in wb.papers.list()}
        more(wb)
        assert serving(wb) == [("fake-words-64", True)]
        assert [text for text in wb.status()["warnings"] if "under way" in text] == []
        found = wb.search("melting point", scope=Scope.ALL, mode="vector")
        assert {passage.paper_id for passage in found.passages} == {p.id for p in wb.papers.list()}
        assert len(wb.papers.list()) == 4
        assert wb.doctor() == []


def test_a_move_does_not_go_on_with_the_librarys_own_embedder(tmp_path: Path) -> None:
    with workbench.open(cut_off(tmp_path), user="ann", embedder=FakeEmbedder(32)) as wb:
        more(wb)
        assert serving(wb) == [("fake-words-32", True), ("fake-words-64", False)]
        assert LEFT.format(3) in wb.status()["warnings"]
        assert wb.doctor() == []


@pytest.mark.parametrize("how", ["move_soon", "reprocess_all"])
def test_a_note_that_is_changed_while_it_is_embedded_gets_the_vectors_of_its_new_text(
    tmp_path: Path, how: str
) -> None:
    path = tmp_path / "library.duckdb"
    with workbench.open(path, user="ann", embedder=FakeEmbedder(32)) as own:
        note = own.notes.create("Looms", "A loom weaves flowers.")
        change = Meanwhile(lambda: own.notes.update(note, body="The quasar shines in the night."))
        with workbench.open(path, user="ann", embedder=change) as wb:
            getattr(wb.papers, how)()
            assert wb._background.wait(60)
            assert ("fake-words-64", True) in serving(wb)
            (chunk,) = wb.chunks.list()
            with wb._database.read() as cursor:
                stored = cursor.execute("SELECT chunk_id, embedding FROM vectors_2").fetchall()
            assert "quasar" in chunk.text
            wanted = FakeEmbedder(64).embed_documents([f"{chunk.blurb}\n{chunk.text}"])[0]
            assert [(id, pytest.approx(wanted)) for id, _ in stored] == [(chunk.id, list(stored[0][1]))]
            assert wb.doctor() == []


def test_who_has_all_papers_read_again_with_the_librarys_own_embedder_takes_a_move_back(
    tmp_path: Path,
) -> None:
    path = cut_off(tmp_path)
    with workbench.open(path, user="ann", embedder=FakeEmbedder(32)) as wb:
        wb.papers.reprocess_all()
        assert [text for text in wb.status()["warnings"] if "under way" in text] == []
    with opened(path) as wb:
        more(wb)
        assert serving(wb) == [("fake-words-32", True), ("fake-words-64", False)]
        assert wb.doctor() == []


@pytest.mark.parametrize("verb", [["status"], ["search", "melting point", "--all"]])
def test_a_verb_that_reads_tells_of_a_move_and_leaves_it_alone(tmp_path: Path, verb: list[str]) -> None:
    path = cut_off(tmp_path)
    environment = {**os.environ, "WORKBENCH_EMBEDDER": "fake", "WORKBENCH_CHAT": "extractive"}
    command = [
        sys.executable,
        "-m",
        "workbench.cli",
        "--library",
        str(path),
        "--user",
        "ann",
        *verb,
        "--json",
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    if verb == ["status"]:
        assert LEFT.format(2) in json.loads(done.stdout)["warnings"]
    with opened(path) as wb:
        assert LEFT.format(2) in wb.status()["warnings"]


def test_vectors_that_somebody_brought_for_one_paper_do_not_move_the_library(tmp_path: Path) -> None:
    path = library(tmp_path)
    with workbench.open(path, user="ann", embedder=FakeEmbedder(64)) as wb:
        more(wb)
        assert serving(wb) == [("fake-words-32", True), ("fake-words-64", False)]
        assert [text for text in wb.status()["warnings"] if "under way" in text] == [], "nobody moves it"
    with opened(path) as wb:
        wb.papers.add_texts([{"title": "And another", "text": "The melting point of yet another mineral."}])
        assert wb._background.wait(60)
        assert serving(wb) == [("fake-words-32", True), ("fake-words-64", False)]

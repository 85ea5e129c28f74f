from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.ingest import made_files
from workbench.errors import NotFoundError, ProviderError, ProviderUnavailableError
from workbench.ingest.pipeline import Ingestor
from workbench.ingest.sandbox import Reader
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.records import FileOutcome, Progress
from workbench.storage import chunks, generations, ledger, papers, projects
from workbench.storage.database import Database

USER = "ann"
Make = Callable[..., Ingestor]


class FaultyEmbedder(FakeEmbedder):
    """Fails as it is told: on texts that hold a word, for the first calls, always, or by the dozen."""

    def __init__(self, *, word: str = "", first: int = 0, down: bool = False, most: int = 10_000) -> None:
        super().__init__()
        self.word, self.first, self.down, self.most = word, first, down, most
        self.largest = 0

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        self.largest = max(self.largest, len(texts))
        if self.down:
            raise ProviderUnavailableError("Ollama does not answer: start it.")
        if self.first > 0:
            self.first -= 1
            raise ProviderError("connection reset")
        if len(texts) > self.most:
            raise ProviderError("too many inputs")
        vectors = super().embed_documents(texts)
        for index, text in enumerate(texts):
            if self.word and self.word in text:
                vectors[index] = numpy.nan
        return vectors


@pytest.fixture
def make(database: Database, shared_reader: Reader) -> Make:
    def ingestor(embedder: Any = "fake", **options: Any) -> Ingestor:
        return Ingestor(
            database, shared_reader, FakeEmbedder() if embedder == "fake" else embedder, **options
        )

    return ingestor


def write(tmp_path: Path, **texts: str) -> list[Path]:
    made = []
    for name, text in texts.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(text, "utf-8")
        made.append(path)
    return made


def one(outcomes: Sequence[FileOutcome]) -> FileOutcome:
    [only] = outcomes
    return only


def vectors_of(database: Database, paper_id: int) -> int:
    with database.read() as cursor:
        serving = generations.serving(cursor)
        assert serving is not None
        table = generations.vector_table(serving.generation)
        row = cursor.execute(f"SELECT count(*) FROM {table} WHERE paper_id = ?", [paper_id]).fetchone()
    assert row is not None
    return int(row[0])


# --- one good file ------------------------------------------------------------------------------


def test_a_paper_is_stored_whole_with_its_link_and_its_ledger(
    make: Make, database: Database, tmp_path: Path
) -> None:
    path = made_files.text_pdf(tmp_path / "some_paper.pdf", pages=3)
    outcome = one(make().add_many([path], user=USER).files)
    assert (outcome.file, outcome.status, outcome.pages, outcome.error) == (
        "some_paper.pdf",
        "ready",
        3,
        None,
    )
    assert outcome.paper_id is not None
    with database.read() as cursor:
        paper = papers.get(cursor, USER, outcome.paper_id)
        stored = chunks.of_papers(cursor, [paper.id])
        pages = papers.pages(cursor, paper.id)
        ends = [end for end in ledger.stage_ends(cursor, USER) if end.paper_id == paper.id]
    assert (paper.title, paper.kind, paper.state, paper.chunks) == (
        "some paper",
        "pdf",
        "ready",
        outcome.chunks,
    )
    assert len(stored) == outcome.chunks == vectors_of(database, paper.id)
    text = "\n\n".join(page.text for page in pages)
    assert all(text[chunk.char_start : chunk.char_end] == chunk.text for chunk in stored)
    assert (stored[0].page_start, stored[-1].page_end) == (1, 3)
    assert [(end.stage, end.state) for end in ends] == [
        ("read", "done"),
        ("chunk", "done"),
        ("embed", "done"),
        ("index", "done"),
    ]


def test_the_file_itself_is_kept(make: Make, database: Database, tmp_path: Path) -> None:
    path = made_files.text_pdf(tmp_path / "p.pdf")
    outcome = one(make().add_many([path], user=USER).files)
    assert outcome.paper_id is not None
    with database.read() as cursor:
        papers.write_source(cursor, outcome.paper_id, tmp_path / "copy.pdf")
    assert (tmp_path / "copy.pdf").read_bytes() == path.read_bytes()


def test_a_title_given_by_the_user_is_theirs_alone(make: Make, database: Database, tmp_path: Path) -> None:
    [path] = write(tmp_path, a="Some text.")
    ingestor = make()
    outcome = one(ingestor.add_many([path], user=USER, title="My name for it").files)
    one(ingestor.add_many([path], user="bob").files)
    assert outcome.paper_id is not None
    with database.read() as cursor:
        titles = [papers.get(cursor, user, outcome.paper_id).title for user in (USER, "bob")]
    assert titles == ["My name for it", "a"]


def test_progress_names_the_stages_in_order(make: Make, tmp_path: Path) -> None:
    [path] = write(tmp_path, a="A sentence of some length that says something. " * 300)
    seen: list[Progress] = []
    make().add_many([path], user=USER, progress=seen.append)
    stages = list(dict.fromkeys(step.stage for step in seen))
    assert stages == ["read", "embed", "index"]
    embedded = [(step.done, step.total) for step in seen if step.stage == "embed"]
    assert embedded[0][0] == 0
    assert embedded[-1][0] == embedded[-1][1] > 10
    assert all(step.file == "a.txt" for step in seen)


# --- batches ------------------------------------------------------------------------------------


def test_one_bad_file_never_stops_a_batch(make: Make, database: Database, tmp_path: Path) -> None:
    good, empty = write(tmp_path, good="A good text.", empty="")
    scan = made_files.image_pdf(tmp_path / "scan.pdf")
    sources = [empty, tmp_path / "absent.pdf", scan, good, bytes(range(256)) * 50]
    report = make().add_many(sources, user=USER)
    assert [(f.file, f.status, f.error) for f in report.files] == [
        ("empty.txt", "failed", "the file is empty"),
        ("absent.pdf", "failed", "there is no such file"),
        ("scan.pdf", "failed", "scanned pages: no text layer, needs OCR"),
        ("good.txt", "ready", None),
        ("unnamed", "failed", "this is no text, and no kind of file that can be read"),
    ]
    with database.read() as cursor:
        failed = [end for end in ledger.stage_ends(cursor, USER) if end.state == "failed"]
        assert len(papers.list_papers(cursor, USER)) == 1
    assert sorted((end.file, end.stage) for end in failed) == [
        ("empty.txt", "read"),
        ("scan.pdf", "read"),
        ("unnamed", "read"),
    ]


def test_cancelling_keeps_what_is_finished_and_reports_the_rest(make: Make, tmp_path: Path) -> None:
    paths = write(tmp_path, a="First.", b="Second.", c="Third.")
    done: list[str] = []

    def progress(step: Progress) -> None:
        if (step.stage, step.done) == ("index", 1):
            done.append(step.file)

    ingestor = make()
    report = ingestor.add_many(paths, user=USER, progress=progress, cancelled=lambda: bool(done))
    assert [f.status for f in report.files] == ["ready", "failed", "failed"]
    assert report.files[1].error == "cancelled before it was added: add it again to go on"
    again = ingestor.add_many(paths, user=USER)
    assert [f.status for f in again.files] == ["duplicate", "ready", "ready"]


def test_an_interrupt_leaves_no_half_paper(make: Make, database: Database, tmp_path: Path) -> None:
    paths = write(tmp_path, a="First.", b="Second.")

    def interrupt(step: Progress) -> None:
        if (step.file, step.stage) == ("b.txt", "embed"):
            raise KeyboardInterrupt

    ingestor = make()
    with pytest.raises(KeyboardInterrupt):
        ingestor.add_many(paths, user=USER, progress=interrupt)
    with database.read() as cursor:
        assert [paper.file for paper in papers.list_papers(cursor, USER)] == ["a.txt"]
    assert [f.status for f in ingestor.add_many(paths, user=USER).files] == ["duplicate", "ready"]


# --- duplicates ---------------------------------------------------------------------------------


def test_the_same_bytes_again_are_linked_and_not_indexed_again(
    make: Make, database: Database, tmp_path: Path
) -> None:
    path = made_files.text_pdf(tmp_path / "a.pdf")
    copy = tmp_path / "copy.pdf"
    copy.write_bytes(path.read_bytes())
    ingestor = make()
    first = one(ingestor.add_many([path], user=USER).files)
    with database.write() as cursor:
        project = projects.create(cursor, "bob", "P")
    second = one(ingestor.add_many([copy], user="bob", project_id=project.id).files)
    third = one(ingestor.add_many([path], user=USER).files)
    assert (second.status, second.paper_id, second.chunks) == ("duplicate", first.paper_id, first.chunks)
    assert (third.status, third.paper_id) == ("duplicate", first.paper_id)
    with database.read() as cursor:
        assert projects.paper_ids(cursor, "bob", project.id) == (first.paper_id,)
        assert [paper.file for paper in papers.list_papers(cursor, "bob")] == ["copy.pdf"]


def test_threads_that_add_the_same_file_store_it_once(make: Make, database: Database, tmp_path: Path) -> None:
    [path] = write(tmp_path, same="The same text for everyone. " * 50)
    ingestor = make()
    start = threading.Barrier(4)

    def add(_: int) -> FileOutcome:
        start.wait()
        return one(ingestor.add_many([path], user=USER).files)

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(add, range(4)))
    assert sorted(o.status for o in outcomes) == ["duplicate"] * 3 + ["ready"]
    assert len({o.paper_id for o in outcomes}) == 1
    with database.read() as cursor:
        assert len(papers.list_papers(cursor, USER)) == 1


@pytest.mark.slow
def test_processes_that_add_the_same_file_store_it_once(database: Database, tmp_path: Path) -> None:
    path = made_files.text_pdf(tmp_path / "p.pdf", pages=5)
    code = (
        "import sys; from pathlib import Path\n"
        "from workbench.storage.database import Database\n"
        "from workbench.ingest.pipeline import Ingestor\n"
        "from workbench.ingest.sandbox import Reader\n"
        "from workbench.providers.fake_embedder import FakeEmbedder\n"
        "with Reader() as reader:\n"
        "    ingestor = Ingestor(Database(Path(sys.argv[1])), reader, FakeEmbedder())\n"
        "    print(ingestor.add_many([sys.argv[2]], user='ann').files[0].status)\n"
    )
    command = [sys.executable, "-c", code, str(database.path), str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = sorted(process.communicate(timeout=120)[0].strip() for process in running)
    assert said == ["duplicate", "ready"]


# --- projects -----------------------------------------------------------------------------------


def test_a_full_project_refuses_before_any_work_and_the_file_stays_out(
    make: Make, database: Database, tmp_path: Path
) -> None:
    paths = write(tmp_path, a="First.", b="Second.", c="Third.")
    with database.write() as cursor:
        project = projects.create(cursor, USER, "Small")
    ingestor = make(project_max_papers=2)
    report = ingestor.add_many(paths, user=USER, project_id=project.id)
    assert [f.status for f in report.files] == ["ready", "ready", "failed"]
    assert report.files[2].error is not None
    assert "limit is 2" in report.files[2].error
    assert "WORKBENCH_PROJECT_MAX_PAPERS" in report.files[2].error
    with database.read() as cursor:
        assert len(papers.list_papers(cursor, USER)) == 2
    again = ingestor.add_many(paths[:1], user=USER, project_id=project.id)
    assert one(again.files).status == "duplicate"


def test_a_project_of_someone_else_does_not_exist(make: Make, database: Database, tmp_path: Path) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, "bob", "Private")
    with pytest.raises(NotFoundError, match="Project not found"):
        make().add_many(write(tmp_path, a="Text."), user=USER, project_id=project.id)


# --- embedders ----------------------------------------------------------------------------------


def test_without_an_embedder_a_paper_is_stored_for_keyword_search(
    make: Make, database: Database, tmp_path: Path
) -> None:
    outcome = one(make(None).add_many(write(tmp_path, a="Some text. " * 200), user=USER).files)
    assert (outcome.status, outcome.error) == ("ready", None)
    assert outcome.chunks > 1
    with database.read() as cursor:
        assert generations.serving(cursor) is None


def test_a_dead_embedder_leaves_the_paper_to_keywords_and_reprocessing_mends_it(
    make: Make, database: Database, tmp_path: Path
) -> None:
    paths = write(tmp_path, a="First text.", b="Second text.", c="Third text.")
    make().add_many(paths[:1], user=USER)
    embedder = FaultyEmbedder(down=True)
    outcome = one(make(embedder).add_many(paths[1:2], user=USER).files)
    assert outcome.status == "ready"
    assert outcome.warnings == (
        "Found by keywords only, until it is reprocessed: Ollama does not answer: start it.",
    )
    assert outcome.paper_id is not None
    with database.read() as cursor:
        assert papers.get(cursor, USER, outcome.paper_id).state == "indexing"
    embedder.down = False
    renewed = make(embedder).reprocess(outcome.paper_id, user=USER)
    assert (renewed.status, renewed.warnings) == ("ready", ())
    with database.read() as cursor:
        assert papers.get(cursor, USER, outcome.paper_id).state == "ready"
    assert vectors_of(database, outcome.paper_id) == 1


def test_a_paper_keeps_its_index_where_its_embedder_fails_while_it_is_read_again(
    make: Make, database: Database, tmp_path: Path
) -> None:
    embedder = FaultyEmbedder()
    stored = one(make(embedder).add_many(write(tmp_path, a="First text."), user=USER).files)
    assert stored.paper_id is not None
    embedder.down = True
    outcome = make(embedder).reprocess(stored.paper_id, user=USER)
    assert (outcome.status, outcome.error) == (
        "failed",
        "the paper keeps what it has, because it cannot be embedded: Ollama does not answer: start it.",
    )
    with database.read() as cursor:
        assert papers.get(cursor, USER, stored.paper_id).state == "ready"
    assert vectors_of(database, stored.paper_id) == stored.chunks


def test_one_text_that_cannot_be_embedded_does_not_cost_the_paper_its_vectors(
    make: Make, database: Database, tmp_path: Path
) -> None:
    text = "A sentence about money. " * 150 + "Bitcoin is a word. " + "And a sentence about time. " * 150
    outcome = one(make(FaultyEmbedder(word="Bitcoin")).add_many(write(tmp_path, a=text), user=USER).files)
    assert outcome.status == "ready"
    assert outcome.warnings == (f"1 of {outcome.chunks} pieces could only be embedded in parts.",)
    assert outcome.paper_id is not None
    assert vectors_of(database, outcome.paper_id) == outcome.chunks


def test_a_hiccup_and_a_bound_on_batches_do_no_harm(make: Make, database: Database, tmp_path: Path) -> None:
    text = " ".join(f"Sentence {n} of a long text says nothing." for n in range(3000))
    hiccup, small = FaultyEmbedder(first=1), FaultyEmbedder(most=16)
    for number, embedder in enumerate((hiccup, small)):
        paths = write(tmp_path, **{f"t{number}": f"{number} {text}"})
        outcome = one(make(embedder).add_many(paths, user=USER).files)
        assert (outcome.status, outcome.warnings) == ("ready", ())
        assert outcome.paper_id is not None
        assert vectors_of(database, outcome.paper_id) == outcome.chunks > 64
    assert hiccup.largest <= 64


def test_another_embedder_takes_over_when_every_paper_has_its_vectors(
    make: Make, database: Database, tmp_path: Path
) -> None:
    made = make().add_many(write(tmp_path, a="First text.", b="Second text."), user=USER).files
    other = make(FakeEmbedder(32))
    added = one(other.add_many(write(tmp_path, c="Third text."), user=USER).files)
    assert "another embedder" in added.warnings[0]
    ids = [outcome.paper_id for outcome in made]
    first = other.reprocess(ids[0] or 0, user=USER)
    assert first.warnings == ("1 more papers to reprocess before the new vectors take over.",)
    with database.read() as cursor:
        serving = generations.serving(cursor)
        assert serving is not None
        assert serving.dimension == 64
    other.reprocess(ids[1] or 0, user=USER)
    with database.read() as cursor:
        serving = generations.serving(cursor)
        assert serving is not None
        assert serving.dimension == 32
        assert {p.state for p in papers.list_papers(cursor, USER)} == {"ready"}


# --- reprocessing -------------------------------------------------------------------------------


def test_reprocessing_replaces_the_index_and_keeps_links_and_projects(
    make: Make, database: Database, tmp_path: Path
) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, USER, "P")
    path = made_files.text_pdf(tmp_path / "p.pdf", pages=2)
    outcome = one(make().add_many([path], user=USER, project_id=project.id).files)
    assert outcome.paper_id is not None
    with database.read() as cursor:
        before = chunks.of_papers(cursor, [outcome.paper_id])
    path.unlink()
    renewed = make().reprocess(outcome.paper_id, user=USER)
    assert (renewed.status, renewed.paper_id, renewed.chunks) == ("ready", outcome.paper_id, outcome.chunks)
    with database.read() as cursor:
        after = chunks.of_papers(cursor, [outcome.paper_id])
        assert projects.paper_ids(cursor, USER, project.id) == (outcome.paper_id,)
        assert papers.get(cursor, USER, outcome.paper_id).file == "p.pdf"
    assert [c.text for c in after] == [c.text for c in before]
    assert {c.id for c in after}.isdisjoint({c.id for c in before})
    assert vectors_of(database, outcome.paper_id) == outcome.chunks


def test_a_paper_of_someone_else_cannot_be_reprocessed(make: Make, tmp_path: Path) -> None:
    outcome = one(make().add_many(write(tmp_path, a="Text."), user="bob").files)
    with pytest.raises(NotFoundError):
        make().reprocess(outcome.paper_id or 0, user=USER)


# --- texts --------------------------------------------------------------------------------------


def test_texts_become_papers_with_their_own_ids_and_titles(make: Make, database: Database) -> None:
    records = [
        {"title": "Ducks", "text": "Ducks swim on lakes and rivers.", "source_id": "d1"},
        {"title": "", "text": "Geese fly far to the south every single autumn.", "source_id": "g1"},
        {"title": "Ducks", "text": "Ducks swim on lakes and rivers.", "source_id": "d2"},
        {"title": "Empty", "text": "  "},
        {"title": "Number", "text": 7},
    ]
    report = make().add_texts(records, user=USER)
    assert [(f.file, f.status) for f in report.files] == [
        ("Ducks", "ready"),
        ("g1", "ready"),
        ("Ducks", "duplicate"),
        ("Empty", "failed"),
        ("Number", "failed"),
    ]
    assert report.files[2].paper_id == report.files[0].paper_id
    assert all(f.error for f in report.files[3:])
    with database.read() as cursor:
        found = papers.list_papers(cursor, USER)
        texts = [chunk.text for chunk in chunks.of_papers(cursor, [paper.id for paper in found])]
        blurbs = [chunk.blurb for chunk in chunks.of_papers(cursor, [paper.id for paper in found])]
    assert [(p.title, p.source_id, p.state) for p in found] == [
        ("Ducks", "d1", "ready"),
        ("Geese fly far to the south every single autumn.", "g1", "ready"),
    ]
    assert texts == ["Ducks swim on lakes and rivers.", "Geese fly far to the south every single autumn."]
    assert blurbs[0] == "Ducks"
    again = make().add_texts(records[:2], user=USER)
    assert [f.status for f in again.files] == ["duplicate", "duplicate"]


def test_hundreds_of_texts_are_stored_like_files_are(make: Make, database: Database, tmp_path: Path) -> None:
    records = [
        {"title": f"T{n}", "text": f"Text {n} says {n * 7919}.", "source_id": f"s{n}"} for n in range(450)
    ]
    seen: list[Progress] = []
    with database.write() as cursor:
        project = projects.create(cursor, USER, "Big")
    report = make().add_texts(records, user=USER, project_id=project.id, progress=seen.append)
    assert {f.status for f in report.files} == {"ready"}
    assert [step.done for step in seen] == [200, 400, 450]
    with database.read() as cursor:
        found = papers.list_papers(cursor, USER)
        stored = chunks.of_papers(cursor, [p.id for p in found])
        assert len(projects.paper_ids(cursor, USER, project.id)) == 450
        assert len(papers.pages(cursor, found[7].id)) == 1
        assert len([end for end in ledger.stage_ends(cursor, USER) if end.paper_id == found[7].id]) == 2
        papers.write_source(cursor, found[7].id, tmp_path / "seven.txt")
    assert [p.source_id for p in found] == [f"s{n}" for n in range(450)]
    assert [c.text for c in stored] == [r["text"] for r in records]
    assert vectors_of(database, found[449].id) == 1
    assert (tmp_path / "seven.txt").read_text() == "T7\n\nText 7 says 55433."


def test_texts_stop_at_the_limit_of_their_project(make: Make, database: Database) -> None:
    with database.write() as cursor:
        project = projects.create(cursor, USER, "Small")
    records = [{"title": f"T{n}", "text": f"Text {n}."} for n in range(4)]
    ingestor = make(project_max_papers=3)
    report = ingestor.add_texts(records, user=USER, project_id=project.id)
    assert [f.status for f in report.files] == ["ready", "ready", "ready", "failed"]
    with database.read() as cursor:
        assert len(papers.list_papers(cursor, USER)) == 3
    ingestor.add_texts(records[3:], user=USER)
    again = ingestor.add_texts(records, user=USER, project_id=project.id)
    assert [f.status for f in again.files] == ["duplicate", "duplicate", "duplicate", "failed"]


def test_a_long_text_among_short_ones_is_a_paper_like_any_other(make: Make, database: Database) -> None:
    long = " ".join(f"Sentence {n} of the long text." for n in range(4000))
    report = make().add_texts(
        [{"title": "Long", "text": long}, {"title": "Short", "text": "Short."}], user=USER
    )
    assert [f.status for f in report.files] == ["ready", "ready"]
    assert report.files[0].chunks > 100
    assert report.files[0].paper_id is not None
    assert vectors_of(database, report.files[0].paper_id) == report.files[0].chunks

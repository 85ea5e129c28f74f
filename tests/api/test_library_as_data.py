from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

import workbench
from tests.ollama_server import OllamaServer
from workbench import ConflictError, InvalidInputError, LibraryError, Scope, Settings, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

MELTING = "What is the melting point of arvenite?"


def test_status_says_where_the_library_is_what_it_holds_and_what_serves_it(
    wb: Workbench, library: Path
) -> None:
    assert wb.status() == {
        "library": str(library),
        "user": "ann",
        "bytes": library.stat().st_size,
        "papers": 3,
        "indexing": 0,
        "chunks": 3,
        "projects": 1,
        "embedder": "fake-words-64",
        "generation": 1,
        "chat_model": "extractive",
        "warnings": [],
    }


def test_status_does_not_wait_for_an_ollama_that_does_not_answer(
    open_as: Callable[..., Workbench], library: Path, ollama_server: OllamaServer
) -> None:
    ollama_server.slow = 30
    wb = open_as("ann", settings=Settings.load(library=library, user="ann", ollama_host=ollama_server.url))
    begun = time.monotonic()
    status = wb.status()
    assert time.monotonic() - begun < 5
    assert status["chat_model"] == "extractive"
    assert "Ollama does not answer" in status["warnings"][0]


def test_sql_gives_frames_and_takes_values(wb: Workbench) -> None:
    wb.search(MELTING, scope=Scope.ALL)
    counts = {t: len(wb.sql(f"SELECT * FROM {t}")) for t in ("papers", "pages", "chunks", "projects")}
    assert counts == {"papers": 3, "pages": 9, "chunks": 3, "projects": 1}
    assert len(wb.sql("SELECT * FROM project_papers")) == 2
    assert len(wb.sql("SELECT * FROM retrievals")) == 1
    assert len(wb.sql("SELECT * FROM retrieval_passages")) == 3
    assert set(wb.sql("SELECT stage FROM ledger")["stage"]) == {"read", "chunk", "embed", "index"}
    frame = wb.sql("SELECT paper_id, title FROM papers WHERE title = ? ORDER BY 1", ["A study of cendrite"])
    assert frame.to_dict("records") == [{"paper_id": 3, "title": "A study of cendrite"}]


@pytest.mark.parametrize(
    "query", ["", "SELEC 1", "SELECT * FROM nowhere", "UPDATE papers SET title = ''", "SELECT ?"]
)
def test_sql_that_cannot_run_is_an_error_of_ours_on_one_line(wb: Workbench, query: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        wb.sql(query)
    assert "\n" not in str(caught.value)


def test_a_backup_is_a_library_of_its_own(wb: Workbench, tmp_path: Path) -> None:
    target = tmp_path / "copy.duckdb"
    assert wb.backup(target) == target
    wb.papers.remove(1)
    with workbench.open(target, user="ann", embedder=FakeEmbedder()) as copy:
        assert [p.id for p in copy.papers.list()] == [1, 2, 3]
        assert copy.search(MELTING, scope=Scope.ALL).passages[0].paper_id == 1
        assert copy.doctor() == []
    with pytest.raises(ConflictError, match="exists already: a backup never overwrites"):
        wb.backup(target)
    with pytest.raises(LibraryError, match="There is no folder"):
        wb.backup(tmp_path / "nowhere" / "copy.duckdb")
    (tmp_path / "folder").mkdir()
    assert wb.backup(tmp_path / "folder").parent == tmp_path / "folder"


def test_compacting_gives_space_back_and_loses_nothing(wb: Workbench, library: Path) -> None:
    for paper_id in (1, 2, 3, 1, 2, 3):
        wb.papers.reprocess(paper_id)
    before, papers = library.stat().st_size, wb.papers.list()
    wb.compact()
    assert library.stat().st_size < before
    assert wb.papers.list() == papers
    assert wb.search(MELTING, scope=Scope.ALL).passages[0].paper_id == 1
    assert wb.doctor() == []


def test_the_derived_folder_may_go_at_any_moment(wb: Workbench, library: Path) -> None:
    first = wb.search(MELTING, scope=Scope.ALL)
    shutil.rmtree(library.with_name("library.duckdb.derived"))
    second = wb.search(MELTING, scope=Scope.ALL)
    assert second.passages == first.passages
    assert wb.papers.page_image(1, 1)[:4] == b"\x89PNG"
    assert wb.doctor() == []


def test_doctor_names_what_is_wrong(wb: Workbench, library: Path) -> None:
    import duckdb

    assert wb.doctor() == []
    with duckdb.connect(str(library)) as connection:
        connection.execute("DELETE FROM pages WHERE paper_id = 1")
    findings = wb.doctor()
    assert findings != []
    assert all("\n" not in line for line in findings)


def test_the_doctor_makes_an_index_again_that_says_something_else_than_the_library(
    wb: Workbench, library: Path
) -> None:
    """Both have the right revision and whole files, so that no search would notice."""
    sound = wb.search(MELTING, scope=Scope.ALL)
    wb.close()
    derived = library.with_name("library.duckdb.derived")
    (vectors,) = (derived / "vectors").glob("*.f32")
    numpy.memmap(vectors, numpy.float32, "r+")[:] = numpy.float32(0.125)
    note = json.loads((derived / "keywords" / "keywords.json").read_text())
    with workbench.open(library.with_name("empty.duckdb"), user="ann") as other:
        other.papers.add_texts([{"title": "None", "text": "Nothing of the kind."}])
        other.search("nothing", scope=Scope.ALL)
    foreign = library.with_name("empty.duckdb.derived") / "keywords"
    wrong = json.loads((foreign / "keywords.json").read_text()) | {"revision": note["revision"]}
    shutil.rmtree(derived / "keywords")
    shutil.copytree(foreign, derived / "keywords", copy_function=shutil.copy2)
    (derived / "keywords" / "keywords.json").write_text(json.dumps(wrong))
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as again:
        assert again.search("arvenite", scope=Scope.ALL, mode="keyword").passages == ()
        assert again.doctor() == []
        assert again.search(MELTING, scope=Scope.ALL).passages == sound.passages


def test_the_hnsw_index_of_the_settings_finds_the_same(
    open_as: Callable[..., Workbench], library: Path
) -> None:
    settings = Settings.load(library=library, user="ann", vector_index="hnsw", chat="extractive")
    exact, hnsw = open_as("ann"), open_as("ann", settings=settings)
    for scope in (Scope.ALL, Scope.ORPHANS, Scope.project(1)):
        assert hnsw.search(MELTING, scope=scope).passages == exact.search(MELTING, scope=scope).passages


# --- LlamaIndex ---------------------------------------------------------------------------------


def test_the_retriever_is_llama_indexs_and_gives_the_scopes_passages(wb: Workbench) -> None:
    from llama_index.core.base.base_retriever import BaseRetriever

    retriever = wb.retriever(Scope.project(1))
    assert isinstance(retriever, BaseRetriever)
    nodes = retriever.retrieve(MELTING)
    evidence = wb.search(MELTING, scope=Scope.project(1))
    assert [(n.node.id_, n.node.get_content(), n.score) for n in nodes] == [
        (f"chunk-{p.chunk_id}", p.text, p.score) for p in evidence
    ]
    assert nodes[0].metadata == {
        "n": 1,
        "paper_id": 1,
        "title": "A study of arvenite",
        "file": "arvenite.pdf",
        "page_start": 1,
        "page_end": 3,
    }


def test_the_query_engine_answers_with_the_workbenchs_own_answers(wb: Workbench) -> None:
    import asyncio

    engine = wb.query_engine(Scope.ALL)
    response = engine.query(MELTING)
    answer = wb.ask(MELTING, scope=Scope.ALL)
    assert response.response == answer.text
    assert response.metadata["answer"].citations == answer.citations
    assert response.metadata["refused"] is False
    assert [n.metadata["n"] for n in response.source_nodes] == [p.n for p in answer.evidence]
    assert asyncio.run(engine.aquery(MELTING)).response == answer.text
    assert engine.query("Which choir sang in Verona?").metadata["refused"] is True


def test_a_llama_index_model_can_write_the_answers(open_as: Callable[..., Workbench]) -> None:
    from llama_index.core.llms.mock import MockLLM

    answer = open_as("ann", chat_model=MockLLM()).ask(MELTING, scope=Scope.ALL)
    assert answer.provider != "extractive"
    assert answer.evidence.passages[0].paper_id == 1

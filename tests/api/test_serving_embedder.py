from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import workbench
from tests.mineral_papers import Mineral
from tests.ollama_server import OllamaServer
from workbench import FileOutcome, ProviderUnavailableError, Scope, Settings, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

MELTING = "What is the melting point of arvenite?"


class NamedEmbedder(FakeEmbedder):
    """Vectors of the usual length under another name."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "another-64"


def vector_ranks(wb: Workbench) -> list[int | None]:
    return [p.vector_rank for p in wb.search(MELTING, scope=Scope.ALL)]


def test_another_embedder_of_the_same_dimension_is_never_mixed_in(open_as: Callable[..., Workbench]) -> None:
    wb = open_as("ann", embedder=NamedEmbedder())
    evidence = wb.search(MELTING, scope=Scope.ALL)
    assert evidence.passages[0].paper_id == 1
    assert {p.vector_rank for p in evidence} == {None}
    assert evidence.warnings == (
        "Searching by keywords only: this library was indexed with fake-words-64, and another-64 is in use. "
        "Reprocess every paper to switch to it.",
    )
    assert wb.ask(MELTING, scope=Scope.ALL).warnings == evidence.warnings
    assert wb.status()["warnings"] == list(evidence.warnings)


def test_reprocessing_every_paper_moves_a_library_to_another_embedder(
    open_as: Callable[..., Workbench],
) -> None:
    wb, other = open_as("ann", embedder=NamedEmbedder()), open_as("ann")
    assert None not in vector_ranks(other)
    outcomes = [wb.papers.reprocess(i) for i in (1, 2, 3)]
    assert [o.warnings for o in outcomes] == [
        ("2 more papers to reprocess before the new vectors take over.",),
        ("1 more papers to reprocess before the new vectors take over.",),
        (),
    ]
    assert wb.search(MELTING, scope=Scope.ALL).warnings == ()
    assert vector_ranks(wb)[0] == 1
    late = other.search(MELTING, scope=Scope.ALL)  # opened before the switch, with the old embedder
    assert {p.vector_rank for p in late} == {None}
    assert "was indexed with another-64, and fake-words-64 is in use" in late.warnings[0]
    assert wb.doctor() == []


def test_a_library_that_another_workbench_gave_its_first_vectors_is_searched_by_those(
    tmp_path: Path, mineral_files: list[Path], five: list[Mineral]
) -> None:
    path = tmp_path / "new" / "library.duckdb"
    settings = Settings.load(library=path, user="ann", embedder="onnx", chat="extractive")
    with workbench.open(path, user="ann", settings=settings) as early:
        assert early.search(MELTING).passages == ()
        assert early.status()["embedder"].startswith("all-MiniLM-L6-v2-int8")
        with workbench.open(path, user="ann", embedder=FakeEmbedder()) as other:
            other.papers.add(mineral_files[0])
        assert vector_ranks(early) == [1]
        outcome = early.papers.add_many([mineral_files[1]]).files[0]
        assert (outcome.status, outcome.warnings) == ("ready", ())
        assert early.status()["embedder"] == "fake-words-64"
        answers = [
            five[i].questions()[0].is_answered_by(early.ask(five[i].questions()[0].text)) for i in (0, 1)
        ]
        assert answers == [True, True]


def test_the_embedded_model_finds_by_meaning_what_shares_no_word(tmp_path: Path) -> None:
    path = tmp_path / "new" / "library.duckdb"
    with workbench.open(path, user="ann") as wb:
        wb.papers.add_texts(
            [
                {"title": "Dogs", "text": "Puppies need a lot of sleep after a long walk in the park."},
                {"title": "Bonds", "text": "Yields rose after the central bank raised its rates."},
                {"title": "Bread", "text": "Let the dough rise overnight in a cold kitchen before baking."},
            ]
        )
        found = wb.search("monetary policy and debt markets", top_k=1)
    assert [(p.title, p.keyword_rank) for p in found] == [("Bonds", None)]


def test_an_embedder_set_by_name_takes_over_when_papers_are_reprocessed(
    open_as: Callable[..., Workbench], library: Path, ollama_server: OllamaServer
) -> None:
    settings = Settings.load(
        library=library, user="ann", embedder="ollama", chat="extractive", ollama_host=ollama_server.url
    )
    wb = open_as("ann", embedder=None, settings=settings)
    before = wb.search(MELTING, scope=Scope.ALL)
    assert before.passages[0].vector_rank == 1
    assert (
        "indexed with fake-words-64, which is used although WORKBENCH_EMBEDDER is ollama"
        in before.warnings[0]
    )
    assert [wb.papers.reprocess(i).status for i in (1, 2, 3)] == ["ready"] * 3
    after = wb.search(MELTING, scope=Scope.ALL)
    assert (after.passages[0].paper_id, after.passages[0].vector_rank, after.warnings) == (1, 1, ())
    assert wb.status()["embedder"].startswith("ollama/nomic-embed-text")


def test_an_embedder_that_goes_and_comes_back_is_used_again(
    tmp_path: Path, mineral_files: list[Path], ollama_server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.serving.RETRY_AFTER", 0.0)
    path = tmp_path / "new" / "library.duckdb"
    settings = Settings.load(library=path, user="ann", chat="extractive", ollama_host=ollama_server.url)
    with workbench.open(path, user="ann", settings=settings) as wb:
        wb.papers.add_many(mineral_files[:2])
    ollama_server.stop()
    with workbench.open(path, user="ann", settings=settings) as wb:
        evidence = wb.search(MELTING)
        assert {(p.paper_id, p.vector_rank) for p in evidence} == {(1, None), (2, None)}
        assert "Searching by keywords only: this library was indexed with ollama/" in evidence.warnings[0]
        told: list[FileOutcome] = []
        added = wb.papers.add_many(mineral_files[2:4], done=told.append)
        assert [f.status for f in added.files] == ["ready", "ready"]
        assert tuple(told) == added.files, "with the same notes"
        assert "found by words only until they are reprocessed" in added.files[0].warnings[0]
        assert added.files[1].warnings == ()
        assert wb.search("density of cendrite", top_k=1).passages[0].paper_id == 3
        ollama_server.start()
        evidence = wb.search(MELTING)
        assert evidence.passages[0].vector_rank == 1
        assert evidence.warnings == (
            "2 papers are still indexing and left out: ask again when that is done. If it does not end, run"
            " `workbench reprocess --all`, or resume it in the dashboard's ledger.",
        )
        assert [wb.papers.reprocess(i).status for i in (3, 4)] == ["ready", "ready"]
        assert wb.search(MELTING).warnings == ()
        assert wb.doctor() == []


def test_an_embedder_that_fails_at_the_question_leaves_a_search_by_words(
    tmp_path: Path, mineral_files: list[Path], ollama_server: OllamaServer
) -> None:
    path = tmp_path / "new" / "library.duckdb"
    settings = Settings.load(library=path, user="ann", chat="extractive", ollama_host=ollama_server.url)
    with workbench.open(path, user="ann", settings=settings) as wb:
        wb.papers.add(mineral_files[0])
        ollama_server.embed_faults.status = 500
        answer = wb.ask(MELTING)
    assert not answer.refused
    assert answer.citations[0].page == 2
    assert answer.warnings[0].endswith("Searching by keywords only.")


def test_an_embedder_set_by_name_that_cannot_be_had_is_an_error_and_status_still_tells(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new" / "library.duckdb"
    settings = Settings.load(library=path, user="ann", embedder="ollama", chat="ollama")
    with workbench.open(path, user="ann", settings=settings) as wb:
        with pytest.raises(ProviderUnavailableError, match="Ollama does not answer"):
            wb.papers.add(b"A note.")
        with pytest.raises(ProviderUnavailableError, match="Ollama does not answer"):
            wb.search("anything")
        status = wb.status()
    assert (status["papers"], status["embedder"], status["chat_model"]) == (0, None, "extractive")
    assert len(status["warnings"]) == 2
    assert all("Ollama does not answer at http://127.0.0.1:9" in w for w in status["warnings"])

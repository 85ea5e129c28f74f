"""Every rung is tested by taking a part away: chat model, embedder, index folder, keyword index."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import pytest

import workbench
from tests.ollama_server import OllamaServer
from workbench import Answer, ProviderUnavailableError, Scope, Settings, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

Open = Callable[..., Workbench]

MELTING = "What is the melting point of arvenite?"
MINERALS = Scope.project(1)


class AwayEmbedder(FakeEmbedder):
    """The embedder while its server is stopped; ``after`` so many texts, or at once."""

    def __init__(self, after: int = 0) -> None:
        super().__init__()
        self.left = after

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        self.left -= len(texts)
        if self.left < 0:
            raise ProviderUnavailableError("The embedder does not answer: start it.")
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> numpy.ndarray:
        raise ProviderUnavailableError("The embedder does not answer: start it.")


class BrokenIndex:
    """An index whose engine is gone."""

    name = "broken"

    def refresh(self) -> bool:
        return False

    def problems(self) -> list[str]:
        return []

    def search(self, *_: object, **__: object) -> list[object]:
        raise OSError("disk gone")


@pytest.fixture
def server_settings(library: Path, ollama_server: OllamaServer) -> Settings:
    return Settings.load(library=library, user="ann", ollama_host=ollama_server.url)


def take_away(wb: Workbench, *indexes: str) -> None:
    """Puts a broken index in the place of each of these, before the first search makes them."""
    wb._asking.__dict__.update(dict.fromkeys(indexes, BrokenIndex()))


def check_quotes_the_paper(answer: Answer) -> None:
    """The papers' own sentence, cited on its page."""
    assert (answer.provider, answer.refused) == ("extractive", False)
    assert (answer.citations[0].paper_id, answer.citations[0].page) == (1, 2)


# --- chat model, else the papers' own sentences -------------------------------------------------


def test_with_the_chat_server_stopped_the_papers_own_sentences_answer_and_one_line_says_so(
    open_as: Open, server_settings: Settings, ollama_server: OllamaServer
) -> None:
    ollama_server.stop()
    answer = open_as("ann", settings=server_settings).ask(MELTING, scope=MINERALS)
    check_quotes_the_paper(answer)
    [line] = answer.warnings
    assert line.startswith("No chat model, so answers are the papers' own sentences. Ollama does not answer")


def test_with_the_chat_model_not_pulled_they_do_too(open_as: Open, server_settings: Settings) -> None:
    settings = server_settings.model_copy(update={"chat_model": "not-there"})
    answer = open_as("ann", settings=settings).ask(MELTING, scope=MINERALS)
    check_quotes_the_paper(answer)
    [line] = answer.warnings
    assert "No chat model, so answers are the papers' own sentences." in line
    assert "ollama pull not-there" in line


def test_a_chat_server_that_fails_at_the_question_is_replaced_in_the_same_answer(
    open_as: Open, server_settings: Settings, ollama_server: OllamaServer
) -> None:
    ollama_server.reply(status=500)
    answer = open_as("ann", settings=server_settings).ask(MELTING, scope=MINERALS)
    check_quotes_the_paper(answer)
    [line] = answer.warnings
    assert line.endswith("Answering in the papers' own sentences instead.")


# --- vectors, else keywords ----------------------------------------------------------------------


def test_with_the_embedder_away_words_find_the_passage_and_one_line_says_so(open_as: Open) -> None:
    answer = open_as("ann", embedder=AwayEmbedder()).ask(MELTING, scope=MINERALS)
    check_quotes_the_paper(answer)
    assert answer.warnings == ("The embedder does not answer: start it. Searching by keywords only.",)
    assert {p.vector_rank for p in answer.evidence} == {None}


def test_an_embedder_that_fails_half_way_leaves_every_paper_whole_and_found_by_words(
    open_as: Open, mineral_files: list[Path]
) -> None:
    wb = open_as("ann", embedder=AwayEmbedder(after=1))
    report = wb.papers.add_many(mineral_files[3:])
    assert [f.status for f in report.files] == ["ready", "ready"]
    assert sum("does not answer" in " ".join(f.warnings) for f in report.files) >= 1
    assert not wb.ask("What is the density of dravosite?").refused
    assert wb.doctor() == []
    mended = open_as("ann")
    assert [f.status for f in mended.papers.reprocess_all().files] == ["ready"] * 5
    assert mended.search("What is the density of elbergite?").passages[0].vector_rank is not None


def test_with_the_vector_index_gone_words_answer_and_one_line_says_so(wb: Workbench) -> None:
    take_away(wb, "_vector_index")
    for mode in ("hybrid", "vector"):
        evidence = wb.search(MELTING, scope=MINERALS, mode=mode)  # type: ignore[arg-type]  # one of three
        assert evidence.passages[0].paper_id == 1
        assert evidence.warnings == ("Searching by keywords only: vectors cannot be read (disk gone).",)


def test_with_the_keyword_index_gone_meaning_answers_and_one_line_says_so(wb: Workbench) -> None:
    take_away(wb, "_keyword_index")
    evidence = wb.search(MELTING, scope=MINERALS)
    assert (evidence.passages[0].paper_id, evidence.passages[0].vector_rank) == (1, 1)
    assert evidence.warnings == ("Keywords cannot be searched now (disk gone).",)
    assert evidence.summaries == ()


@pytest.mark.parametrize("blocked", [False, True])
def test_with_the_index_folder_deleted_or_unusable_nothing_is_missing(
    wb: Workbench, library: Path, blocked: bool
) -> None:
    before = wb.search(MELTING, scope=MINERALS)
    folder = library.with_name("library.duckdb.derived")
    shutil.rmtree(folder)
    if blocked:
        folder.write_text("not a folder")
    after = wb.search(MELTING, scope=MINERALS)
    assert (after.passages, after.warnings) == (before.passages, ())


# --- keywords, else stored summaries -------------------------------------------------------------


@pytest.fixture
def summarised(wb: Workbench) -> Workbench:
    """Ann's library; her project has its summary."""
    wb.summaries.refresh(1)
    return wb


def test_where_words_alone_find_nothing_the_stored_summary_is_shown_and_is_no_evidence(
    summarised: Workbench, open_as: Open
) -> None:
    stored = summarised.summaries.get(1).text
    answer = open_as("ann", embedder=AwayEmbedder()).ask("quantum chromodynamics", scope=MINERALS)
    assert (answer.refused, answer.citations, answer.evidence.passages) == (True, (), ())
    assert answer.evidence.summaries == (f"Minerals: {stored}",)
    assert "Stored project summaries, not checked against any page:" in answer.text
    assert answer.text.count("Minerals: ") == 1
    assert answer.warnings == (
        "The embedder does not answer: start it. Searching by keywords only.",
        "No passage was found that way, so stored project summaries are shown instead.",
    )


def test_with_both_indexes_gone_the_stored_summaries_of_all_projects_are_shown(summarised: Workbench) -> None:
    take_away(summarised, "_vector_index", "_keyword_index")
    answer = summarised.ask(MELTING, scope=Scope.ALL)
    assert (answer.refused, len(answer.evidence.summaries)) == (True, 1)
    assert summarised.ask(MELTING).evidence.summaries == (), "orphans are in no project"


def test_a_search_with_all_its_parts_that_finds_nothing_shows_no_summary(summarised: Workbench) -> None:
    for mode in ("hybrid", "keyword"):
        evidence = summarised.search("quantum chromodynamics", scope=MINERALS, mode=mode, min_relevance=0.99)  # type: ignore[arg-type]  # one of three
        assert (evidence.passages, evidence.summaries) == ((), ())


def test_an_answer_with_stored_summaries_is_kept_whole_in_a_conversation(
    summarised: Workbench, open_as: Open
) -> None:
    wb = open_as("ann", embedder=AwayEmbedder())
    conversation = wb.conversations.create(MINERALS)
    answer = conversation.ask("quantum chromodynamics")
    assert answer.evidence.summaries
    assert conversation.messages[-1].answer == answer


def test_a_paper_without_vectors_is_found_by_keywords_while_the_embedder_is_away(
    empty_library: Path,
) -> None:
    with workbench.open(empty_library, user="ann", embedder=AwayEmbedder(after=1)) as wb:
        wb.papers.add_many([("with.txt", b"The heron stands in the reeds.")])
        wb.papers.add_many([("without.txt", b"The giraffe reaches the highest leaves.")])
        assert [p.state for p in wb.papers.list()] == ["ready", "indexing"]
        evidence = wb.search("giraffe", scope=Scope.ALL)
    assert [p.file for p in evidence] == ["without.txt"]
    assert "The embedder does not answer: start it. Searching by keywords only." in evidence.warnings


@pytest.fixture
def empty_library(tmp_path: Path) -> Path:
    return tmp_path / "empty" / "library.duckdb"

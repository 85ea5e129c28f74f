from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy
import pytest

import workbench
from workbench import ProviderUnavailableError, Scope, Settings, Workbench
from workbench.providers.fake_embedder import FakeEmbedder

DENSITY = "What is the density of dravosite?"
LEFT_OUT = (
    "1 paper is still indexing and left out: ask again when that is done. If it does not end, run"
    " `workbench reprocess --all`, or resume it in the dashboard's ledger."
)


class StoppedEmbedder(FakeEmbedder):
    """The usual embedder while its server is stopped."""

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        raise ProviderUnavailableError("The embedder does not answer: start it.")


class NamedEmbedder(FakeEmbedder):
    """Vectors of the usual length under another name."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "another-64"


@pytest.fixture
def lacking(open_as: Callable[..., Workbench], mineral_files: list[Path]) -> int:
    """Id of Ann's paper on dravosite, added while the embedder was stopped."""
    wb = open_as("ann", embedder=StoppedEmbedder())
    return wb.papers.add(mineral_files[3]).id


def states(wb: Workbench) -> dict[int, str]:
    return {p.id: p.state for p in wb.papers.list()}


def test_a_paper_without_vectors_shows_indexing_and_is_left_out_with_a_counted_warning(
    open_as: Callable[..., Workbench], lacking: int
) -> None:
    wb = open_as("ann")
    assert states(wb) == {1: "ready", 2: "ready", 3: "ready", lacking: "indexing"}
    assert wb.status()["indexing"] == 1
    evidence = wb.search(DENSITY, scope=Scope.ALL)
    assert lacking not in {p.paper_id for p in evidence}
    assert evidence.warnings == (LEFT_OUT,)
    assert LEFT_OUT in wb.ask(DENSITY, scope=Scope.ALL).warnings


def test_adding_it_to_a_project_indexes_it_in_the_background(
    open_as: Callable[..., Workbench], lacking: int
) -> None:
    wb = open_as("ann")
    before = wb.papers.chunks(lacking)
    wb.projects.add("Minerals", lacking)
    assert wb._background.wait(20)
    assert set(states(wb).values()) == {"ready"}
    assert wb.papers.chunks(lacking) == before, "its chunks keep their ids"
    evidence = wb.search(DENSITY, scope=Scope.project(1))
    assert (evidence.passages[0].paper_id, evidence.passages[0].vector_rank, evidence.warnings) == (
        lacking,
        1,
        (),
    )
    assert wb.doctor() == []


def test_what_an_earlier_process_left_unfinished_in_a_project_goes_on_when_the_library_opens(
    open_as: Callable[..., Workbench], lacking: int
) -> None:
    interrupted = open_as("ann", embedder=StoppedEmbedder())
    interrupted.projects.add("Minerals", lacking)
    assert interrupted._background.wait(20)
    assert states(interrupted)[lacking] == "indexing"
    wb = open_as("ann")
    assert wb._background.wait(20)
    assert states(wb)[lacking] == "ready"
    assert wb.search(DENSITY, scope=Scope.project(1)).passages[0].paper_id == lacking


def test_more_papers_than_the_background_has_room_for_are_all_indexed(
    open_as: Callable[..., Workbench], tmp_path: Path
) -> None:
    stopped = open_as("ann", embedder=StoppedEmbedder())
    texts = [{"title": f"Ore {n}", "text": f"Ore {n} melts at {900 + n} degrees."} for n in range(6)]
    wanted = [outcome.paper_id or 0 for outcome in stopped.papers.add_texts(texts).files]
    wb = open_as("ann")
    assert wb._background.wait(20)
    wb._background._capacity = 2
    wb.papers.index_soon(wanted)
    assert wb._background.wait(20)
    assert {states(wb)[paper] for paper in wanted} == {"ready"}


def test_adding_the_same_file_to_a_project_does_too(
    open_as: Callable[..., Workbench], lacking: int, mineral_files: list[Path]
) -> None:
    wb = open_as("ann")
    report = wb.papers.add_many([mineral_files[3]], project="Minerals")
    assert [f.status for f in report.files] == ["duplicate"]
    assert wb._background.wait(20)
    assert states(wb)[lacking] == "ready"


def test_without_an_embedder_it_stays_as_it_is_and_nothing_fails(
    open_as: Callable[..., Workbench], lacking: int
) -> None:
    wb = open_as("ann", embedder=StoppedEmbedder())
    wb.projects.add("Minerals", lacking)
    assert wb._background.wait(20)
    assert states(wb)[lacking] == "indexing"
    assert wb.projects.get(1).paper_count == 3


def test_what_fails_in_the_background_is_in_the_ledger_and_in_the_status(
    open_as: Callable[..., Workbench], lacking: int
) -> None:
    told = (
        "1 paper could not be indexed (Found by keywords only, until it is reprocessed: "
        "The embedder does not answer: start it); run `workbench reprocess --all` to try again."
    )
    wb = open_as("ann", embedder=StoppedEmbedder())
    assert told not in wb.status()["warnings"], "nobody has tried since"
    wb.papers.index_soon([lacking])
    assert wb._background.wait(20)
    assert told in wb.status()["warnings"]
    assert open_as("bob").status()["warnings"] == []
    wb = open_as("ann")
    wb.papers.index_soon([lacking])
    assert wb._background.wait(20)
    assert wb.status()["warnings"] == []


def test_reprocessing_everything_indexes_what_lacks(open_as: Callable[..., Workbench], lacking: int) -> None:
    wb = open_as("ann")
    heard: list[str] = []
    report = wb.papers.reprocess_all(done=lambda outcome: heard.append(outcome.file))
    assert [f.status for f in report.files] == ["ready"] * 4
    assert heard == [f.file for f in report.files]
    assert set(states(wb).values()) == {"ready"}
    assert wb.search(DENSITY, scope=Scope.ALL).warnings == ()


def test_reprocessing_everything_can_be_stopped_between_papers(wb: Workbench) -> None:
    heard: list[str] = []
    report = wb.papers.reprocess_all(
        done=lambda outcome: heard.append(outcome.file), cancelled=lambda: len(heard) == 2
    )
    assert len(report.files) == len(heard) == 2
    assert wb.doctor() == []


def test_one_user_moves_the_library_with_the_papers_of_all_and_sees_only_their_own(
    open_as: Callable[..., Workbench], mineral_files: list[Path]
) -> None:
    bob = open_as("bob")
    bob.papers.add(mineral_files[3], project=bob.projects.create("Bob's"))
    ann = open_as("ann", embedder=NamedEmbedder())
    report = ann.papers.reprocess_all()
    assert [f.paper_id for f in report.files] == [1, 2, 3]
    assert ann.search("melting point of arvenite", scope=Scope.ALL).passages[0].vector_rank == 1
    moved = open_as("bob", embedder=NamedEmbedder())
    assert states(moved) == {4: "ready"}
    evidence = moved.search(DENSITY, scope=Scope.ALL)
    assert (evidence.passages[0].vector_rank, evidence.warnings) == (1, ())
    assert set(ann.sql("SELECT paper_id FROM ledger")["paper_id"].dropna()) == {1, 2, 3}
    assert ann.doctor() == []


def test_a_paper_keeps_its_vectors_while_their_embedder_is_away(tmp_path: Path, library: Path) -> None:
    gone = Settings.load(library=library, user="ann", embedder="onnx", chat="extractive")
    with workbench.open(library, user="ann", embedder=NamedEmbedder()) as wb:
        wb.papers.reprocess_all()
    with workbench.open(library, user="ann", settings=gone.model_copy(update={"embedder": "auto"})) as wb:
        outcome = wb.papers.reprocess(1)
    assert (outcome.status, outcome.error) == (
        "failed",
        "its vectors are of another-64, which is not at hand: the paper keeps what it has",
    )
    with workbench.open(library, user="ann", embedder=NamedEmbedder()) as wb:
        assert set(states(wb).values()) == {"ready"}
        assert wb.search(DENSITY, scope=Scope.ALL).passages[0].vector_rank is not None


def test_a_library_whose_embedder_is_gone_for_good_moves_to_the_one_a_new_library_would_get(
    library: Path,
) -> None:
    with workbench.open(library, user="ann", embedder=NamedEmbedder()) as wb:
        wb.papers.reprocess_all()
    settings = Settings.load(library=library, user="ann", chat="extractive")
    with workbench.open(library, user="ann", settings=settings) as wb:
        before = wb.search("melting point of arvenite", scope=Scope.ALL)
        assert "Searching by keywords only" in before.warnings[0]
        assert [f.status for f in wb.papers.reprocess_all().files] == ["ready"] * 3
    with workbench.open(library, user="ann", settings=settings) as wb:
        after = wb.search("melting point of arvenite", scope=Scope.ALL)
        assert (after.passages[0].vector_rank, after.warnings) == (1, ())
        assert wb.status()["embedder"].startswith("all-MiniLM-L6-v2-int8")
        assert wb.doctor() == []

from __future__ import annotations

from pathlib import Path

import pytest

import workbench
from tests.mineral_papers import minerals
from workbench import LibraryError, Scope, Settings, Workbench, sample
from workbench.providers.fake_embedder import FakeEmbedder


def opened(folder: Path, *, limit: int) -> Workbench:
    settings = Settings.load(
        library=folder / "new" / "library.duckdb", user="ann", project_max_papers=limit, chat="extractive"
    )
    return workbench.open(settings.library, settings=settings, embedder=FakeEmbedder())


def test_a_new_library_gets_the_sample_project_once(tmp_path: Path) -> None:
    with opened(tmp_path, limit=10) as wb:
        steps: list[workbench.Progress] = []
        sample.add_sample_if_new(wb, progress=steps.append)
        [project] = wb.projects.list()
        assert (project.name, project.paper_count) == (sample.SAMPLE_PROJECT, 8)
        assert [p.file for p in wb.projects.papers(project)] == [f.name for f in sample.sample_files()]
        assert {s.files for s in steps} == {8}
        before = len(wb.sql("SELECT * FROM ledger"))
        sample.add_sample(wb)
        sample.add_sample_if_new(wb)
        assert len(wb.sql("SELECT * FROM ledger")) == before  # nothing was read again
        answer = wb.ask("Does a second thread make embedding faster or slower?", scope=Scope.project(project))
        assert {c.file for c in answer.citations} & {"busy-machine.pdf", "token-chunks.pdf"}
        wb.projects.delete(project)
        sample.add_sample_if_new(wb)  # its papers are still there, so the library is not new
        assert wb.projects.list() == []


def test_a_lower_limit_gets_as_many_sample_papers_as_fit(tmp_path: Path) -> None:
    with opened(tmp_path, limit=1) as wb:
        sample.add_sample(wb)
        sample.add_sample(wb)
        [project] = wb.projects.list()
        assert project.paper_count == 1
        assert len(wb.papers.list()) == 1


def test_a_project_of_that_name_with_other_papers_gets_the_missing_ones_or_an_error(tmp_path: Path) -> None:
    with opened(tmp_path, limit=2) as wb:
        project = wb.projects.create(sample.SAMPLE_PROJECT)
        wb.papers.add(minerals(1)[0].write(tmp_path), project=project)
        with pytest.raises(LibraryError, match="could not be added: Project .* its limit is 2"):
            sample.add_sample(wb)
        assert wb.projects.get(project.id).paper_count == 2


def test_an_installation_without_the_sample_papers_starts_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "checkout", lambda: tmp_path)
    with opened(tmp_path, limit=10) as wb:
        sample.add_sample_if_new(wb)
        assert (wb.projects.list(), wb.papers.list()) == ([], [])
        with pytest.raises(LibraryError, match="The sample papers are missing from"):
            sample.add_sample(wb)
    monkeypatch.chdir(tmp_path)
    assert sample.notebooks_folder() == tmp_path

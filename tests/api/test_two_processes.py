from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.mineral_papers import minerals
from workbench import Settings
from workbench.providers.fake_embedder import FakeEmbedder

WORKER = Path(__file__).with_name("sharing_worker.py")


def start(what: str, library: Path, count: int) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "WORKBENCH_EMBEDDER": "fake",
        "WORKBENCH_CHAT": "extractive",
        "WORKBENCH_PROJECT_MAX_PAPERS": "0",
    }
    return subprocess.Popen(
        [sys.executable, str(WORKER), what, str(library), str(count)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def report(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    loaded: dict[str, Any] = json.loads(out)
    return loaded


@pytest.mark.parametrize(
    ("papers", "questions"), [(8, 15), pytest.param(20, 50, marks=pytest.mark.benchmark)]
)
def test_one_process_adds_papers_while_another_asks_about_them(
    tmp_path: Path, papers: int, questions: int
) -> None:
    path = tmp_path / "shared" / "library.duckdb"
    settings = Settings.load(library=path, user="ann", project_max_papers=0)
    with workbench.open(path, user="ann", settings=settings, embedder=FakeEmbedder()) as wb:
        project = wb.projects.create("Minerals")
        wb.papers.add_many([m.write(tmp_path) for m in minerals(2)], project=project)
        processes = [start("add", path, papers), start("ask", path, questions)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        added, asked = (report(process) for process in processes)
        assert added["statuses"] == ["ready"] * papers
        assert (asked["asked"], asked["wrong"]) == (questions, [])
        assert asked["papers"] > 2  # some had come meanwhile
        assert wb.doctor() == []
        assert [p.file for p in wb.projects.papers(project)] == [m.file for m in minerals(papers + 2)]
        assert len(wb.sql("SELECT * FROM retrievals")) == questions
        everything = [q for m in minerals(papers + 2) for q in m.questions()[:1]]
        wrong = [
            q.text
            for q in everything
            if not q.is_answered_by(wb.ask(q.text, scope=workbench.Scope.ALL, provider="extractive"))
        ]
    assert wrong == []
    print(f"added {papers} in {added['seconds']} s; asked {questions} in {asked['seconds']} s,", end=" ")
    print(f"median {asked['median']} s, slowest {asked['slowest']} s")

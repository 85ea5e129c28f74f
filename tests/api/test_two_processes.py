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


def together(processes: list[subprocess.Popen[str]]) -> None:
    """Lets all of them begin as soon as each is ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


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
        together(processes)
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


def test_processes_and_threads_that_write_into_one_conversation_lose_no_message(tmp_path: Path) -> None:
    path, turns = tmp_path / "shared" / "library.duckdb", 4
    with workbench.open(path, user="ann", embedder=FakeEmbedder()) as wb:
        wb.papers.add_many([m.write(tmp_path) for m in minerals(2)])
        talk = wb.conversations.create()
        processes = [start("talk", path, turns) for _ in range(2)]
        together(processes)
        reports = [report(process) for process in processes]
        assert [r["failed"] for r in reports] == [[], []]
        said = {text: answer for r in reports for text, answer, _ in r["asked"]}
        assert [warnings for r in reports for *_, warnings in r["asked"] if warnings] == []
        stored = talk.messages
        assert len(said) == len(reports) * 2 * turns
        assert {q.text: a.text for q, a in zip(stored[::2], stored[1::2], strict=True)} == said
        assert [m.role for m in stored] == ["user", "assistant"] * len(said)
        for thread in {text.rpartition(" of ")[2] for text in said}:  # each asked one after the other
            numbers = [m.text.split("(Question ")[1][0] for m in stored[::2] if m.text.endswith(thread)]
            assert numbers == [str(n) for n in range(turns)]
        assert stored[0].text.startswith(talk.title.rstrip("…"))
        assert talk.info.messages == 2 * len(said)
        assert wb.doctor() == []

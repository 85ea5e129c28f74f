"""A program that ends while its threads still work with the library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import sys, threading, time, workbench
from workbench.providers.fake_embedder import FakeEmbedder
wb = workbench.open(sys.argv[1], user="ada", embedder=FakeEmbedder())
project = wb.projects.create("Looms")
texts = [{"title": f"Loom {n}", "text": f"Loom {n} weaves {n} threads a minute. " * 30} for n in range(12)]
wb.papers.add_texts(texts, project=project)
def for_ever(work):
    begun = threading.Event()
    def run():
        begun.set()
        while True:
            try:
                work()
            except workbench.WorkbenchError:
                return
    threading.Thread(target=run, daemon=True).start()
    begun.wait()
    time.sleep(0.3)
"""


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("", id="in the background of a workbench that nobody closed"),
        pytest.param(
            "for_ever(lambda: wb.search('loom', scope=workbench.Scope.ALL))", id="searching in a thread"
        ),
        pytest.param(
            "for_ever(lambda: wb.sql('SELECT count(*) FROM chunks a, chunks b, chunks c, chunks d, chunks e'"
            "', chunks f, chunks g, chunks h'))",
            id="in one long query in a thread",
        ),
        pytest.param("for_ever(lambda: wb.notes.create('Loom', 'It weaves.'))", id="writing in a thread"),
    ],
)
def test_a_script_that_ends_without_closing_its_workbench_ends_with_its_own_status(
    tmp_path: Path, work: str
) -> None:
    script = f"{BEGIN}\n{work}\nprint('done', flush=True)\nsys.exit(3)\n"
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "library.duckdb")],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (3, "done\n"), ran.stderr
    assert "terminate called" not in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")
def test_a_forked_child_ends_at_once_with_its_own_status(tmp_path: Path) -> None:
    script = f"""{BEGIN}
import os
wb._background.start(lambda: time.sleep(30))
time.sleep(0.2)
started = time.monotonic()
child = os.fork()
if child == 0:
    sys.exit(5)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), time.monotonic() - started < 1.5, flush=True)
os._exit(0)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "library.duckdb")],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.stdout == "5 True\n", ran.stderr

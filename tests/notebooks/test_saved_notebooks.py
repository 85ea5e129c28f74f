"""The notebooks run from top to bottom, and read well as they are saved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def outputs(path: Path) -> list[tuple[str, str]]:
    """(kind, text) of every saved output."""
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            texts = [output.get("text", ""), *output.get("traceback", [])]
            texts += [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
            found.append((output.output_type, "\n".join(texts)))
    return found


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_its_checked_outputs_are_unchanged(notebook: Path, tmp_path: Path) -> None:
    settings = {name for name in os.environ if name.startswith(("WORKBENCH_", "PROJECT_", "OLLAMA_"))}
    environment = {name: value for name, value in os.environ.items() if name not in settings}
    environment |= {
        "WORKBENCH_LIBRARY": str(tmp_path / "library.duckdb"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PYTHONPATH": str(ROOT),
        "OLLAMA_HOST": "http://127.0.0.1:9",  # nothing listens there
    }
    done = checked(notebook, environment)
    assert done.returncode == 0, done.stdout[-3000:]


def checked(
    notebook: Path, environment: dict[str, str], *, cell_timeout: int = 120
) -> subprocess.CompletedProcess[str]:
    """nbval's run of a notebook: it ends at the first cell that fails or takes too long (seconds)."""
    options = ["--nbval-lax", "--nbval-current-env", f"--nbval-cell-timeout={cell_timeout}"]
    command = [sys.executable, "-m", "pytest", *options, "-x", "-q", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, str(notebook)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )


def test_a_cell_that_never_ends_fails_the_run_in_bounded_time_and_a_slow_one_does_not(tmp_path: Path) -> None:
    environment = os.environ | {"IPYTHONDIR": str(tmp_path / "ipython")}
    sources = [
        "1 + 1",
        "import time\nprint('a')\ntime.sleep(6)\nprint('b')",
        "time.sleep(3600)",
        "print('c')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbformat.write(book, tmp_path / "slow.ipynb")
    begun = time.monotonic()
    done = checked(tmp_path / "slow.ipynb", environment, cell_timeout=15)
    assert time.monotonic() - begun < 120
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout, done.stdout[-3000:]


def test_a_checked_cell_has_one_value_and_prints_nothing() -> None:
    """Printed text arrives in pieces that differ from run to run."""
    checked_cells = [
        cell
        for notebook in NOTEBOOKS
        for cell in nbformat.read(notebook, as_version=4).cells
        if "NBVAL_CHECK_OUTPUT" in cell.source
    ]
    assert len(checked_cells) >= 10
    assert [[o.output_type for o in c.outputs] for c in checked_cells] == [["execute_result"]] * len(
        checked_cells
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_saved_notebook_shows_no_error_no_folder_of_a_machine_and_no_time_of_day(notebook: Path) -> None:
    shown = outputs(notebook)
    assert [kind for kind, _ in shown if kind == "error"] == []
    betrays = re.compile(r"/(tmp|home|root|Users|var)/|Traceback|\b\d\d:\d\d:\d\d\b")
    assert [text for _, text in shown if betrays.search(text)] == []


def test_the_quickstart_reads_well_without_a_kernel() -> None:
    cells = nbformat.read(ROOT / "notebooks" / "quickstart.ipynb", as_version=4).cells
    silent = [c.source for c in cells if c.cell_type == "code" and not c.outputs]
    assert [source.splitlines()[-1].split("(")[0] for source in silent] == ["wb = workbench.open", "wb.close"]
    assert len({c.id for c in cells}) == len(cells)

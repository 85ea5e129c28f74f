"""The notebooks run from top to bottom, and read well as they are saved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval-lax",
        "--nbval-current-env",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, str(notebook)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:]


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

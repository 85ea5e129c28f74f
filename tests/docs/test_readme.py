"""The README cannot drift: its tables are the product's, and its examples run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from workbench.cli.running import command
from workbench.ingest.sniffing import kind_of_text
from workbench.settings import Settings, variables

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SAMPLES = ("graph-indexes.pdf", "one-bit-codes.pdf", "shared-file.pdf")

# Lines that install things, start servers or need Ollama; every other shell line is run.
NOT_RUN = [
    r"make [a-z]+",
    r"python3 -m venv \.venv",
    r"\.venv/bin/pip install .*",
    r"conda .*",
    r"(\.venv/bin/)?workbench (dashboard|lab)",
    r"ollama pull .*",
    r"WORKBENCH_(CHAT|EMBEDDER)=ollama workbench .*",
]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


def table_after(heading: str, columns: int) -> list[list[str]]:
    """Rows of the first table below a heading, cells without their backticks."""
    section = README.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    assert {len(row) for row in rows} == {columns}
    return [[cell.strip() for cell in row] for row in rows[2:]]


COMMANDS = table_after("On the command line", 2)


def shell_lines() -> list[str]:
    lines = [line.split("   #")[0].strip() for block in blocks("shell") for line in block.splitlines()]
    return [line for line in lines if line]


def expected_default(name: str) -> str:
    field = Settings.model_fields[name]
    if field.default_factory is not None or field.default is None:
        return {
            "library": "in the user's data folder",
            "user": "the Jupyter or OS login",
            "project_chat_model": "as `chat_model`",
        }[name]
    return f"{field.default:g}" if isinstance(field.default, float) else str(field.default)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the README's reader has it: some papers, and nothing of ours."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "data").mkdir()
    for name in (*SAMPLES, "questions.jsonl"):
        shutil.copy(ROOT / "data" / name, folder / "data")
    return folder


@pytest.fixture(scope="module")
def environment(desk: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(desk),
        "PYTHONPATH": str(ROOT),
        "WORKBENCH_LIBRARY": str(desk / "shell.duckdb"),
        "OLLAMA_HOST": "http://127.0.0.1:9",  # nothing listens there: the examples need no server
    }


def test_every_setting_stands_in_the_table_with_its_variables_and_its_default() -> None:
    shown = {
        name.strip("`"): (re.findall(r"`(\w+)`", names), default if " " in default else default.strip("`"))
        for name, names, default, _ in table_after("Settings", 4)
    }
    assert shown == {name: (variables(name), expected_default(name)) for name in Settings.model_fields}


def test_every_command_stands_in_the_table(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench.cli", "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    offered = re.findall(r"^  ([a-z]+) ", done.stdout.split("Commands:")[1], flags=re.M)
    assert sorted(row[0].strip("`") for row in COMMANDS) == sorted(offered)


def test_every_verb_of_a_group_stands_in_its_row() -> None:
    groups = {
        name: set(one.commands) for name, one in command.commands.items() if isinstance(one, click.Group)
    }
    rows = {name.strip("`"): set(re.findall(r"`([a-z]+)`", does)) for name, does in COMMANDS}
    assert {name: rows[name] for name in groups} == groups


def test_every_command_line_of_the_readme_names_verbs_and_options_that_exist() -> None:
    """Also those in the text, which nothing runs."""
    for words in (line.split() for line in re.findall(r"`(?:WORKBENCH_\w+=\w+ )?workbench ([^`]+)`", README)):
        one: click.Command = command
        while isinstance(one, click.Group) and words and words[0] in one.commands:
            one = one.commands[words.pop(0)]
        options = {option for parameter in one.params for option in parameter.opts}
        assert not isinstance(one, click.Group) or words == [] or words[0].isupper(), words
        assert {word for word in words if word.startswith("--")} <= options | {"--help"}, words


def test_every_option_named_in_the_text_exists() -> None:
    named = set(re.findall(r"`(--[a-z-]+)", README))
    assert named >= {"--project", "--all", "--orphans", "--json"}
    assert named - all_options(command) == {"--help"} & named


def all_options(one: click.Command) -> set[str]:
    own = {option for parameter in one.params for option in parameter.opts}
    return own.union(*map(all_options, one.commands.values())) if isinstance(one, click.Group) else own


def test_every_format_named_is_read_as_what_it_is_named() -> None:
    formats = re.findall(r"`\.([a-z]+)`", README.split("## Formats", 1)[1].split("\n## ", 1)[0])
    by_signature = {"pdf", "docx", "epub"}
    assert by_signature < set(formats)
    assert {"html", "md", "txt", "csv", "json", "log", "ipynb"} < set(formats)
    texts = {"json": "[1]", "ipynb": '{"nbformat": 4, "cells": []}', "bib": "@book{a,}", "ris": "TY  - BOOK"}
    named = [name for name in formats if name not in by_signature]
    assert [kind_of_text(texts.get(name, "Some words."), f"a.{name}") for name in named] == named


def test_every_make_target_named_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert set(re.findall(r"\bmake ([a-z]+)\b(?=`|   #)", README)) - targets == set()


def test_every_file_and_section_the_readme_links_to_exists() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]
    files = [link for link in links if not link.startswith("#")]
    assert [link for link in files if not (ROOT / link).exists()] == []
    headings = re.findall(r"^#+ (.+)$", README, flags=re.M)
    anchors = {"#" + re.sub(r"[^\w\s-]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(links) - set(files) <= anchors


def test_every_folder_of_the_map_exists() -> None:
    tree = README.split("## Where things live", 1)[1]
    top, named = "", []
    for indent, name in re.findall(r"^( *)([a-z]+/)", tree, flags=re.M):
        top = top if indent else name
        named.append(top + name if indent else name)
    assert len(named) >= 10
    assert [name for name in named if not (ROOT / name).is_dir()] == []


def test_the_shell_examples_run(desk: Path, environment: dict[str, str]) -> None:
    lines = [line for line in shell_lines() if not any(re.fullmatch(known, line) for known in NOT_RUN)]
    assert len(lines) >= 8
    assert [line for line in lines if not line.startswith("workbench ")] == []
    script = "\n".join(
        ["set -euo pipefail", f'workbench() {{ "{sys.executable}" -m workbench.cli "$@"; }}', *lines]
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=desk, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (desk / "library-backup.duckdb").exists()
    assert "[1]" in done.stdout


def test_the_python_examples_run_one_after_another(desk: Path, environment: dict[str, str]) -> None:
    script = (
        "\n".join(blocks("python"))
        + "\nwb.close()\nprint()\nprint('refused:', refused, [v.verdict for v in verdicts])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=desk, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == "refused: False ['unsupported']"


def test_the_settings_file_example_is_accepted(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        for variable in variables(name):
            monkeypatch.delenv(variable, raising=False)
    folder = desk / "with-settings"
    folder.mkdir()
    (folder / "workbench.toml").write_text(blocks("toml")[0], encoding="utf-8")
    loaded = Settings.load(library=folder / "library.duckdb")
    assert (loaded.top_k, loaded.chat) == (20, "extractive")

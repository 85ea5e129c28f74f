from __future__ import annotations

from pathlib import Path

import workbench
from tests.cli.conftest import Cli
from workbench import Scope
from workbench.providers.fake_embedder import FakeEmbedder

BIB = """\
@article{muller2019, title={A study of arvenite}, author={Müller, Änne}, year={2019}, doi={10.1000/arv}}
@misc{stray, title={A paper that nobody has}}
@misc{broken, title={never closed
"""


def imported(cli: Cli, folder: Path) -> Path:
    file = folder / "zotero.bib"
    file.write_text(BIB, encoding="utf-8")
    run = cli("import", file)
    assert run.out == (
        "paper 1: A study of arvenite\n"
        "no paper: A paper that nobody has (no paper fits by DOI, file or title)\n"
        "1 matched, 1 not.\n"
    )
    assert run.err.startswith("note: 1 entry of the file could not be read")
    return file


def test_a_bib_file_goes_in_and_the_project_comes_out(cli: Cli, tmp_path: Path) -> None:
    file = imported(cli, tmp_path)
    report = cli("import", file, "--json").json
    assert [m["paper_id"] for m in report["matched"]] == [1]
    assert [u["key"] for u in report["unmatched"]] == ["stray"]
    out = cli("export", "papers", "--project", "Minerals").out
    assert "@article{muller2019,\n  author = {Müller, Änne},\n" in out
    assert "bolmarite" in out
    assert "cendrite" not in out
    target = tmp_path / "thesis.bib"
    assert cli("export", "papers", "--output", target).out == f"Wrote {target}.\n"
    assert "cendrite" in target.read_text(encoding="utf-8")
    assert cli("export", "papers", "--orphans", "--json").json["bibtex"].count("@misc{") == 1
    assert [p.name for p in tmp_path.glob(".*")] == [], "nothing half-written stays"


def test_a_conversation_comes_out_as_markdown_with_its_bib(cli: Cli, library: Path, tmp_path: Path) -> None:
    imported(cli, tmp_path)
    with workbench.open(library, user="ann", embedder=FakeEmbedder()) as wb:
        conversation = wb.conversations.create(Scope.project(1))
        conversation.ask("What is the melting point of arvenite?")
        wb.project_chat(1).ask("What is the density of bolmarite?")
    target = tmp_path / "talk.md"
    run = cli("export", "conversation", conversation.id, "--output", target)
    assert run.out == f"Wrote {target} and {tmp_path / 'talk.bib'}.\n"
    assert "[@muller2019, p. 2]" in target.read_text(encoding="utf-8")
    assert 'bibliography: "talk.bib"' in target.read_text(encoding="utf-8")
    assert "@article{muller2019," in (tmp_path / "talk.bib").read_text(encoding="utf-8")
    assert (
        "## What is the density of bolmarite?" in cli("export", "conversation", "--project", "Minerals").out
    )
    shown = cli("export", "conversation", conversation.id, "--json").json
    assert (shown["bibliography"], shown["path"]) == ("references.bib", None)


def test_what_cannot_be_exchanged_is_one_line(cli: Cli, tmp_path: Path) -> None:
    text = tmp_path / "plain.bib"
    text.write_text("Nothing here.", encoding="utf-8")
    assert "no references in this file" in cli("import", text).error
    assert "cannot be read" in cli("import", tmp_path / "missing.ris").error
    assert "Name one conversation" in cli("export", "conversation").error
    assert "Conversation not found" in cli("export", "conversation", 99).error
    assert "another name than its .bib" in cli("export", "conversation", 1, "--output", "a.bib").error
    assert "cannot be written" in cli("export", "papers", "--output", tmp_path / "no" / "a.bib").error


def test_a_paper_is_shared_and_taken_back(cli: Cli, library: Path) -> None:
    assert cli("papers", "share", 3).out.startswith("Shared with every user of the library: “A study")
    with workbench.open(library, user="bob", embedder=FakeEmbedder()) as bob:
        assert [p.id for p in bob.papers.list()] == [3]
    assert cli("papers", "share", 3, "--undo", "--json").json["paper"]["shared"] is False
    assert "You do not share" in cli("papers", "share", 3, "--undo").error

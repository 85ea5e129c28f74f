"""The sample project: its papers are built from their sources, and its questions are labelled truly."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

DATA = Path(__file__).resolve().parents[2] / "data"
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (DATA / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
PAPERS = sorted(path.name for path in DATA.glob("*.pdf"))


def squeeze(text: str) -> str:
    """Letters and digits only, so that line breaks, hyphens and ligatures do not matter."""
    text = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("\u00ad", "")
    return re.sub(r"[\W_]+", "", text.casefold())


def page_texts(file: str) -> list[str]:
    with pypdfium2.PdfDocument(DATA / file) as pdf:
        return [page.get_textpage().get_text_bounded() for page in pdf]


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("papers")
    subprocess.run(
        [sys.executable, str(DATA / "build_papers.py"), str(folder)], check=True, capture_output=True
    )
    return folder


def test_every_paper_has_one_source_and_every_source_one_paper() -> None:
    assert [Path(name).stem for name in PAPERS] == sorted(p.stem for p in (DATA / "papers").glob("*.md"))
    assert len(PAPERS) >= 6


@pytest.mark.parametrize("file", PAPERS)
def test_building_a_paper_again_gives_the_same_bytes(file: str, rebuilt: Path) -> None:
    assert (rebuilt / file).read_bytes() == (DATA / file).read_bytes()


@pytest.mark.parametrize("file", PAPERS)
def test_a_paper_has_three_to_five_numbered_pages_a_table_a_figure_and_references(file: str) -> None:
    pages = page_texts(file)
    assert 3 <= len(pages) <= 5
    assert [page.split("\n")[-1].strip() for page in pages] == [str(n) for n in range(1, len(pages) + 1)]
    text = "\n".join(pages)
    missing = [
        part for part in ("Abstract", "Table 1.", "Figure 1.", "Limits", "References") if part not in text
    ]
    assert missing == []


@pytest.mark.parametrize("file", PAPERS)
def test_a_paper_refers_only_to_papers_of_the_sample_project(file: str) -> None:
    titles = {re.match(r"title: (.*)", p.read_text("utf-8"))[1] for p in (DATA / "papers").glob("*.md")}
    source = (DATA / "papers" / file).with_suffix(".md").read_text(encoding="utf-8")
    body, references = source.split("## References")
    named = re.findall(r"^\d+\. Research Workbench project \(2026\), \*(.+?)\*,", references, flags=re.M)
    own = re.match(r"title: (.*)", source)[1]
    assert len(named) >= 3
    assert set(named) <= titles - {own}
    assert {int(n) for n in re.findall(r"\[(\d)\]", body)} <= set(range(1, len(named) + 1))


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q["gold"]], ids=lambda q: q["id"])
def test_each_gold_phrase_stands_on_its_page(question: dict[str, Any]) -> None:
    for gold in question["gold"]:
        assert len(gold["phrase"].split()) <= 8
        assert squeeze(gold["phrase"]) in squeeze(page_texts(gold["file"])[gold["page"] - 1]), gold


def test_the_questions_cover_single_papers_several_papers_and_papers_that_do_not_say() -> None:
    kinds = [q["type"] for q in QUESTIONS]
    assert {
        kind: kinds.count(kind) >= least for kind, least in [("single", 5), ("cross", 5), ("unanswerable", 3)]
    } == {
        "single": True,
        "cross": True,
        "unanswerable": True,
    }
    assert [q["id"] for q in QUESTIONS if (q["type"] == "unanswerable") == bool(q["gold"])] == []
    assert {g["file"] for q in QUESTIONS for g in q["gold"]} == set(PAPERS)

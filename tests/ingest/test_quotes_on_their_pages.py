"""What the reader gives of real papers, compared with what their pages say."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pypdfium2
import pytest

from workbench.ingest.document import Document
from workbench.ingest.readers.pdf import read_pdf
from workbench.retrieval.sentences import sentence_spans


def plain(text: str) -> str:
    """Letters and digits of a text, case folded; line-end hyphens, marks and spaces dropped."""
    text = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("\u00ad", "")
    text = re.sub(r"[-‐‑\x02]\s*\n\s*", "", text)
    return re.sub(r"[\W_]+", "", text.casefold())


def page_texts(path: Path) -> list[str]:
    pdf = pypdfium2.PdfDocument(path)
    return [plain(page.get_textpage().get_text_bounded()) for page in pdf]


@pytest.fixture(scope="module")
def documents(shared: Path) -> dict[Path, Document]:
    return {path: read_pdf(path) for path in sorted((shared / "papers").glob("*/*.pdf"))}


@pytest.mark.slow
def test_sentences_stand_on_the_page_that_is_said(documents: dict[Path, Document]) -> None:
    found = missing = 0
    for path, document in documents.items():
        for said, shown in zip(document.pages, page_texts(path), strict=True):
            for start, end in sentence_spans(said.text):
                on_page = plain(said.text[start:end]) in shown
                found, missing = found + on_page, missing + (not on_page)
    assert found > 30_000
    assert missing / (found + missing) < 0.002


def test_labelled_phrases_stand_on_their_pages(documents: dict[Path, Document]) -> None:
    missing = []
    for folder in {path.parent for path in documents}:
        for line in (folder / "questions.jsonl").read_text("utf-8").splitlines():
            for gold in json.loads(line)["gold"]:
                page = documents[folder / gold["file"]].pages[gold["page"] - 1]
                if plain(gold["phrase"]) not in plain(page.text):
                    missing.append(gold)
    assert missing == []


def test_papers_are_named_as_they_name_themselves(documents: dict[Path, Document]) -> None:
    said = {path.name: (d.title, d.authors[:2], d.year, d.doi) for path, d in documents.items()}
    assert said["rag-2020-lewis.pdf"] == (
        "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
        ("Patrick Lewis", "Ethan Perez"),
        2020,
        None,
    )
    assert said["apollo-dnapk-2024-sonmez.pdf"] == (
        "DNA-PK controls Apollo’s access to leading-end telomeres",
        ("Ceylan Sonmez", "Beatrice Toia"),
        2024,
        "10.1093/nar/gkae105",
    )
    assert said["hnsw-2018-malkov.pdf"][:2] == (
        "Efficient and robust approximate nearest neighbor search using "
        "Hierarchical Navigable Small World graphs",
        ("Yu. A. Malkov", "D. A. Yashunin"),
    )
    assert said["crowd-pricing-cumcm2017-zh.pdf"] == ("“拍照赚钱”任务优化定价", (), None, None)


def test_no_head_or_number_of_a_journal_is_left_in_the_text(documents: dict[Path, Document]) -> None:
    document = next(d for path, d in documents.items() if path.name == "apollo-dnapk-2024-sonmez.pdf")
    text = document.text
    assert "Downloaded from" not in text
    assert text.count("Nucleic Acids Research, 2024") <= 1
    assert document.pages[1].label == "4314"
    assert "\n4314" not in text

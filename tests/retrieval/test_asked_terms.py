from __future__ import annotations

import pytest

from workbench.retrieval.asked_terms import asked_terms, asks_for_everything, parts_of_compounds
from workbench.retrieval.sections import asks_for_proposal


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How many papers say that BM25 is robust?", ["bm25", "robust"]),
        ("According to the survey, which patents protect the index?", ["patent", "protect", "index"]),
        ("Welche Rolle spielt die Genauigkeit in diesen Arbeiten?", ["roll", "spielt", "genauigkeit"]),
        ("Quel est le salaire des auteurs ?", ["salair"]),
        ("论文中使用了哪种区块链技术？", ["区块", "块链", "链技", "技术"]),
        ("コンパラブルコーパスとは何ですか？", []),
    ],
)
def test_words_that_only_ask_are_left_out(question: str, asked: list[str]) -> None:
    found = asked_terms(question)
    assert [term for term in found if not any("\u30a0" <= c <= "\u30ff" for c in term)] == asked


@pytest.mark.parametrize(
    "question",
    [
        "What are these papers about?",
        "Summarise the papers.",
        "Give me an overview of these papers.",
        "What are the main findings and conclusions of these studies?",
        "Please summarize the documents in a few sentences.",
        "Worum geht es in diesen Dokumenten?",
        "Fasse diese Arbeiten zusammen.",
        "De quoi parlent ces articles ?",
        "这些论文的主要内容是什么？",
    ],
)
def test_a_question_of_words_that_only_ask_is_about_all_papers(question: str) -> None:
    assert asks_for_everything(question)
    assert asks_for_proposal(question)


@pytest.mark.parametrize("question", ["What are the limits?", "Summarise RAG.", "", "这些论文讲了什么模型？"])
def test_a_question_that_names_something_is_about_that(question: str) -> None:
    assert not asks_for_everything(question)


def test_the_parts_of_a_compound_may_stand_for_it() -> None:
    assert parts_of_compounds("the exact-match score of IL-6") == {"exactmatch": {"exact", "match"}}


def test_a_verb_or_noun_of_arguing_only_asks() -> None:
    assert asked_terms("Which methods does the paper recommend for molecules?") == ["molecul"]
    assert asked_terms("What are the drawbacks and advantages of pruning?") == ["prune"]

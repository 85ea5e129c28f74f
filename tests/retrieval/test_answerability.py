from __future__ import annotations

import pytest

from workbench.retrieval.answerability import Answerability, judge_answerable
from workbench.retrieval.names import mentioned, names, spelled_out

TEXTS = [
    "With a filter of ten papers the recall of a FAISS graph index fell to 0.205.",
    "The DuckDB index returned no rows for a filter on a single paper.",
    "Opening and closing the library costs 10 ms on a quiet machine.",
]


def judged(question: str, *, chosen: int = 3, best_cosine: float | None = None) -> Answerability:
    return judge_answerable(question, TEXTS, chosen=chosen, best_cosine=best_cosine)


@pytest.mark.parametrize(
    "question",
    [
        "What recall did the graph index keep with a filter of ten papers?",
        "How many rows does DuckDB's index return for a filter on a single paper?",
        "WHAT DOES IT COST TO OPEN AND CLOSE THE LIBRARY?",
        "What is the 2nd cost of opening the library on a quiet 18GB machine?",
    ],
)
def test_a_question_whose_terms_stand_in_one_passage_is_answerable(question: str) -> None:
    assert judged(question).answerable


def test_a_name_that_no_candidate_mentions_makes_a_question_unanswerable() -> None:
    judgement = judged(
        "What recall did a filter of ten papers leave to ScaNN and to HNSW32?", best_cosine=0.9
    )
    assert (judgement.answerable, judgement.missing_names) == (False, ("ScaNN", "HNSW32"))


def test_a_name_in_a_candidate_that_was_not_chosen_counts_as_mentioned() -> None:
    assert judged("What about DuckDB?", chosen=1, best_cosine=0.9).missing_names == ()


def test_terms_spread_thin_are_no_answer_unless_a_passage_is_close_in_meaning() -> None:
    question = "How many watts did the machine draw while whales were singing?"
    assert not judged(question).answerable
    assert not judged(question, best_cosine=0.3).answerable
    assert judged(question, best_cosine=0.7).answerable


def test_terms_of_passages_that_were_not_chosen_do_not_cover_the_question() -> None:
    question = "What does opening and closing cost on a quiet machine?"
    assert judged(question, chosen=3).answerable
    assert not judged(question, chosen=2).answerable


def test_no_passages_answer_nothing() -> None:
    assert judge_answerable("What is recall?", [], chosen=0, best_cosine=None) == Answerability(
        False, 0.0, ()
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does DuckDB's HNSW index do?", ["DuckDB", "HNSW"]),
        ("Does BMH-21 or p53 act on IL-6 in SARS-CoV-2?", ["BMH-21", "p53", "IL-6", "SARS-CoV-2"]),
        ("DOES IT USE HNSW32?", ["HNSW32"]),
        ("Is T5 larger than all-MiniLM-L6-v2? T5!", ["T5", "all-MiniLM-L6-v2"]),
        ("The 2nd of 10-fold, 150-word, 18GB, 5mM, 100k, 3.5M and top-15 in the 1990s", []),
        ("How Does It Work? I ask.", []),
        ("", []),
    ],
)
def test_names_have_inner_capitals_or_letters_with_digits(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_a_name_is_mentioned_in_any_spelling_and_acronyms_by_their_words() -> None:
    assert mentioned("IL-6", {"il6"})
    assert not mentioned("IL-6", {"il2"})
    assert spelled_out("RAG", "Retrieval-augmented generation works")
    assert not spelled_out("DPR", "Retrieval-augmented generation works")

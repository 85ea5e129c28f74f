"""Every metric on a case small enough to count by hand."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest

from workbench import Answer, Citation, Evidence, Gold, Passage, Question, Scope
from workbench.evaluation.metrics import (
    NOTHING,
    Share,
    answer_shares,
    audit_shares,
    evidence_shares,
    letters,
    ndcg,
    pages_in_order,
    recall,
    reciprocal_rank,
)

CROSS = Question(
    "c",
    "Which is denser?",
    (
        Gold("a.pdf", 2, "density of arvenite is 3.1"),
        Gold("a.pdf", 3, "first described"),
        Gold("b.pdf", 7, "bolmarite is denser"),
    ),
)
NOBODY_SAYS = Question("u", "What does it cost?")


def passage(n: int, file: str, first: int, last: int, text: str = "") -> Passage:
    return Passage(
        n=n,
        chunk_id=n,
        paper_id={"a.pdf": 1, "b.pdf": 2}.get(file, 3),
        title=file,
        file=file,
        page_start=first,
        page_end=last,
        text=text,
        score=1.0,
        vector_rank=None,
        keyword_rank=None,
        char_start=0,
        char_end=1,
    )


def citation(n: int, file: str, page: int, quote: str) -> Citation:
    paper = {"a.pdf": 1, "b.pdf": 2}.get(file, 3)
    return Citation(n, paper, file, file, page, quote, 0, 1, "supported")


def answer(*cites: Citation, text: str = "", refused: bool = False) -> Answer:
    return Answer("?", text, cites, Evidence("?", Scope.ALL, "", ()), refused, "extractive", "")


FOUND = (
    passage(1, "c.pdf", 1, 1),
    passage(2, "a.pdf", 1, 2, "The density of\narvenite is 3.1 grams"),
    passage(3, "a.pdf", 2, 2),
    passage(4, "b.pdf", 6, 6, "Bolmarite is den-\nser"),
)


def test_the_metrics_of_evidence_are_what_a_hand_counts() -> None:
    # pages in order: c1, a1, a2, b6; labelled are a2, a3 and b7; so only a2 is found, at rank 3
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert evidence_shares(CROSS, FOUND) == {
        "evidence_recall": Share(1, 3),
        "evidence_phrase": Share(2, 3),
        "all_papers": Share(1, 1),
        "papers_covered": Share(1, 1),
        "ndcg@10": Share(pytest.approx((1 / 2) / ideal), 1),
        "mrr@10": Share(pytest.approx(1 / 3), 1),
        "recall@10": Share(pytest.approx(1 / 3), 1),
        "passages": Share(4, 1),
    }


def test_without_passages_everything_is_nought_and_what_cannot_be_answered_is_not_counted() -> None:
    shares = evidence_shares(CROSS, ())
    assert {name: share.part for name, share in shares.items()} == dict.fromkeys(shares, 0.0)
    assert shares["evidence_recall"] == Share(0, 3)
    assert evidence_shares(NOBODY_SAYS, FOUND) == {}


def test_a_question_on_one_file_does_not_count_where_several_papers_are_asked_for() -> None:
    single = Question("s", "How dense?", (Gold("a.pdf", 2),))
    shares = evidence_shares(single, FOUND)
    assert (shares["all_papers"], shares["evidence_phrase"]) == (NOTHING, NOTHING)
    assert shares["papers_covered"] == Share(1, 1)
    half = evidence_shares(CROSS, FOUND[:3])
    assert (half["all_papers"], half["papers_covered"]) == (Share(0, 1), Share(0.5, 1))


def test_a_label_that_knows_its_paper_is_found_under_whatever_name_it_has() -> None:
    renamed = Question("r", "How dense?", (Gold("old name.pdf", 2, paper_id=1),))
    shares = evidence_shares(renamed, FOUND)
    assert (shares["evidence_recall"], shares["mrr@10"].part) == (Share(1, 1), pytest.approx(1 / 3))


def test_the_pages_of_the_passages_come_in_order_and_each_once() -> None:
    assert pages_in_order(FOUND) == [("c.pdf", 1), ("a.pdf", 1), ("a.pdf", 2), ("b.pdf", 6)]


@pytest.mark.parametrize(
    ("ranked", "gains", "k", "expected"),
    [
        ("abc", {"a": 1}, 10, 1.0),
        ("bac", {"a": 1}, 10, 1 / math.log2(3)),
        ("xab", {"a": 2, "b": 1}, 10, (3 / math.log2(3) + 1 / 2) / (3 + 1 / math.log2(3))),
        ("bax", {"a": 1}, 1, 0.0),
        ("ab", {}, 10, 0.0),
        ("", {"a": 1}, 10, 0.0),
        ("a", {"a": 1, "b": 0}, 10, 1.0),
    ],
)
def test_ndcg_is_the_discounted_gain_over_the_best_possible(
    ranked: str, gains: dict[object, int], k: int, expected: float
) -> None:
    assert ndcg(ranked, gains, k) == pytest.approx(expected)


def test_reciprocal_rank_and_recall_look_at_the_first_k_only() -> None:
    assert (reciprocal_rank("xya", "a"), reciprocal_rank("xya", "a", 2), reciprocal_rank("", "a")) == (
        pytest.approx(1 / 3),
        0.0,
        0.0,
    )
    assert (recall("xya", "ab"), recall("xya", "ab", 2), recall("xya", "")) == (0.5, 0.0, 0.0)


TEXTS = {(1, 2): "The density of arvenite is 3.1 grams.", (2, 6): "Bolmarite is denser."}


def page_text(paper_id: int, page: int) -> str:
    return TEXTS.get((paper_id, page), "")


def test_the_metrics_of_an_answer_are_what_a_hand_counts() -> None:
    given = answer(
        citation(1, "a.pdf", 2, "density of arvenite is 3.1"),
        citation(2, "b.pdf", 6, "Bolmarite is den-\nser"),
        citation(3, "c.pdf", 1, "not there"),
        citation(3, "c.pdf", 1, "…"),
        text="It was First-described in 1901. [1]",
    )
    assert answer_shares(CROSS, given, page_text=page_text) == {
        "answered": Share(1, 1),
        "refusal_precision": NOTHING,
        "cited_gold": Share(1, 1),
        "citation_precision": Share(1, 4),
        "citation_recall": Share(1, 3),
        "cited_papers": Share(1, 1),
        "answer_phrase": Share(3, 3),
        "quote_on_page": Share(2, 4),
        "citations": Share(4, 1),
    }


def test_a_refusal_of_what_the_papers_say_and_of_what_they_do_not_say() -> None:
    wrongly = answer_shares(CROSS, answer(refused=True), page_text=page_text)
    assert (wrongly["answered"], wrongly["refusal_precision"]) == (Share(0, 1), Share(0, 1))
    assert (wrongly["cited_gold"], wrongly["citation_precision"], wrongly["citations"]) == (
        Share(0, 1),
        NOTHING,
        NOTHING,
    )
    rightly = answer_shares(NOBODY_SAYS, answer(refused=True), page_text=page_text)
    assert rightly == {"refused": Share(1, 1), "refusal_precision": Share(1, 1), "quote_on_page": NOTHING}
    told = answer_shares(NOBODY_SAYS, answer(citation(1, "a.pdf", 2, "x")), page_text=page_text)
    assert told == {"refused": Share(0, 1), "refusal_precision": NOTHING, "quote_on_page": Share(0, 1)}


def test_an_audit_is_measured_by_what_it_flags() -> None:
    judged = [(True, False), (True, True), (False, False), (False, True), (False, True)]
    assert audit_shares(judged) == {
        "audit_precision": Share(1, 2),
        "audit_recall": Share(1, 2),
        "false_alarms": Share(1, 3),
    }
    assert set(audit_shares([]).values()) == {NOTHING}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The re-\nsult, of ﬁve", "theresultoffive"),
        ("IL\u00ad6 in Ｍice_x", "il6inmicex"),
        ("\ufffe 3.1 µm", "31μm"),
        ("…", ""),
    ],
)
def test_letters_are_what_is_left_of_a_text(text: str, expected: str) -> None:
    assert letters(text) == expected


# --- agreement with the scripts that judge from outside ----------------------------------------


@pytest.fixture(scope="module")
def judge(shared: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_questions", shared / "eval" / "run_questions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_figures_of_the_same_name_are_those_of_the_judging_script(judge: ModuleType) -> None:
    given = answer(
        citation(1, "a.pdf", 2, "density of arvenite is 3.1"),
        citation(2, "c.pdf", 1, "no"),
        text="first described",
    )
    rows = []
    single = Question("s", "?", (Gold("b.pdf", 6, "is denser"),))
    for question in (CROSS, single):
        cites = given.citations
        names = set(question.files)
        squeeze = judge.squeeze
        said = [squeeze(given.text)] + [squeeze(c.quote) for c in cites]
        gold = question.gold
        rows.append(
            {
                "refused": False,
                "evidence": [
                    any(p.file == g.file and p.page_start <= g.page <= p.page_end for p in FOUND)
                    for g in gold
                ],
                "phrase": [
                    any(p.file == g.file and squeeze(g.phrase) in squeeze(p.text) for p in FOUND)
                    for g in gold
                ],
                "all_papers": names <= {p.file for p in FOUND},
                "cross": len(names) > 1,
                "cited_gold": any(c.file == g.file and c.page == g.page for c in cites for g in gold),
                "answer_phrase": [any(squeeze(g.phrase) in text for text in said) for g in gold],
                "cited_papers": len(names & {c.file for c in cites}) / len(names),
                "quotes": [squeeze(c.quote) in squeeze(page_text(c.paper_id, c.page)) for c in cites],
            }
        )
    rows.append({"refused": True, "quotes": []})
    theirs = judge.summarise(rows)
    single = Question("s", "?", (Gold("b.pdf", 6, "is denser"),))
    shares = [
        evidence_shares(q, FOUND) | answer_shares(q, given, page_text=page_text) for q in (CROSS, single)
    ]
    shares.append(answer_shares(NOBODY_SAYS, answer(refused=True), page_text=page_text))
    ours = {}
    for name in theirs:
        parts = [s.get(name, NOTHING) for s in shares]
        ours[name] = round(sum(p.part for p in parts) / sum(p.whole for p in parts), 3)
    assert ours == theirs

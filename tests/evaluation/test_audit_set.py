from __future__ import annotations

from random import Random

import pytest

from workbench.evaluation.audit_set import AuditPaper, Paraphrase, audit_items, figures_by_kind, verdict_of
from workbench.evaluation.perturbations import PERTURBATIONS, entities, renamed
from workbench.records import Passage
from workbench.retrieval.audit import audit_text

TEXTS = {
    "codes.pdf": (
        "The Bostwick code reached a recall of 0.916 with 384 bits on the quiet machine. "
        "It was not faster than the Marlow code, which took 14 ms for each question.",
        "Some readers may keep both files open while the writer waits for the lock of the library.",
    ),
    "rocks.pdf": (
        "The granite of the Ferrow valley melts at 950 degrees and holds no quartz in its upper layer.",
        "Every sample from the Ladow ridge was taken before 1998 and lost 12 % of its weight.",
    ),
}


def papers() -> list[AuditPaper]:
    made, number = [], 0
    for paper_id, (file, texts) in enumerate(TEXTS.items(), start=1):
        passages = []
        for text in texts:
            number += 1
            passages.append(
                Passage(
                    n=number,
                    chunk_id=number,
                    paper_id=paper_id,
                    title=file,
                    file=file,
                    page_start=1,
                    page_end=1,
                    text=text,
                    score=1.0,
                    vector_rank=None,
                    keyword_rank=None,
                    char_start=0,
                    char_end=len(text),
                )
            )
        made.append(AuditPaper("tests", file, tuple(passages)))
    return made


PARAPHRASES = [
    Paraphrase("tests", "rocks.pdf", "melts at 950 degrees", "Ferrow granite melts at 950 degrees.")
]


def test_the_same_papers_and_seed_give_the_same_items() -> None:
    one, other = (audit_items(papers(), seed=3, per_kind=4, paraphrases=PARAPHRASES) for _ in range(2))
    assert one == other
    assert one != audit_items(papers(), seed=4, per_kind=4, paraphrases=PARAPHRASES)


def test_each_item_is_one_sentence_with_one_marker_that_its_passages_hold() -> None:
    items = audit_items(papers(), per_kind=4, paraphrases=PARAPHRASES)
    assert {item.kind for item in items} >= {"true", "paraphrase", "number", "unit", "negation", "foreign"}
    for item in items:
        numbers = [p.n for p in item.passages]
        assert numbers == sorted(numbers)
        assert sum(f"[{n}]" in item.text for n in numbers) == 1


def test_a_foreign_sentence_cites_another_paper_and_a_shifted_one_the_next_number() -> None:
    for item in audit_items(papers(), per_kind=4):
        cited = next(p for p in item.passages if f"[{p.n}]" in item.text)
        holds = item.original[:20] in cited.text
        assert holds == (item.kind not in {"foreign", "shifted"})
        assert item.kind != "foreign" or cited.file != item.file


@pytest.mark.parametrize(
    ("kind", "sentence", "expected"),
    [
        ("negation", "It was not faster.", [("negation removed", "It was faster.")]),
        ("direction", "The upper layer melts.", [("direction", "The lower layer melts.")]),
        ("unit", "It took 14 ms.", [("unit", "It took 14 s.")]),
        ("unit", "It lost 12 %.", [("unit", "It lost 12 percentage points.")]),
        ("qualifier", "Some readers fail.", [("qualifier", "All readers fail.")]),
        ("exchange", "In it Bostwick beats Marlow.", [("names", "In it Marlow beats Bostwick.")]),
        ("exchange", "We ran Bostwick, Marlow and Ferrow.", []),
        ("number", "As Table 3 of [12] shows, it fell.", []),
    ],
)
def test_a_sentence_is_made_false_in_a_known_way(
    kind: str, sentence: str, expected: list[tuple[str, str]]
) -> None:
    assert PERTURBATIONS[kind](sentence, Random(0)) == expected


def test_a_changed_number_is_never_the_old_one() -> None:
    for seed in range(50):
        for _, changed in PERTURBATIONS["number"](
            "It reached 0.916 of 1,024 in 1998 and ten runs.", Random(seed)
        ):
            assert changed != "It reached 0.916 of 1,024 in 1998 and ten runs."


def test_a_name_is_replaced_by_one_of_its_kind() -> None:
    assert entities("The Bostwick code beats HNSW and the Marlow code.") == ["Bostwick", "HNSW", "Marlow"]
    changes = renamed("The Bostwick code is small.", Random(0), ["HNSW", "Marlow"])
    assert changes == [("entity", "The Marlow code is small.")]


def test_figures_tell_how_many_were_marked_in_both_readings() -> None:
    items = audit_items(papers(), per_kind=1)
    told = figures_by_kind([(items[0], "partly"), (items[0], "unsupported"), (items[0], "supported")])
    assert told == {items[0].kind: (3, 1 / 3, 2 / 3)}
    true = next(item for item in items if item.kind == "true")
    assert verdict_of(true, audit_text) == "supported"

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.records import Passage, SentenceVerdict
from workbench.retrieval.audit import audit_text, claim_spans, passage_support, plain_claim, support_of

SOURCE = (
    "With a filter of ten papers the recall of a FAISS graph index fell to 0.205. "
    "An exact search of the same 100,000 chunks takes 14 ms and needs no build. "
    "The DuckDB index is not used for a list of ten ids."
)
OTHER = "Opening and closing the library costs 10 ms on a quiet machine, in 2024."


def passage(n: int, text: str, *, title: str = "Filters", year: int | None = 2026) -> Passage:
    return Passage(
        n=n, chunk_id=n, paper_id=n, title=title, file="f.pdf", page_start=1, page_end=1, text=text,
        score=1.0, vector_rank=None, keyword_rank=None, char_start=0, char_end=len(text), year=year,
    )  # fmt: skip


PASSAGES = (passage(1, SOURCE), passage(2, OTHER))


def verdicts(text: str) -> list[tuple[str, str]]:
    return [(v.sentence, v.verdict) for v in audit_text(text, PASSAGES)]


def test_each_sentence_gets_a_verdict_with_its_reason_passage_quote_and_place() -> None:
    text = "The recall of a FAISS graph index fell to 0.205 [1]. Opening the library costs 12 ms [2]."
    assert audit_text(text, PASSAGES) == (
        SentenceVerdict(
            "The recall of a FAISS graph index fell to 0.205.",
            "supported",
            "100% of its terms stand in what it cites",
            1,
            "With a filter of ten papers the recall of a FAISS graph index fell to 0.205.",
            0,
            52,
        ),
        SentenceVerdict(
            "Opening the library costs 12 ms.",
            "unsupported",
            "12 ms does not stand in what it cites",
            2,
            "Opening and closing the library costs 10 ms on a quiet machine, in 2024.",
            53,
            89,
        ),
    )


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("The recall of the graph index fell to 0.205.", "supported"),
        ("The recall of the graph index fell to 0.250.", "unsupported"),
        ("The recall of the graph index fell to 0.2050.", "supported"),
        ("The recall of the graph index fell to .205.", "supported"),
        ("An exact search of 100000 chunks takes 14 ms.", "supported"),
        ("An exact search of 100 000 chunks takes 14 ms.".replace(" 000", "\u202f000"), "supported"),
        ("An exact search of 100k chunks takes 14 ms.", "supported"),
        ("An exact search of 10,000 chunks takes 14 ms.", "unsupported"),
        ("An exact search of 100,000 chunks takes 14 s.", "unsupported"),
        ("An exact search takes 14 milliseconds and needs no build.", "supported"),
        ("With a filter of 10 papers the recall of a graph index fell.", "supported"),
        ("With a filter of nine papers the recall of a graph index fell.", "unsupported"),
        ("The recall of a FAISS graph index rose to 0.205 with a filter.", "unsupported"),
        ("The DuckDB index is used for a list of ten ids.", "unsupported"),
        ("An exact search of the chunks takes 14 ms and needs a build.", "unsupported"),
        ("The recall of a HNSW32 graph index fell to 0.205.", "unsupported"),
        ("The recall of a LanceDB graph index fell to 0.205.", "unsupported"),
        ("The index is popular with readers, who prefer it to trees.", "unsupported"),
        ("Whales sing in the deep ocean at night.", "unsupported"),
    ],
)
def test_figures_names_and_words_must_stand_in_the_source(claim: str, support: str) -> None:
    assert support_of(claim, SOURCE)[0] == support


@pytest.mark.parametrize(
    ("claim", "source", "support"),
    [
        ("It took 41.5 ms to build the index.", "It took 44.5 ms to build the index.", "unsupported"),
        ("Sales rose to $1,014 million.", "Sales, in millions, rose to 1,014.", "supported"),
        ("Sales rose to 3.5 million.", "Sales rose to 3,500,000.", "supported"),
        ("Sales rose to 3.5 million.", "Sales rose to 3.5 billion.", "unsupported"),
        ("The share of chunks was 29 %.", "The share of chunks was 29 percent.", "supported"),
        ("The share of chunks was 0,5.", "The share of chunks was 0.5.", "supported"),
        ("IL-6 levels fell after treatment.", "IL-2 levels fell after treatment.", "unsupported"),
        ("IL-6 levels fell after treatment.", "Levels of IL6 fell after treatment.", "supported"),
        ("GPT-4 is larger than 3 models.", "Three models are smaller, GPT4 is larger.", "supported"),
        ("RAG models find passages.", "Retrieval-augmented generation models find passages.", "supported"),
        ("As Table 2 on page 4 says, recall of the 3rd run fell.", "The recall of a run fell.", "supported"),
        ("The top-15 chunks were right.", "The 15 top chunks were right.", "supported"),
        ("It grew between 2019 and 2021.", "It grew between 2019 and 2020.", "unsupported"),
        ("About 35,000 employees at 166 sites.", "It has 35,000 employees at 166 sites.", "supported"),
        ("它的召回率是0.205。", "它的召回率是0.205，很低。", "supported"),
        ("它的召回率是0.205。", "它的召回率是0.502，很低。", "unsupported"),
    ],
)  # fmt: skip
def test_the_same_figure_may_be_written_in_several_ways(claim: str, source: str, support: str) -> None:
    assert support_of(claim, source)[0] == support


RUNS = (
    "Our model achieves 28.4 BLEU on the WMT 2014 English-to-German translation task, improving over the "
    "existing best results by over 2 BLEU. On the WMT 2014 English-to-French translation task, our model "
    "establishes a new state-of-the-art BLEU score of 41.8. It keeps its speed on long texts."
)
COSTS = (
    "Opening and closing the library costs 10 ms on a quiet machine and about 20 ms on a busy one. "
    "An exact search of the same chunks takes 14 ms. The recall fell from 0.765 to 0.205 with a filter."
)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("With ten papers the recall of a FAISS graph index did not fall to 0.205.", SOURCE),
        ("With a filter the FAISS graph index never loses recall.", SOURCE),
        ("The model did not improve over the existing best results.", RUNS),
        ("An exact search doesn't take 14 ms.", COSTS),
        ("The model loses its speed on long texts.", RUNS.replace("keeps its", "never loses its")),
    ],
)
def test_a_negation_on_one_side_only_is_never_plainly_supported(claim: str, source: str) -> None:
    assert support_of(claim, source)[0] in {"partly", "unsupported"}


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The model reached 41.8 BLEU on English-to-German and 28.4 on English-to-French.", RUNS),
        ("The model reached 41.8 BLEU on the English-to-German task.", RUNS),
        ("Opening and closing the library costs 20 ms on a quiet machine.", COSTS),
        ("Opening the library costs 14 ms and an exact search of the chunks takes 10 ms.", COSTS),
        ("Closing the library costs 14 ms.", COSTS),
        (
            "The graph quality is 14 ms for DPG against 20 ms for HNSW.",
            "The graph quality of HNSW (14 ms) is significantly lower than DPG (20 ms).",
        ),
    ],
)
def test_a_figure_beside_another_ones_words_is_unsupported(claim: str, source: str) -> None:
    assert support_of(claim, source) == (
        "unsupported", f"{figure_of(claim)} belongs to something else in what it cites"
    )  # fmt: skip


def figure_of(claim: str) -> str:
    return min((f for f in ("41.8", "20 ms", "14 ms") if f in claim), key=claim.find)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The model reached 28.4 BLEU on English-to-German and 41.8 on English-to-French.", RUNS),
        ("On English-to-French the BLEU score is 41.8, and on English-to-German it is 28.4.", RUNS),
        ("The model reaches a BLEU score of 41.8 on the English-to-French translation task.", RUNS),
        ("The model does not lose its speed on long texts.", RUNS),
        ("Opening the library costs 10 ms on a quiet machine and 20 ms on a busy one.", COSTS),
        ("On a busy machine opening the library costs about 20 ms.", COSTS),
        ("An exact search takes 14 ms, and opening the library costs 10 ms.", COSTS),
        ("The recall fell to 0.205.", COSTS),
        ("With a filter the recall fell from 0.765 to 0.205.", COSTS),
        ("The DuckDB index isn't used for ten ids.", SOURCE),
        ("An exact search does not need a build.", SOURCE),
        ("The recall with a filter not only fell, it fell to 0.205.", COSTS),
        (
            "A factor of 1.6 faster when the second core is free, about 30 % slower when it is not.",
            "A second thread is slower or faster: it gains a factor of 1.6 when the second core is free and"
            " loses about 30 % when it is not. The faster reader has a factor of 2.1 on the second core.",
        ),
        (
            "The year of Amcor ended June 30, that of Best Buy January 28.",
            "The fiscal year ended January 28, 2023 for Best Buy. The year of Amcor ended June 30, 2023.",
        ),
        (
            "A list of ids unpacks vectors in a scan.",
            "A list of ids unpacks vectors in a scan, not unpacking one.",
        ),
        *((s, text) for text in (RUNS, COSTS, SOURCE) for s in text.replace(". ", ".|").split("|")),
    ],
)
def test_verbatim_and_plainly_reworded_sentences_stay_supported(claim: str, source: str) -> None:
    assert support_of(claim, source)[0] == "supported"


@pytest.mark.parametrize(
    ("source", "support"),
    [
        ("Nous avons fait des tests sur des logs de 12 requêtes, et nous les avons résumés.", "partly"),
        ("Nous avons fait des tests sur des logs de 21 requêtes, et nous les avons résumés.", "unsupported"),
        ("テストは１２個の検索のログで行われた。", "partly"),
        ("Whales and birds were seen in the 12 bays of the coast.", "unsupported"),
        ("whale 12 0.5 bird 0.7 seal 0.1 otter 0.3", "unsupported"),
    ],
)
def test_a_source_in_another_language_is_held_to_figures_alone(source: str, support: str) -> None:
    assert support_of("The tests used logs of 12 queries.", source)[0] == support


@pytest.mark.parametrize(
    "sentence",
    [
        "1. The recall of a FAISS graph index fell to 0.205 [1].",
        "- **Recall**: the recall of a FAISS graph index fell to 0.205. [1]",
        "2) In *DuckDB*, the index is not used for a list of ten ids [1].",
        "As Filters (2026) reports, the recall of a graph index fell to 0.205 [1].",
        "The papers say (ref. 7) that the recall of a graph index fell to 0.205 [1].",
        "Opening and closing the library costs 10 ms, and an exact search 14 ms [1][2].",
    ],
)
def test_list_numbers_emphasis_reference_numbers_and_years_of_the_paper_raise_no_alarm(sentence: str) -> None:
    assert [v.verdict for v in audit_text(sentence, PASSAGES)] == ["supported"]


def test_headings_lead_ins_code_and_interjections_are_no_claims() -> None:
    text = (
        "## What the papers say about filters\n\n**What a filter does to an index** (2026)\n\n"
        "The papers report two effects:\n\n- The recall of a graph index fell to 0.205 [1].\n\n"
        "```\nselect recall from index where paper = 7\n```\nIn short.\n"
    )
    assert verdicts(text) == [("The recall of a graph index fell to 0.205.", "supported")]


def test_a_statement_without_a_marker_is_uncited_in_any_script() -> None:
    assert verdicts(
        "The recall of the index fell to 0.205. Nobody knows why it fell.\n\n它的召回率很低。"
    ) == [
        ("The recall of the index fell to 0.205.", "uncited"),
        ("Nobody knows why it fell.", "uncited"),
        ("它的召回率很低。", "uncited"),
    ]


def test_each_row_of_a_table_is_a_claim() -> None:
    text = (
        "| engine | recall |\n| --- | --- |\n| FAISS graph index | 0.205 [1] |\n"
        "| FAISS graph index | 0.9 [1] |\n| opening the library | 10 ms | [2] |\n"
    )
    assert verdicts(text) == [
        ("FAISS graph index 0.205", "supported"),
        ("FAISS graph index 0.9", "unsupported"),
        ("opening the library 10 ms", "supported"),
    ]


def test_headings_with_a_marker_and_prose_inside_code_are_claims() -> None:
    text = (
        "## Recall fell to 0.9 [1]\n\n```\nThe recall of a FAISS graph index fell to 0.9 [1].\n"
        "Nobody knows why it fell so far.\nselect recall from index where paper = 7\n```\n"
        "The recall of the graph index fell to 0.205 [1]."
    )
    assert verdicts(text) == [
        ("Recall fell to 0.9", "unsupported"),
        ("The recall of a FAISS graph index fell to 0.9.", "unsupported"),
        ("Nobody knows why it fell so far.", "uncited"),
        ("The recall of the graph index fell to 0.205.", "supported"),
    ]


def test_a_lead_in_with_a_figure_is_a_claim() -> None:
    assert verdicts("The recall fell to 0.3 in two ways:\n- it fell [1]") == [
        ("The recall fell to 0.3 in two ways:", "uncited"),
        ("it fell", "supported"),
    ]


def test_numbers_that_nobody_gave_count_as_no_citation() -> None:
    assert verdicts("The recall of the index fell [9].") == [("The recall of the index fell.", "uncited")]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("It fell. [1] It rose. [2]", ["It fell. [1]", "It rose. [2]"]),
        ("It fell [1]. It rose [2].", ["It fell [1].", "It rose [2]."]),
        ("It fell.[1][2] It rose.", ["It fell.[1][2]", "It rose."]),
        ("It fell [1]. [2] shows that it rose.", ["It fell [1].", "[2] shows that it rose."]),
        ("It fell.\n[1]\n\nIt rose.", ["It fell.\n[1]", "It rose."]),
        ("It fell.\n[1] It rose.", ["It fell.", "[1] It rose."]),
        ("它很快。[1]它很准。[2]", ["它很快。[1]", "它很准。[2]"]),
    ],
)
def test_a_claim_holds_the_markers_that_follow_it(text: str, claims: list[str]) -> None:
    assert [text[start:end] for start, end in claim_spans(text)] == claims


def test_a_plain_claim_has_no_marks() -> None:
    assert plain_claim("> 1. **Recall** of `x_y` fell _much_ [1][2].") == "Recall of `x_y` fell much."


def test_a_passage_supports_no_more_than_it_holds() -> None:
    claim = "Opening the library costs 10 ms, and an exact search of 100,000 chunks takes 14 ms."
    assert [passage_support(claim, p, verdict="supported") for p in PASSAGES] == ["partly", "partly"]
    stranger = passage(3, "Whales sing at night.")
    assert passage_support(claim, stranger, verdict="supported") == "unsupported"
    alone = "Opening the library costs 10 ms."
    assert passage_support(alone, PASSAGES[1], verdict="supported") == "supported"
    assert passage_support(alone, PASSAGES[1], verdict="unsupported") == "unsupported"
    assert passage_support(alone, PASSAGES[1], verdict="partly") == "partly"


_ANSWERS = st.lists(
    st.sampled_from(
        [
            "The recall fell to 0.205", " [1]", "[2]", ". ", "\n", "\n\n", "- ", "**", "`", "```", "# ",
            "1. ", ":", "10 ms", "1.5.5", "検索", "。", "not ", "IL-6 ", "\ud800", "٣", "²", "½",
        ]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(st.one_of(_ANSWERS, st.text(max_size=60)))
def test_the_audit_of_any_text_names_real_places_passages_and_quotes(text: str) -> None:
    by_number = {p.n: p for p in PASSAGES}
    before = 0
    for verdict in audit_text(text, PASSAGES):
        assert before <= verdict.char_start < verdict.char_end <= len(text)
        before = verdict.char_end
        assert verdict.reason
        if verdict.verdict == "uncited":
            assert (verdict.n, verdict.quote) == (None, "")
        else:
            assert verdict.quote in by_number[verdict.n or 0].text

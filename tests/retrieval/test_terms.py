"""What a text is found by, and what a query asks for."""

from __future__ import annotations

import threading
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.retrieval.terms import MAX_QUERY_TERMS, MAX_TERM_CHARACTERS, STOP_WORDS, query_terms, terms


def meets(query: str, text: str) -> bool:
    """Whether a text is found by a query: one of the query's terms is one of the text's."""
    return not set(query_terms(query)).isdisjoint(terms(text))


IDENTIFIERS = [
    "p53",
    "IL-6",
    "IL-2",
    "CO2",
    "H2O",
    "GPT-3",
    "GPT-4",
    "2019",
    "2020",
    "PD-1",
    "CD4",
    "H1N1",
    "BM25",
]


@pytest.mark.parametrize("query", IDENTIFIERS)
def test_a_gene_a_compound_a_model_or_a_year_meets_only_itself(query: str) -> None:
    assert [text for text in IDENTIFIERS if meets(query, text)] == [query]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        # Greek letters, spelled or not, joined or not
        ("β-catenin", "beta-catenin levels"),
        ("beta-catenin", "the β-catenin pathway"),
        ("β-catenin", "beta catenin"),
        ("TNF-α", "TNFα was raised"),
        ("TNF-α", "TNF alpha was raised"),
        ("tnf alpha", "TNF-α was raised"),
        ("NF-κB", "NF-kappaB signalling"),
        ("Aβ42", "Abeta42 and Abeta-42"),
        ("IFN-γ", "interferons such as IFNγ"),
        # identifiers inside longer words, and with a space
        ("IL-6", "IL-6-induced inflammation"),
        ("IL-6", "an anti-IL-6 antibody"),
        ("il 6", "serum IL-6"),
        ("SARS-CoV-2", "SARS-CoV-2-infected cells"),
        ("COVID 19", "COVID-19 patients"),
        ("GPT-3", "we use GPT 3 here"),
        ("Llama-2", "Llama 2 is open"),
        ("CD4", "CD4-positive T cells"),
        ("GPT-3.5", "GPT-3.5 turbo"),
        ("CO2", "CO₂ emissions"),
        ("interleukin", "interleukin-6"),
        # compounds of words
        ("state-of-the-art", "the state of the art"),
        ("state of the art", "a state-of-the-art method"),
        ("self-attention", "attention"),
        ("Navier-Stokes", "the Navier–Stokes equations"),
        ("well-known", "a well\ufffeknown result"),
        ("snake_case", "the snake case"),
        # inflected words, possessives, camel case
        ("fine-tuned models", "finetuning a model"),
        ("Alzheimer", "Alzheimer’s disease"),
        ("Alzheimer's", "Alzheimer disease"),
        ("flash attention", "FlashAttention is fast"),
        ("FlashAttention", "flashattention, Flash-Attention"),
        ("roberta", "RoBERTa"),
        ("hnsw", "an HNSW index"),
        # accents, ligatures, widths, odd letters
        ("énoncé", "e\u0301nonce\u0301²"),
        ("Müller", "Muller et al."),
        ("Muller", "Mu\u0308ller et al."),
        ("M\u00fcller", "Mu\u0308ller"),
        ("Møller", "Moller"),
        ("Łukasz", "lukasz"),
        ("office effect field", "oﬃce"),
        ("eﬀect", "effects"),
        ("ＢＥＲＴ", "BERT"),
        ("l'homme", "homme"),
        ("O’Brien", "OBrien"),
        # scripts without spaces
        ("大学", "北京大学的研究"),
        ("研究", "北京大学的研究"),
        ("学", "学 ist ein Zeichen"),
        ("データベース", "分散データベースの設計"),
        ("대학교", "서울대학교의 연구"),
        ("Исследование", "исследование клеток"),
        ("ещё", "еще"),
        ("คอมพิวเตอร์", "วิทยาการคอมพิวเตอร์"),
        ("शोध", "हिन्दी में शोध"),
        # numbers and units
        ("21,015,324", "21015324 rows"),
        ("21015324", "a total of 21,015,324 dollars"),
        ("21\u202f015\u202f324", "21,015,324"),
        ("78.4%", "an accuracy of 78.4 %"),
        ("p < .05", "p = 0.05"),
        ("1e-5", "a learning rate of 1e-5"),
        ("64.6 GB", "64.6GB of memory"),
        ("18GB", "18 GB"),
        ("18 GB", "18GB"),
        ("5 µm", "5 μm and 5um"),
        ("20 °C", "20°C"),
        ("10 years", "a 10-year study"),
        ("2019", "(Smith, 2019a)"),
        ("2019", "between 2019–2021"),
        # characters nobody sees
        ("Politik", "Poli\u00adtik"),
        ("Politik", "Poli\u00ad\ntik"),
        ("climate", "cli\ufffemate change"),
        ("climate", "cli-\nmate change"),
        ("quantity", "quan\x00tity"),
        ("zero", "ze\u200bro"),
        # programming
        ("C++", "written in C++."),
        ("v1.2.3", "release v1.2.3"),
    ],
)
def test_spellings_of_the_same_thing_meet(query: str, text: str) -> None:
    assert meets(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("IFN-γ", "IFN-α"),
        ("β-catenin", "α-catenin"),
        ("TNF-α", "TNF-β"),
        ("GPT-3.5", "GPT-35"),
        ("1e-5", "1e5"),
        ("18 GB", "18 files of 3 GB"),
        ("78.4%", "784"),
        ("0.05", "0.5"),
        ("C++", "vitamin C"),
        ("Llama-2-7b", "Llama-27b"),
        ("大学", "大人学"),
        ("results", "consult"),
    ],
)
def test_different_things_do_not_meet(query: str, text: str) -> None:
    assert not meets(query, text)


def test_terms_keep_repetitions_and_reading_order() -> None:
    assert terms("Cells divide; the cell of TNF-α") == [
        "cell", "divid", "the", "cell", "of", "tnfalpha", "tnf", "alpha",
    ]  # fmt: skip


def test_a_query_asks_only_for_whole_identifiers_and_pairs_of_characters() -> None:
    assert query_terms("Does IL-6 or IL-6-induced SARS-CoV-2 matter for 北京大学?") == [
        "il6", "il6induced", "induc", "sarscov2", "cov2", "sar", "matter", "北京", "京大", "大学",
    ]  # fmt: skip


def test_stop_words_are_left_out_of_a_query_but_not_of_the_index() -> None:
    assert query_terms("What is the role of the kinase?") == ["role", "kinas"]
    assert terms("the role") == ["the", "role"]


def test_a_query_of_stop_words_alone_keeps_them() -> None:
    assert query_terms("to be or not to be") == ["not"]
    assert query_terms("who is it") == ["who", "is", "it"]


def test_a_stop_word_in_capitals_is_a_name() -> None:
    assert query_terms("Who runs the WHO and its IT?") == ["run", "who", "it"]
    assert query_terms("vitamin A intake") == ["vitamin", "a", "intak"]
    assert query_terms("A STUDY OF IT") == ["studi"]


@pytest.mark.parametrize("text", ["", "   ", "…!?", "\u00ad", "\ud83d", "–", "''", "\x00"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert (terms(text), query_terms(text)) == ([], [])


def test_huge_tokens_are_cut_and_take_no_time() -> None:
    start = time.perf_counter()
    for text in (
        "x" * 1_000_000,
        "a-" * 300_000,
        "é" * 300_000,
        "1," * 300_000,
        "a'b" * 200_000,
        "1.2" * 300_000,
    ):
        found = terms(text)
        assert max(map(len, found)) <= MAX_TERM_CHARACTERS
        assert max(map(len, query_terms(text))) <= MAX_TERM_CHARACTERS
    assert time.perf_counter() - start < 20


def test_a_huge_query_asks_for_a_bounded_number_of_terms() -> None:
    assert len(query_terms(" ".join(f"word{n}" for n in range(10_000)))) == MAX_QUERY_TERMS


@given(st.text(max_size=200))
def test_any_text_gives_terms_without_spaces(text: str) -> None:
    for term in [*terms(text), *query_terms(text)]:
        assert term
        assert len(term) <= MAX_TERM_CHARACTERS
        assert term == "".join(term.split())


@given(st.text(alphabet="aZ9βü-'.,° _\n大は가Ж2ﬁ", max_size=60))
def test_every_text_is_found_by_itself(text: str) -> None:
    asked = query_terms(text)
    assert not asked or not set(asked).isdisjoint(terms(text))


@given(st.text(max_size=100))
def test_composed_and_decomposed_text_give_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFC", text)) == terms(unicodedata.normalize("NFD", text))


def test_threads_get_the_same_terms() -> None:
    words = " ".join(f"{stem}ing {stem}ed" for stem in ("walk", "index", "rank", "cluster", "bind", "map"))
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.extend(terms(words) for _ in range(50))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 400
    assert all(one == found[0] for one in found)


def test_the_stop_list_is_tiny_and_holds_no_content_word() -> None:
    assert len(STOP_WORDS) < 70
    assert STOP_WORDS.isdisjoint(
        {"not", "no", "more", "less", "before", "after", "between", "above", "below"}
    )

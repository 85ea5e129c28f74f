"""Which sentences an answer without a chat model chooses, and how it shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chat.papers_at_hand import evidence, pages_of_paper, passage
from workbench.chat.extractive import choose_sentences, grouped, shown_sentence
from workbench.chat.nearest import nearest_words
from workbench.chat.quotable import quotable
from workbench.chat.shown import shown_text
from workbench.records import Passage
from workbench.retrieval.sections import is_heading, section_asked_for

QUESTION = "How far did the recall of a graph index fall with a filter?"
LIMITS = "What limitations do the authors name?"


def chosen(*passages: Passage, question: str = QUESTION) -> list[str]:
    found = evidence(*passages, question=question)
    return [s.text for group in grouped(choose_sentences(question, found)) for s in group]


def of(text: str, *, n: int = 1, title: str = "Filters", heading: str | None = None) -> Passage:
    return replace(passage(n, n, [text], title=title), heading=heading)


def quoted(text: str, *, heading: str | None = None) -> list[str]:
    return [s.text for s in quotable(of(text, heading=heading))]


# --- sections --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("7 Limits\n\nThe texts are synthetic and test speed alone.", None),
        ("The texts are synthetic and test speed alone.", "6.2 Limitations and threats"),
    ],
)
def test_a_sentence_under_the_heading_that_is_asked_for_wins(text: str, heading: str | None) -> None:
    other = of("The authors name limitations of time that these engines obey.", n=2, title="Names")
    assert chosen(of(text, heading=heading), other, question=LIMITS)[0] == (
        "The texts are synthetic and test speed alone."
    )


def test_a_title_a_list_of_keywords_and_the_head_of_an_algorithm_are_no_answer() -> None:
    title = "Efficient and robust search using small graphs that are layered"
    for apart in (
        title,
        "Keywords: keyword search, BM25, graph indexes, recall, incremental index of graphs",
        "Index Terms — Graph and tree search strategies, Information Search and Retrieval, Similarity search",
        "Input: multilayer graph, new element q, number of connections Output: update the graph inserting q",
    ):
        found = quotable(of(f"{apart}\n\nKeywords matter where recall does. It falls by half.", title=title))
        assert [s.text for s in found] == ["Keywords matter where recall does."], apart
    steps = (
        "Algorithm 5 SEARCH(graph, q, K, ef)\nInput: graph, element q\n"
        "1 ep ← get enter point\n2 L ← level\n3 W ← ep"
    )
    assert quoted(f"{steps}\n\nIt takes the nearest elements of the layer above.") == [
        "It takes the nearest elements of the layer above."
    ]


def test_the_heading_ends_where_the_next_one_begins() -> None:
    text = "7 Limits\n\nThe texts are synthetic.\n\n8 Outlook\n\nThe authors plan to measure more texts."
    assert [s.heading for s in quotable(of(text + " All of them are real."))] == ["8 Outlook"]
    assert section_asked_for(LIMITS, "7 Limits")
    assert not section_asked_for(LIMITS, "8 Outlook")


def test_what_a_named_paper_proposes_stands_in_its_abstract() -> None:
    abstract = of(
        "Networks are large and slow. We propose a filter that keeps every right chunk.",
        title="Filters that keep", heading="Abstract",
    )  # fmt: skip
    other = of("We propose that a proposal must propose filters that keep.", n=2, title="On proposing")
    for question in (
        "What does “Filters that keep” propose?",
        "What does the abstract of “Filters that keep” propose?",
    ):
        assert chosen(abstract, other, question=question)[0].endswith(
            "We propose a filter that keeps every right chunk."
        )
        assert all("proposal" not in text for text in chosen(abstract, other, question=question))


def test_headings_are_short_lines_without_a_full_stop() -> None:
    assert [is_heading(t) for t in ("7 Limits", "Abstract", "IV. Future Work", "Limitations:")] == [True] * 4
    assert not any(is_heading(t) for t in ("The recall fell.", "recall of 0.2", "x = 3", "Fig. 2 = y"))


# --- openers, order, repeats -----------------------------------------------------------------


def test_an_opener_that_means_something_said_before_comes_with_it() -> None:
    before = "Whales were seen by a machine on that day."
    then = "For this reason the recall of the graph index fell to 0.2 with a filter."
    assert chosen(of(f"{before} {then}")) == [f"{before} {then}"]


def test_an_opener_without_what_it_means_gives_way() -> None:
    alone = of("These recalls of a graph index fell to 0.2 far with a filter.")
    whole = of("With a filter the recall of a graph index fell to 0.3.", n=2, title="Locks")
    assert chosen(alone, whole)[0] == whole.text


def test_a_much_better_sentence_of_a_paper_comes_first() -> None:
    text = (
        "A graph index has recall, and a filter may be slow.\n\nOther matters are told here at length.\n\n"
        "The recall of a graph index fell far, to 0.2, with a filter."
    )
    assert chosen(of(text))[0] == "The recall of a graph index fell far, to 0.2, with a filter."


def test_nearly_the_same_sentence_comes_once() -> None:
    first = "The recall of a graph index fell to 0.2 with a filter of ten papers."
    again = "The recall of a graph index fell to 0.2 with a filter of just ten papers."
    found = replace(passage(2, 1, [again], title="Filters"), n=2)
    assert chosen(of(first), found) == [first]


# --- what is left out ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "We thank the graph index group for help with the recall of a filter.",
        "The recall of the graph index was supported by grant No. 12 of a filter fund.",
        "Copyright 2020 by the authors of the graph index with a filter.",
        "Permission to copy the recall of a graph index with a filter is granted.",
        "Equal contribution to the graph index; the listing order with a filter is random.",
        "Reprints of the recall of a graph index with a filter are free.",
        "recall of the graph index that fell with a filter, as was said.",
        "graph, index and recall with a filter fell far in the end.",
    ],
)
def test_notices_and_sentences_that_start_midway_are_left_out(text: str) -> None:
    assert quoted(f"The recall fell to 0.2 with a filter.\n\n{text}") == [
        "The recall fell to 0.2 with a filter."
    ]
    assert quoted(text) == []


def test_nothing_under_acknowledgements_is_quoted() -> None:
    assert quoted("The graph index group gave us its recall.", heading="Author contributions") == []


def test_a_row_with_figures_is_no_head_of_a_table() -> None:
    rows = "FAISS HNSW32, 100,000 0.765\nFAISS IVF, 32 probes 0.868\nDuckDB with HNSW 0.793"
    assert quoted(rows) == []
    headed = [(s.header, s.text) for s in quotable(of(f"Engine and recall\n{rows}"))]
    assert headed[0] == ("Engine and recall", "FAISS HNSW32, 100,000 0.765")


# --- shown text ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "beside", "shown"),
    [
        ("It serves processing tasks.1", "", "It serves processing tasks."),
        ("The accuracy4 was high.", "accuracy of it", "The accuracy was high."),
        ("The layer4 was high, as resnet5.", "other layers", "The layer4 was high, as resnet5."),
        ("\uf06c The recall\nfell.", "", "The recall fell."),
        ("检索的\n召回率\n很低。", "", "检索的召回率很低。"),
        ("It costs 10.5 ms in 2.5 runs.", "", "It costs 10.5 ms in 2.5 runs."),
        ("4Path is longer.", "", "Path is longer."),
    ],
)
def test_shown_text_has_no_footnote_numbers_glyphs_or_spaces_between_lines_of_cjk(
    text: str, beside: str, shown: str
) -> None:
    assert shown_text(text, beside=beside) == shown


def test_the_quote_stays_as_it_stands() -> None:
    text = "The recall of a graph index fell to 0.2 with a filter.1"
    [sentence] = choose_sentences(QUESTION, evidence(of(text)))
    assert (sentence.text, shown_sentence(sentence)) == (text, text[:-1])


# --- refusals --------------------------------------------------------------------------------


def test_the_nearest_words_of_a_passage_are_a_sentence_and_no_heading() -> None:
    said = "With a filter the recall fell to 0.2."
    text = f"4 Recall of a graph index with a filter\n\n{said} Whales sing at night in the ocean."
    quote, words = nearest_words(QUESTION, of(text), pages_of_paper(1, [text]))
    assert (quote and quote.text, words) == (said, said)


def test_long_nearest_words_are_cut_at_a_word() -> None:
    text = "The recall of a graph index fell " + "and fell " * 35 + "with a filter."
    quote, words = nearest_words(QUESTION, of(text), pages_of_paper(1, [text]))
    assert quote is not None
    assert quote.text == text
    assert len(words) <= 240
    assert words.endswith("…")

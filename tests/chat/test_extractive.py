from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chat.papers_at_hand import FILTERS, LOCKS, evidence, passage, task
from workbench.chat.engine import answer_events
from workbench.chat.extractive import MOST_POINTS, choose_sentences, grouped, shown_sentence
from workbench.chat.quotable import LONGEST, quotable
from workbench.records import Answer, AnswerDone, Evidence
from workbench.retrieval.markers import marker_numbers
from workbench.retrieval.sentences import sentence_spans

QUESTION = "How far did the recall of a graph index fall with a filter?"


def answered(found: Evidence, question: str = QUESTION) -> Answer:
    done = list(answer_events(task(None, question=question, found=found)))[-1]
    assert isinstance(done, AnswerDone)
    return done.answer


def chosen(*texts: str, question: str = QUESTION) -> list[str]:
    found = evidence(*(passage(n, n, [text]) for n, text in enumerate(texts, start=1)), question=question)
    return [s.text for s in choose_sentences(question, found)]


def test_an_answer_is_sentences_under_their_papers_each_with_its_number_page_and_quote() -> None:
    locks = ("A filter of papers needs no graph index and keeps its recall. One writer shuts out readers.",)
    answer = answered(evidence(passage(1, 1, FILTERS), passage(2, 2, locks, title="Locks", score=0.9)))
    assert answer.text == (
        "**Filters and indexes** (2026)\n\n"
        "- With a filter of ten papers the recall of a FAISS graph index fell to 0.205 (ref. 12). "
        "The loss is the same for all graph indexes (ref. 3, 4). [1]\n\n"
        "**Locks** (2026)\n\n"
        "- A filter of papers needs no graph index and keeps its recall. [2]"
    )
    assert [(c.n, c.page, c.quote, c.support) for c in answer.citations] == [
        (1, 2, FILTERS[1], "supported"),
        (2, 1, "A filter of papers needs no graph index and keeps its recall.", "supported"),
    ]
    assert [(v.verdict, v.n, v.quote) for v in answer.audit] == [
        ("supported", c.n, c.quote) for c in answer.citations
    ]
    assert [answer.text[c.claim_start : c.claim_end] for c in answer.citations] == [
        line[2:] for line in answer.text.splitlines() if line.startswith("- ")
    ]


def test_an_answer_has_at_most_eight_points_and_one_of_each_likely_paper_first() -> None:
    one = [f"The recall of graph index {n} fell to 0.{n} with a filter.\n\n" for n in range(10, 30)]
    single = choose_sentences(QUESTION, evidence(passage(1, 1, ["".join(one)])))
    assert len(single) == MOST_POINTS
    many = evidence(*(passage(n, n, [one[n]]) for n in range(1, 13)), papers=12)
    several = choose_sentences(QUESTION, many)
    assert len({s.passage.paper_id for s in several}) == len(several) == MOST_POINTS
    both = evidence(passage(1, 1, ["".join(one[:9])]), passage(2, 2, one[10:11]))
    assert [s.passage.paper_id for s in choose_sentences(QUESTION, both)] == [1, 2, *[1] * 6]


def test_what_is_far_less_likely_than_the_best_sentence_is_not_said() -> None:
    said = "The recall of a graph index fell to 0.2 with a filter."
    assert chosen(f"{said}\n\nWhales have an index of their own.") == [said]


def test_a_point_is_no_longer_than_a_quote() -> None:
    sentence = "The recall of graph index {} fell to 0.{} with a filter of many papers. "
    text = "".join(sentence.format(n, n) for n in range(10, 40))
    points = choose_sentences(QUESTION, evidence(passage(1, 1, [text])))
    assert max(len(sentence_spans(s.text)) for s in points) > 1
    assert all(len(s.text) <= LONGEST for s in points)
    spans = sorted((s.char_start, s.char_end) for s in points)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_a_sentence_of_two_overlapping_passages_comes_once() -> None:
    text = "The recall of a graph index fell to 0.2 with a filter."
    found = evidence(passage(1, 1, [text]), passage(2, 1, [f"{text} Nothing else was seen that day."]))
    assert [s.text for s in choose_sentences(QUESTION, found)] == [text]


def test_the_sentence_that_goes_on_comes_along() -> None:
    first = "The build time of the graph index is given differently in two of our notes."
    then = "This run took 91 s for the graph index; an earlier one took between 126 and 284 s."
    other = "Whales were not seen by anyone on that day."
    question = "Which build times of the graph index are given in the notes?"
    assert chosen(f"{first} {then} {other}", question=question) == [f"{first} {then}"]


def test_headings_captions_references_and_fragments_are_no_answer() -> None:
    text = (
        "recall of the graph index with a filter, as said.\n\nRecall of a graph index with a filter\n\n"
        "The recall of a graph index fell to 0.2.\n\n"
        "[7] Smith, J. Recall of a graph index with a filter. arXiv preprint arXiv:1234.5678, 2020.\n\n"
        "How far does the recall of a graph index with a filter"
    )
    assert chosen(text) == ["The recall of a graph index fell to 0.2."]


def test_a_list_of_references_is_no_answer() -> None:
    entries = [
        f"[{n}] A. Smith and B. Jones. Recall of a Graph Index with a Filter. In Proceedings of ACL, 2{n:03}."
        for n in range(10, 16)
    ]
    assert chosen("\n\n".join(entries)) == []


def test_a_row_of_a_table_is_shown_with_the_head_of_its_table_and_quoted_alone() -> None:
    text = (
        "Table 3. Recall of graph indexes with a filter.\n\n"
        "index recall build time\nFAISS HNSW32 graph index, filter 0.205 21 s\nDuckDB 0.793 91 s"
    )
    found = evidence(passage(1, 1, [text]), question="What is the recall of the FAISS HNSW32 graph index?")
    row = next(s for s in choose_sentences(found.query, found) if s.header is not None)
    assert row.text == "FAISS HNSW32 graph index, filter 0.205 21 s"
    assert shown_sentence(row) == f"In a table (index recall build time): {row.text}"
    assert text[row.char_start : row.char_end] == row.text


MAYOR = "The mayor of Quanton in the region of Zorb lives in a house beside the river, as in the year 1987."


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        (
            "What is the population of Quanton?",
            "city: Zorbville; population: 4711\n\ncity: Quanton; population: 8123",
            "city: Quanton; population: 8123",
        ),
        (
            "At which site was the trial of Zorb?",
            "trial.name: Zorb\ntrial.dose_mg: 55\ntrial.site: Quanton",
            "trial.site: Quanton",
        ),
        ("How many units does the region US have?", "Zorb\n\nRegion | Units\nEU | 12\nUS | 7", "US | 7"),
        (
            "What failed in the flux capacitor?",
            "2024-01-01 INFO start\n\n2024-01-01 ERROR the flux capacitor failed",
            "2024-01-01 ERROR the flux capacitor failed",
        ),
    ],
)
def test_a_row_of_a_file_or_a_line_of_a_log_is_said_before_sentences_that_answer_less(
    question: str, text: str, said: str
) -> None:
    """They are short and no sentences, and yet what such files are asked for."""
    assert said in chosen(MAYOR, text, question=question)[0]


def test_sentences_that_say_nothing_of_what_is_asked_are_no_answer() -> None:
    """The passage that speaks of it is code, which is not quoted; the embedder finds the others alike."""
    code = "rate <- growth(0.37)\nplot(rate)"
    found = evidence(
        passage(1, 1, [code], title="n"),
        passage(2, 2, ["The mayor of the town is tall, as everybody there knows."], title="m"),
        question="What is the growth rate of penguins?",
    )
    assert choose_sentences(found.query, found, similarity=lambda texts: [0.3] * len(texts)) == []
    elsewhere = replace(found, query="Wie schnell wachsen Pinguine?")
    assert choose_sentences(elsewhere.query, elsewhere, similarity=lambda texts: [0.3] * len(texts)) != []


def test_lines_of_code_are_no_rows_and_no_lines() -> None:
    code = "#first recall of the index\nfor(i in filter){ total<-total+65 }\nif recall[i]<0.5 { index <- 66 }"
    assert chosen(code) == []


def test_papers_of_one_title_are_told_apart_by_their_files() -> None:
    text = "The recall of a graph index fell to 0.2 with a filter."
    found = evidence(passage(1, 1, [text]), passage(2, 2, [text]), passage(3, 3, [text], title="Another"))
    headings = [line for line in answered(found).text.splitlines() if line.startswith("**")]
    assert headings == [
        "**Filters and indexes** (1.pdf, 2026)",
        "**Filters and indexes** (2.pdf, 2026)",
        "**Another** (2026)",
    ]


def test_slides_without_sentences_still_answer_with_their_lines() -> None:
    assert chosen("Recall of the graph index\n\nfell with a filter\n\nto 0.205") != []


def test_likeness_to_the_question_decides_where_words_do_not() -> None:
    near = "A second worker gained a factor of 1.6 when the other core was free."
    far = "The same vectors can be read faster or slower with a setting."
    found = evidence(passage(1, 1, [near]), passage(2, 2, [far]))
    question = "Does a second thread make embedding faster or slower?"
    alike = choose_sentences(question, found, similarity=lambda texts: [float(t == near) for t in texts])
    assert [s.text for s in choose_sentences(question, found)] == [far, near]
    assert [s.text for s in alike] == [near, far]


def test_an_embedder_that_finds_nothing_alike_changes_nothing() -> None:
    found = evidence(passage(1, 1, FILTERS), passage(2, 2, LOCKS))
    zero = choose_sentences(QUESTION, found, similarity=lambda texts: [0.0] * len(texts))
    assert zero == choose_sentences(QUESTION, found)


def test_nothing_of_the_question_in_the_passages_gives_no_sentences() -> None:
    assert choose_sentences("Do whales sing?", evidence(passage(1, 1, LOCKS))) == []
    assert choose_sentences(QUESTION, evidence()) == []


_TEXTS = st.lists(
    st.sampled_from(
        [
            "The recall of a graph index fell to 0.2 [12]. ", "With a filter [3, 4] it fell. ", "- 1. ",
            "\n", "\n\n", "recall ", "`code` ", "```", "Table 2. Recall.\n",
            "index 0.1\nfilter 0.2\nrecall 0.3\n", "**", "検索は正確。", "This is why. ",
            "[0, 1] ", "\ud800", "# ",
        ]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(st.lists(_TEXTS, min_size=1, max_size=4))
def test_every_marker_of_any_answer_is_ours_and_every_quote_stands_on_its_page(texts: list[str]) -> None:
    found = evidence(
        *(passage(n, n, [t]) for n, t in enumerate(texts, start=1)), question="recall index filter"
    )
    answer = answered(found, "recall index filter")
    cited = [c.n for c in answer.citations]
    assert [n for n, _, _ in marker_numbers(answer.text)] == cited
    for citation in answer.citations:
        assert texts[citation.n - 1][citation.char_start : citation.char_end] == citation.quote
        assert answer.text[citation.claim_start : citation.claim_end].endswith(f"[{citation.n}]")
    if not answer.refused:
        groups = grouped(choose_sentences("recall index filter", found))
        assert [s.passage.n for g in groups for s in g] == cited
        assert all(s.text == texts[s.passage.n - 1][s.char_start : s.char_end] for g in groups for s in g)


@given(_TEXTS)
def test_quotable_stretches_are_slices_of_their_passage_in_order(text: str) -> None:
    before = 0
    for stretch in quotable(passage(1, 1, [text])):
        assert text[stretch.char_start : stretch.char_end] == stretch.text
        assert before <= stretch.char_start < stretch.char_end
        before = stretch.char_end

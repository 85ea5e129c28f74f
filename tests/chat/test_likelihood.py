"""How likely each sentence is to hold the answer, and which stretches may be quoted at all."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from tests.chat.papers_at_hand import passage
from workbench.chat.likelihood import COMPARED, NOTHING, WEIGHTS, Features, features_of, log_odds
from workbench.chat.quotable import Stretch, quotable
from workbench.records import Passage

QUESTION = "How many papers did the filter keep?"


def of(text: str, *, n: int = 1, score: float = 1.0, title: str = "Whales", page: int = 1) -> Passage:
    return replace(passage(n, n, [text], title=title, score=score), page_start=page, page_end=page)


def stretches(*passages: Passage) -> list[Stretch]:
    return [s for p in passages for s in quotable(p)]


def test_features_say_what_of_the_question_a_sentence_holds_and_what_stands_beside_it() -> None:
    one, two, three = features_of(
        QUESTION,
        stretches(
            of("The filter of all papers had to keep 12 of them. This is how it was done in the night."),
            of("Table 1. Whales were seen by the filter of papers.", n=2, score=0.5, page=3),
        ),
    )
    assert (one.inside, one.figure, one.opener, one.passage, one.first_page) == (1.0, 1.0, 0.0, 1.0, 1.0)
    assert (two.inside, two.beside, two.figure, two.opener) == (0.0, 1.0, 0.0, 1.0)
    assert (three.passage, three.caption, three.first_page) == (0.5, 1.0, 0.0)
    assert 0 < three.inside < 1


def test_an_opener_counts_twice_where_what_it_means_cannot_come_along() -> None:
    [alone] = features_of(QUESTION, stretches(of("These papers were kept by the filter.")))
    assert alone.opener == 2.0


def test_log_odds_are_the_weighted_sum_of_the_features() -> None:
    found = stretches(
        of("The filter kept 12 papers in the end."), of("The papers sang in the night of whales.", n=2)
    )
    features = features_of(QUESTION, found)
    expected = [sum(w * f for w, f in zip(astuple(WEIGHTS), astuple(each), strict=True)) for each in features]
    assert log_odds(QUESTION, found) == pytest.approx(expected)
    likely = log_odds(QUESTION, found, lambda texts: [0.5 for _ in texts])
    assert likely == pytest.approx([odds + 0.5 * WEIGHTS.likeness for odds in expected])


def test_a_sentence_that_shares_nothing_with_the_question_and_is_not_like_it_has_no_odds() -> None:
    found = stretches(of("It rained in the night of the whales."))
    assert log_odds(QUESTION, found) == [NOTHING]
    assert log_odds(QUESTION, found, lambda texts: [-0.1]) == [NOTHING]
    assert log_odds(QUESTION, found, lambda texts: [0.4])[0] > NOTHING
    assert log_odds(QUESTION, []) == []


def test_likeness_is_computed_for_the_nearest_sentences_alone() -> None:
    found = stretches(of("\n\n".join(f"The filter of papers number {n} was seen." for n in range(100))))
    asked: list[int] = []

    def similarity(texts: list[str]) -> list[float]:
        asked.append(len(texts))
        return [0.5] * len(texts)

    odds = log_odds(QUESTION, found, similarity)
    assert asked == [COMPARED]
    assert sum(each == NOTHING for each in odds) == len(found) - COMPARED


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many papers were kept?", 1.0),
        ("Wie viele Papiere blieben?", 1.0),
        ("Combien d'articles restent ?", 1.0),
        ("保留了多少论文？", 1.0),
        ("Which filter was used?", 0.0),
    ],
)
def test_questions_for_a_figure_are_known_in_several_languages(question: str, wanted: float) -> None:
    assert (
        features_of(question, stretches(of("There were 12 of them in the sea that day.")))[0].figure == wanted
    )


def test_the_section_asked_for_outweighs_all_but_a_lack_of_the_subject() -> None:
    most = replace(WEIGHTS, caption=0.0, opener=0.0, headed=0.0, proposes=0.0)
    assert WEIGHTS.headed + WEIGHTS.proposes < sum(astuple(most))
    assert WEIGHTS.headed > WEIGHTS.inside
    assert Features(*[0.0] * 8) == Features(0, 0, 0, 0, 0, 0, 0, 0, headed=0, proposes=0)


# --- what may be quoted ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "We optimise the loss as the negative log likelihood of the right passage:",
        "Such motifs are enriched at distinct regions such as promoters and binding sites,",
        "The lines were described to express it (data of the atlas, seen at http://www.example.org).",
        "We used the method of Smith [20] with α1 = 0.9, α2 = 0.98 and ε = 10−9 .",
    ],
)
def test_sentences_cut_off_or_full_of_signs_are_quoted(text: str) -> None:
    assert [s.text for s in stretches(of(text))] == [text]


def test_rows_under_a_line_of_dates_have_it_as_their_head() -> None:
    text = "July 29, 2023 January 28, 2023 July 30, 2022\nCash and cash equivalents $ 1,093 $ 1,874 $ 840"
    assert [(s.header, s.text) for s in stretches(of(text))] == [tuple(text.split("\n"))]


def test_rows_whose_values_are_letters_are_rows() -> None:
    text = "Rating Agency Rating Outlook\nStandard Agency BBB+ Stable\nMeadow Agency A3 Stable"
    head, *rows = text.split("\n")
    assert [(s.header, s.text) for s in stretches(of(text))] == [(head, row) for row in rows]


def test_a_caption_stands_in_for_the_head_of_its_table() -> None:
    caption = "Table 5. Exact match on open questions."
    rows = "Baseline of closed books, all of them 30.4\nThe one with retrieval of passages 45.5"
    found = [s for s in stretches(of(f"{caption}\n\n{rows}")) if not s.caption]
    assert [(s.header, s.text) for s in found] == [(caption, row) for row in rows.split("\n")]

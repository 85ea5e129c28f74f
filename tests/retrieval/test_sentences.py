from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.retrieval.sentences import LONGEST, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def assert_splits(*expected: str, joined_by: str = " ") -> None:
    assert sentences(joined_by.join(expected)) == list(expected)


@pytest.mark.parametrize(
    "expected",
    [
        ["Recall fell to 0.205.", "Time did not change."],
        ["Is it exact?", "Yes!", "It is."],
        ["We follow Lewis et al. (2020) here.", "They use DPR."],
        ["It was shown by Lewis et al.", "We repeat it."],
        ["Smith et al. Nature 2020 is one."],
        ["See Fig. 3 and Figs. S1 and S2.", "Eq. (4) holds."],
        ["It appears in vol. 3, no. 4, pp. 12-15.", "See p. 7 too."],
        ["The answer is no.", "We asked again."],
        ["A query takes 4.7 ms.", "It was 11 sec.", "Then it was done."],
        ["We use filters, e.g. Bloom filters, i.e. sketches.", "They help."],
        ["Dr. Ada Byron met Mr. Babbage and Prof. De Morgan.", "They spoke."],
        ["J. R. Smith, J.-B. Lespiau and A. Jones wrote it.", "It was 1990."],
        ["The results show vitamin C.", "The dose was low."],
        ["In Drosophila, E. coli and S. cerevisiae differ.", "We saw both."],
        ["Sales in the U.S. grew in the U.S.", "The rest fell."],
        ["The U.S. Government agreed."],
        ["Amcor plc, Best Buy Co., Inc. and others filed.", "They were late."],
        ["It fell in Oct. 2022 and in Dec. 2023.", "It rose after."],
        ["About 3.5 million rows of version 1.5.5 were read.", "None was lost."],
        ["Values below .05 count.", "Others do not."],
        ["The cells were lysed.", "mRNA levels rose.", "p53 did not.", "β-catenin fell."],
        ["The cells were lysed. and then frozen."],
        ["He asked “why?”", "She did not answer."],
        ["It works (see above).", "It is fast."],
        ["This holds ...", "We stop here."],
        ["Was it exact? or not?", "Perhaps."],
        ["It changes.1", "We go on."],
        ["Many agree.12,13", "Others do not."],
        ["Many agree.[12]", "Others do not.[3, 4]", "We do."],
        ["The scale runs to 10.", "It stops there."],
    ],
    ids=lambda expected: expected[0][:40],
)
def test_prose_ends_where_a_reader_would_end_it(expected: list[str]) -> None:
    assert_splits(*expected)


@pytest.mark.parametrize(
    "expected",
    [
        ["Es gilt z.B. für drei Fälle, d.h. für alle.", "Das war am 3. Mai 2020 so.", "Vgl. Abb. 3."],
        ["La figure est claire, cf. p. 12.", "Elle suffit."],
    ],
)
def test_abbreviations_of_german_and_french_do_not_end_a_sentence(expected: list[str]) -> None:
    assert_splits(*expected)


@pytest.mark.parametrize(
    "expected",
    [
        ["検索は正確である。", "時間は0.5秒だった。"],
        ["「なぜか？」", "と彼は聞いた。"],
        ["結果は３．５倍である．", "次に述べる．"],
        ["我们使用向量检索！", "效果很好。"],
    ],
)
def test_chinese_and_japanese_need_no_space_after_an_end(expected: list[str]) -> None:
    assert_splits(*expected, joined_by="")


def test_a_line_break_inside_a_paragraph_is_no_end() -> None:
    first = "The graph indexes found 77 to 88 % of the\nright chunks without a filter, as\nDuckDB does."
    second = "With a filter of ten papers the\nrecall fell."
    assert_splits(first, second)


@pytest.mark.parametrize("gap", ["\n", "\n\n", "\r\n", "\n  \n"])
@pytest.mark.parametrize(
    "heading",
    ["Abstract", "2 Without a filter", "3.1 Data collection", "Methods and data", "II. Results"],
)
def test_a_heading_before_a_paragraph_stands_alone(heading: str, gap: str) -> None:
    body = "Approximate indexes promise fast search over a whole collection, and they\nkeep the promise."
    assert sentences(heading + gap + body) == [heading, body]


def test_a_heading_of_chinese_or_japanese_stands_alone() -> None:
    body = "本研究では、検索の精度を測定した結果について詳しく述べることにする。"
    assert sentences("はじめに\n" + body) == ["はじめに", body]


def test_a_sentence_goes_on_across_a_page_break_but_a_heading_and_a_cell_do_not() -> None:
    crossing = "A scope of several ids written as a list is safe only by luck of the\n\nplanner, not by rule."
    assert sentences(crossing + "\n\nrows returned\n\nnone, yes 15") == [
        crossing,
        "rows returned",
        "none, yes 15",
    ]


def test_headings_that_follow_each_other_are_told_apart() -> None:
    text = "Methods\nData collection\nWe collected the data in three hospitals over two years."
    assert sentences(text) == text.split("\n")


@pytest.mark.parametrize("number", ["2.", "2.1.", "IV.", "B."])
def test_a_number_before_a_heading_belongs_to_it(number: str) -> None:
    assert sentences(f"The end.\n\n{number} Methods\n\nWe measured.") == [
        "The end.",
        f"{number} Methods",
        "We measured.",
    ]


def test_a_caption_keeps_its_label_and_leaves_the_table() -> None:
    text = "Table 1. Search of the whole library.\nindex ms recall\nHNSW 5.5 0.793\nexact 13.6 1"
    assert sentences(text) == [
        "Table 1. Search of the whole library.",
        "index ms recall\nHNSW 5.5 0.793\nexact 13.6 1",
    ]


@pytest.mark.parametrize("signs", ["- -", "• •", "1. 2.", "(1) (2)", "a) b)"])
def test_each_item_of_a_list_stands_alone(signs: str) -> None:
    first, second = signs.split()
    text = f"We need:\n{first} a file of\nits own\n  {second} a lock"
    assert sentences(text) == ["We need:", f"{first} a file of\nits own", f"{second} a lock"]


def test_lines_of_a_log_stand_alone() -> None:
    assert sentences("2024-01-02 10:00 start\n2024-01-02 10:01 stop") == [
        "2024-01-02 10:00 start",
        "2024-01-02 10:01 stop",
    ]


def test_dots_that_lead_to_a_page_number_end_nothing() -> None:
    text = "1 Introduction . . . . . . . 3 and Methods ........ 5"
    assert sentences(text) == [text]


def test_a_run_without_ends_is_cut_at_line_ends() -> None:
    row = "alpha 0.1 beta 0.2"
    spans = sentence_spans("\n".join([row] * 200))
    assert all(end - start <= LONGEST for start, end in spans)
    assert all((end - start + 1) % (len(row) + 1) == 0 for start, end in spans)


_PIECES = st.sampled_from(
    [
        *"aZ.!?,;:\"'“”()[]0-19\n\r\t \u00a0\u3000。！？．」…#*•–",
        "\n\n", "\n \n", ". ", "et al. ", "Fig. ", "e.g. ", "1. ", "- ", "word ", "The ", "[12]", "Heading\n",
        "\ud800", "\udfff", "😀", "👩‍🔬", "é", "\u0301", "\x00", "\ufffe", "検索", "한국어", "हिन्दी।",
    ]
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(_PIECES, max_size=60).map("".join),
    st.tuples(_PIECES, st.integers(0, 3000), st.text(max_size=5)).map(lambda t: t[0] * t[1] + t[2]),
)


@given(_TEXTS)
def test_spans_of_any_text_are_trimmed_ordered_and_cover_every_character_that_shows(text: str) -> None:
    spans = sentence_spans(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        assert end - start <= LONGEST
        position = end
    assert text[position:].strip() == ""


@pytest.mark.parametrize(
    "piece",
    [
        "The cat sat on the mat. ", ".", "!", "a", " ", "\n", "\n ", "\r\n", "\n\r", "[", ".)", ".) ", ". ",
        "1. ", "\n1. ", "A. ", "Abc. ", "[1", ".[1", ".[1]", "。", "．", "word.1", "\n\n ", ".\n", "Ab\n",
        "\ud800", "Table 1. ", "“", ". “", "a.b.", "-" * 30 + "\n",
    ],
)  # fmt: skip
def test_a_million_characters_of_anything_take_little_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece)) + "x"
    began = time.process_time()
    sentence_spans(text)
    assert time.process_time() - began < 5

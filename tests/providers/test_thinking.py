from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.providers.thinking import ThinkingFilter


def answer(*pieces: str, begins_inside: bool = False) -> str:
    thinking = ThinkingFilter(begins_inside=begins_inside)
    return "".join(map(thinking.feed, pieces)) + thinking.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain answer [1].", "plain answer [1]."),
        ('<think>maybe [3]</think>{"title":"x"}', '{"title":"x"}'),
        ("<think>\nno end, maybe [3]", ""),
        ("<think>a</think>\n\nIt binds [1].", "It binds [1]."),
        ("It <think>hm</think>binds [1].", "It binds [1]."),
        ("<THINK>a</THINK>b", "b"),
        ("<thinking>a < b</thinking>b", "b"),
        ("<think>one</think>a<think>two</think>b", "ab"),
        ("x < y and <thin line", "x < y and <thin line"),
        ("ends with <thi", "ends with <thi"),
        ("tags `<think>` and `</think>` are text", "tags `<think>` and `</think>` are text"),
        ("", ""),
    ],
)
def test_only_what_stands_outside_the_tags_is_given_back_however_it_is_split(
    text: str, expected: str
) -> None:
    assert answer(text) == expected
    assert answer(*text) == expected
    for cut in range(len(text)):
        assert answer(text[:cut], text[cut:]) == expected


@given(st.text("ab<>/think `", max_size=40), st.lists(st.integers(0, 40), max_size=5))
def test_the_split_never_matters(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(edges)]
    assert answer(*pieces) == answer(text)


def test_certain_text_is_not_held_back() -> None:
    thinking = ThinkingFilter()
    assert [thinking.feed(piece) for piece in ("p53 ", "binds <", "b", " DNA")] == [
        "p53 ",
        "binds ",
        "<b",
        " DNA",
    ]


def test_a_closing_tag_after_text_without_an_opening_one_is_noticed() -> None:
    thinking = ThinkingFilter()
    thinking.feed("I wonder about [3]. ")
    assert not thinking.strayed
    thinking.feed("</think>It binds [1].")
    assert thinking.strayed


def test_a_closing_tag_at_the_very_beginning_hides_nothing_and_is_dropped() -> None:
    thinking = ThinkingFilter()
    assert thinking.feed("\n</think>\nIt binds [1].") == "It binds [1]."
    assert not thinking.strayed


def test_a_model_known_to_begin_inside_its_thinking_is_read_from_the_closing_tag() -> None:
    assert answer("I wonder. </th", "ink>It binds [1].", begins_inside=True) == "It binds [1]."

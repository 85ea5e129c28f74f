from __future__ import annotations

import pytest

from workbench.ingest.characters import accents_joined, repaired, tidy
from workbench.ingest.squeeze import only_place, squeezed, squeezed_with_offsets


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("oﬃce eﬀect ﬁeld ﬂow", "office effect field flow"),
        ("Quan\x00tity", "Quantity"),
        ("half \ud83d gone", "half  gone"),
        ("pair \ud83d\ude80 kept", "pair 🚀 kept"),
        ("Poli\u00ad\ntik Wert\u00adpapier", "Politik Wertpapier"),
        ("line\r\nnext\rlast", "line\nnext\nlast"),
        ("a\u00a0b\u202fc", "a b c"),
        ("\ufeffmark", "mark"),
        ("x² + H₂O, ½", "x² + H₂O, ½"),
        ("ﷺ ﻻ", "صلى الله عليه وسلم لا"),
        ("日本語 ＡＢＣ", "日本語 ＡＢＣ"),
    ],
)
def test_broken_characters_become_what_they_stand_for_and_nothing_else_changes(
    broken: str, whole: str
) -> None:
    assert repaired(broken) == whole


@pytest.mark.parametrize(
    ("apart", "joined"),
    [
        ("Art´ıculo de la reuni´on", "Artículo de la reunión"),
        ("Heinrich K¨uttler", "Heinrich Küttler"),
        ("desempe˜n´o", "desempeñó"),
        ("´area", "área"),
        ("Zeman ˇS", "Zeman Š"),
        ("the 5´UTR and 3´ end", "the 5´UTR and 3´ end"),
        ("S˜ij and ˆf and x˜", "S˜ij and ˆf and x˜"),
        ("www.univ.fr/˜aligon", "www.univ.fr/˜aligon"),
        ("a `quoted' word", "a `quoted' word"),
    ],
)
def test_accents_that_stand_apart_are_set_on_their_letter_but_primes_and_hats_stay(
    apart: str, joined: str
) -> None:
    assert accents_joined(apart) == joined


def test_tidy_text_has_no_trailing_spaces_and_at_most_one_blank_line() -> None:
    assert tidy("\n\na  \n\n\n\nb\t\n c \n") == "a\n\nb\n c"


def test_squeezed_text_is_the_same_for_every_way_to_print_a_phrase() -> None:
    printed = "State-of-the-\nART  “Oﬃce” Küttler"
    assert squeezed(printed) == squeezed("stateoftheart office Kuttler") == "stateoftheartofficekuttler"
    text, offsets = squeezed_with_offsets("a-ﬁ b")
    assert (text, offsets) == ("afib", [0, 2, 2, 4])


def test_a_place_is_known_only_when_it_is_the_only_one() -> None:
    assert only_place("bc", "abcd") == 1
    assert only_place("a", "abca") is None
    assert only_place("aa", "aaa") is None
    assert only_place("", "abc") is None
    assert only_place("x", "abc") is None

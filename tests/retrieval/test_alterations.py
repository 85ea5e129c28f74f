from __future__ import annotations

import pytest

from workbench.retrieval.alterations import altered, word_for_word
from workbench.retrieval.wording import compared, exchanged, nearest_sentences, tokens

SOURCE = (
    "The index of the Bostwick reader was rebuilt in 14 ms with 2.5 GB of memory. "
    "Adding papers never increased the latency of the Marlow engine above 5 % on small machines. "
    "Some readers may fail on long files, but all of them keep the text."
)


@pytest.mark.parametrize(
    ("claim", "support", "reason"),
    [
        (
            "The index of the Bostwick reader was rebuilt in 15 ms with 2.5 GB of memory.",
            "unsupported",
            "it says “15” where its source says “14”",
        ),
        (
            "The index of the Bostwick reader was rebuilt in 14 s with 2.5 GB of memory.",
            "unsupported",
            "it says “s” where its source says “ms”",
        ),
        (
            "The index of the Bostwick reader was not rebuilt in 14 ms with 2.5 GB of memory.",
            "unsupported",
            "it adds “not” to its source",
        ),
        (
            "The index of the Marlow reader was rebuilt in 14 ms with 2.5 GB of memory.",
            "unsupported",
            "it says “Marlow” where its source says “Bostwick”",
        ),
        (
            "The index of the Bostwick reader was rebuilt in 14 ms without 2.5 GB of memory.",
            "unsupported",
            "it says “without” where its source says “with”",
        ),
        (
            "Adding papers increased the latency of the Marlow engine above 5 % on small machines.",
            "unsupported",
            "it leaves out “never” of its source",
        ),
        (
            "Adding papers never decreased the latency of the Marlow engine above 5 % on small machines.",
            "unsupported",
            "it says “decreased” where its source says “increased”",
        ),
        (
            "Adding papers never increased the latency of the Marlow engine above 5 % on large machines.",
            "unsupported",
            "it says “large” where its source says “small”",
        ),
        (
            "All readers may fail on long files, but all of them keep the text.",
            "unsupported",
            "it says “all” where its source says “some”",
        ),
        (
            "Some readers fail on long files, but all of them keep the text.",
            "partly",
            "it leaves out “may” of its source",
        ),
        (
            "The index of the Bostwick parser was rebuilt in 14 ms with 2.5 GB of memory.",
            "partly",
            "it says “parser” where its source says “reader”",
        ),
    ],
)
def test_what_was_changed_in_a_sentence_is_named(claim: str, support: str, reason: str) -> None:
    assert altered(claim, SOURCE) == (support, reason)


@pytest.mark.parametrize(
    "claim",
    [
        "The index of the Bostwick reader was rebuilt in 14 ms with 2.5 GB of memory.",
        "Rebuilding the index of the Bostwick reader took 14 ms and 2.5 GB of memory.",
        "On small machines, adding papers never increased the latency of the Marlow engine above 5 percent.",
        "Adding papers did not increase the latency of the Marlow engine above 5% on small machines.",
        "The latency of the Marlow engine wasn't increased above 5 % on small machines by adding papers.",
        "All of the readers keep the text, but some may fail on long files.",
        "The index of the Bostwick reader was rebuilt in 0.014 s with 2,500 MB of memory.",
    ],
)
def test_the_same_thing_in_other_words_is_no_change(claim: str) -> None:
    assert altered(claim, SOURCE) is None


@pytest.mark.parametrize(
    ("claim", "source", "support"),
    [
        ("Die Werte sind nicht gestiegen, seit die Anlage läuft.",
         "Die Werte sind gestiegen, seit die Anlage läuft.", "unsupported"),
        ("Das Modell hat keine freien Parameter in dieser Fassung.",
         "Das Modell hat freie Parameter in dieser Fassung.", "unsupported"),
        ("La méthode ne réduit pas le temps de calcul du modèle.",
         "La méthode réduit le temps de calcul du modèle.", "unsupported"),
        ("该方法不提高检索的准确率。", "该方法提高检索的准确率。", "unsupported"),
        ("该方法降低检索的准确率。", "该方法提高检索的准确率。", "unsupported"),
        ("この手法は検索の精度を高めない。", "この手法は検索の精度を高める。", "unsupported"),
    ],
)  # fmt: skip
def test_negations_of_other_languages_are_seen_where_the_words_around_agree(
    claim: str, source: str, support: str
) -> None:
    found = altered(claim, source)
    assert (found and found[0]) == support


def test_two_things_in_each_others_place_are_seen_without_a_capital_to_tell_them() -> None:
    claim = "Thin tiles need more memory than exact codes on every machine."
    source = "Exact codes need more memory than thin tiles on every machine."
    assert exchanged(tokens(claim.lower()), tokens(source.lower())) == ("exact codes", "thin tiles")
    assert altered(claim, source) is not None
    assert altered("They ran codes, trees and tiles on it.", "They ran tiles, trees and codes on it.") is None


def test_a_sentence_that_stands_there_differs_in_nothing_whatever_its_hyphens() -> None:
    source = "The cells were har-\nvested after 40 h, as pre-viously described. Nothing else was done."
    assert word_for_word("The cells were harvested after 40 h, as previously described.", source)
    assert not word_for_word("The cells were harvested after 44 h, as previously described.", source)


def test_differences_tell_what_each_side_has_between_shared_words() -> None:
    comparison = compared("We saw two red lines on it.", "We saw three lines on it today.")
    told = [([t.key for t in d.said], [t.key for t in d.found], d.firm) for d in comparison.differences]
    assert told == [(["2", "red"], ["3"], True), ([], ["today"], True)]
    assert nearest_sentences("readers may fail", SOURCE, most=1) == [SOURCE[SOURCE.index("Some") :]]

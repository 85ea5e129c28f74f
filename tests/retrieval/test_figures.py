from __future__ import annotations

import pytest

from workbench.retrieval.figures import missing_figures, missing_number_words

SAME = [
    ("It took 14 ms.", "It took 0.014 s."),
    ("It took 5 percent.", "It took 5 %."),
    ("It took 5 % of it.", "It took 5 per cent of it."),
    ("Sales were 1.2 million.", "Sales were 1,200,000."),
    ("Der Umsatz war 2,5 Millionen Euro.", "Sales were 2.5 million euros."),
    ("Le prix est de 12 000 euros.", "The price is €12,000."),
    ("It holds 1.234,5 kg.", "It holds 1234.5 kg."),
    ("The dose was 12.5 uM.", "The dose was 12.5 µM."),
    ("The dose was 12.5 μM.", "The dose was 12.5 µM."),
    ("It had $155 and $195 million.", "It had $155 million and $195 million."),
    ("It took from 0.4 ms to 5.5 ms.", "It took 0.4 to 5.5 ms."),
    ("Sales were $1,014 million.", "Sales, in millions: 1,014"),
    ("半径为 2 公里。", "半径为 2km。"),
]
OTHER = [
    ("It took 14 ms.", "It took 14 s.", ["14 ms"]),
    ("It rose by 5 percentage points.", "It rose by 5 %.", ["5 pp"]),
    ("Sales were $155 billion.", "Sales were $155 million.", ["$155 billion"]),
    ("Sales were $155 in all.", "Sales were $155 million in all.", ["$155"]),
    ("Sales were €155 million.", "Sales were $155 million.", ["€155 million"]),
    ("It has 7B tokens.", "It has 7M tokens.", ["7B"]),
    ("The dose was 12.5 nM.", "The dose was 12.5 µM.", ["12.5 nM"]),
    ("It took 0.4 to 5.5 s.", "It took 0.4 to 5.5 ms.", ["0.4", "5.5 s"]),
    ("It ran for 14 weeks.", "It ran for 14 days.", ["14 weeks"]),
    ("Der Umsatz war 2,5 Milliarden.", "Der Umsatz war 2,5 Millionen.", ["2,5 Milliarden"]),
    ("价格为 85 美元。", "价格为 85 元。", ["85 美元"]),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source"), SAME)
def test_one_figure_in_two_ways_of_writing_is_not_missing(claim: str, source: str) -> None:
    assert missing_figures(claim, source, nearest=source) == []


@pytest.mark.parametrize(("claim", "source", "missing"), OTHER)
def test_another_unit_scale_or_currency_is_another_figure(
    claim: str, source: str, missing: list[str]
) -> None:
    assert missing_figures(claim, source, nearest=source) == missing


def test_a_bare_figure_elsewhere_does_not_stand_for_one_with_another_unit_in_the_sentence() -> None:
    sentence = "The index answers in 5.5 ms."
    source = f"{sentence} n | 0.4 | 5.5 | 7"
    assert missing_figures("The index answers in 5.5 s.", source, nearest=sentence) == ["5.5 s"]
    assert missing_figures("The index answers in 5.5 s.", "n | 0.4 | 5.5 | 7") == []


def test_number_words_have_units_too() -> None:
    assert missing_number_words("It took five seconds.", "It took 5 s.") == []
    assert missing_number_words("It took five seconds.", "It took 5 ms.") == ["five"]
    assert missing_number_words("It made two of them in three ways.", "It made them.") == ["three"]

"""The figures of a text with their units, and whether another text states them too.

What counts as the same figure: 1,000 and 1000, 1.0 and 1, .5 and 0.5, 0,5 and 0.5, ten and 10, 3.5 million
and 3,500,000, 0.014 s and 14 ms. What does not: 41.5 and 44.5, 41.5 ms where only 41.5 s stands, 5 % and
5 percentage points, 3.5 million and 3.5 billion. A figure without a unit of its own (a table cell) agrees
with any, but not where the sentence that the claim restates has the figure with another unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from workbench.retrieval.units import CURRENCIES, UNSPACED_NAMES, Unit, unit_named, with_short_names

_SCALE_NAMES = {
    10**2: "hundred",
    10**3: "k thousand tausend tsd mille",
    10**6: "m mn million millions mio millionen",
    10**9: "b bn billion billions milliarden milliarde mrd milliard milliards",
    10**12: "trillion trillions",
    10**4: "万 萬",
    10**8: "億 亿",
}
_SCALES = {name: scale for scale, line in _SCALE_NAMES.items() for name in line.split()}
_LETTER_SCALES = frozenset("kmb")

_TO_NINETEEN = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
_TENS_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: number for number, word in enumerate(_TO_NINETEEN.split())}
_TENS = {word: 10 * number for number, word in enumerate(_TENS_NAMES.split(), start=2)}
_NUMBER_WORD = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[ -]({'|'.join(list(_SMALL)[1:10])}))?"
    rf"|({'|'.join(_SMALL)}|hundred|thousand))\b",
    re.IGNORECASE,
)
_FIRST_TELLING_WORD = 3  # "one" and "two" are more often grammar than measurement

_GAP = "[ \u00a0\u2009\u202f-]?"
_DIGITS = (
    r"\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?(?!\d)|(?<!\d )\d{1,3}(?: \d{3})+(?![\d ]*\d)|"
    r"\d+(?:[.,]\d+)*|\.\d+"
)
_WORDS_OF_SCALE = "|".join(sorted(_SCALES.keys() - _LETTER_SCALES, key=len, reverse=True))
_SCALE = (
    rf"(?P<scale>[kmb]|{_GAP}(?:{_WORDS_OF_SCALE}))(?![A-Za-z0-9])"  # 400M, 100k: right behind the digits
)
_UNIT = rf"{_GAP}(?P<unit>[%×]|°C|[A-Za-zµμ]{{1,14}}(?![A-Za-z0-9_])|{UNSPACED_NAMES})"
_FIGURE = re.compile(
    rf"(?P<currency>[$€£¥])?[ ]?(?<![\d.])(?P<digits>{_DIGITS})(?:{_SCALE})?(?:{_UNIT})?", re.IGNORECASE
)
_BEHIND_A_WORD = re.compile(rf"(?:{_SCALE})?(?:{_UNIT})?", re.IGNORECASE)
_JOINING = re.compile(r"\s*(?:,?\s*(?:to|and|or|bis|und|oder|et|ou|à|against|vs\.?|versus)|[-–/,±~]|\+/-)\s*")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\b")
_LETTER = "[A-Za-z\u00c0-\u024f\u0370-\u04ff]"  # of scripts whose names hold digits
_NAMED = re.compile(
    rf"(?:{_LETTER}*[A-Z]{_LETTER}*|\b{_LETTER}{{1,2}})[-_]?\d[\w.-]*|{_LETTER}\d[\w.-]*", re.ASCII
)
_LABELLED = re.compile(
    r"\b(?:tables?|figures?|figs?|sections?|secs?|sects?|equations?|eqs?|pages?|pp?|chapters?|appendix|"
    r"references?|refs?|passages?|steps?|items?|notes?|theorem|lemma|algorithm)\.?\s*\(?[A-Z]{0,2}\d+(?:\.\d+)*"
    r"(?:(?:\s*[-–,&]\s*|\s+and\s+)\d+)*\)?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """``text`` as it stands there; ``values`` it may mean; ``unit`` is None where none stands beside it.

    ``amounts`` are the values with the ``scale`` that stands there (a million), ``measured`` these in the
    base unit of what is measured (seconds for ms).
    """

    text: str
    values: frozenset[str]
    unit: str | None
    amounts: frozenset[str] = frozenset()
    measured: frozenset[str] = frozenset()
    measure: str | None = None
    scale: int = 1


def stated_figures(claim: str) -> list[Figure]:
    """The figures that a sentence states, without those of names (GPT-4), labels (Table 2) and ordinals."""
    return list(_figures(_stated_text(claim)))


def figure_spans(text: str) -> list[tuple[int, int, Figure]]:
    """Start and end of each figure that a text states, in digits or as a telling word, with the figure."""
    stated = _stated_text(text)
    digits = [
        (m.start(), _end(m), figure) for m, figure in zip(_matches(stated), _figures(stated), strict=True)
    ]
    words = zip(_NUMBER_WORD.finditer(text), _written_out(text), strict=True)
    telling = [(match.start(), match.end(), figure) for match, figure in words if _is_telling(figure)]
    return sorted((*digits, *telling), key=lambda span: span[:2])


def scale_named(word: str) -> int | None:
    """What a word such as "million" multiplies by; None for other words."""
    return _SCALES.get(word.lower())


def without_figures(claim: str) -> str:
    """The words of a sentence: what is left of it without figures, their units, and labels."""
    words = with_short_names(_unlabelled(claim))
    for match in _matches(_NAMED.sub(_blank, words)):
        end = _end(match)
        words = words[: match.start()] + " " * (end - match.start()) + words[end:]
    return words


def _unlabelled(claim: str) -> str:
    return _ORDINAL.sub(_blank, _LABELLED.sub(_blank, claim))


def _stated_text(text: str) -> str:
    return with_short_names(_NAMED.sub(_blank, _unlabelled(text)))


def _matches(text: str) -> list[re.Match[str]]:
    return list(_FIGURE.finditer(text))


def missing_figures(claim: str, text: str, *, nearest: str = "") -> list[str]:
    """Figures of ``claim`` that do not stand in ``text``, or stand there with other units only.

    ``nearest`` is the sentence of ``text`` that the claim restates: what it says of a figure's unit counts
    more than a bare figure elsewhere.
    """
    present, beside = _present(text), _present(nearest)
    cells = re.search(rf"\b(?:{_WORDS_OF_SCALE})\b", nearest, re.IGNORECASE) is not None
    missing = [
        figure.text
        for figure in stated_figures(claim)
        if not any(agree(figure, other) for other in present)
        or (
            any(figure.values & other.values for other in beside)
            and not any(agree(figure, other, cells=cells) for other in beside)
            and not any(agree(figure, o, cells=False) and figure.unit == o.unit for o in present)
        )
    ]
    return list(dict.fromkeys(missing))


def missing_number_words(claim: str, text: str) -> list[str]:
    """Number words of ``claim``, from three on, whose number does not stand in ``text`` in any form, or
    with other units only."""
    present = _present(text)
    return [
        figure.text
        for figure in _written_out(claim)
        if _is_telling(figure) and not any(agree(figure, other) for other in present)
    ]


def _is_telling(figure: Figure) -> bool:
    return all(Decimal(value) >= _FIRST_TELLING_WORD for value in figure.values)


@lru_cache(maxsize=1024)
def _present(text: str) -> tuple[Figure, ...]:
    """Every figure of a text, those of names and labels too."""
    plain = with_short_names(text)
    apart = [
        _figure(m)
        for m in re.finditer(r"(?P<digits>\d{1,3})(?: \d{3})+", plain)
        for m in _matches(m.group().replace(" ", "  "))
    ]
    return (*_figures(plain), *apart, *_written_out(plain))


@lru_cache(maxsize=1024)
def _figures(plain: str) -> tuple[Figure, ...]:
    """The figures in digits. In "4 and 5 million" and "4 to 5 ms" scale and unit are those of both."""
    matches = _matches(plain)
    figures = [_figure(match) for match in matches]
    shared, unit = 1, None
    for i in range(len(matches) - 2, -1, -1):
        between = plain[matches[i].end("digits") : matches[i + 1].start()]
        joined = figures[i].scale == 1 and _JOINING.fullmatch(between) is not None
        shared = max(shared, figures[i + 1].scale) if joined else 1
        unit = _unit(matches[i + 1]) or unit if joined else None
        if shared > 1:
            also = _made("", set(figures[i].values), shared, None)
            figures[i] = replace(figures[i], amounts=figures[i].amounts | also.amounts)
        if unit and figures[i].unit is None:
            also = _made("", set(figures[i].values), shared, unit)
            figures[i] = replace(also, text=figures[i].text, amounts=figures[i].amounts, scale=1)
    return tuple(figures)


def agree(stated: Figure, present: Figure, *, cells: bool = True) -> bool:
    """Whether the second figure says what the first one says. ``cells``: a bare figure may be the cell of a
    table in thousands or millions."""
    if stated.measure and present.measure:
        if stated.measure != present.measure:
            return False
        if stated.measured & present.measured:
            return True
        if stated.unit != present.unit:
            return False
    bare_cell = cells and stated.scale > 1 and present.scale == 1 and bool(stated.values & present.values)
    return bool(stated.amounts & present.amounts) or bare_cell


def _figure(match: re.Match[str]) -> Figure:
    digits, scale, unit = match["digits"], _scale(match), _unit(match)
    values = {_normal(value) for value in _readings(digits)}
    return _made(match.string[match.start() : _end(match)].strip(), values, scale, unit)


def _made(text: str, values: set[str], scale: int, unit: Unit | None) -> Figure:
    plain = [value for value in values if value.count(".") < 2]
    amounts = {_normal(str(Decimal(value) * scale)) for value in plain} | (values - set(plain))
    measured = {_normal(str(Decimal(value) * scale * unit.factor)) for value in plain} if unit else set()
    return Figure(
        text,
        frozenset(values | amounts),  # a table "in millions" holds the bare figure
        unit.name if unit else None,
        frozenset(amounts),
        frozenset(measured),
        unit.measure if unit else None,
        scale,
    )


def _end(match: re.Match[str]) -> int:
    """Where a figure ends: with its unit or scale, if what stands behind it is one."""
    if match["unit"] and unit_named(match["unit"]):
        return match.end()
    return match.end("scale") if match["scale"] else match.end("digits")


def _scale(match: re.Match[str]) -> int:
    return _SCALES[match["scale"].strip(" \u00a0\u2009\u202f-").lower()] if match["scale"] else 1


def _unit(match: re.Match[str]) -> Unit | None:
    return CURRENCIES[match["currency"]] if match["currency"] else unit_named(match["unit"] or "")


def _readings(digits: str) -> Iterator[str]:
    """``1,234`` is 1234, ``0,5`` is 0.5, ``1.234`` may be either, and ``1.234,5`` is 1234.5."""
    plain = re.sub("[ \u00a0\u2009\u202f]", "", digits)
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", plain):
        yield plain.replace(",", "")
        return
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d+", plain):
        yield plain.replace(".", "").replace(",", ".")
        return
    yield plain.replace(",", ".")
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", plain):
        yield plain.replace(".", "")


@lru_cache(maxsize=4096)
def _normal(value: str) -> str:
    try:
        return format(Decimal(value).normalize(), "f")
    except InvalidOperation:  # a version such as 1.5.5
        return value


@lru_cache(maxsize=1024)
def _written_out(text: str) -> tuple[Figure, ...]:
    """Numbers written in words, with the scale and the unit behind them."""
    figures = []
    for match in _NUMBER_WORD.finditer(text):
        tens, ones, small = (group.lower() if group else "" for group in match.groups())
        number = _TENS[tens] + _SMALL.get(ones, 0) if tens else _SMALL.get(small, _SCALES.get(small, 0))
        behind = _BEHIND_A_WORD.match(text, match.end())
        scale, unit = (_scale(behind), unit_named(behind["unit"] or "")) if behind else (1, None)
        figures.append(_made(match.group(), {str(number)}, scale, unit))
    return tuple(figures)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())

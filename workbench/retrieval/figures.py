"""The figures of a text with their units, and whether another text states them too.

What counts as the same figure: 1,000 and 1000, 1.0 and 1, .5 and 0.5, 0,5 and 0.5, ten and 10, 3.5 million
and 3,500,000. What does not: 41.5 and 44.5, or 41.5 ms where only 41.5 s stands. A figure without a unit of
its own (a table cell) agrees with any.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_SCALE_NAMES = {10**2: "hundred", 10**3: "k thousand", 10**6: "m mn million millions"}
_SCALE_NAMES |= {10**9: "b bn billion billions", 10**12: "trillion trillions"}
_SCALE_NAMES |= {10**4: "万 萬", 10**8: "億 亿"}
_SCALES = {name: scale for scale, line in _SCALE_NAMES.items() for name in line.split()}
_LETTER_SCALES = frozenset("kmb")  # only right behind the digits: 400M, 100k

# One unit a line, by all its names. Case tells mM (concentration) from mm and MB from Mb.
_UNIT_NAMES = """
% percent pct
points pp
ns nanosecond nanoseconds
µs us microsecond microseconds
ms msec millisecond milliseconds
s sec secs second seconds
min mins minute minutes
h hr hrs hour hours
d day days
week weeks
month months
year years yr yrs
bit bits
byte bytes B
kB KB kilobyte kilobytes
MB megabyte megabytes
GB gigabyte gigabytes
TB terabyte terabytes
KiB
MiB
GiB
Hz hertz
kHz
MHz
GHz
ng
µg ug
mg
g gram grams
kg kilogram kilograms
µl µL ul uL
ml mL
l L litre litres liter liters
nm
µm um
mm
cm
m metre metres meter meters
km
pM
nM
µM uM
mM
M
°C
K kelvin
bp
kb
kDa
mV
V
W watt watts
kW
kWh
J
kJ
fold times x ×
"""
_UNITS = {name: line.split()[0] for line in _UNIT_NAMES.strip().splitlines() for name in line.split()}

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

_DIGITS = r"\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.,]\d+)*|\.\d+"
_FIGURE = re.compile(
    rf"(?P<currency>[$€£¥])?[ ]?(?<![\d.])(?P<digits>{_DIGITS})"
    r"(?P<gap>[ \u00a0\u2009\u202f-]?)(?P<unit>[%×万萬億亿]|°C|[A-Za-zµμ]{1,12}(?![\w]))?"
)
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
    """``text`` as it stands there; ``values`` it may mean; ``unit`` is None where none stands beside it."""

    text: str
    values: frozenset[str]
    unit: str | None


def stated_figures(claim: str) -> list[Figure]:
    """The figures that a sentence states, without those of names (GPT-4), labels (Table 2) and ordinals."""
    return [_figure(match) for match in _stated(_unlabelled(claim))]


def figure_spans(text: str) -> list[tuple[int, int, Figure]]:
    """Start and end of each figure that a text states, in digits or as a telling word, with the figure."""
    digits = [
        (m.start(), m.end() if _unit(m) else m.end("digits"), _figure(m)) for m in _stated(_unlabelled(text))
    ]
    words = zip(_NUMBER_WORD.finditer(text), _written_out(text), strict=True)
    telling = [
        (match.start(), match.end(), figure)
        for match, figure in words
        if all(Decimal(value) >= _FIRST_TELLING_WORD for value in figure.values)
    ]
    return sorted((*digits, *telling), key=lambda span: span[:2])


def without_figures(claim: str) -> str:
    """The words of a sentence: what is left of it without figures, their units, and labels."""
    words = _unlabelled(claim)
    for match in _stated(words):
        end = match.end() if _unit(match) or _scale(match) > 1 else match.end("digits")
        words = words[: match.start()] + " " * (end - match.start()) + words[end:]
    return words


def _unlabelled(claim: str) -> str:
    return _ORDINAL.sub(_blank, _LABELLED.sub(_blank, claim))


def _stated(unlabelled: str) -> list[re.Match[str]]:
    return list(_FIGURE.finditer(_NAMED.sub(_blank, unlabelled)))


def missing_figures(claim: str, text: str) -> list[str]:
    """Figures of ``claim`` that do not stand in ``text``, or stand there with other units only."""
    present = [_figure(m) for m in _FIGURE.finditer(text)] + list(_written_out(text))
    missing = [f.text for f in stated_figures(claim) if not any(_agree(f, other) for other in present)]
    return list(dict.fromkeys(missing))


def missing_number_words(claim: str, text: str) -> list[str]:
    """Number words of ``claim``, from three on, whose number does not stand in ``text`` in any form."""
    present = {v for m in _FIGURE.finditer(text) for v in _figure(m).values}
    present |= {v for f in _written_out(text) for v in f.values}
    return [
        f.text
        for f in _written_out(claim)
        if not f.values & present and all(Decimal(v) >= _FIRST_TELLING_WORD for v in f.values)
    ]


def _agree(stated: Figure, present: Figure) -> bool:
    same_unit = stated.unit is None or present.unit is None or stated.unit == present.unit
    return same_unit and bool(stated.values & present.values)


def _figure(match: re.Match[str]) -> Figure:
    digits, scale, unit = match["digits"], _scale(match), _unit(match)
    values = {_normal(value) for value in _readings(digits)}
    if scale != 1:  # a table "in millions" holds the bare figure
        values |= {_normal(str(Decimal(value) * scale)) for value in values if value.count(".") < 2}
    text = match.group().strip() if unit or scale != 1 else digits
    return Figure(text, frozenset(values), unit)


def _scale(match: re.Match[str]) -> int:
    word = (match["unit"] or "").lower()
    return 1 if word in _LETTER_SCALES and match["gap"] else _SCALES.get(word, 1)


def _unit(match: re.Match[str]) -> str | None:
    word = match["unit"] or ""
    if match["currency"] or _scale(match) > 1:
        return match["currency"]
    return _UNITS.get(word) or (_UNITS.get(word.lower()) if len(word) > 2 else None)


def _readings(digits: str) -> Iterator[str]:
    """``1,234`` is 1234, ``0,5`` is 0.5, and ``1.234`` may be either."""
    plain = re.sub("[\u00a0\u2009\u202f]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain):
        yield plain.replace(",", "")
        return
    yield plain.replace(",", ".")
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", plain):
        yield plain.replace(".", "")


def _normal(value: str) -> str:
    try:
        return format(Decimal(value).normalize(), "f")
    except InvalidOperation:  # a version such as 1.5.5
        return value


def _written_out(text: str) -> Iterator[Figure]:
    """Numbers written in words."""
    for match in _NUMBER_WORD.finditer(text):
        tens, ones, small = (group.lower() if group else "" for group in match.groups())
        number = _TENS[tens] + _SMALL.get(ones, 0) if tens else _SMALL.get(small, _SCALES.get(small, 0))
        yield Figure(match.group(), frozenset({str(number)}), None)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())

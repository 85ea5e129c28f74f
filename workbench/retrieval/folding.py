"""One spelling for texts that mean the same: the step before words are taken from a text.

``unified`` works on a whole text and keeps case; ``folded`` works on one word and drops case and accents;
``stemmed`` gives a plain English word's stem.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
    "upsilon phi chi psi omega"
)
_GREEK = dict(zip(_LETTERS, _NAMES.split(), strict=True))
GREEK_NAMES = frozenset(_GREEK.values())

# Letters that Unicode does not decompose into a base letter and a mark.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
_UNIFIED = str.maketrans(
    dict.fromkeys("_‐‑‒–−﹘﹣", "-") | dict.fromkeys("’‘ʼ＇", "'") | {"∆": "δ", "।": " ", "॥": " "}
)

# Characters nobody sees. A soft hyphen, or the U+FFFE and U+0002 a PDF has in its place, also takes the
# line break after it.
_INVISIBLE = re.compile("[\u00ad\ufffe\u0002](?:[ \t]*\r?\n[ \t]*)?|[\u0000\u200b-\u200d\u2060\ufeff]")
_LINE_END_HYPHEN = re.compile(r"(?<=[^\W\d_])([-‐])[ \t]*\r?\n[ \t]*(?=[^\W\d_])")
_SPACED_THOUSANDS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_MICRO = re.compile(r"[µμ](?=(?:[mglsMLFJWVA]|mol|Sv|Gy|Ci)\b)")
_NOTE_MARK = re.compile(r"(?<=[^\W\d_]{4})(?=[¹²³⁰⁴-⁹])")
_GREEK_SEAM = re.compile(r"(?<=[A-Za-z0-9])(?=[α-ωΑ-Ω])|(?<=[α-ωΑ-Ω])(?=[A-Za-z0-9])")
_LONE_GREEK = re.compile(r"(?<![α-ω])[α-ω]{1,2}(?![α-ω])")
# Latin, Greek and Cyrillic accents; Hebrew and Arabic points; the Arabic stretching stroke.
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)

# Scripts without spaces between words (Chinese, Japanese, Thai, Lao, Burmese, Khmer), and Hangul, whose
# particles hang on the word.
_UNSPACED = re.compile(
    "([\u3005-\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff\u1100-\u11ff\uac00-\ud7a3\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf"
    "\u1000-\u103f\u1050-\u109f\u1780-\u17d3]+)"
)

_ELISION = re.compile(r"(?:[cdjlmnst]|qu)'(?=[^\W\d_]{3})", re.IGNORECASE)
_POSSESSIVE = re.compile(r"'s$", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")


def unified(text: str) -> str:
    """``text`` with one form for each hyphen, apostrophe, ligature, width, sub- and superscript.

    Words broken by soft hyphens are whole again, a hyphen at a line's end joins, "TNFα" reads "TNF-α" and
    "µm" reads "um". Case and accents are kept.
    """
    text = _INVISIBLE.sub("", text)
    if "\n" in text:
        text = _LINE_END_HYPHEN.sub(r"\1", text)
    if text.isascii():
        return text.replace("_", "-")
    text = _SPACED_THOUSANDS.sub("", unicodedata.normalize("NFC", text))
    text = _NOTE_MARK.sub(" ", _MICRO.sub("u", text))
    text = unicodedata.normalize("NFKC", text).translate(_UNIFIED)
    return _GREEK_SEAM.sub("-", text)


def segments(text: str) -> Iterator[tuple[bool, str]]:
    """Pieces of ``text`` in order, each with whether it is a run of a script without spaces."""
    if text.isascii():
        yield False, text
        return
    for position, piece in enumerate(_UNSPACED.split(text)):
        if piece:
            yield position % 2 == 1, piece


def folded(word: str) -> str:
    """One word without case, accents, apostrophes and thousands separators; lone Greek is spelled out."""
    if "'" in word:
        word = _POSSESSIVE.sub("", _ELISION.sub("", word)).replace("'", "")
    word = word.replace(",", "")
    if word[:1] == ".":
        word = f"0{word}"
    elif _INITIALS.fullmatch(word):
        word = word.replace(".", "")
    word = word.casefold()
    if word.isascii():
        return word
    word = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word)))
    word = _LONE_GREEK.sub(lambda run: "".join(_GREEK.get(letter, letter) for letter in run.group()), word)
    word = word.translate(_STROKES)
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in word)


def stemmed(word: str) -> str:
    """The Snowball English stem of a folded word; anything else than plain letters stays as it is."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    return _stemmer(threading.get_ident())(word)


@lru_cache(maxsize=32)
def _stemmer(thread: int) -> Callable[[str], str]:
    """The stemmer of one thread: PyStemmer's instances must not be shared."""
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer("english").stemWord
    return stem

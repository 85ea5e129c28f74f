"""The terms a text is found by: what the keyword index holds and what a keyword query asks it for.

A term is folded text without spaces. Compatibility forms are unified (ligatures, full-width letters,
sub- and superscripts), case and accents are dropped, lone Greek letters are spelled out (β-catenin is
beta-catenin), plain English words are stemmed (Snowball), and digits always count: IL-6 is ``il6`` and
never meets IL-2. Scripts written without spaces are cut into pairs of characters.

``terms`` is generous, ``query_terms`` is strict: "IL-6-induced" is indexed under ``il6induced``, ``il6``,
``il`` and ``induc``, but the query "IL-6" asks for ``il6`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from workbench.retrieval.folding import GREEK_NAMES, folded, segments, stemmed, unified

TERMS_VERSION = 1
"""Raised whenever the same text would give other terms; an index built under another number is rebuilt."""

MAX_TERM_CHARACTERS = 64
MAX_QUERY_TERMS = 256

_STOP_WORDS = (
    "a an and are as at be been by can did do does for from had has have how i in into is it its of on or "
    "that the their them then there these they this to was we were what when where which who why will with "
    "would you"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

_UNIT_SYMBOLS = (
    "b kb mb gb tb kib mib gib tib hz khz mhz ghz thz bp kbp mbp da kda g kg mg ug ng pg l ml ul nl m km cm "
    "mm um nm pm s ms us ns min h hr mol mmol umol nmol v mv kv w mw kw kwh gw j kj mj cal kcal ev kev mev "
    "gev k c pa kpa mpa gpa bar atm db rpm fps px dpi ppm ppb x fold"
)
_UNITS = frozenset(_UNIT_SYMBOLS.split())
_COUNTED = "year month week day hour minute second degree percent byte bit layer token"
_UNIT_WORDS = {form: word for word in _COUNTED.split() for form in (word, f"{word}s")}

_LETTER = "[\\w\u0900-\u0963\u0971-\u0dff]"  # Indic vowel signs are marks, which \w leaves out
_TOKEN = re.compile(
    rf"""
      \d+(?:\.\d+)?[eE][-+]?\d+(?!{_LETTER})                        # 1e-5
    | (?<![\d.,])\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?(?!\d|,\d)          # 21,015,324
    | (?<!{_LETTER})(?<!\.)\.\d+                                    # .05
    | [A-Za-z](?:\+\+|\#)(?!{_LETTER})                              # C++
    | (?:[A-Za-z]\.)+[A-Za-z](?!{_LETTER})                          # U.S.
    | {_LETTER}+(?:(?:[-'](?={_LETTER})|(?<=\d)\.(?=\d)){_LETTER}+)*
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SCIENTIFIC = re.compile(r"\d+(?:\.\d+)?[eE][-+]?\d+")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")
_CAMEL = re.compile(r"[A-Z]?[a-z]{2,}(?:[A-Z][a-z]{2,})+")
_CAMEL_PART = re.compile(r"[A-Z]?[a-z]+")
_WORD_WITH_DIGITS = re.compile(r"([a-z]{4,})\d+|(\d{4})[a-z]")  # interleukin6, 2019a
_GAPS = frozenset(("", " ", "\n", "°", " °"))

_MAX_TOKEN = 200
_MAX_PARTS = 12


def terms(text: str) -> list[str]:
    """Every term ``text`` can be found by, in reading order, repeated as often as it occurs."""
    found: list[str] = []
    for word, joined, _ in _words(text, _joined_in_text):
        if joined:
            found.append(joined)
        found += word.found_by
    return found


def query_terms(text: str) -> list[str]:
    """The terms to search for: distinct, in order, at most ``MAX_QUERY_TERMS``.

    English stop words are left out unless nothing else is there. Of an identifier only the whole is
    asked for, of a run without spaces only its pairs of characters.
    """
    asked: list[tuple[str, bool]] = []
    shouting = text.isupper()
    for word, joined, replaces in _words(text, _joined_in_query):
        if replaces:
            asked.pop()
        if joined:
            asked.append((joined, False))
        if not replaces:
            named = word.capitals == 2 and not shouting and (len(word.plain) > 1 or bool(asked))
            stop = word.plain in STOP_WORDS and not named
            asked += [(term, stop) for term in word.asked]
    chosen = [term for term, stop in asked if not stop] or [term for term, _ in asked]
    return list(dict.fromkeys(chosen))[:MAX_QUERY_TERMS]


class _Word(NamedTuple):
    """One token, analysed: the terms it is found by and the terms a query for it asks for.

    ``plain`` is its folded text before stemming ("" for a compound). ``kind`` is what a neighbour needs to
    know of it, "" where it never joins one. ``capitals`` is 1 for a first letter in capitals, 2 for all.
    """

    found_by: tuple[str, ...]
    asked: tuple[str, ...]
    plain: str = ""
    kind: str = ""
    capitals: int = 0


_Join = Callable[[_Word, _Word], tuple[str, bool]]


def _words(text: str, join: _Join) -> Iterator[tuple[_Word, str, bool]]:
    """Each word of ``text``, the term it forms with the word before it, and whether that term stands
    for both."""
    for unspaced, segment in segments(unified(text)):
        if unspaced:
            yield _characters(segment), "", False
            continue
        before, end = None, 0
        for match in _TOKEN.finditer(segment):
            token = match.group()
            for piece in (token,) if len(token) <= _MAX_TOKEN else _pieces(token):
                word = _analysed(piece)
                joined, replaces = "", False
                if word.kind and before and before.kind and segment[end : match.start()] in _GAPS:
                    joined, replaces = join(before, word)
                yield word, joined, replaces
                before, end = word, match.end()


def _pieces(token: str) -> list[str]:
    """The parts of a token too long to be a compound anybody means, each cut to a term's length."""
    return [part[:MAX_TERM_CHARACTERS] for part in re.split("[-'.]", token) if part]


def _characters(run: str) -> _Word:
    pairs = tuple(a + b for a, b in pairwise(run))
    return _Word(found_by=tuple(run) + pairs, asked=pairs or (run,))


@lru_cache(maxsize=1 << 15)
def _analysed(token: str) -> _Word:
    parts = [plain for part in token.split("-") if (plain := folded(part))]
    if _SCIENTIFIC.fullmatch(token):
        parts = [token.lower()]
    if not parts:
        return _Word((), ())
    plain = parts[0] if len(parts) == 1 else ""
    found_by, asked = _single(plain, token) if plain else _compound(parts)
    return _Word(
        found_by=tuple(dict.fromkeys(term[:MAX_TERM_CHARACTERS] for term in found_by)),
        asked=tuple(dict.fromkeys(term[:MAX_TERM_CHARACTERS] for term in asked)),
        plain=plain,
        kind=_kind(plain),
        capitals=2 if token.isupper() else int(token[0].isupper()),
    )


def _single(plain: str, token: str) -> tuple[list[str], list[str]]:
    """What a word without hyphens is found by, and what a query for it asks for."""
    found_by = [stemmed(plain)]
    if _CAMEL.fullmatch(token):
        found_by += [stemmed(part.lower()) for part in _CAMEL_PART.findall(token)]
    elif quantity := _QUANTITY.fullmatch(plain):
        number, unit = quantity.groups()
        if unit in _UNITS or unit in _UNIT_WORDS:
            found_by = [number + _UNIT_WORDS.get(unit, unit), number, stemmed(unit)]
    if numbered := _WORD_WITH_DIGITS.fullmatch(plain):
        found_by.append(stemmed(numbered[1] or numbered[2]))
    return found_by, found_by[:1]


def _compound(parts: list[str]) -> tuple[list[str], list[str]]:
    """What a hyphenated word is found by, and what a query for it asks for."""
    if all(map(_NUMBER.fullmatch, parts)):
        return parts, parts
    whole = _run(parts)
    found_by = [whole]
    for part in parts:
        if _NUMBER.fullmatch(part):
            found_by += [part] if len(part) > 2 else []
        elif len(part) > 1:
            found_by += _single(part, part)[0]
    if len(parts) <= _MAX_PARTS:
        found_by += _names_within(parts)
    return found_by, [whole, *_asked_parts(parts)]


def _names_within(parts: list[str]) -> list[str]:
    """Runs of two to four parts that may be a name of their own: il6 and sarscov2 in a longer word."""
    names = []
    for start in range(len(parts) - 1):
        for stop in range(start + 2, min(start + 5, len(parts) + 1)):
            if any(len(part) == 1 or _identifying(part) for part in parts[start:stop]):
                names.append(_run(parts[start:stop]))
    return names


def _asked_parts(parts: list[str]) -> list[str]:
    """What a query for a compound asks for beside the whole.

    A number or a Greek letter belongs to the name beside it, and neither is asked for alone; the other
    long words are.
    """
    if not any(map(_identifying, parts)):
        return [stemmed(part) for part in parts if len(part) > 2 and part not in STOP_WORDS]
    asked: list[str] = []
    rest = set(range(len(parts)))
    for start, stop in _identifying_runs(parts):
        if _NUMBER.fullmatch(parts[start]) or parts[start] in GREEK_NAMES:
            if start and parts[start - 1].isalpha():
                start -= 1
            elif stop < len(parts) and parts[stop].isalpha():
                stop += 1
        asked.append(_run(parts[start:stop]))
        rest.difference_update(range(start, stop))
    words = [parts[place] for place in sorted(rest) if len(parts[place]) > 3]
    return asked + [stemmed(word) for word in words if word not in STOP_WORDS]


def _identifying_runs(parts: list[str]) -> list[tuple[int, int]]:
    """Start and stop of each run of neighbouring parts that hold a digit or are a Greek letter."""
    runs: list[tuple[int, int]] = []
    for place, part in enumerate(parts):
        if not _identifying(part):
            continue
        if runs and runs[-1][1] == place:
            runs[-1] = (runs[-1][0], place + 1)
        else:
            runs.append((place, place + 1))
    return runs


def _identifying(part: str) -> bool:
    return part in GREEK_NAMES or any(character.isdecimal() for character in part)


def _run(parts: Sequence[str]) -> str:
    """The parts as one term; a hyphen stays between digits, so that 2-7b is not 27b."""
    joined = parts[0]
    for part in parts[1:]:
        joined += f"-{part}" if joined[-1].isdecimal() and part[0].isdecimal() else part
    if quantity := _QUANTITY.fullmatch(joined):
        joined = quantity[1] + _UNIT_WORDS.get(quantity[2], quantity[2])
    return stemmed(joined)


def _kind(plain: str) -> str:
    """What a neighbour needs to know: number, unit, period, greek, letter, name or word; "" for others."""
    if _NUMBER.fullmatch(plain):
        return "number"
    if plain in _UNITS:
        return "unit"
    if plain in _UNIT_WORDS:
        return "period"
    if plain in GREEK_NAMES:
        return "greek"
    if not plain.isascii() or not plain.isalpha():
        return ""
    if len(plain) == 1:
        return "letter"
    if plain in STOP_WORDS:
        return ""
    return "name" if len(plain) <= 10 else "word"


def _joined_in_query(before: _Word, word: _Word) -> tuple[str, bool]:
    """The term two neighbours form, and whether it replaces them: "18 GB" is 18gb, "IL 6" is also il6."""
    pair = (before.plain, word.plain)
    if before.kind == "number":
        if word.kind == "unit":
            return _run(pair), True
        return (_run(pair) if word.kind == "period" else ""), False
    if word.kind == "greek":
        letter = before.kind == "letter" and before.capitals > 0
        return (_run(pair) if letter or before.kind in ("name", "unit") else ""), False
    if before.kind == "greek":
        return (_run(pair) if word.kind in ("name", "word") else ""), False
    numbered = before.kind == "name" and word.kind == "number" and len(word.plain) <= 3
    return (_run(pair) if numbered else ""), False


def _joined_in_text(before: _Word, word: _Word) -> tuple[str, bool]:
    """As in a query, but a name before a number starts with a capital: "of 3" is no name, Llama 2 is."""
    if word.kind == "number" and not before.capitals:
        return "", False
    return _joined_in_query(before, word)

"""Whether two texts are in languages so different that their words cannot be compared."""

from __future__ import annotations

import re
from collections.abc import Set

LEAST_SHARE = 0.1  # of small words, by which a language is known; tables and formulas have fewer

_WORD = re.compile(r"[^\W\d_]+")
_OTHER_SCRIPT = re.compile("[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufaff]")
_ENGLISH = frozenset({"the", "of", "and", "to", "in", "is", "that", "for", "with", "are", "was", "by", "it"})
_OTHER_SMALL_WORDS = """der die das und ist nicht mit von den ein eine le la les des et est une que dans pour
sur nous el los las y en por del con il di che per della no uma do da em o os het een van"""
_OTHER = frozenset(_OTHER_SMALL_WORDS.split()) - _ENGLISH


def in_other_languages(one: str, two: str) -> bool:
    """Whether one is in English and the other in another language, or both in different scripts.

    False where either does not tell.
    """
    languages = {_language(one), _language(two)}
    return len(languages) == 2 and None not in languages


def _language(text: str) -> str | None:
    words = [word.lower() for word in _WORD.findall(text)]
    letters = sum(map(len, words))
    if letters and len(_OTHER_SCRIPT.findall(text)) > 0.3 * letters:
        return "another script"
    shares = {"English": _share(words, _ENGLISH), "another language": _share(words, _OTHER)}
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= LEAST_SHARE else None


def _share(words: list[str], small: Set[str]) -> float:
    return sum(word in small for word in words) / max(1, len(words))

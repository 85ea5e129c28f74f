"""Words that look like names of things: with inner capitals (DuckDB), or letters with digits (BMH-21)."""

from __future__ import annotations

import re
from collections.abc import Set

from workbench.retrieval.terms import query_terms

SHORTEST_NAME = 3
_SHORTEST_NUMBERED = 2  # T5, p53

_LETTER = "A-Za-z\u00c0-\u024f\u0370-\u04ff"  # scripts with capitals
_TOKEN = re.compile(rf"[{_LETTER}0-9][{_LETTER}0-9_./+-]*[{_LETTER}0-9]")
_ENGLISH = frozenset({"the", "of", "which", "what", "how", "does", "did", "and", "with", "are", "is"})
_ADJECTIVE = re.compile(r"\w+(?:ese|ish|ian|ean)|French|German|Dutch|Greek|Swiss|Czech")  # of a country
_PERIOD = re.compile(r"Q[1-4]|H[12]|FY\d+")  # reports spell them out
_CAPITALISED = re.compile(r"(?<=[a-z0-9,;] )[A-Z][a-z]{2,}\b(?![-'’]?[A-Z])")
_POSSESSIVE = re.compile(r"['’]s?$")
_QUANTITY = re.compile(r"\d[\d.,]*-?[A-Za-zµμ%°]{1,3}(?:-\d[\d.,]*[A-Za-z]{0,3})?")  # 18GB, 3-to-10
_WORD_WITH_NUMBER = re.compile(r"[a-z]{3,}[-.]\d+(?:[.,]\d+)*")  # top-15


def names(text: str) -> list[str]:
    """The distinct names in ``text``, in order. A text all in capitals has only those with digits."""
    shouting = text.upper() == text
    found = []
    for match in _TOKEN.finditer(text):
        word = _POSSESSIVE.sub("", match.group())
        named = _is_numbered(word) or (_has_inner_capital(word) and not shouting)
        if named and not _PERIOD.fullmatch(word):
            found.append(word)
    return list(dict.fromkeys(found))


def proper_nouns(text: str) -> list[str]:
    """Words with a capital inside an English sentence (Annoy, Mexico), which ``names`` does not tell from
    others. None in a text that is not plainly English, or has a capital on most words."""
    words = re.findall(r"[^\W\d_]+", text)
    if not _ENGLISH & {word.lower() for word in words}:
        return []
    found = [word for word in _CAPITALISED.findall(text) if not _ADJECTIVE.fullmatch(word)]
    return list(dict.fromkeys(found)) if len(found) <= len(words) / 3 else []


def is_numbered(name: str) -> bool:
    """Whether a name is told from its neighbours by a number: IL-6, HNSW32."""
    return any(c.isdigit() for c in name)


def mentioned(name: str, bag: Set[str]) -> bool:
    """Whether a text with these terms holds the name."""
    wanted = query_terms(name)
    return not wanted or any(term in bag for term in wanted)


def spelled_out(name: str, text: str) -> bool:
    """Whether the words of ``text`` spell out an acronym: RAG in "retrieval-augmented generation"."""
    initials = "".join(word[0] for word in re.findall(r"[^\W\d_]+", text.lower()))
    return name.isalpha() and name.lower() in initials


def _has_inner_capital(word: str) -> bool:
    return len(word) >= SHORTEST_NAME and any(c.isupper() for c in word[1:]) and not word[0].isdigit()


def _is_numbered(word: str) -> bool:
    """Letters with digits, but no quantity: not 18GB, 150-word, 2nd or top-15."""
    if len(word) < _SHORTEST_NUMBERED or not is_numbered(word) or not any(c.isalpha() for c in word):
        return False
    if word[0].isdigit():
        return any(c.isupper() for c in word) and not _QUANTITY.fullmatch(word)
    return not _WORD_WITH_NUMBER.fullmatch(word)

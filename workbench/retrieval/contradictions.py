"""Signs that a sentence says the opposite of its source in nearly the same words.

Two checks, in English only: a negation that stands before a shared word in one text and not in the other, and
a word of direction (rose) where the source has its opposite (fell) and not the word itself. Both are for
texts that share most of their words; elsewhere they say little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NEGATION = frozenset({"not", "no", "never", "cannot", "neither", "nor", "without"})
_NEGATION_REACH = 3  # words
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:!?()]")

_OPPOSITES = (
    (
        r"ris(?:e|es|en|ing)|rose|increas\w*|gr[eo]w\w*|gain(?:s|ed)?|higher|raised?|raises",
        r"f[ae]ll(?:s|en|ing)?|decreas\w*|declin\w*|drop(?:s|ped)?|lower|lowered|lowers|reduc\w*|los[et]|loses",
    ),
    (r"faster|quicker|sooner", r"slower|later"),
    (r"better|improv\w*", r"worse\w*|deteriorat\w*|degrad\w*"),
    (r"more|greater|larger", r"less|fewer|smaller"),
    (r"above|exceed\w*|over", r"below|under"),
    (r"activat\w*|promot\w*|upregulat\w*", r"inhibit\w*|suppress\w*|downregulat\w*"),
)
_PATTERNS = tuple(
    tuple(re.compile(rf"\b(?:{side})\b", re.IGNORECASE) for side in sides) for sides in _OPPOSITES
)


def contradiction(claim: str, source: str) -> str:
    """Why the two disagree, in a few words; empty where nothing tells."""
    return _opposite_direction(claim, source) or _negated_once(claim, source)


def _opposite_direction(claim: str, source: str) -> str:
    for sides in _PATTERNS:
        for here, there in (sides, sides[::-1]):
            said, found = here.search(claim), there.search(source)
            if said and found and not here.search(source) and not there.search(claim):
                return f"it says “{said.group()}” where its source says “{found.group()}”"
    return ""


def _negated_once(claim: str, source: str) -> str:
    claimed, sourced = set(_words(claim)), set(_words(source))
    for word in _negated(source, reach=1):
        if word in claimed and word not in _negated(claim, reach=_NEGATION_REACH):
            return f"its source says “not {word}”"
    for word in _negated(claim, reach=1):
        if word in sourced and word not in _negated(source, reach=_NEGATION_REACH):
            return f"its source does not say “not {word}”"
    return ""


def _negated(text: str, *, reach: int) -> set[str]:
    """The words that stand at most ``reach`` words after a negation, and after no sign between."""
    negated: set[str] = set()
    left = 0
    for word in _words(text):
        if word in _NEGATION or word.endswith(("n't", "n’t")):
            left = reach
        elif not word[0].isalpha():
            left = 0
        elif left:
            negated.add(word)
            left -= 1
    return negated


def _words(text: str) -> Iterator[str]:
    return (match.group() for match in _WORD.finditer(text.lower()))

"""Signs that a sentence says the opposite of its source in other words.

Two checks: a negation that stands before a shared word or figure in one text and not in the other, and a
word of direction (rose) where the source has its opposite (fell) and not the word itself. Both are for texts
that share most of their words; elsewhere they say little. Sentences that restate their source nearly word
for word are compared more closely (``alterations``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.records import Support
from workbench.retrieval.opposites import NEGATIONS, opposite, opposites_of, prefixed
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import STOP_WORDS, query_terms

_NEGATION_REACH = 3  # telling words
_SIGNS = frozenset(".,;:!?()")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:!?()]")
_NO_NEGATION = re.compile(
    r"\b(?:not (?:only|just|merely|least)|no (?:more|less|fewer|later|longer) than|no doubt|"
    r"with or without|whether or not|or not|nothing but)\b",
    re.IGNORECASE,
)
# Other ways of saying that something is not so.
_DENIAL = re.compile(
    r"\b(?:fail\w*|lack\w*|absen\w*|refus\w*|avoid\w*|unable|impossible|prevent\w*|exclud\w*|instead of|"
    r"rather than|zero|0(?![.,]\d)|ignor\w*|hardly|barely|rarely|seldom|miss(?:es|ed|ing)|skip\w*|unused|"
    r"except|keep(?:s|ing)?|kept|remain\w*|retain\w*|preserv\w*|maintain\w*|unchanged|constant|un\w+ed|"
    r"un\w+able|non-?\w+|too \w+ to|free of|far from|outside|beyond|only|solely|just)\b",
    re.IGNORECASE,
)


def contradiction(claim: str, source: str) -> tuple[Support, str] | None:
    """How far the claim is from its source, and why in a few words; None where nothing tells.

    What one text denies and the other says outright leaves the claim unsupported; a word of direction may
    be turned round by what is around it, so it only casts doubt.
    """
    negated = _negated_once(claim, source)
    if negated:
        return "unsupported", negated
    turned = _opposite_direction(claim, source)
    return ("partly", turned) if turned else None


def _opposite_direction(claim: str, source: str) -> str:
    said, found = (list(dict.fromkeys(_words(text))) for text in (claim, source))
    only_here = [w for w in said if w not in found and w not in STOP_WORDS and opposites_of(w)]
    only_there = [w for w in found if w not in said and w not in STOP_WORDS and opposites_of(w)]
    for here in only_here:
        for there in only_there:
            kept = any(opposite(here, word) for word in said) or any(opposite(there, word) for word in found)
            if opposite(here, there) and not kept:
                return f"it says “{here}” where its source says “{there}”"
    return ""


def _negated_once(claim: str, source: str) -> str:
    """A negation on one side only: before something that both speak of, and with no other way of saying so
    on the other side."""
    denied = _denied_by_prefix(claim, source)
    if denied and not _denies(source):
        return denied
    if not _denies(claim):
        for word, term in _negated(source, reach=1):
            if word in set(_words(claim)) and term not in _asserted(source):
                return f"its source says “not {word}”"
    if _denies(source) or _turned_round(claim, source):
        return ""
    shared = term_set(source)
    for word, term in _negated(claim, reach=_NEGATION_REACH):
        if term in shared:
            return f"its source does not say “not {word}”"
    return ""


def _denied_by_prefix(claim: str, source: str) -> str:
    """A word with a prefix that denies it, where the source has it without: unimportant and important."""
    found = set(_words(source))
    for word in _words(claim):
        if word not in found and any(prefixed(word, plain) and len(plain) < len(word) for plain in found):
            return f"its source does not say “{word}”"
    return ""


def _denies(text: str) -> bool:
    plain = _NO_NEGATION.sub(" ", text)
    return _DENIAL.search(plain) is not None or any(_is_negation(word) for word in _words(plain))


def _turned_round(claim: str, source: str) -> bool:
    """Whether the negated word is the opposite of what the source says: "did not fall" where it rose."""
    found = [word for word in set(_words(source)) if opposites_of(word)]
    for word, _ in _negated(claim, reach=_NEGATION_REACH):
        if word not in found and any(opposite(word, there) for there in found):
            return True
    return False


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))


def _asserted(text: str) -> set[str]:
    """The terms of a text that stand behind no negation."""
    negated = {term for _, term in _negated(text, reach=1)}
    counts: dict[str, int] = {}
    for word in _words(text):
        for term in query_terms(word):
            counts[term] = counts.get(term, 0) + 1
    return {term for term, count in counts.items() if count > (term in negated)}


def _negated(text: str, *, reach: int) -> list[tuple[str, str]]:
    """The telling words, each with its term, that stand at most ``reach`` telling words after a negation,
    and after no sign between."""
    telling = set(query_terms(text))
    negated = []
    left = 0
    for word in _words(_NO_NEGATION.sub(" ", text)):
        if _is_negation(word):
            left = reach
        elif word in _SIGNS:
            left = 0
        elif left and (found := [term for term in query_terms(word) if term in telling]):
            negated.append((word, found[0]))
            left -= 1
    return negated


def _words(text: str) -> Iterator[str]:
    return (match.group() for match in _WORD.finditer(text.lower()))

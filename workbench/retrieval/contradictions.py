"""Signs that a sentence says the opposite of its source in nearly the same words.

Two checks, in English only: a negation that stands before a shared word or figure in one text and not in the
other, and a word of direction (rose) where the source has its opposite (fell) and not the word itself. Both
are for texts that share most of their words; elsewhere they say little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

_NEGATION = frozenset({"not", "no", "never", "cannot", "neither", "nor", "without", "none", "nothing"})
_NEGATION_REACH = 3  # telling words
_SIGNS = frozenset(".,;:!?()")
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*|[.,;:!?()]")
_NO_NEGATION = re.compile(
    r"\b(?:not (?:only|just|merely|least)|no (?:more|less|fewer|later|longer) than|no doubt|"
    r"with or without|whether or not|or not)\b",
    re.IGNORECASE,
)
# Other ways of saying that something is not so.
_DENIAL = re.compile(
    r"\b(?:fail\w*|lack\w*|absen\w*|refus\w*|avoid\w*|unable|impossible|prevent\w*|exclud\w*|instead of|"
    r"rather than|zero|0(?![.,]\d)|ignor\w*|hardly|barely|rarely|seldom|miss(?:es|ed|ing)|skip\w*|unused|"
    r"except|keep(?:s|ing)?|kept|remain\w*|retain\w*|preserv\w*|maintain\w*|unchanged|constant|un\w+ed|"
    r"un\w+able|non-?\w+|too \w+ to|free of|far from)\b",
    re.IGNORECASE,
)

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
    """A negation on one side only: before something that both speak of, and with no other way of saying so
    on the other side."""
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


def _denies(text: str) -> bool:
    plain = _NO_NEGATION.sub(" ", text)
    return _DENIAL.search(plain) is not None or any(_is_negation(word) for word in _words(plain))


def _turned_round(claim: str, source: str) -> bool:
    """Whether the negated word is the opposite of what the source says: "did not fall" where it rose."""
    negated = " ".join(word for word, _ in _negated(claim, reach=_NEGATION_REACH))
    return any(
        here.search(negated) and there.search(source) and not here.search(source)
        for sides in _PATTERNS
        for here, there in (sides, sides[::-1])
    )


def _is_negation(word: str) -> bool:
    return word in _NEGATION or word.endswith(("n't", "n’t"))


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

"""What was changed in a sentence that restates its source nearly word for word.

Of the differences that shared words hold in their place, those are told that change what is said: a figure, a
unit, a name or a word of direction in another one's place, a negation on one side, a claim for all where the
source speaks of some, two things in each other's place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from workbench.records import Support
from workbench.retrieval.figures import missing_figures, scale_named
from workbench.retrieval.folding import stemmed
from workbench.retrieval.opposites import (
    DENIALS,
    DOUBTS,
    LIMITS,
    claims_more,
    negations,
    opposite,
    opposite_signs,
    prefixed,
)
from workbench.retrieval.terms import STOP_WORDS
from workbench.retrieval.units import unit_named
from workbench.retrieval.wording import (
    Comparison,
    Difference,
    Token,
    compared,
    exchanged,
    nearest_sentences,
    pairs,
    pairs_of,
)

CLOSE = 0.6  # share of a sentence's words that stand in its source in the same order
CLOSEST = 0.75  # … from which one other word is worth a remark
_MOST_DENIED = 4  # words of a difference that a negation in it denies; more is a clause added or left out
_ALIKE = 0.75  # of two spellings of one word
_NUMBER = re.compile(r"[-+]?\d+(?:[.,:]\d+)*")

_JUST = frozenset({"just", "merely", "single", "sole", "limited", "alone", "nothing"})

Finding = tuple[Support, str]


def altered(claim: str, source: str) -> Finding | None:
    """What the claim changes in the sentence it restates, or None.

    Of sentences that the claim restates equally well, the one that agrees with it decides.
    """
    found: Finding | None = None
    for sentence in _restated(claim, source):
        comparison = compared(claim, sentence)
        finding = _finding(sentence, comparison)
        if finding is None:
            return None
        found = found or finding
    return found


def word_for_word(claim: str, source: str) -> bool:
    """Whether the claim stands in the source as it is, from the beginning of a sentence to its end."""
    return any(not compared(claim, sentence).differences for sentence in _restated(claim, source))


def _restated(claim: str, source: str) -> list[str]:
    """The sentence nearest to the claim in its words and their order, and others as near."""
    nearest = nearest_sentences(claim, source)
    alike = [len(pairs_of(claim) & pairs_of(sentence)) for sentence in nearest]
    return [s for s, count in zip(nearest, alike, strict=True) if count == alike[0]]


def _finding(sentence: str, comparison: Comparison) -> Finding | None:
    swapped = exchanged(comparison.claim, comparison.source)
    if swapped:
        return "unsupported", f"“{swapped[0]}” and “{swapped[1]}” stand the other way round in its source"
    if comparison.shared < 0.3:
        return None
    findings = list(_findings(sentence, comparison))
    return min(findings, key=lambda finding: finding[0] != "unsupported", default=None)


def _findings(sentence: str, comparison: Comparison) -> Iterator[Finding]:
    turned = _turned(comparison)
    crossing = _crossing(comparison)
    if crossing:
        yield "unsupported", crossing
    for difference in comparison.differences:
        if not difference.firm:
            continue
        said, found = _keys(difference.said), _keys(difference.found)
        where = _where(difference)
        if (
            _other_figures(difference, comparison, sentence)
            or _other_units(difference)
            or _turned_round(said, found, turned=turned)
            or _other_names(difference, comparison)
        ):
            yield "unsupported", where
        yield from _qualified(difference, comparison, where)
        if (
            comparison.shared >= CLOSEST
            and _other_word(said, found)
            and not _moved(filter(_tells, found), comparison)
        ):
            yield "partly", where


def _turned(comparison: Comparison) -> bool:
    """Whether the differences leave a negation on one side: one that only moved does not count."""
    net = 0
    for difference in comparison.differences:
        said, found = _keys(difference.said), _keys(difference.found)
        if max(len(said), len(found)) <= _MOST_DENIED or difference.firm:
            net += negations(said) - negations(found)
    return net % 2 != 0


def _turned_round(said: Sequence[str], found: Sequence[str], *, turned: bool) -> bool:
    """Whether a negation or an opposite stands on one side, but not both, which would cancel out."""
    new, gone = [w for w in said if w not in found], [w for w in found if w not in said]
    opposites = [(a, b) for a in new for b in gone if opposite(a, b) or prefixed(a, b)]
    paired = {word for pair in opposites for word in pair}
    one, other = ([w for w in each if w not in paired] for each in (new, gone))
    denied = (negations(one) - negations(other)) % 2 != 0
    if denied and not opposites and (not turned or not _denies_what_is_there(said, found, one, other)):
        return False
    return denied != (bool(opposites) or opposite_signs("".join(new), "".join(gone)))


def _denies_what_is_there(
    said: Sequence[str], found: Sequence[str], new: Sequence[str], gone: Sequence[str]
) -> bool:
    """Whether a negation on one side is all there is to it: no clause of its own, and no denial in other
    words on the other side."""
    if max(len(said), len(found)) > _MOST_DENIED:
        return False
    denying, other = (new, gone) if negations(new) % 2 else (gone, new)
    if not other and any(map(_tells, denying)):
        return False
    return not any(w in DENIALS for w in other)


def _other_figures(difference: Difference, comparison: Comparison, sentence: str) -> bool:
    """Another figure in the place of one that is gone, and that stands nowhere in the sentence."""
    said, found = _with_figures(difference.said), _with_figures(difference.found)
    if not said or len(said) != len(found) or max(len(difference.said), len(difference.found)) > 3:
        return False
    one, other = (_figure_text((*each, difference.behind)) for each in (difference.said, difference.found))
    if not missing_figures(one, other) and not _other_sign(difference):
        return False
    here = not missing_figures(one, sentence, nearest=sentence)
    return not (here and _moved(set(found), comparison))


def _figure_text(words: Sequence[Token]) -> str:
    """The words with number words in digits; elsewhere as written, for the case of units."""
    return " ".join(t.key if t.key.isdigit() else t.text for t in words)


def _with_figures(words: Sequence[Token]) -> list[str]:
    return [t.key for t in words if t.key[-1:].isdigit() or t.key[:1].isdigit()]


def _other_sign(difference: Difference) -> bool:
    """Whether one of two figures alone has a minus."""
    one, other = ("".join(t.key for t in each) for each in (difference.said, difference.found))
    return one.lstrip("-") == other.lstrip("-") and one != other


def _other_units(difference: Difference) -> bool:
    if len(difference.said) != 1 or len(difference.found) != 1:
        return False
    words = difference.said[0].text, difference.found[0].text
    one, other = (unit_named(word) or scale_named(word) for word in words)
    return one is not None and other is not None and one != other


def _other_names(difference: Difference, comparison: Comparison) -> bool:
    """Another name in the place of one that the claim does not hold elsewhere."""
    said, found = ([t for t in each if _is_name(t)] for each in (difference.said, difference.found))
    if not said or not found or max(len(difference.said), len(difference.found)) > _MOST_DENIED:
        return False
    one, other = ("".join(t.key for t in each) for each in (said, found))
    if one in other or other in one or _moved({t.key for t in found}, comparison):
        return False
    initials = {"".join(t.key[0] for t in each) for each in (difference.said, difference.found)}
    return not ({one, other} & initials)


def _moved(gone: Iterable[str], comparison: Comparison) -> bool:
    """Whether the words that are gone here stand elsewhere in the claim, as often as in the source."""
    return all(_count(key, comparison.claim) >= _count(key, comparison.source) for key in gone)


def _count(key: str, words: Sequence[Token]) -> int:
    return sum(token.key == key for token in words)


def _is_name(token: Token) -> bool:
    word = token.text
    if len(word) > 1 and unit_named(word):
        return False
    return word[:1].isalpha() and (word[0].isupper() or any(c.isupper() or c.isdigit() for c in word[1:]))


def _qualified(difference: Difference, comparison: Comparison, where: str) -> Iterator[Finding]:
    said, found = _keys(difference.said), _keys(difference.found)
    new, gone = [w for w in said if w not in found], [w for w in found if w not in said]
    more = [claims_more(a, b) for a in new for b in gone]
    if comparison.shared < CLOSE or max(len(new), len(gone)) > 3:
        return
    if any(more):
        yield ("unsupported" if max(more) > 0 else "partly"), where
    elif (any(w in DOUBTS for w in gone) and not any(w in DOUBTS for w in new)) or (
        any(w in LIMITS for w in new) != any(w in LIMITS for w in gone) and not _JUST & {*new, *gone}
    ):
        yield "partly", where


def _other_word(said: Sequence[str], found: Sequence[str]) -> bool:
    """One telling word in the place of another one that is no form or spelling of it."""
    one, other = ([w for w in each if _tells(w)] for each in (said, found))
    if len(one) != 1 or len(other) != 1 or max(len(said), len(found)) > 2:
        return False
    a, b = stemmed(one[0]), stemmed(other[0])
    return a != b and SequenceMatcher(None, one[0], other[0]).ratio() < _ALIKE


def _tells(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word not in STOP_WORDS and not negations([word])


def _crossing(comparison: Comparison) -> str:
    """Two words or figures of the claim that fit the source's wording better in each other's place."""
    wanted = pairs(comparison.source)
    words = list(comparison.claim)
    now = len(pairs(words) & wanted)
    held = {token.key for token in comparison.source}
    places = [
        i
        for i, t in enumerate(words)
        if t.text and t.key in held and (_is_name(t) or _NUMBER.fullmatch(t.key))
    ]
    for at, i in enumerate(places[:12]):
        for j in places[at + 1 : 12]:
            if words[i].key == words[j].key:
                continue
            words[i], words[j] = words[j], words[i]
            gained = len(pairs(words) & wanted) - now
            words[i], words[j] = words[j], words[i]
            if gained >= 3 or (gained >= 2 and j - i == 2):
                return f"“{words[i].text}” and “{words[j].text}” stand the other way round in its source"
    return ""


def _keys(words: Sequence[Token]) -> list[str]:
    return [word.key for word in words]


def _where(difference: Difference) -> str:
    said, found = (" ".join(t.text for t in each) for each in (difference.said, difference.found))
    if said and found:
        return f"it says “{said}” where its source says “{found}”"
    return f"it adds “{said}” to its source" if said else f"it leaves out “{found}” of its source"

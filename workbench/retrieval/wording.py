"""Where a sentence and its source part ways word for word.

A sentence that restates its source nearly word for word can be laid beside it; what differs between words
that both share is then a change on purpose, and its kind can be told: another number, another name, a
negation. Of a free paraphrase little lies beside anything, so little is found. The alignment is that of the
longest common stretches (Ratcliff and Obershelp 1988, as in ``difflib``).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache

from workbench.retrieval.closeness import sentences
from workbench.retrieval.folding import segments, unified

LONGEST = 120  # words of one sentence that are compared; a longer run is a table
FIRM_BEFORE = 1  # words shared on each side of a difference …
FIRM_AROUND = 3  # … and on both together, that hold it in its place

_TOKEN = re.compile(
    r"(?:(?<![\w)\]])[-+](?=\d))?(?:(?<![\w.])\.)?\d+(?:[.,:]\d+)*(?![^\W_])|(?:[^\W\d_]\.){2,}|[^\W_]+(?:['.+][^\W_]+)*|[%$€£×°<>=±~]"
)
_REFERENCE = re.compile(r"\[\d{1,3}(?:[\s,;–-]+\d{1,3})*\]")  # of the paper's own list
_OPENING, _CLOSING = "<", ">"
_NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve""".split()
_IN_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS) if number > 1}
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Token:
    """A word or figure: ``text`` as written, ``key`` as compared, ``listed`` where a comma follows. A
    sentence's ends are tokens too."""

    text: str
    key: str
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """What stands in the claim where the source has something else; either may be empty.

    ``firm``: held in its place by the same words before and behind it. ``before`` and ``behind`` are the
    shared words next to it.
    """

    said: tuple[Token, ...]
    found: tuple[Token, ...]
    firm: bool
    before: Token
    behind: Token


@dataclass(frozen=True, slots=True)
class Comparison:
    """``shared`` is the share of the claim's words that stand in the source in the same order."""

    claim: tuple[Token, ...]
    source: tuple[Token, ...]
    differences: tuple[Difference, ...]
    shared: float


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[Token, ...]:
    """The words, figures and signs of a text in order, without references; of a script without spaces, its
    characters."""
    found: list[Token] = []
    for unspaced, piece in segments(_REFERENCE.sub(" ", unified(text))):
        if unspaced:
            found += [Token(character, character) for character in piece]
        else:
            found += [_token(m.group(), piece[m.end() : m.end() + 1]) for m in _TOKEN.finditer(piece)]
    return tuple(found)


@lru_cache(maxsize=256)
def compared(claim: str, source: str) -> Comparison:
    """A claim beside one sentence of its source."""
    said, found = _bounded(claim), _bounded(source)
    matcher = SequenceMatcher(None, [t.key for t in said], [t.key for t in found], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    differences = []
    for one, two in itertools.pairwise(blocks):
        here = said[one.a + one.size : two.a], found[one.b + one.size : two.b]
        if not _same_letters(*here):
            differences.append(_difference(*here, said, one.a, one.size, two.a, two.size))
    alike = sum(block.size for block in blocks) - sum(said[b.a].key == _OPENING for b in blocks[:1]) - 1
    return Comparison(said, found, tuple(differences), alike / max(1, len(said) - 2))


def nearest_sentences(claim: str, text: str, *, most: int = 2) -> list[str]:
    """The sentences of ``text`` that share most pairs of neighbouring words with the claim, best first."""
    wanted = pairs_of(claim)
    alike = [(-len(wanted & pairs_of(s)), place, s) for place, s in enumerate(sentences(text))]
    return [sentence for count, _, sentence in sorted(alike)[:most] if count]


@lru_cache(maxsize=4096)
def pairs_of(text: str) -> frozenset[tuple[str, str]]:
    """The pairs of neighbouring words of a text."""
    return pairs(tokens(text))


def pairs(words: Sequence[Token]) -> frozenset[tuple[str, str]]:
    """The pairs of neighbours among the words."""
    keys = [word.key for word in words]
    return frozenset(itertools.pairwise(keys))


def exchanged(claim: Sequence[Token], source: Sequence[Token]) -> tuple[str, str] | None:
    """The two stretches that stand in each other's place, where the texts are otherwise the same.

    ``A m B`` in the source is ``B m A`` in the claim, with the same words before and behind. None where
    they stand in one list, "A and B" or "A, C and B".
    """
    said, found = [t.key for t in claim], [t.key for t in source]
    start = _common(said, found)
    stop = _common(said[start:][::-1], found[start:][::-1])
    said, found = said[start : len(said) - stop], found[start : len(found) - stop]
    if len(said) != len(found) or sorted(said) != sorted(found):
        return None
    for one in range(1, len(found)):
        for two in range(1, len(found) - one):
            middle = source[start + one : start + len(found) - two]
            keys = [t.key for t in middle]
            if said == [*found[-two:], *keys, *found[:one]]:
                listed = source[start + one - 1].listed and middle[-1].key in _JOINING
                apart = not listed and any(key not in _LISTING for key in keys)
                return (" ".join(found[:one]), " ".join(found[-two:])) if apart else None
    return None


_JOINING = frozenset({"and", "or", "nor", "und", "oder", "et", "ou"})
_LISTING = frozenset("""and or nor und oder et ou the a an as well both to with by vs""".split())


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _token(word: str, behind: str) -> Token:
    lower = word.lower()
    if _THOUSANDS.fullmatch(lower):
        lower = lower.replace(",", "")
    return Token(word, _IN_DIGITS.get(lower, lower), behind == ",")


def _bounded(text: str) -> tuple[Token, ...]:
    """The tokens of a sentence between its ends, its first word without the capital that opens it."""
    words = tokens(text)[:LONGEST]
    if words and words[0].text[1:].islower():
        words = (replace(words[0], text=words[0].text.lower()), *words[1:])
    return (Token("", _OPENING), *words, Token("", _CLOSING))


def _same_letters(said: Sequence[Token], found: Sequence[Token]) -> bool:
    """Whether both are the same but for spaces and hyphens: "har-vested", "pre trained"."""
    one, other = ("".join(t.key for t in each).replace("-", "") for each in (said, found))
    return one == other


def _difference(
    here: Sequence[Token],
    there: Sequence[Token],
    said: Sequence[Token],
    at: int,
    size: int,
    then: int,
    next_size: int,
) -> Difference:
    before, behind = said[at : at + size], said[then : then + next_size]
    firm = min(size, next_size) >= FIRM_BEFORE and size + next_size >= FIRM_AROUND
    return Difference(tuple(here), tuple(there), firm, before[-1], behind[0])

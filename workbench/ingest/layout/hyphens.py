"""Words broken at a line's end: joined again, unless the hyphen belongs to the word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from workbench.ingest.layout.lines import Line

_WORDS = re.compile(r"[^\W\d_]+(?:[-‐‑][^\W\d_]+)*")
_BEFORE = re.compile(r"[^\W_]+(?:[-‐‑][^\W_]+)*$")
_AFTER = re.compile(r"[^\W_]+")
# First parts that make a compound, not a word's beginning, when a whole word follows.
_COMPOUND_STARTS = frozenset(
    {
        "well", "self", "non", "ill", "cross", "high", "low", "long", "short", "half", "full",
        "real", "large", "small", "single", "double", "one", "two", "three", "four", "five", "six",
        "first", "second", "third", "semi", "quasi", "pseudo", "zero", "few", "state", "open",
        "closed", "fine", "coarse",
    }
)  # fmt: skip
# First parts that are words themselves and yet begin words written as one: without, however, overall.
_CLOSED_STARTS = frozenset(
    {
        "any", "back", "base", "data", "down", "every", "for", "fore", "frame", "further", "hand",
        "home", "how", "in", "inter", "into", "key", "more", "net", "never", "no", "off", "on",
        "out", "over", "some", "sub", "super", "there", "through", "to", "type", "under", "up",
        "web", "what", "when", "where", "who", "with", "work",
    }
)  # fmt: skip


class Vocabulary:
    """The whole words of one document, to tell ``cli-mate`` from ``well-known``."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._counts: Counter[str] = Counter()
        broken = False
        for line in lines:
            words = _WORDS.findall(line.text)
            begins_whole = 1 if broken else 0
            broken = line.hyphen or line.text.endswith("-")
            ends_whole = len(words) - 1 if broken else len(words)
            self._counts.update(_plain(word) for word in words[begins_whole:ends_whole])

    def __getitem__(self, word: str) -> int:
        return self._counts[_plain(word)]


def hyphen_between(before: str, after: str, vocabulary: Vocabulary) -> str:
    """``"-"`` or ``""``: what stands between a line that broke a word and the line that ends it.

    What the document itself writes elsewhere decides; failing that, the shape of both parts.
    """
    head, tail = _BEFORE.search(before), _AFTER.match(after)
    if head is None or tail is None:
        return "-"
    first, second = head.group(), tail.group()
    part = re.split("[-‐‑]", first)[-1]
    if part[-1].isdigit() or second[0].isdigit():
        return "-"
    compound, joined = vocabulary[f"{part}-{second}"], vocabulary[part + second]
    compound = max(compound, vocabulary[f"{first}-{second}"])
    if compound or joined:
        return "-" if compound > joined else ""
    if second[0].isupper():
        return "" if part.isupper() and second.isupper() else "-"
    if len(part) > 1 and part.isupper():
        return "-"
    start = part.casefold()
    if not vocabulary[second] or start in _CLOSED_STARTS:
        return ""
    return "-" if start in _COMPOUND_STARTS or (len(part) > 2 and vocabulary[part]) else ""


def _plain(word: str) -> str:
    return word.casefold().replace("‐", "-").replace("‑", "-")

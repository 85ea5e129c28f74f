"""Text reduced to letters and digits, to find a quote again whatever its spaces and hyphens. Pure."""

from __future__ import annotations

import unicodedata

REACHES = (24, 48, 96, 192, 384)  # letters beside a quote that may tell one of its places from the others
_DOTLESS = {"ı": "i", "ȷ": "j"}


def squeezed(text: str) -> str:
    """Letters and digits of ``text``, compatibility forms and case folded, accents dropped."""
    return squeezed_with_offsets(text)[0]


def squeezed_with_offsets(text: str) -> tuple[str, list[int]]:
    """``squeezed(text)`` and, for each of its characters, the index in ``text`` it came from."""
    kept: list[str] = []
    offsets: list[int] = []
    for index, char in enumerate(text):
        folded = char.casefold() if char.isascii() else _folded(char)
        for letter in folded:
            if letter.isalnum():
                kept.append(letter)
                offsets.append(index)
    return "".join(kept), offsets


def only_place(needle: str, haystack: str) -> int | None:
    """Where ``needle`` stands in ``haystack``, if it does so exactly once."""
    if not needle:
        return None
    first = haystack.find(needle)
    if first < 0 or haystack.find(needle, first + 1) >= 0:
        return None
    return first


def place_between(needle: str, haystack: str, before: str, after: str) -> int | None:
    """Where in ``haystack`` the ``needle`` stands that has ``before`` and ``after`` beside it in another
    setting of the same text, if that is certain: where a few letters beside it, as many as it takes, make it
    the only one in both. The order of other parts of the texts, and what only one of them has, do not matter.
    """
    setting = before + needle + after
    alone = only_place(needle, haystack)
    if alone is not None and only_place(needle, setting) is not None:
        return alone
    for reach in REACHES:
        left, right = before[-reach:], after[:reach]
        for first, last in ((left, right), (left, ""), ("", right)):
            with_letters = first + needle + last
            if only_place(with_letters, setting) is not None:
                found = only_place(with_letters, haystack)
                if found is not None:
                    return found + len(first)
    return None


def _folded(char: str) -> str:
    decomposed = unicodedata.normalize("NFKD", _DOTLESS.get(char, char))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()

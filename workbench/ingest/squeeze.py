"""Text reduced to letters and digits, to find a quote again whatever its spaces and hyphens. Pure."""

from __future__ import annotations

import unicodedata

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


def _folded(char: str) -> str:
    decomposed = unicodedata.normalize("NFKD", _DOTLESS.get(char, char))
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()

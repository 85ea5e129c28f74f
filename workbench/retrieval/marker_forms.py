"""The forms in which chat models write citation markers, whole or still arriving."""

from __future__ import annotations

import re

LONGEST_MARKER = 60  # characters; a longer bracket is prose
OPENING = "[【［\\"

_PAGES = r"[^\S\n]*[,:(]?[^\S\n]*(?:pp?\.|pages?|S\.)[^\S\n]*\d{1,4}(?:[-–]\d{1,4})?\)?"
_NUMBER = (
    rf"(?:#|\^|(?:passages?|sources?|refs?|docs?|documents?|citations?)[.:]?)?[^\S\n]*\d{{1,4}}(?:{_PAGES})?"
)
_INSIDE = rf"[^\S\n]*{_NUMBER}(?:[^\S\n]*(?:[-–—,;]|and|&)[^\S\n]*{_NUMBER})*[^\S\n]*(?:†[^\]】］\n]*)?"
_NESTED = rf"\[(?:[^\S\n]*\[{_INSIDE}\][,;]?)+[^\S\n]*"
_MARKER = re.compile(rf"{_NESTED}\]|[\[【［]{_INSIDE}[\]】］]|\\\[{_INSIDE}\\\]", re.IGNORECASE)
_MAY_NEST = re.compile(rf"{_NESTED}(?:\[[^\]\n]*)?", re.IGNORECASE)
_MAY_ESCAPE = re.compile(r"\\(?:\[[^\]\n]*)?")
_RANGE = re.compile(r"(\d{1,4})(?:\s*[-–—]\s*[\^#]?(\d{1,4}))?")
_LINK = re.compile(r"\((?:#|https?://)[^()\s]{0,300}\)")
_MAY_LINK = re.compile(r"\((?:h|ht|htt|https?(?::/?)?)?|\((?:#|https?://)[^()\s]{0,300}")


def marker_at(text: str, position: int) -> re.Match[str] | None:
    """The marker at ``position``. An interval such as ``[0, 1]`` is none."""
    match = _MARKER.match(text, position, position + LONGEST_MARKER)
    return None if match is None or is_interval(inside_of(match)) else match


def may_be_marker(text: str, position: int) -> bool:
    """Whether the text from ``position`` on may become a marker when more arrives."""
    rest = text[position : position + LONGEST_MARKER]
    if rest[0] not in OPENING or len(rest) == LONGEST_MARKER:
        return False
    if rest[0] == "\\":
        return _MAY_ESCAPE.fullmatch(rest) is not None
    return re.search(r"[\]】］\n]", rest) is None or _MAY_NEST.fullmatch(rest) is not None


def inside_of(marker: re.Match[str]) -> str:
    """What stands between the brackets, without pages: ``"1, 3-5"``."""
    bare = re.sub(r"[\[\]【】［］\\]", " ", marker.group())
    return re.sub(_PAGES, "", bare, flags=re.IGNORECASE).strip()


def is_interval(inside: str) -> bool:
    """Whether numbers in brackets count from 0, as no passage does."""
    numbers = re.findall(r"\d+", inside)
    return len(numbers) > 1 and any(int(n) == 0 for n in numbers)


def numbers_in(inside: str) -> list[int]:
    """``"1, 3-5"`` gives 1, 3, 4, 5; an absurd range counts as its two ends."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(inside):
        low, high = int(first), int(last or first)
        numbers.extend(range(low, high + 1) if 0 <= high - low <= 20 else [low, high])
    return list(dict.fromkeys(numbers))


def link_end(text: str, *, complete: bool) -> int | None:
    """Where the link behind a marker ends, ``(#ref-1)`` or ``(https://…)``: 0 if there is none, None where
    more of it must come."""
    match = _LINK.match(text)
    if match:
        return match.end()
    return None if not complete and _MAY_LINK.fullmatch(text) else 0

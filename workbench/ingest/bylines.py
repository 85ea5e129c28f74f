"""Authors from the lines under a paper's title. Pure.

Names are taken only from lines that consist of names and footnote marks alone; one line that does not ends
the search. A paper whose byline cannot be told from its affiliations gets no authors rather than wrong ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.ingest.layout.lines import Line
from workbench.ingest.squeeze import squeezed

_MAX_LINES = 24
_LONGEST_NAME = 45
_MARK = r"\d†‡§¶∗*⋆?#⊥♠♣♦♥✉"
_MARKS = re.compile(rf"(?<=[^\W\d_.])\s?[{_MARK}]+(?:\s?[,.]\s?[{_MARK}]{{1,2}}(?!\w))*|[{_MARK}]+|\(\d\)")
_STRAY_ACCENT = re.compile(r"\s?[´˘ˇ˜¨`](?=\W|$)")
_STOP = re.compile(
    r"\W*(?:abstract|summary|introduction|keywords|résumé|zusammenfassung|摘要)\b", re.IGNORECASE
)
_SEPARATOR = re.compile(r"\s*(?:[,;|·•]|\band\b|&|\bund\b|\bet\b)\s*")
_PARTICLE = r"(?:de|del|della|der|den|di|da|dos|du|van|von|la|le|el|al|bin|ter|ten|zu|y)"
_WORD = r"[A-ZÀ-ÞŁŚŻČŠŽĐ][\w'’.-]*"
_NAME = re.compile(rf"{_WORD}(?:\s(?:{_PARTICLE}\s)*{_WORD}){{1,4}}")
_NOT_A_NAME = re.compile(
    r"\b(?:universit|institut|department|laborator|research|school|college|center|centre|group|inc|corp|ltd|academy"
    r"|hospital|faculty|division|google|brain|microsoft|facebook|meta|amazon|openai|deepmind|nvidia|ibm|brain"
    r"|street|road|avenue|usa|china|germany|france|kingdom|states|japan|journal|proceedings|conference|volume"
    r"|report|article|review|paper|draft|version|learning|networks?|science|technolog|engineering|member|ieee"
    r"|foundation|company|vol|no|january|february|march|april|may|june|july|august|september|october"
    r"|november|december)",
    re.IGNORECASE,
)


def names_under_title(lines: Sequence[Line], title: str | None) -> tuple[str, ...]:
    """The names on the lines that follow ``title`` on page 1; empty when they cannot be told apart.

    Behind the first line that is no byline, only names with a footnote mark count: authors set in blocks,
    each above an affiliation.
    """
    start = _after_title(lines, title)
    if start is None:
        return ()
    found: list[str] = []
    ended = False
    for row in _joined_rows(lines[start : start + _MAX_LINES]):
        if _STOP.match(row):
            break
        divided = bool(found) and " " not in found[-1] and not ended  # a name that the line's end divides
        names = None if ended and not _MARKS.search(row) else _names(row, divided)
        if names is None:
            ended = True
        elif divided:
            found[-1:] = [f"{found[-1]} {names[0]}", *names[1:]]
        else:
            found += names
    if any(_NAME.fullmatch(name) is None for name in found):
        return ()
    return tuple(dict.fromkeys(found))


def _after_title(lines: Sequence[Line], title: str | None) -> int | None:
    wanted = squeezed(title or "")
    if not wanted:
        return None
    for first in range(min(len(lines), 40)):
        seen = ""
        for index in range(first, min(first + 6, len(lines))):
            seen += squeezed(lines[index].text)
            if seen == wanted:
                return index + 1
            if not wanted.startswith(seen):
                break
    return None


def _joined_rows(lines: Sequence[Line]) -> list[str]:
    """Texts of the lines, those on one baseline joined; superscripts count as on it."""
    rows: list[str] = []
    previous: Line | None = None
    for line in lines:
        size = max(line.size, previous.size) if previous else line.size
        level = previous is not None and abs(line.base - previous.base) < 0.7 * size
        if previous is not None and level and line.left >= previous.right - size:
            rows[-1] += (" " if line.left - previous.right > 0.15 * size else "") + line.text
        else:
            rows.append(line.text)
        previous = line
    return rows


def _names(text: str, divided: bool) -> list[str] | None:
    """The names that make up ``text``; ``None`` when it holds anything else.

    The last one may be a first name alone, to be completed by the next line; ``divided``: so may the first
    one, to complete the line before.
    """
    if "@" in text or _NOT_A_NAME.search(text):
        return None
    plain = _STRAY_ACCENT.sub("", _MARKS.sub(";", text))
    pieces = [piece.strip(" ,") for piece in _SEPARATOR.split(plain)]
    pieces = [piece for piece in pieces if piece.strip(".")]
    if not pieces or max(map(len, pieces)) > _LONGEST_NAME:
        return None
    *whole, last = pieces
    must_be_whole = whole[1:] if divided and re.fullmatch(_WORD, pieces[0]) else whole
    if not all(_NAME.fullmatch(piece) for piece in must_be_whole):
        return None
    complete = _NAME.fullmatch(last) or (whole and re.fullmatch(_WORD, last))
    return pieces if complete else None

"""Where sentences begin and end.

One function serves chunking, extractive answers, citations and the audit, so that all of them mean the
same thing by a sentence. It follows the common rule-based approach (a full stop ends a sentence unless
what stands around it says otherwise; Kiss and Strunk 2006 list the cases) and keeps exact offsets.
"""

from __future__ import annotations

import re

# A full stop behind one of these does not end a sentence.
_ABBREVIATIONS = frozenset(
    ["al", "approx", "art", "assoc", "avg", "ca", "cf", "ch", "co", "col", "conf", "corp", "def", "dept", "dr", "ed", "eds", "eg", "e.g", "eq", "eqs", "eqn", "esp", "est", "et", "etc", "ex", "fig", "figs", "ff", "i.e", "ie", "inc", "jr", "lemma", "ltd", "mr", "mrs", "ms", "no", "nos", "nr", "obs", "op", "para", "pp", "prof", "prop", "pt", "ref", "refs", "resp", "sec", "sect", "sects", "secs", "sr", "st", "suppl", "tab", "th", "thm", "univ", "vol", "vols", "vs", "w.r.t", "wrt", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"]
)
# These abbreviations do end sentences, when a capital follows.
_OFTEN_LAST = frozenset({"etc", "inc", "ltd", "corp"})
_GREEK = frozenset("αβγδεζηθικλμνξοπρστυφχψω")

_ENDS = re.compile(
    r"[.!?]+[\"'”’)\]»]*(?=\s|$)|[。！？｡]+[」』”’）]*|\n[ \t]*\n+|\n(?=\s*(?:[-•◦▪*–]|\(?\d{1,2}[.)])\s)"
)
_WORD_BEFORE = re.compile(r"[\w.&'’-]*$")
_NEXT = re.compile(r"\s*[\"'“‘(\[«]*(\S)")
_BLANK = re.compile(r"\n[ \t]*\n")
LONGEST = 1200  # characters; a longer run has no sentence ends (tables, code) and is cut at line ends


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of ``text``: trimmed, in order, not overlapping.

    Headings, list items and paragraphs end a sentence too. Every character that is not white space
    belongs to exactly one span. A run of more than ``LONGEST`` characters without an end is cut at line
    ends, or failing those at white space, so no span grows without bound.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _ENDS.finditer(text):
        mark = match.group()
        if mark[0] in ".!?" and not _ends_sentence(text, match):
            continue
        end = match.start() if mark[0] == "\n" else match.end()
        _append(text, start, end, spans)
        start = match.end() if mark[0] != "\n" else match.start()
    _append(text, start, len(text), spans)
    return spans


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark[0] != "." or len(mark.rstrip("\"'”’)]»")) > 1:  # "!", "?", "..." end where white space follows
        return mark[0] != "." or _next_starts_sentence(text, match.end())
    word = _word_before(text, match.start())
    lowered = word.casefold().rstrip(".")
    following = _NEXT.match(text, match.end())
    if following is None:
        return True
    char = following.group(1)
    if _BLANK.match(text, match.end()):
        return True
    if lowered in _ABBREVIATIONS or ("." in lowered and not any(c.isdigit() for c in lowered)):
        return char.isupper() and lowered in _OFTEN_LAST
    if len(word) == 1 and word.isupper() and word != "I":  # an initial: "J. Smith"
        return False
    if word.isdigit() and _starts_line(text, match.start() - len(word)):  # "2. Methods"
        return False
    return not char.islower() or char in _GREEK  # "β-catenin …" may open a sentence


def _starts_line(text: str, position: int) -> bool:
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def _word_before(text: str, position: int) -> str:
    found = _WORD_BEFORE.search(text, max(0, position - 30), position)
    return found.group() if found else ""


def _next_starts_sentence(text: str, position: int) -> bool:
    following = _NEXT.match(text, position)
    return following is None or not following.group(1).islower()


def _append(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = text.rfind("\n", start + 1, start + LONGEST)
        if cut <= start:
            cut = text.rfind(" ", start + 1, start + LONGEST)
        if cut <= start:
            cut = start + LONGEST
        spans.append((start, _trim_end(text, start, cut)))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    return end

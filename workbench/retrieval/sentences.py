"""Where sentences begin and end.

One function serves chunking, extractive answers, citations and the audit, so that all of them mean the
same thing by a sentence. It follows the common rule-based approach (a full stop ends a sentence unless
what stands around it says otherwise; Kiss and Strunk 2006 list the cases) and keeps exact offsets.
"""

from __future__ import annotations

import re

LONGEST = 1200  # characters; a longer run has no sentence ends (tables, code) and is cut at line ends
LONGEST_HEADING = 90
SHORTEST_RUNNING_LINE = 30  # shorter lines before a blank one are headings and cells of tables
SLACK = 0.85  # lines of printed text are not of one width: a word "would have fit" in this share of it


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A full stop behind one of these never ends a sentence.
_ABBREVIATIONS = _words(
    "approx assoc avg bzw ca cf conf corresp d.h dept dr e.g ed eds eg env esp est et evtl ff ggf i.e ie "
    "inkl mr mrs obs p.ex para prof resp sog suppl u.a univ vgl vs w.r.t wrt z.b"
)
# Nor behind these where a number follows, as in "Fig. S2" or "no. 4"; elsewhere they may be words.
_BEFORE_NUMBER = _words(
    "abb app apr art aug ch chap col dec def eq eqn eqs ex feb fig figs jan jul jun kap lemma mar n no nos "
    "nov nr oct op p pp prop pt ref refs sec secs sect sects sep sept st tab th thm vol vols"
)
# Behind these one may, if a word follows that opens sentences: "… et al. We show", "… in the U.S. The".
_MAY_END = _words("al co corp etc inc jr ltd sr usw")
_OPENERS = _words(
    "A After All Although An As At Because Both But By Each Finally First For From Furthermore Hence Here "
    "How However If In It Its Moreover Most No Note On Our Since Some Such That The Then There Therefore "
    "These They This Those Thus To Under Using We What When Where Whereas While With You"
)
# A numbered label before a heading: "Table 1. Search of the whole library", "Item 7. Results".
_LABELS = _words(
    "abbildung algorithm appendix article box chapter corollary definition equation example exhibit fig "
    "figure item lemma note panel part proposition remark scheme section step supplementary table tabelle "
    "tableau theorem"
)
_MONTHS = _words("januar februar märz april mai juni juli august september oktober november dezember")

_ENDS = re.compile(
    r"(?<![.!?])[.!?]++[\"'”’)\]»]*+(?:\[\d[\d,;\s–-]{0,40}\])*+(?=\s|$)"  # with [12] right behind it
    r"|(?<=[^\W\d_]{3}[.!?])\d{1,3}(?:[,–-]\d{1,3}){0,8}(?=\s+[A-Z])"  # … or a raised 12,13
    r"|[。！？｡؟।॥۔]+[」』”’）]*|(?<![A-Za-z0-9])．+(?!\d)[」』”’）]*"
    r"|\n[^\S\n]*\n\s*|\n"
)
_WORD_BEFORE = re.compile(r"[\w.&'’-]*$")
_NEXT = re.compile(r"\s*[\"'“‘(\[«]*([^\s]{1,24})")
_BLANK_LINE = re.compile(r"[^\S\n]*\n[^\S\n]*\n")
_LINE_END = re.compile(r"[^\S\n]*\n")
_REFERENCE = re.compile(r"\(?(?:[A-Z]{0,2}\.?\d|[IVXLC]+\b|[A-Z]\b)")
_NUMBERING = re.compile(r"[^\S\n]*(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5}|[A-Z])")
_LABEL = re.compile(r"[^\S\n]*[*#_]*([^\W\d_]{3,13})\.?\s[A-Z]?\d{0,3}(?:\.\d{1,2})?[A-Za-z]?")
# A list item, or a line of a log.
_ITEM = re.compile(r"[^\S\n]*(?:(?:[-•◦▪▸*–]|\(?\d{1,2}[.)]|\(?[a-z]\))\s|\[?\d{4}-\d\d-\d\d)")
_OPEN_END = re.compile(r"(?:[^\W\d_A-Z]|[,–—-])$")
_RUNS_ON = re.compile(r"(?:a|[a-zà-ÿ]{2,})[ ,;.)]")
_OPENS_HEADING = re.compile(r"[\"'“(#]*[A-Z0-9À-ÞΑ-ΩА-Я\u3041-\u9fff]")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of ``text``: trimmed, in order, not overlapping.

    Headings, list items and paragraphs end a sentence too; a line break inside a paragraph does not.
    Every character that is not white space belongs to exactly one span. A run of more than ``LONGEST``
    characters without an end is cut at line ends, or failing those at white space, so no span grows
    without bound.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _ENDS.finditer(text):
        if not _ends_sentence(text, start, match):
            continue
        end = match.start() if match.group()[0] == "\n" else match.end()
        _append(text, start, end, spans)
        start = end
    _append(text, start, len(text), spans)
    return spans


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()
    if mark == "\n":
        return bool(_ITEM.match(text, match.end())) or _is_heading(text, start, match.start())
    if mark[0] == "\n":
        return not _goes_on(text, match)
    if mark[0] == ".":
        return _stop_ends(text, match)
    return mark[0] not in "!?" or _opens(_following(text, match.end()))


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether a sentence runs on behind a blank line, as it does across a page break or round a figure."""
    before = text[max(0, match.start() - SHORTEST_RUNNING_LINE) : match.start()]
    running = len(before) == SHORTEST_RUNNING_LINE and "\n" not in before
    return running and bool(_OPEN_END.search(before)) and bool(_RUNS_ON.match(text, match.end()))


def _stop_ends(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop (or a run of them) ends its sentence."""
    mark, end = match.group(), match.end()
    following = _following(text, end)
    if not following or _BLANK_LINE.match(text, end):
        return True
    if following[0] in ".,;:)]%" or mark.startswith("....") or text.startswith(". ", match.start() - 2):
        return False  # dots that lead to a page number, among others
    opens = _opens(following)
    if len(mark) > 1:
        return opens
    word = _word_before(text, match.start())
    plain = word.casefold().rstrip(".")
    if plain in _ABBREVIATIONS or word in {"Ms", "St"}:
        return False
    if plain in _MAY_END or (len(word) == 1 and word.isupper() and word != "I") or _dotted(plain):
        return following in _OPENERS
    if plain in _BEFORE_NUMBER and _REFERENCE.match(following):
        return False
    if _is_numbering(text, match.start()) or (word.isdigit() and following.casefold() in _MONTHS):
        return False
    return opens or (len(word) > 3 and _LINE_END.match(text, end) is not None)


def _dotted(word: str) -> bool:
    """``u.s``, ``j.-b`` and ``p.ex``, but not ``0.5`` and ``file.txt``."""
    return "." in word and all(len(part) <= 2 and part.isalpha() for part in word.replace("-", "").split("."))


def _following(text: str, position: int) -> str:
    found = _NEXT.match(text, position)
    return found.group(1) if found else ""


def _opens(word: str) -> bool:
    """Whether a sentence can begin with ``word``: mRNA, p53 and β-catenin may, plain lower case not."""
    if not word or not word[0].islower() or "α" <= word[0] <= "ω":
        return True
    stem = re.split(r"[^\w-]", word, maxsplit=1)[0]
    return any(c.isupper() or c.isdigit() for c in stem[1:])


def _is_numbering(text: str, position: int) -> bool:
    """Whether the full stop at ``position`` belongs to a number or label that opens its line."""
    line = _line_start(text, position, most=30)
    if line is None:
        return False
    before = text[line:position]
    label = _LABEL.fullmatch(before)
    return bool(_NUMBERING.fullmatch(before)) or (label is not None and label[1].casefold() in _LABELS)


def _is_heading(text: str, start: int, line_end: int) -> bool:
    """Whether the text from ``start`` to a line break is a heading, or another line that ends on purpose.

    It stands alone on its line, opens like a heading, and broke although the next line's first word would
    have fit in it.
    """
    line_start = _line_start(text, line_end, most=LONGEST_HEADING)
    if line_start is None or line_start - start > LONGEST_HEADING or text[start:line_start].strip():
        return False
    line = text[line_start:line_end].strip()
    if not _OPENS_HEADING.match(line):
        return False
    following = text[line_end + 1 : line_end + 400].partition("\n")[0].strip()
    if not following or line[-1] in ",;-–—(&" or not _OPENS_HEADING.match(following):
        return line.startswith("#")
    first_word = len(following.split(maxsplit=1)[0])
    return line.startswith("#") or len(line) + 1 + min(first_word, 12) <= SLACK * len(following)


def _line_start(text: str, position: int, *, most: int) -> int | None:
    """Where the line that holds ``position`` begins; None where that is more than ``most`` characters ago."""
    earliest = max(0, position - most - 1)
    line_break = text.rfind("\n", earliest, position)
    if line_break >= 0:
        return line_break + 1
    return 0 if earliest == 0 else None


def _word_before(text: str, position: int) -> str:
    found = _WORD_BEFORE.search(text, max(0, position - 30), position)
    return found.group() if found else ""


def _append(text: str, start: int, end: int, spans: list[tuple[int, int]]) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > LONGEST:
        cut = _cut(text, start)
        spans.append((start, _trim_end(text, start, cut)))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))


def _cut(text: str, start: int) -> int:
    """Where a run that is too long is cut: after its last line in bounds, else word, else anywhere."""
    for mark in ("\n", " "):
        cut = text.rfind(mark, start + 1, start + LONGEST)
        if cut > start:
            return cut
    return start + LONGEST


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start + 1 and text[end - 1].isspace():
        end -= 1
    return end

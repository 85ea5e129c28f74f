"""Statements in the parts of an answer that are no running text: rows of tables, and prose inside code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.retrieval.code_stretches import blank_code

FEWEST_ROWS = 2  # lines that open with a bar make a table

_ROW = re.compile(r"[^\S\n]*\|(?P<cells>[^\n]*?)\|?[^\S\n]*(?:\n|\Z)")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_BARS = re.compile(r"\s*\|\s*")
_STATEMENT = re.compile(
    r"[A-Z][^\W\d_]*(?: [^\s{}();=<>]+){3,}(?:[.!?](?:\s*\[\d{1,4}\])*|\s*\[\d{1,4}\][.!?]?)"
)


def rows(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The rows of the table in a stretch of text, without bars at their ends, and what stands before it; the
    stretch itself where there is no table. A table's first row and the rule below it state nothing."""
    found = list(_ROW.finditer(text, start, end))
    if len(found) < FEWEST_ROWS or text[found[0].start() : end].count("\n") > len(found):
        return [(start, end)]
    ruled = [i for i, row in enumerate(found) if _RULE.fullmatch(row["cells"])]
    silent = {*ruled, *(i - 1 for i in ruled)}
    before = _trimmed(text, start, found[0].start())
    cells = [_trimmed(text, *row.span("cells")) for i, row in enumerate(found) if i not in silent]
    return [span for span in (before, *cells) if span[0] < span[1]]


def without_bars(claim: str) -> str:
    """A row of a table as words."""
    return _BARS.sub(" ", claim).strip() if "|" in claim else claim


def statements_in_code(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line inside code that is a sentence, or cites something."""
    blank = blank_code(text)
    start = 0
    for line in text.splitlines(keepends=True):
        first, last = _trimmed(text, start, start + len(line))
        if not blank[first:last].strip() and _STATEMENT.fullmatch(text, first, last):
            yield first, last
        start += len(line)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end

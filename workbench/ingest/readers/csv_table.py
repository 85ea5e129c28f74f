"""CSV and TSV: every cell keeps the name of its column, every row stands for itself."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence

from workbench.errors import DocumentError
from workbench.ingest.document import Document
from workbench.ingest.sections import LONGEST, pieces, sections_of_lines

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50


def read_csv(text: str, name: str) -> Document:
    """Rows as ``Region: EU; Units: 12``, in sections labelled by row; row 1 is the first below the names.

    The first row with more than one cell names the columns, unless it holds a number.
    """
    csv.field_size_limit(max(len(text), 131_072))
    delimiter = "\t" if name.lower().endswith(".tsv") else _delimiter(text)
    try:
        rows = [_trimmed(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)]
    except csv.Error as error:
        raise DocumentError(f"the table cannot be read: {error}") from error
    captions, names, body = _parts([row for row in rows if any(row)])
    lines = [*captions]
    if not body and names:
        lines.append("; ".join(names))
    lines += [_line(names, row) for row in body]
    bounded = [part for line in lines for part in (pieces(line) if len(line) > LONGEST else (line,))]
    found = sections_of_lines(bounded, unit="rows", between="\n\n")
    return Document(kind="csv", pages=found.pages, page_unit="section")


def _delimiter(text: str) -> str:
    """The sign that divides most of the first lines into the same number of cells, more than one."""
    sample = list(itertools.islice(io.StringIO(text), _SAMPLE_LINES))
    best, best_score = ",", 0.0
    for sign in _DELIMITERS:
        try:
            widths = [len(row) for row in csv.reader(sample, delimiter=sign) if row]
        except csv.Error:
            continue
        usual = max(set(widths), key=widths.count, default=1)
        if usual > 1:
            score = widths.count(usual) / len(widths) + min(usual, 20) / 1000
            if score > best_score:
                best, best_score = sign, score
    return best


def _trimmed(row: Sequence[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in row]


def _parts(rows: Sequence[list[str]]) -> tuple[list[str], list[str], Sequence[list[str]]]:
    """Lines above the table, the columns' names and the rows."""
    first = next((i for i, row in enumerate(rows) if sum(map(bool, row)) > 1), None)
    if first is None:
        return [], [], rows
    captions = [" ".join(filter(None, row)) for row in rows[:first]]
    header = rows[first]
    if any(_is_number(cell) for cell in header):
        return captions, [], rows[first:]
    return captions, header, rows[first + 1 :]


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _line(names: Sequence[str], row: Sequence[str]) -> str:
    return "; ".join(_cells(names, row))


def _cells(names: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    for column, cell in enumerate(row):
        if cell:
            name = names[column] if column < len(names) else ""
            yield f"{name}: {cell}" if name else cell

"""JSON and JSON lines: values with the path of names that leads to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from workbench.errors import DocumentError
from workbench.ingest.characters import repaired
from workbench.ingest.document import Document
from workbench.ingest.readers.text import read_text
from workbench.ingest.sections import Block, pieces, sections_of_blocks

_TITLE_KEYS = ("title", "Title", "name")


def read_json(text: str) -> Document:
    """Values as lines ``authors.name: …``; records of a list are parted by blank lines.

    What is not valid JSON is kept as plain text, with a warning.
    """
    try:
        value = _parsed(text)
    except RecursionError as error:
        raise DocumentError("the JSON is nested too deeply to be read") from error
    if value is None:
        document = read_text(text)
        return Document(
            kind="json",
            pages=document.pages,
            page_unit="section",
            warnings=("Not valid JSON: kept as plain text.",),
        )
    records = value if isinstance(value, list) else [value]
    blocks = [Block(part) for record in records for part in pieces("\n".join(_lines(record)))]
    found = sections_of_blocks(blocks)
    return Document(kind="json", pages=found.pages, page_unit="section", title=_title(value))


def _parsed(text: str) -> Any:
    """The value, a list of the values of JSON lines, or ``None``."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    rows = [line for line in text.splitlines() if line.strip()]
    try:
        values = [json.loads(row) for row in rows]
    except ValueError:
        return None
    return values or None


def _lines(value: Any) -> Iterator[str]:
    """``path: value`` for every plain value, in order, without recursion."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, current = stack.pop()
        if isinstance(current, dict):
            inner = [(f"{path}.{key}" if path else str(key), item) for key, item in current.items()]
            stack.extend(reversed(inner))
        elif isinstance(current, list):
            if all(not isinstance(item, dict | list) for item in current):
                if current:
                    yield _line(path, ", ".join(map(_shown, current)))
            else:
                stack.extend((path, item) for item in reversed(current))
        else:
            yield _line(path, _shown(current))


def _line(path: str, shown: str) -> str:
    return repaired(f"{path}: {shown}" if path else shown)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _title(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    for key in _TITLE_KEYS:
        found = value.get(key)
        if isinstance(found, str) and 0 < len(found.strip()) <= 300:
            return " ".join(repaired(found).split())
    return None

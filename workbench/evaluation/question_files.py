"""Labelled questions as JSON lines: one object a line, with the fields of ``Question`` and ``Gold``."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import InvalidInputError
from workbench.named_files import read_named
from workbench.tuning import UNANSWERABLE, Gold, Question, type_of

MOST_QUESTIONS = 10_000
LONGEST_LINE = 1_000_000  # characters
LONGEST_QUESTION = 4000
LONGEST_TEXT = 20_000
MOST_GOLD = 200
LAST_PAGE = 1_000_000

# Cc control, Cs half a surrogate pair, Zl and Zp line and paragraph separators.
_REFUSED_IN_NAMES = {"Cc", "Cs", "Zl", "Zp"}


def read_questions(path: str | Path) -> list[Question]:
    """The questions of a file, in its order.

    Each line holds ``id``, ``question``, ``gold`` (a list of objects with ``file``, ``page`` and ``phrase``;
    empty where the papers do not answer it), and where known ``type``, ``answer`` and ``note``; other fields
    are left alone. Raises InvalidInputError, in one line that names the file's line, for anything else.
    """
    return parse_questions(read_named(path), name=Path(path).name)


def parse_questions(data: bytes, *, name: str) -> list[Question]:
    """The same for a file's bytes. ``name`` is what errors call it."""
    found: list[Question] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        question = question_from(_parsed(line, where), where=where)
        if question.id in lines:
            first = lines[question.id]
            raise InvalidInputError(f"{where}: the id “{question.id}” is that of line {first} already.")
        lines[question.id] = number
        found.append(question)
        if len(found) > MOST_QUESTIONS:
            raise InvalidInputError(f"{name} holds more than {MOST_QUESTIONS:,} questions: split it.")
    if not found:
        raise InvalidInputError(f"{name} holds no question: each line is one, as a JSON object.")
    return found


def question_lines(questions: Iterable[Question]) -> str:
    """The questions as JSON lines, which ``read_questions`` reads again as they were."""
    return "".join(json.dumps(question_fields(q), ensure_ascii=False) + "\n" for q in questions)


def question_fields(question: Question) -> dict[str, Any]:
    """A question as it stands on its line: what belongs to one library alone is left out."""
    fields = {
        "id": question.id,
        "type": question.type,
        "question": question.question,
        "answer": question.answer,
        "gold": [{"file": g.file, "page": g.page, "phrase": g.phrase} for g in question.gold],
    }
    return fields | ({"note": question.note} if question.note else {})


def question_from(fields: Any, *, where: str) -> Question:
    """One question out of an object's fields; ``where`` begins each error. Raises InvalidInputError."""
    if not isinstance(fields, Mapping):
        raise InvalidInputError(f"{where}: a question is an object, {{…}}, not {_kind(fields)}.")
    text = _text(fields, "question", where, longest=LONGEST_QUESTION)
    if not text:
        raise InvalidInputError(f"{where}: there is no “question”.")
    name = _name(_text(fields, "id", where, longest=200), where, "id")
    if not name:
        raise InvalidInputError(f"{where}: there is no “id”.")
    listed = fields.get("gold", [])
    if not isinstance(listed, list | tuple):
        raise InvalidInputError(f"{where}: “gold” is a list of file, page and phrase, not {_kind(listed)}.")
    if len(listed) > MOST_GOLD:
        raise InvalidInputError(f"{where}: “gold” has {len(listed)} places; at most {MOST_GOLD} work.")
    gold = tuple(_gold(place, where) for place in listed)
    kind = _name(_text(fields, "type", where, longest=100), where, "type") or type_of(gold)
    if (kind == UNANSWERABLE) == bool(gold):
        what = "has gold, so it is answerable" if gold else f"has no gold, so its type is {UNANSWERABLE}"
        raise InvalidInputError(f"{where}: the question is of type “{kind}”, but it {what}.")
    answer, note = (_text(fields, key, where, longest=LONGEST_TEXT) for key in ("answer", "note"))
    return Question(id=name, question=text, gold=gold, type=kind, answer=answer, note=note)


def _gold(place: Any, where: str) -> Gold:
    if not isinstance(place, Mapping):
        raise InvalidInputError(f"{where}: a place in “gold” is an object, not {_kind(place)}.")
    file = _name(_text(place, "file", where, longest=1000), where, "file").replace("\\", "/").split("/")[-1]
    if not file:
        raise InvalidInputError(f"{where}: a place in “gold” has no “file”.")
    page = place.get("page")
    if isinstance(page, bool) or not isinstance(page, int) or not 1 <= page <= LAST_PAGE:
        shown = _shown(page)
        raise InvalidInputError(f"{where}: “page” of {file} is {shown}; pages are whole numbers from 1.")
    return Gold(file, page, _text(place, "phrase", where, longest=2000))


def _text(fields: Mapping[str, Any], key: str, where: str, *, longest: int) -> str:
    """The text under ``key``, trimmed; empty where there is none."""
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInputError(f"{where}: “{key}” is a text, not {_kind(value)}.")
    if len(value) > longest:
        raise InvalidInputError(f"{where}: “{key}” has {len(value):,} characters; at most {longest:,} work.")
    # halves of characters and NULs cannot be stored
    return "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in value).strip()


def _name(text: str, where: str, key: str) -> str:
    if any(unicodedata.category(c) in _REFUSED_IN_NAMES for c in text):
        raise InvalidInputError(f"{where}: “{key}” holds a control character or a line break.")
    return text


def _parsed(line: bytes, where: str) -> Any:
    if len(line) > LONGEST_LINE:
        raise InvalidInputError(f"{where}: the line is longer than {LONGEST_LINE:,} bytes.")
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{where}: this is no UTF-8 text.") from error
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "nested too deeply, or a number too long"
        raise InvalidInputError(f"{where}: this is no JSON object ({reason}).") from error


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    text = str(value) if not isinstance(value, int) or abs(value) < 10**20 else "a very large number"
    return text if len(text) <= 40 else text[:39] + "…"

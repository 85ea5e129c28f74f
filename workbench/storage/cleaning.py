"""Text that the library can hold: no NULs, no halves of characters, no folders in a file's name."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from workbench.errors import InvalidInputError

REPLACEMENT = "\ufffd"
MAX_FILE_NAME = 255
MAX_NAME = 200

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SPACE = re.compile(r"\s+")
# Cc control, Cs half a surrogate pair, Zl and Zp line and paragraph separators.
_REFUSED_IN_NAMES = {"Cc", "Cs", "Zl", "Zp"}
# Signs that turn the reading direction of what follows: "cod\u202efdp.exe" is read as "codexe.pdf".
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_text(text: str) -> str:
    """``text`` with every NUL and lone surrogate replaced by U+FFFD, one for one.

    DuckDB refuses surrogates with an obscure error and other tools cut at a NUL. The length stays the same,
    so offsets into the text stay true.
    """
    return _UNSTORABLE.sub(REPLACEMENT, text)


def clean_label(text: str) -> str:
    """``text`` on one line: control characters and signs that turn the reading direction gone, runs of white
    space one space, ends trimmed."""
    kept = [c for c in clean_text(text) if c.isspace() or not _refused_in_names(c)]
    return _SPACE.sub(" ", "".join(kept)).strip()


def file_name(file: str) -> str:
    """The last part of ``file``, whichever way its folders are written; it is only ever a label.

    At most 255 characters, the ending kept. ``"unnamed"`` where nothing is left.
    """
    name = clean_label(re.split(r"[/\\]", file)[-1])
    if name in {"", ".", ".."}:
        return "unnamed"
    if len(name) <= MAX_FILE_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 16:
        return name[:MAX_FILE_NAME]
    return f"{stem[: MAX_FILE_NAME - len(ending) - 1]}.{ending}"


def file_title(name: str) -> str:
    """A user's own title for a file that states none: the file's name without its ending."""
    label = file_name(name)
    return Path(label).stem.replace("_", " ").strip() or label


def checked_name(name: str, *, what: str) -> str:
    """``name`` trimmed and composed (NFC). Raises InvalidInputError where it cannot be one."""
    trimmed = unicodedata.normalize("NFC", name).strip()
    if not trimmed:
        raise InvalidInputError(f"A {what} needs a name: give at least one character.")
    if len(trimmed) > MAX_NAME:
        raise InvalidInputError(
            f"This {what} name has {len(trimmed)} characters, and {MAX_NAME} is the most: shorten it."
        )
    if any(_refused_in_names(c) for c in trimmed):
        raise InvalidInputError(
            f"This {what} name holds a control character or a line break: write it on one line."
        )
    return trimmed


def _refused_in_names(character: str) -> bool:
    return character in _TURNING or unicodedata.category(character) in _REFUSED_IN_NAMES


def name_key(name: str) -> str:
    """What two names are compared by: the same for any spelling that differs only in case or composition."""
    folded = unicodedata.normalize("NFC", name).strip().casefold()
    return unicodedata.normalize("NFC", folded)

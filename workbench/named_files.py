"""Files that a person names to read from or to write to, wherever they are."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import InvalidInputError
from workbench.scratch import scratch_folder_in

LARGEST = 100_000_000
"""Bytes of a file that is read whole."""


def read_named(path: str | Path) -> bytes:
    """The bytes of a file, or of a pipe until its end. Raises InvalidInputError, also where there are more
    than LARGEST: a device never ends."""
    try:
        with Path(path).expanduser().open("rb") as file:
            content = file.read(LARGEST + 1)
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{path} cannot be read: {_reason(error)}.") from error
    if len(content) > LARGEST:
        raise InvalidInputError(f"{Path(path).name} is larger than {LARGEST // 1_000_000} MB: split it.")
    return content


def write_named(path: str | Path, content: bytes) -> Path:
    """Writes a file, whole or not at all, in place of one that is there, and returns its path. A link is
    followed; a device or a pipe is written into. Raises InvalidInputError."""
    try:
        named = Path(path).expanduser()
        if named.exists() and not (named.is_file() or named.is_dir()):
            named.write_bytes(content)
            return named
        place = named.resolve()
        with scratch_folder_in(place.parent) as folder:
            draft = folder / "draft"
            draft.write_bytes(content)
            draft.replace(place)
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInputError(f"{path} cannot be written: {_reason(error)}.") from error
    return named


def _reason(error: Exception) -> str:
    """RuntimeError is for a home that nobody has and for a link to itself, ValueError for no name at all."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.rstrip(".")

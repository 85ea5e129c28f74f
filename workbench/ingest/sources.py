"""What the user named, as a list of files to read: paths, folders, bytes and open files."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from workbench.errors import DocumentError, InvalidInputError
from workbench.storage.database import DERIVED

PIECE = 1024 * 1024
UNNAMED = "unnamed"
FOLDER_SUFFIXES = frozenset(
    f".{name}"
    for name in "pdf docx epub html htm xhtml md markdown txt text csv tsv json log ipynb xml bib ris".split()
)
"""What is taken from a folder. A file named directly is read whatever it is called."""

_EMPTY = ("", Path())  # Path("") is the current folder to the system, and an empty variable to its user

Source = str | Path | bytes | tuple[str, bytes] | BinaryIO


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file to add. ``problem`` says why it cannot even be read, ``absent`` that no file was found by
    that name at all; ``notes`` are for the report."""

    name: str
    path: Path | None
    problem: str | None = None
    notes: tuple[str, ...] = ()
    absent: bool = False


def source_files(sources: Iterable[Source], *, spool: Path, max_file_mb: int) -> Iterator[SourceFile]:
    """The files of ``sources`` in their order; a folder's own, sorted, and those of the folders in it.

    Bytes and open files are first written to the folder ``spool``. A file named directly is resolved
    wherever it leads; links inside a folder are followed only to files of that folder. Hidden files of a
    folder, and those of no format that is read (by ``FOLDER_SUFFIXES``), are left out and named in the notes
    of its first file. What a library keeps beside itself is nobody's paper.
    """
    for number, source in enumerate(sources):
        if isinstance(source, str | Path):
            yield from _at_path(source, max_file_mb)
        else:
            yield _spooled(source, spool / str(number), max_file_mb)


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listed(given: Iterable[Any], *, what: str) -> list[Any]:
    """The items of a list, a generator or the like. Raises InvalidInputError for what is a single item."""
    single = isinstance(given, str | bytes | bytearray | memoryview | Path | Mapping) or hasattr(
        given, "read"
    )
    if single or not isinstance(given, Iterable):
        raise InvalidInputError(f"A list of {what} is needed, not {type(given).__name__}.")
    return list(given)


def is_folder(source: Any) -> bool:
    """Whether the source is the path of a folder; False where that cannot be told."""
    if not isinstance(source, str | Path) or source in _EMPTY:
        return False
    try:
        return Path(source).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):
        return False


def _at_path(source: str | Path, max_file_mb: int) -> Iterator[SourceFile]:
    if source in _EMPTY:
        hint = "" if source == "" else ": for the current folder give Path.cwd()"
        yield _absent(UNNAMED, f"the path is empty{hint}")
        return
    try:
        path = Path(source).expanduser()
    except RuntimeError as error:  # no such user, or no home folder
        yield _absent(Path(source).name, _reason(error))
        return
    yield from _named(path, max_file_mb)


def _named(path: Path, max_file_mb: int) -> Iterator[SourceFile]:
    try:
        resolved = path.resolve(strict=True)
        is_folder = resolved.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else _reason(error)
        yield _absent(path.name or str(path), reason)
        return
    if is_folder:
        yield from _in_folder(resolved, max_file_mb)
    else:
        yield _checked(path.name, resolved, max_file_mb)


def _in_folder(folder: Path, max_file_mb: int) -> Iterator[SourceFile]:
    hidden: list[str] = []
    others: list[str] = []
    found: list[SourceFile] = []
    for parent, folders, files in os.walk(folder, onerror=lambda error: found.append(_unreadable(error))):
        hidden += [f"{name}/" for name in folders if name.startswith(".")]
        folders[:] = sorted(
            name
            for name in folders
            if not (name.startswith(".") or (name.endswith(DERIVED) and name.removesuffix(DERIVED) in files))
        )
        for name in sorted(files):
            if name.startswith("."):
                hidden.append(name)
            elif Path(name).suffix.lower() not in FOLDER_SUFFIXES:
                others.append(name)
            else:
                found.append(_in_bounds(Path(parent) / name, folder, max_file_mb))
    if not found:
        found = [_absent(folder.name or str(folder), _nothing_in_it(hidden, others))]
    elif notes := tuple(_left_out(folder, hidden, others)):
        found[0] = replace(found[0], notes=notes)
    yield from found


def _nothing_in_it(hidden: list[str], others: list[str]) -> str:
    counts = [(len(others), "of other formats"), (len(hidden), "hidden ones")]
    shown = " and ".join(f"{count} {what}" for count, what in counts if count)
    without = f" ({shown} were left out)" if shown else ""
    return f"the folder holds no files{' to read' if others else ''}{without}"


def _left_out(folder: Path, hidden: list[str], others: list[str]) -> Iterator[str]:
    if hidden:
        yield f"Hidden files of the folder {folder.name} were left out: {_listed(hidden)}."
    if others:
        yield (
            f"Files of other formats in the folder {folder.name} were left out: {_listed(others)}."
            " Name a file itself to add it."
        )


def _listed(names: list[str]) -> str:
    return ", ".join(sorted(names)[:10]) + (" …" if len(names) > 10 else "")


def _in_bounds(path: Path, folder: Path, max_file_mb: int) -> SourceFile:
    """A file met in a folder; a link that leads out of the folder is not followed."""
    try:
        resolved = path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return _absent(path.name, "the link leads nowhere" if path.is_symlink() else _reason(error))
    if not resolved.is_relative_to(folder):
        return SourceFile(path.name, None, "a link out of the folder: name the file itself to add it")
    return _checked(path.name, resolved, max_file_mb)


def _checked(name: str, path: Path, max_file_mb: int) -> SourceFile:
    try:
        status = path.stat()
    except OSError as error:
        return SourceFile(name, None, _reason(error))
    if not stat.S_ISREG(status.st_mode):
        return SourceFile(name, None, "this is a device or a pipe, not a file")
    if status.st_size > max_file_mb * 1_000_000:
        return SourceFile(name, None, _too_large(max_file_mb))
    if not os.access(path, os.R_OK):
        return SourceFile(name, None, "the file may not be read: check its permissions")
    return SourceFile(name, path)


def _spooled(source: Any, target: Path, max_file_mb: int) -> SourceFile:
    """Bytes or an open file, written to ``target`` so that it can be read like any file."""
    pair = source if isinstance(source, tuple) else (_name_of(source), source)
    if len(pair) != 2 or not isinstance(pair[0], str):
        return _absent(UNNAMED, "a pair needs a name, as text, and then the file's bytes")
    name, data = pair[0] or UNNAMED, pair[1]
    try:
        with target.open("xb") as file:
            for piece in _pieces(data):
                if file.tell() + len(piece) > max_file_mb * 1_000_000:
                    return SourceFile(name, None, _too_large(max_file_mb))
                file.write(piece)
    except (OSError, ValueError) as error:
        return SourceFile(name, None, _reason(error))
    except DocumentError as error:
        return SourceFile(name, None, str(error))
    return SourceFile(name, target)


def _name_of(source: Any) -> str:
    name = getattr(source, "name", None)
    return Path(name).name or UNNAMED if isinstance(name, str) else UNNAMED


def _pieces(data: Any) -> Iterator[bytes]:
    if isinstance(data, bytes | bytearray | memoryview):
        yield bytes(data)
        return
    read = getattr(data, "read", None)
    if read is None:
        raise DocumentError(f"{type(data).__name__} is neither a path, bytes nor an open file")
    while piece := read(PIECE):
        if not isinstance(piece, bytes):
            raise DocumentError("the file is open as text: open it in binary mode")
        yield piece


def _too_large(max_file_mb: int) -> str:
    return f"the file is larger than {max_file_mb} MB: split it, or raise WORKBENCH_MAX_FILE_MB"


def _unreadable(error: OSError) -> SourceFile:
    return _absent(Path(error.filename or "folder").name, _reason(error))


def _absent(name: str, problem: str) -> SourceFile:
    return SourceFile(name, None, problem, absent=True)


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return f"the file cannot be opened: {' '.join(str(text).split())}"

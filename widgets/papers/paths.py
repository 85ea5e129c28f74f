"""Paths that a person types at the dashboard."""

from __future__ import annotations

import os
from pathlib import Path

from widgets.launch import START_FOLDER
from workbench import InvalidInputError


def typed_path(text: str) -> Path:
    """The path that ``text`` names, from the folder in which the dashboard was started. Quotation marks
    around it do not belong to it. Raises InvalidInputError for nothing, and for what no path can hold."""
    given = text.strip().strip("\"'")
    if not given:
        raise InvalidInputError("Name a file or a folder.")
    if "\0" in given:
        raise InvalidInputError("A path cannot hold a NUL character.")
    # "~somebody" of whom this machine knows nothing stays as it is, and is then found to be absent.
    return Path(os.environ.get(START_FOLDER, os.curdir)).absolute() / os.path.expanduser(given)  # noqa: PTH111


def existing_path(text: str) -> Path:
    """The same, of something that is there."""
    path = typed_path(text)
    if not os.path.lexists(path):
        raise InvalidInputError(f"There is nothing at {path}")
    return path

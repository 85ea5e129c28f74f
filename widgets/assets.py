"""The front end's files, joined where a leaf needs more than one. There is no build step."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def module(*names: str) -> str:
    """The text of an ES module: ``shared.js`` and then the named files, in one scope.

    A leaf's module reaches the browser as text, so it cannot import its neighbours; what leaves
    share stands in front of each instead.
    """
    return "\n".join(_read(name) for name in ("shared.js", *names))


def style(*names: str) -> str:
    """The text of a leaf's style sheet: the theme's tokens and then the named files."""
    return "\n".join(_read(name) for name in ("theme.css", *names))


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")

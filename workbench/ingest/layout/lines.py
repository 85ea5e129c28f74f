"""The lines of a page as the PDF library gives them, with where they stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """Part of a line that a wide gap sets apart: ``start`` is its first character's index in the line."""

    start: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text. Lengths are PDF points from the page's lower left corner.

    ``size`` is the font's size. ``hyphen`` marks a word broken at the line's end; the hyphen
    itself is not part of ``text``. ``cells`` is empty unless wide gaps divide the line. ``sideways`` lines
    run up or down the page.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool = False
    hyphen: bool = False
    cells: tuple[Cell, ...] = ()
    sideways: bool = False

    @property
    def width(self) -> float:
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class PageLines:
    """One page: its size in points and its lines in the file's own order."""

    width: float
    height: float
    lines: tuple[Line, ...]

"""Text on a terminal: broken between words as it comes, with headings in bold."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata

from workbench.cli import terminal

_WIDEST = 100  # columns: longer lines are hard to read
_BOLD, _NORMAL, _CLEARED = "\x1b[1m", "\x1b[0m", "\r\x1b[K"


def columns() -> int | None:
    """How many columns the terminal has; None where the output is none, and goes on as it is."""
    if not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns - 1, 20)


class Flow:
    """Markdown in pieces, as a chat model writes it. On a terminal no word is broken, list items hang, and
    ``**bold**`` is bold; elsewhere the text stays as it is.

    ``hanging`` is how far the lines after the first are indented. The last word shows with ``end``.
    """

    def __init__(self, *, hanging: int = 0) -> None:
        width = columns()
        self._width = None if width is None else min(width, _WIDEST)
        self._styled = _styled()
        self._hanging = self._indent = hanging
        self._word, self._gap, self._column, self._bold = "", "", 0, False

    def feed(self, text: str) -> None:
        if self._width is None:
            terminal.show(text, end="")
            return
        for character in terminal.plain(text):
            if character == "\n":
                self._put_word()
                self._new_line()
            elif character.isspace():
                self._put_word()
                self._gap += " "
            elif unicodedata.east_asian_width(character) in "WF":  # written without spaces
                self._put_word()
                self._word = character
                self._put_word()
            else:
                self._word += character

    def end(self) -> None:
        self._put_word()
        self._set_bold(False)

    def _new_line(self) -> None:
        self._set_bold(False)
        terminal.write("\n")
        self._gap, self._column, self._indent = "", 0, self._hanging

    def _put_word(self) -> None:
        if not self._word or self._width is None:
            return
        shown, opens, closes = self._unmarked(self._word)
        if self._column == 0 and shown in ("-", "*"):
            self._indent = self._hanging + 2
        if self._column and self._column + len(self._gap) + cells(shown) > self._width:
            terminal.write("\n" + " " * self._indent)
            self._column = self._indent
        else:
            terminal.write(self._gap)
            self._column += len(self._gap)
        if opens:
            self._set_bold(True)
        terminal.write(shown)
        if closes:
            self._set_bold(False)
        self._column += cells(shown)
        self._word = self._gap = ""

    def _unmarked(self, word: str) -> tuple[str, bool, bool]:
        """The word as it is shown, and whether bold begins before and ends after it."""
        if not self._styled:
            return word, False, False
        opens = word.startswith("**") and len(word) > len("**")
        bare = word[2:] if opens else word
        closes = (opens or self._bold) and bare.endswith("**")
        return bare[:-2] if closes else bare, opens, closes

    def _set_bold(self, bold: bool) -> None:
        if bold != self._bold:
            terminal.write(_BOLD if bold else _NORMAL)
            self._bold = bold


def cells(text: str) -> int:
    """How many columns a terminal gives the text."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def shorten(text: str, width: int) -> str:
    """The text, or its beginning with ``…`` where it is wider than ``width`` columns."""
    if cells(text) <= width:
        return text
    kept = ""
    for character in text:
        if cells(kept + character) > width - 1:
            break
        kept += character
    return kept.rstrip() + "…"


class Waiting:
    """One line on a terminal that tells what goes on until there is something to read; then it is gone."""

    def __init__(self) -> None:
        self._shown = False
        self._possible = columns() is not None and _styled()

    def say(self, text: str) -> None:
        if self._possible:
            terminal.write(f"{_CLEARED}{shorten(terminal.one_line(text), columns() or 0)}")
            self._shown = True

    def end(self) -> None:
        if self._shown:
            terminal.write(_CLEARED)
            self._shown = False


def _styled() -> bool:
    return os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ

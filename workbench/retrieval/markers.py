"""Citation markers in a streamed answer.

Chat models write ``[1]``, ``[1, 2]``, ``[1-3]``, ``【1】`` and ``[^1]``, sometimes split between tokens,
sometimes with numbers nobody gave them. What leaves here holds only ``[N]`` with known N.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

MAX_PER_SENTENCE = 3
LONGEST_MARKER = 40  # characters; a longer bracket is prose

_MARKER = re.compile(
    r"[\[【]\s*\^?\s*(?:(?:passages?|sources?|refs?)\.?\s*)?"
    r"(\d{1,4}(?:\s*(?:[-–—,;]|and)\s*\^?\d{1,4})*)\s*(?:†[^\]】]*)?[\]】]",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(\d{1,4})(?:\s*[-–—]\s*(\d{1,4}))?")
_LIST_WORDS = ("references", "sources", "citations", "bibliography", "works cited")
_LIST_HEADING = re.compile(rf"[\s#*_>-]*(?:{'|'.join(_LIST_WORDS)})[\s*_]*:?[\s*_]*", re.IGNORECASE)
_CLOSING_QUOTE = {"“": "”", "«": "»", "「": "」", '"': '"'}


def marker_numbers(text: str) -> list[tuple[int, int, int]]:
    """(number, start, end) of each ``[N]`` in finished text, code left out."""
    return [(int(m.group(1)), m.start(), m.end()) for m in re.finditer(r"\[(\d{1,4})\]", blank_code(text))]


def blank_code(text: str) -> str:
    """``text`` with fenced and inline code replaced by spaces of the same length."""
    return re.sub(r"```.*?(?:```|\Z)|`[^`\n]*`", lambda m: " " * len(m.group()), text, flags=re.DOTALL)


@dataclass
class MarkerStream:
    """Feed it pieces of an answer; it gives back text that is safe to show.

    ``known`` are the numbers that exist; others are left out and collected in ``unknown``. Repeats within
    a sentence are merged and at most ``MAX_PER_SENTENCE`` kept. A number inside quotation marks is the
    quoted paper's own and becomes ``(ref. N)``; code stays as it is. A list of references at the end is
    left out, because the numbered citations already are one. ``used`` lists known numbers by first use.
    """

    known: Collection[int]
    unknown: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    _held: str = ""
    _spaces: str = ""
    _after_dropped: bool = False
    _at_line_start: bool = True
    _in_code: str = ""
    _in_list: bool = False
    _prose: _Prose = field(default_factory=lambda: _Prose())

    def feed(self, piece: str) -> str:
        """Text that can be shown now; what may still become a marker is held back."""
        self._held += piece
        return self._drain(final=False)

    def close(self) -> str:
        """The rest of the text, at the end of the stream."""
        return self._drain(final=True).rstrip(" ")

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        while self._held and not self._in_list:
            taken = self._next(final)
            if taken is None:
                break
            out.append(taken)
        return "".join(out)

    def _next(self, final: bool) -> str | None:
        """Consumes the next stretch of held text; None means wait for more."""
        if self._at_line_start and not self._in_code and self._opens_list(final):
            return "" if self._in_list else None
        head = self._held[0]
        if head == "`":
            return self._code_mark(final)
        if head in "[【" and not self._in_code:
            return self._bracket(final)
        if head == "\n":
            return self._show(1)
        stop = re.search(r"[\[【`\n]", self._held[1:])
        return self._show(stop.start() + 1 if stop else len(self._held))

    def _opens_list(self, final: bool) -> bool:
        """True when the line is a heading of references (``_in_list`` is set) or may become one."""
        line, newline, _ = self._held.partition("\n")
        if newline or final:
            self._in_list = bool(self.used) and _LIST_HEADING.fullmatch(line) is not None
            return self._in_list
        word = line.lstrip(" #*_>-\t").rstrip(" *_:").casefold()
        return len(line) <= LONGEST_MARKER and any(w.startswith(word) for w in _LIST_WORDS)

    def _code_mark(self, final: bool) -> str | None:
        ticks = len(self._held) - len(self._held.lstrip("`"))
        if ticks == len(self._held) and not final:
            return None
        if not self._in_code:
            self._in_code = "`" * ticks
        elif ticks >= len(self._in_code):
            self._in_code = ""
        return self._show(ticks)

    def _bracket(self, final: bool) -> str | None:
        match = _MARKER.match(self._held)
        if match:
            self._held = self._held[match.end() :]
            return self._marker(match.group(1))
        open_still = re.search(r"[\]】\n]", self._held) is None
        return None if open_still and len(self._held) <= LONGEST_MARKER and not final else self._show(1)

    def _marker(self, inside: str) -> str:
        if self._prose.quoted:
            return self._with_spaces(f"(ref. {inside.strip()})")
        numbers = _expand(inside)
        self.unknown += [n for n in numbers if n not in self.known]
        fresh = self._prose.cite([n for n in numbers if n in self.known])
        self.used += [n for n in fresh if n not in self.used]
        self._after_dropped = not fresh
        return self._with_spaces("".join(f"[{n}]" for n in fresh)) if fresh else ""

    def _show(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        for char in text:
            self._prose.read(char, in_code=bool(self._in_code))
        self._at_line_start = text == "\n" or (self._at_line_start and not text.strip())
        if text == "\n" and len(self._in_code) == 1:
            self._in_code = ""
        body = text.rstrip(" ")
        if self._after_dropped and body[:1] in {".", ",", ";", ":", "!", "?", "\n"}:
            self._spaces = ""  # the space that led to a marker nobody gave
        self._after_dropped = False if body else self._after_dropped
        shown = self._with_spaces(body) if body else ""
        self._spaces += text[len(body) :]
        return shown

    def _with_spaces(self, text: str) -> str:
        shown, self._spaces = self._spaces + text, ""
        return shown


@dataclass
class _Prose:
    """Where in a sentence the stream stands, and which numbers it has cited there."""

    cited: list[int] = field(default_factory=list)
    quoted: str = ""
    _ending: str = ""  # ".": a full stop was read; " ": and white space after it
    _before: str = " "

    def read(self, char: str, *, in_code: bool) -> None:
        if char == "\n":
            self.cited, self.quoted, self._ending = [], "", ""
        elif char in ".!?":
            self._ending = "."
        elif char in "。！？" or (char.isspace() and self._ending):
            self._ending = " "
        elif char.isalnum():
            if self._ending == " ":
                self.cited = []
            self._ending = ""
        if not in_code:
            self._quote(char)
        self._before = char

    def cite(self, numbers: list[int]) -> list[int]:
        """The numbers not yet cited in this sentence, as far as there is room."""
        fresh = [n for n in numbers if n not in self.cited][: MAX_PER_SENTENCE - len(self.cited)]
        self.cited += fresh
        return fresh

    def _quote(self, char: str) -> None:
        if self.quoted:
            self.quoted = "" if char == self.quoted else self.quoted
        elif char in _CLOSING_QUOTE and (char != '"' or not self._before.isalnum()):
            self.quoted = _CLOSING_QUOTE[char]


def _expand(inside: str) -> list[int]:
    """``"1, 3-5"`` gives 1, 3, 4, 5; an absurd range counts as its two ends."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(inside):
        low, high = int(first), int(last or first)
        numbers.extend(range(low, high + 1) if 0 <= high - low <= 20 else [low, high])
    return list(dict.fromkeys(numbers))

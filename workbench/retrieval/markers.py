"""Citation markers in a streamed answer.

Chat models write ``[1]``, ``[1, 2]``, ``[1-3]``, ``[1]-[3]``, ``[[1], [2]]``, ``【1】``, ``[^1]``,
``[1, p. 2]`` and ``[1](#1)``, sometimes split between tokens, sometimes with numbers nobody gave them. What
leaves here holds only ``[N]`` with known N.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from workbench.retrieval.code_stretches import FENCE, blank_code, inline_end, tick_run
from workbench.retrieval.formulas import formula_end, without_numbers_in_brackets
from workbench.retrieval.marker_forms import (
    OPENING,
    inside_of,
    is_interval,
    link_end,
    marker_at,
    may_be_marker,
    numbers_in,
)
from workbench.retrieval.reference_lists import opens_list

MAX_PER_SENTENCE = 3

_MADE = re.compile(r"\[(\d{1,4})\]")
_OWN = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\]")
_CLOSING_QUOTE = {"“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", '"': '"'}
_STOP = re.compile(r"[\[【［`$\\\n]")
_BEFORE_NOTHING = frozenset(".,;:!?)\n")


def marker_numbers(text: str) -> list[tuple[int, int, int]]:
    """(number, start, end) of each ``[N]`` in finished text, code left out."""
    return [(int(m.group(1)), m.start(), m.end()) for m in _MADE.finditer(blank_code(text))]


def without_own_markers(text: str) -> str:
    """``text`` of a paper with its own reference numbers, ``[12]``, as ``(ref. 12)``: they are not ours."""
    return _OWN.sub(lambda m: f"({m[1]})" if is_interval(m[1]) else f"(ref. {m[1]})", text)


def as_prose(text: str) -> str:
    """A paper's words as one line of an answer: no markers of its own, and no back quote opens code there."""
    return without_own_markers(" ".join(text.split())).replace("`", "'")


def own_numbers(text: str) -> set[int]:
    """The numbers that a paper's text itself writes in brackets."""
    return {n for inside in _OWN.findall(text) for n in numbers_in(inside)}


@dataclass
class MarkerStream:
    """Feed it pieces of an answer; it gives back text that is safe to show. How the answer is cut into
    pieces makes no difference.

    ``known`` are the numbers that exist; others are left out and collected in ``unknown``. Repeats within
    a sentence are merged and at most ``MAX_PER_SENTENCE`` kept. A number inside quotation marks is the
    quoted paper's own and becomes ``(ref. N)``, unless ``own`` says that no paper writes it; code stays as
    it is. A list of references is left out, because the numbered citations already are one. ``used`` lists
    known numbers by first use.
    """

    known: Collection[int]
    own: Collection[int] | None = None
    unknown: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    _held: str = ""
    _line_starts: bool = True
    _fence: str = ""
    _in_list: bool = False
    _after_marker: bool = False
    _last: int = 0  # number of the last marker
    _prose: _Prose = field(default_factory=lambda: _Prose())
    _out: _Output = field(default_factory=lambda: _Output())

    def feed(self, piece: str) -> str:
        """Text that can be shown now; what may still become a marker is held back."""
        self._held += piece
        return self._drain(final=False)

    def close(self) -> str:
        """The rest of the text, at the end of the stream."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        while self._held:
            taken = self._next(final)
            if taken is None:
                break
            out.append(taken)
        return "".join(out)

    def _next(self, final: bool) -> str | None:
        """Consumes the next stretch of held text; None means wait for more."""
        if self._fence:
            return self._fenced(final)
        if self._in_list:
            return self._listed(final)
        if self._line_starts:
            opens = self._opens_list(final)
            if opens is None:
                return None
            self._in_list, self._line_starts = opens, False
            return ""
        head = self._held[0]
        if self._after_marker:
            if head in ",;、， ":
                return self._separator(final)
            if head in "-–":
                return self._dash(final)
            if head == "(":
                return self._link(final)
        if head == "`":
            return self._back_quotes(final)
        if head in OPENING:
            return self._bracket(final)
        if head == "$":
            return self._formula(final)
        if head == "\n":
            self._line_starts = True
            return self._show(1)
        stop = _STOP.search(self._held)
        return self._show(stop.start() if stop else len(self._held))

    def _opens_list(self, final: bool) -> bool | None:
        line, newline, _ = self._held.partition("\n")
        return opens_list(line, complete=bool(newline) or final) if self.used else False

    def _listed(self, final: bool) -> str | None:
        """Leaves out a line of a list of references; another heading ends the list."""
        line, newline, _ = self._held.partition("\n")
        if not newline and not final:
            return None
        if line.startswith("#") and not opens_list(line, complete=True):
            self._in_list = False
        else:
            self._held = self._held[len(line) + len(newline) :]
        return ""

    def _fenced(self, final: bool) -> str | None:
        before = self._held.find("`")
        if before:
            return self._show(before if before > 0 else len(self._held), in_code=True)
        run = tick_run(self._held, 0)
        if run == len(self._held) and not final:
            return None
        if run >= len(self._fence):
            self._fence = ""
        return self._show(run, in_code=True)

    def _back_quotes(self, final: bool) -> str | None:
        run = tick_run(self._held, 0)
        if run == len(self._held) and not final:
            return None
        if run >= FENCE:
            self._fence = "`" * run
            return self._show(run, in_code=True)
        end = inline_end(self._held, 0, complete=final)
        return None if end is None else self._show(end, in_code=True)

    def _bracket(self, final: bool) -> str | None:
        match = marker_at(self._held, 0)
        if match is None:
            waiting = not final and may_be_marker(self._held, 0)
            return None if waiting else self._formula(final) if self._held[0] == "\\" else self._show(1)
        if self._prose.between and not self._prose.quoted:
            leads = self._leads(match.end(), final)
            if leads is None:
                return None
            if leads:
                self._prose.begin()
        self._held = self._held[match.end() :]
        return self._marker(inside_of(match))

    def _separator(self, final: bool) -> str | None:
        """Leaves out what stands between two markers, so that ``[1], [2]`` is ``[1][2]``."""
        between = re.match(r"[,;、，]? *", self._held)
        position = between.end() if between else 0
        if position == len(self._held):
            return self._show(position) if final else None
        if marker_at(self._held, position):
            self._held = self._held[position:]
            return ""
        if not final and may_be_marker(self._held, position):
            return None
        self._after_marker = False
        return ""

    def _dash(self, final: bool) -> str | None:
        """Fills the range where a dash joins two markers: ``[1]-[3]`` cites 2 as well."""
        match = marker_at(self._held, 1) if len(self._held) > 1 else None
        if match is not None:
            self._held = self._held[match.end() :]
            return self._marker(f"{self._last}-{inside_of(match)}")
        if not final and (len(self._held) == 1 or may_be_marker(self._held, 1)):
            return None
        self._after_marker = False
        return ""

    def _link(self, final: bool) -> str | None:
        """Leaves out a link behind a marker: the number is the link."""
        end = link_end(self._held, complete=final)
        if end is not None:
            self._held = self._held[end:]
            self._after_marker = end > 0
        return None if end is None else ""

    def _formula(self, final: bool) -> str | None:
        end = formula_end(self._held, 0, complete=final)
        if not end:
            return None if end is None else self._show(1)
        shown = without_numbers_in_brackets(self._held[:end])
        self._held = shown + self._held[end:]
        return self._show(len(shown), in_code=True)

    def _leads(self, position: int, final: bool) -> bool | None:
        """Whether the marker before ``position``, between two sentences, is the subject of the next one."""
        while True:
            while position < len(self._held) and self._held[position] in " \t":
                position += 1
            if position == len(self._held):
                return False if final else None
            match = marker_at(self._held, position)
            if match is None:
                waiting = not final and may_be_marker(self._held, position)
                return None if waiting else self._held[position].islower()
            position = match.end()

    def _marker(self, inside: str) -> str:
        numbers = numbers_in(inside)
        self._after_marker, self._last = True, numbers[-1]
        if self._prose.quoted and (self.own is None or any(n in self.own for n in numbers)):
            return self._out.put(f"(ref. {inside.strip()})")
        self.unknown += [n for n in numbers if n not in self.known]
        fresh = self._prose.cite([n for n in numbers if n in self.known])
        self.used += [n for n in fresh if n not in self.used]
        return self._out.put("".join(f"[{n}]" for n in fresh)) if fresh else self._out.leave_out()

    def _show(self, length: int, *, in_code: bool = False) -> str:
        text, self._held = self._held[:length], self._held[length:]
        self._after_marker = False
        self._prose.read(text, in_code=in_code)
        return self._out.put(text)


@dataclass
class _Prose:
    """Where in a sentence the stream stands, and which numbers it has cited there."""

    cited: list[int] = field(default_factory=list)
    quoted: str = ""  # the marks that close the quotation
    between: bool = False  # a full stop and white space were read, and no word after them
    _stopped: bool = False
    _before: str = " "

    def read(self, text: str, *, in_code: bool) -> None:
        for char in text:
            if char == "\n":
                self.begin()
                self.quoted = ""
            elif in_code:
                self._stopped = False
            else:
                self._read(char)
            self._before = char

    def begin(self) -> None:
        """Another sentence begins here."""
        self.cited, self.between, self._stopped = [], False, False

    def cite(self, numbers: list[int]) -> list[int]:
        """The numbers not yet cited in this sentence, as far as there is room."""
        fresh = [n for n in numbers if n not in self.cited][: MAX_PER_SENTENCE - len(self.cited)]
        self.cited += fresh
        return fresh

    def _read(self, char: str) -> None:
        if char in "。！？":
            self.between = True
        elif char in ".!?":
            self._stopped = True
        elif char.isspace():
            self.between = self.between or self._stopped
            self._stopped = False
        elif char.isalnum():
            if self.between and not char.islower():
                self.begin()
            self.between = self._stopped = False
        if self.quoted:
            self.quoted = "" if char in self.quoted else self.quoted
        elif char in _CLOSING_QUOTE and (char != '"' or not self._before.isalnum()):
            self.quoted = _CLOSING_QUOTE[char]


@dataclass
class _Output:
    """Text on its way out. Spaces wait for what follows, so that none is left where a marker was left out."""

    _spaces: str = ""
    _last: str = "\n"
    _gap: bool = False  # something was left out since the last text
    _spaced: bool = False  # … and a space or a line's start stands before it

    def put(self, text: str) -> str:
        body = text.lstrip(" ")
        if not (self._gap and self._spaced):
            self._spaces += text[: len(text) - len(body)]
        if not body:
            return ""
        if self._gap and body[0] in _BEFORE_NOTHING:
            self._spaces = ""
        elif self._gap and not self._spaces and _would_join(self._last, body[0]):
            self._spaces = " "
        shown = self._spaces + body.rstrip(" ")
        self._spaces = body[len(body.rstrip(" ")) :]
        self._last, self._gap = shown[-1], False
        return shown

    def leave_out(self) -> str:
        self._gap, self._spaced = True, bool(self._spaces) or self._last == "\n"
        return ""


def _would_join(before: str, after: str) -> bool:
    """Whether two characters that now meet would make another word, marker or stretch of code."""
    return all(char.isalnum() or char in "[]【】［］`$\\" for char in (before, after))

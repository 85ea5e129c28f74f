"""Code in markdown text: fenced blocks and stretches between back quotes on one line.

The same rules serve an answer that is still arriving and a finished one, so that a bracket is code in both or
in neither.
"""

from __future__ import annotations

import re

LONGEST_INLINE = 400  # characters; a back quote that is not closed within them is a back quote
FENCE = 3  # back quotes in a row

_FENCED = re.compile(r"(`{3,}).*?(?:\1`*|\Z)", re.DOTALL)


def blank_code(text: str) -> str:
    """``text`` with fenced and inline code replaced by spaces of the same length."""
    out: list[str] = []
    position = 0
    while (start := text.find("`", position)) >= 0:
        out.append(text[position:start])
        end = code_end(text, start)
        code = end > start + tick_run(text, start) or text.startswith("`" * FENCE, start)
        out.append(" " * (end - start) if code else text[start:end])
        position = end
    out.append(text[position:])
    return "".join(out)


def code_end(text: str, start: int) -> int:
    """Where the code that opens with the back quotes at ``start`` ends; where they end, if it is none."""
    fence = _FENCED.match(text, start)
    end = fence.end() if fence else inline_end(text, start, complete=True)
    return start if end is None else end


def inline_end(text: str, start: int, *, complete: bool) -> int | None:
    """``code_end`` for fewer than ``FENCE`` back quotes; None where more must come (not ``complete``)."""
    run = tick_run(text, start)
    opened = start + run
    window = min(opened + LONGEST_INLINE, len(text))
    line_end = text.find("\n", opened, window)
    stop = line_end if line_end >= 0 else window
    undecided = not complete and line_end < 0 and len(text) < opened + LONGEST_INLINE
    for match in re.compile("`+").finditer(text, opened, stop):
        if len(match.group()) == run and not (undecided and match.end() == len(text)):
            return match.end()
    return None if undecided else opened


def tick_run(text: str, start: int) -> int:
    """How many back quotes stand in a row at ``start``."""
    end = start
    while end < len(text) and text[end] == "`":
        end += 1
    return end - start

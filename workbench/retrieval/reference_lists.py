"""Whether a line of an answer opens a list of references that the chat model added on its own."""

from __future__ import annotations

import re

LONGEST_LEAD = 40  # characters of white space and emphasis before or after the word

# After these with a colon anything is a list; after "Sources:" only a number or a bracket is.
_SURE = ("references", "reference list", "bibliography", "works cited", "literaturverzeichnis",
         "références", "bibliographie", "referencias", "bibliografía", "参考文献")  # fmt: skip
_LIST_WORDS = (*_SURE, "sources", "sources cited", "citations", "quellen", "literatur", "fuentes", "出典",
               "来源")  # fmt: skip
_LEAD = re.compile(r"[^\S\n]*(?:#{1,6}[^\S\n]*)?[*_]{0,3}")
_DEFINITION = re.compile(r"[^\S\n]{0,8}\[\^\d{1,4}\]:")
_MAY_DEFINE = re.compile(r"[^\S\n]{0,8}(?:\[(?:\^(?:\d{1,4}\]?)?)?)?")


def opens_list(line: str, *, complete: bool) -> bool | None:
    """True for a heading such as ``## References``, ``References: [1] …`` or ``[^1]: …``.

    ``line`` is what has arrived of it; None means that more must be seen, which never happens when it is
    ``complete``. An answer never changes when more of the line arrives.
    """
    if _DEFINITION.match(line):
        return True
    if not complete and _MAY_DEFINE.fullmatch(line):
        return None
    lead = _LEAD.match(line)
    rest = line[lead.end() :] if lead else line
    if len(line) - len(rest) > LONGEST_LEAD:
        return False
    lowered = rest.lower()
    if not complete and (_is_lead(rest) or any(word.startswith(lowered) for word in _LIST_WORDS)):
        return None
    word = max((w for w in _LIST_WORDS if lowered.startswith(w)), key=len, default=None)
    return False if word is None else _after_word(rest[len(word) :], word in _SURE, complete)


def _is_lead(text: str) -> bool:
    return len(text) <= LONGEST_LEAD and not text.strip("*_# \t")


def _after_word(tail: str, sure: bool, complete: bool) -> bool | None:
    rest = _skipped(tail)
    if len(tail) - len(rest) > LONGEST_LEAD:
        return False
    if not rest:
        return True if complete else None
    if rest[0] not in ":：":
        return False
    listed = _skipped(rest[1:])
    if len(rest) - len(listed) > LONGEST_LEAD:
        return False
    if not listed:
        return True if complete else None
    return sure or listed[0] in "[【" or listed[0].isdigit()


def _skipped(text: str) -> str:
    return text.lstrip("*_ \t")

"""A paper's words as an answer shows them: on one line, without what only the printed page needed."""

from __future__ import annotations

import re

from workbench.retrieval.markers import as_prose

LONGEST_SHOWN = 240  # characters of a sentence that only points at its passage

_OPENING_SIGNS = re.compile(r"^(?:[-•◦▪▸*–#>]\s+|\(?\d{1,2}[.)]\s+(?=\D))+")
_GLYPHS = re.compile(r"[\ue000-\uf8ff]")  # private use: signs of a font that text has no letter for
_CJK = "\u2e80-\u2fdf\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_CJK_BREAK = re.compile(rf"(?<=[{_CJK}])[^\S\n]*\n\s*(?=[{_CJK}])")
_NOTE_BEFORE = re.compile(r"^\d(?=[A-Z][a-z])")  # a footnote's own number
_NOTE_BEHIND_STOP = re.compile(r"(?<=[a-z]{3}[.,;:])\d{1,2}(?=\s|$)")
_NOTE_BEHIND_WORD = re.compile(r"\b([a-z]{5,})\d(?=[\s,.;:)]|$)")


def shown_text(text: str, *, beside: str = "") -> str:
    """``text`` without glued footnote numbers, glyphs that no font has, and spaces at line breaks of CJK.

    A number behind a word is a footnote's only where the word stands in ``beside`` without it.
    """
    text = _CJK_BREAK.sub("", _GLYPHS.sub("", text))
    text = _NOTE_BEHIND_STOP.sub("", _OPENING_SIGNS.sub("", " ".join(text.split())))
    text = _NOTE_BEFORE.sub("", text)
    text = _NOTE_BEHIND_WORD.sub(lambda m: m[1] if _stands_alone(m[1], beside) else m[0], text)
    return as_prose(text)


def shortened(text: str) -> str:
    """``text``, or its beginning with an ellipsis, cut at a word."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return text[: LONGEST_SHOWN - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _stands_alone(word: str, text: str) -> bool:
    return re.search(rf"\b{word}\b", text, re.IGNORECASE) is not None

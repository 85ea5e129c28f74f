"""Repair of single characters, the same for every format. Pure.

Only what stands for something else is replaced: ligatures and presentation forms by their letters, soft
hyphens by nothing. Superscripts, fractions and letters of formulas keep their own characters, because
turning them into digits would change what the page says.
"""

from __future__ import annotations

import re
import unicodedata

_PRESENTATION_FORMS = ((0xFB00, 0xFB4F), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC))


def _replacements() -> dict[int, str]:
    table = {
        code: unicodedata.normalize("NFKC", chr(code))
        for first, last in _PRESENTATION_FORMS
        for code in range(first, last + 1)
        if unicodedata.is_normalized("NFKC", chr(code)) is False
    }
    dropped = [*range(0x00, 0x09), *range(0x0E, 0x20), *range(0x7F, 0xA0), 0xFEFF, 0xFFFE, 0xFFFF]
    table.update(dict.fromkeys(dropped, ""))
    table.update(dict.fromkeys([0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], "\n"))
    table.update(dict.fromkeys([0xA0, 0x2007, 0x202F], " "))
    return table


_TABLE = _replacements()
_SURROGATE = re.compile("[\ud800-\udfff]")
_SOFT_HYPHEN = re.compile("\u00ad+(?:[ \t]*\n[ \t]*)?")
_MANY_BLANK_LINES = re.compile(r"\n{3,}")


def repaired(text: str) -> str:
    """``text`` without NULs, control characters, halves of characters, ligatures and soft hyphens.

    A soft hyphen at a line's end joins the word over the line break. Line ends become ``\\n``.
    """
    if _SURROGATE.search(text):
        text = paired(text)
    text = text.replace("\r\n", "\n").translate(_TABLE)
    return _SOFT_HYPHEN.sub("", text) if "\u00ad" in text else text


def paired(text: str) -> str:
    """``text`` with surrogate pairs joined into their characters and lone halves dropped."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


def tidy(text: str) -> str:
    """``text`` without white space at line ends, outer blank lines, or more than one blank line in a row."""
    trimmed = "\n".join(line.rstrip(" \t") for line in text.split("\n"))
    return _MANY_BLANK_LINES.sub("\n\n", trimmed).strip("\n").rstrip()


# Accents drawn as characters of their own, as TeX's older fonts do: "Art´ıculo", "K¨uttler".
_COMBINING = {
    "´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "˜": "\u0303", "¨": "\u0308", "ˇ": "\u030c",
    "˘": "\u0306", "˝": "\u030b", "˚": "\u030a", "¯": "\u0304", "˙": "\u0307", "¸": "\u0327",
}  # fmt: skip
_MARKS = "".join(_COMBINING)
_APART = re.compile(rf"(?P<before>[^\s(\[“\"])?(?P<mark>[{_MARKS}])(?P<after>[^\W\d_])?")
_LAST_COMMON = 0x17F  # Latin Extended-A: letters that languages use; above are mostly accidents
_MAY_OPEN_A_WORD = "´¨ˇ"  # the others are quotation marks, hats of formulas and tildes of addresses
_LETTERS_WITH_TILDE = "anoANO"


def accents_joined(text: str) -> str:
    """``text`` with accents that stand apart set on their letter, where such a letter is in use.

    Inside a word the accent belongs to the letter after it, else to the one before it. A prime (``5´ end``)
    and a hat over a formula's letter stay as they are.
    """
    return _APART.sub(_join_accent, text) if any(mark in text for mark in _MARKS) else text


def _join_accent(match: re.Match[str]) -> str:
    before, mark, after = match["before"] or "", match["mark"], match["after"] or ""
    if not after or not (before.isalpha() or (before == "" and mark in _MAY_OPEN_A_WORD)):
        return match.group()
    if letter := _composed(after, mark):
        return before + letter
    if letter := _composed(before, mark):
        return letter + after
    return match.group()


def _composed(letter: str, mark: str) -> str | None:
    plain = {"ı": "i", "ȷ": "j"}.get(letter, letter)
    if not plain.isascii() or not plain or (mark == "˜" and plain not in _LETTERS_WITH_TILDE):
        return None
    joined = unicodedata.normalize("NFC", plain + _COMBINING[mark])
    return joined if len(joined) == 1 and ord(joined) <= _LAST_COMMON else None

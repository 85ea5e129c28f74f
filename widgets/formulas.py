"""A formula of an answer as MathML, which browsers draw themselves.

Commands that could do more than draw (links, styles, classes, HTML) come to nothing: only what is listed here
passes, and the sanitiser behind it knows no more.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DEEPEST = 60  # braces within each other
MATHML_TAGS = frozenset(
    """math mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover
    mtable mtr mtd mstyle mpadded mphantom""".split()
)
MATHML_ATTRIBUTES = frozenset(
    """display stretchy fence form accent accentunder mathvariant linethickness columnalign lspace rspace
    width displaystyle scriptlevel minsize maxsize movablelimits largeop separator""".split()
)
_VALUE = re.compile(r"[A-Za-z0-9.%+ -]{1,24}")
_SIGNS = (("$$", "$$", True), ("$", "$", False), (r"\[", r"\]", True), (r"\(", r"\)", False))


@lru_cache(maxsize=512)  # a streaming answer is drawn again and again
def formula_html(source: str) -> str:
    r"""MathML of ``source``, which stands between ``$``, ``$$``, ``\(`` or ``\[`` and their closing signs.

    The source itself, escaped, where it cannot be set or holds what is not to be shown.
    """
    for opening, closing, display in _SIGNS:
        if source.startswith(opening):
            set_formula = _mathml(source[len(opening) : -len(closing)], display=display)
            return set_formula or escape(source)
    return escape(source)


def _mathml(formula: str, *, display: bool) -> str:
    from xml.etree import ElementTree

    from latex2mathml.converter import convert

    if not formula.strip() or _depth(formula) > DEEPEST:
        return ""
    try:
        raw = convert(formula, display="block" if display else "inline")
        return _kept(ElementTree.fromstring(raw))
    except Exception:  # noqa: BLE001 - whatever it stumbles over, the formula is shown as it was written
        return ""


def _kept(element: Element) -> str:
    """The element written anew with what is listed above; a whole formula with anything else is none."""
    tag = element.tag.rpartition("}")[2]
    if tag not in MATHML_TAGS:
        raise ValueError(tag)
    attributes = "".join(
        f' {name}="{value}"'
        for name, value in element.attrib.items()
        if name in MATHML_ATTRIBUTES and _VALUE.fullmatch(value)
    )
    inside = escape(element.text or "") + "".join(_kept(part) + escape(part.tail or "") for part in element)
    return f"<{tag}{attributes}>{inside}</{tag}>"


def _depth(formula: str) -> int:
    deepest = depth = 0
    for sign in formula:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    return deepest

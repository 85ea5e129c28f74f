"""A passage as Markdown for a notebook: a quotation with its reference."""

from __future__ import annotations

from collections.abc import Sequence

NAMED_AUTHORS = 3
_LONGEST = 4000  # characters of a quotation

# What would begin Markdown, HTML or a formula in a notebook's cell. Backslash and dollar as entities: there a
# backslash before a bracket begins a formula even where it is escaped itself.
_MEANING = {
    "\\": "&#92;",
    "$": "&#36;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    **{sign: f"\\{sign}" for sign in "`*_[]|~"},
}
_PLAIN = str.maketrans(_MEANING)


def quotation(quote: str, reference: str) -> str:
    """A block quotation with its reference below it; empty without a quote."""
    words = " ".join(quote.split())
    if not words:
        return ""
    if len(words) > _LONGEST:
        words = words[:_LONGEST].rsplit(" ", 1)[0] + " …"
    return f"> “{plain(words)}”\n>\n> — {reference}\n"


def reference(
    *, authors: Sequence[str], year: int | None, title: str, unit: str, page: int, label: str, marker: int
) -> str:
    """ "Ada Lovelace and Mary Somerville (1843): *Notes*, page 4 (printed 503) [2]"."""
    names = _names([plain(" ".join(name.split())) for name in authors if name.strip()])
    dated = f" ({year})" if year else ""
    place = f"{unit} {page}"
    if label and label != str(page):
        place = f"{place} (printed {plain(label)})" if unit == "page" else f"{unit} {plain(label)}"
    number = f" \\[{marker}\\]" if marker else ""
    head = f"{names}{dated}: " if names else ""
    tail = dated if not names else ""
    return f"{head}*{plain(' '.join(title.split()))}*{tail}, {place}{number}"


def plain(text: str) -> str:
    """``text`` as Markdown that shows it as it is."""
    return text.translate(_PLAIN)


def _names(authors: Sequence[str]) -> str:
    if len(authors) > NAMED_AUTHORS:
        return f"{authors[0]} et al."
    return " and ".join(filter(None, [", ".join(authors[:-1]), *authors[-1:]]))

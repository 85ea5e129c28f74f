"""Short texts that several panels show."""

from __future__ import annotations

from collections.abc import Sequence


def one_line(text: str, limit: int = 300) -> str:
    """``text`` without line breaks, cut to ``limit`` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def byline(authors: Sequence[str], year: int | None) -> str:
    """ "Lewis et al. 2020": the first author's family name, and the year, as far as they are known."""
    parts = []
    if authors and authors[0].strip():
        first = authors[0]
        family = first.split(",")[0].strip() if "," in first else first.split()[-1]
        parts.append(family if len(authors) == 1 else f"{family} et al.")
    if year:
        parts.append(str(year))
    return " ".join(parts)


def counted(number: int, noun: str) -> str:
    """ "1 page", "12 pages"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"

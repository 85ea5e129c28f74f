"""Short texts that several panels show."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

# Controls and signs that turn the reading direction: a file's name may hold them to look like another.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")

ORPHANS_NAME = "Orphan notes"
ALL_NAME = "All notes"
"""The two scopes that are no project, as every panel calls them."""


def scope_name(label: str) -> str:
    """A scope's label as the panels call it."""
    return ORPHANS_NAME if label == "Orphan notes only" else label


def one_line(text: str, limit: int = 300) -> str:
    """``text`` on one line, without signs that are not to be seen, cut at a word to ``limit`` characters."""
    joined = " ".join(_UNSHOWN.sub(" ", text).split())
    if len(joined) <= limit:
        return joined
    kept, _, rest = joined[:limit].rpartition(" ")
    return (kept if kept and len(rest) < 30 else joined[: limit - 1]) + "…"


def place_label(path: str) -> str:
    """A path of this machine as a line, with the person's own folder as ``~``."""
    with contextlib.suppress(ValueError, RuntimeError):  # it lies elsewhere, or there is no such folder
        return one_line(f"~/{Path(path).relative_to(Path.home()).as_posix()}", 1000)
    return one_line(path, 1000)


def byline(authors: Sequence[str], year: int | None) -> str:
    """ "Lewis et al. 2020": the first author's family name, and the year, as far as they are known."""
    parts = []
    if authors and authors[0].strip():
        family = _family(authors[0].strip())
        parts.append(family if len(authors) == 1 else f"{family} et al.")
    if year:
        parts.append(str(year))
    return " ".join(parts)


def _family(author: str) -> str:
    """ "Lewis" of "Lewis, Patrick" and of "Patrick Lewis"; a group's name ("Vision working group") whole."""
    if "," in author:
        return author.split(",")[0].strip()
    last = author.split()[-1]
    return author if last.islower() else last


def counted(number: int, noun: str) -> str:
    """ "1 page", "12 pages"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"

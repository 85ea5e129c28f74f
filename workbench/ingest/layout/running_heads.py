"""Running heads, footers, page numbers and margin stamps: lines that repeat from page to page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.ingest.layout.lines import PageLines

_OUTER_ROWS = 3  # this many rows from the top and the bottom of a page can be running heads
_APART = 1.5  # times the size of the print
_MARGIN = 0.15  # of the page's height
_MIN_PAGES = 3
_MIN_LETTERS = 4
_SAME_PLACE = 4.0  # points
_DIGITS = re.compile(r"\d+")
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"\W*(\d{1,4}|[ivxl]{1,7})\W*", re.IGNORECASE)
_MIN_IN_STEP = 0.6  # share of a cluster's pages
_MIN_DENSITY = 0.4  # of the pages from the first to the last: every other page, with gaps
_MOST_PAGES = 0.4


@dataclass(frozen=True, slots=True)
class _Place:
    page: int
    line: int
    base: float
    text: str


def without_running_heads(pages: Sequence[PageLines], *, body_size: float) -> list[PageLines]:
    """The pages without lines that stand in the same place on at least three pages.

    Only the outermost lines count, in print no larger than the text's, so that repeated slide titles and
    rows of tables stay. A line whose numbers change from page to page goes only where one of them counts
    in step with the pages. A head that not most pages share, a chapter's, stays on its first page.
    """
    groups: dict[tuple[str, str], list[_Place]] = defaultdict(list)
    for page_index, page in enumerate(pages):
        for line_index, zone in _outer_lines(page, body_size):
            line = page.lines[line_index]
            groups[zone, _key(line.text)].append(_Place(page_index, line_index, line.base, line.text))
    dropped: dict[int, set[int]] = defaultdict(set)
    for (zone, _), places in groups.items():
        for cluster in _same_place(places):
            for place in _repeated(cluster, zone, len(pages)):
                dropped[place.page].add(place.line)
    return [_without(page, dropped[index]) for index, page in enumerate(pages)]


def _repeated(cluster: Sequence[_Place], zone: str, page_count: int) -> Iterable[_Place]:
    """The places of one cluster that are running heads."""
    if _in_step(cluster):
        yield from cluster
        return
    by_text: dict[str, list[_Place]] = defaultdict(list)
    for place in cluster:
        by_text[place.text].append(place)
    for text, places in by_text.items():
        on_pages = sorted({place.page for place in places})
        span = on_pages[-1] - on_pages[0] + 1
        if len(on_pages) < _MIN_PAGES or len(on_pages) < _MIN_DENSITY * span:
            continue
        if sum(map(str.isalpha, text)) < _MIN_LETTERS:  # a formula's exponent is no running head
            continue
        everywhere = zone != "top" or len(on_pages) >= _MOST_PAGES * page_count
        yield from (place for place in places if everywhere or place.page != on_pages[0])


def _key(text: str) -> str:
    return _SPACE.sub("", _DIGITS.sub("#", text)).casefold()


def _outer_lines(page: PageLines, body_size: float) -> Iterable[tuple[int, str]]:
    """Index and zone of each line that could be a running head: at an edge, and apart from the text."""
    upright = [index for index, line in enumerate(page.lines) if not line.sideways]
    rows = _rows(page, sorted(upright, key=lambda index: -page.lines[index].base))
    for zone, ordered in (("top", rows), ("bottom", rows[::-1])):
        for row in ordered[: _rows_at_edge(page, ordered)]:
            for index in row:
                line = page.lines[index]
                depth = page.height - line.base if zone == "top" else line.base
                if depth <= _MARGIN * page.height and line.size <= 1.1 * body_size:
                    yield index, zone
    for index, line in enumerate(page.lines):
        if line.sideways and len(line.text) > 8:
            yield index, "side"


def _rows(page: PageLines, ordered: Sequence[int]) -> list[list[int]]:
    """Indexes of lines grouped by baseline."""
    rows: list[list[int]] = []
    for index in ordered:
        if rows and abs(page.lines[rows[-1][0]].base - page.lines[index].base) <= _SAME_PLACE:
            rows[-1].append(index)
        else:
            rows.append([index])
    return rows


def _rows_at_edge(page: PageLines, rows: Sequence[Sequence[int]]) -> int:
    """How many of the first rows stand apart from the rest by more than the distance of lines."""
    found = 0
    for count in range(1, min(_OUTER_ROWS, len(rows) - 1) + 1):
        last, following = page.lines[rows[count - 1][0]], page.lines[rows[count][0]]
        if abs(last.base - following.base) > _APART * max(last.size, following.size):
            found = count
    return found


def _same_place(places: Sequence[_Place]) -> Iterable[list[_Place]]:
    """Groups of places at the same height, tolerating what one line's descenders make of it."""
    cluster: list[_Place] = []
    for place in sorted(places, key=lambda place: place.base):
        if cluster and place.base - cluster[-1].base > _SAME_PLACE:
            yield cluster
            cluster = []
        cluster.append(place)
    if cluster:
        yield cluster


def _in_step(cluster: Sequence[_Place]) -> bool:
    """Whether most places hold a number that differs from the page's index by one and the same amount."""
    if len({place.page for place in cluster}) < _MIN_PAGES:
        return False
    differences: dict[int, int] = defaultdict(int)
    for place in cluster:
        alone = _NUMBER.fullmatch(place.text)
        words = [alone[1]] if alone else _DIGITS.findall(place.text)
        numbers = {int(word) if word.isdigit() else _roman(word) for word in words if len(word) < 8}
        for number in numbers:
            differences[number - place.page] += 1
    return bool(differences) and max(differences.values()) >= _MIN_IN_STEP * len(cluster)


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50}[c] for c in text.casefold()]
    following = [*values[1:], 0]
    return sum(-a if a < b else a for a, b in zip(values, following, strict=True))


def _without(page: PageLines, dropped: set[int]) -> PageLines:
    if not dropped:
        return page
    return replace(page, lines=tuple(line for i, line in enumerate(page.lines) if i not in dropped))

"""Sections for formats without pages: what a citation can point at. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from workbench.ingest.characters import tidy
from workbench.ingest.document import Heading, ReadPage

SHORTEST = 1_200  # characters: shorter sections are read together with the next one
LONGEST = 6_000  # characters: longer ones are divided between blocks
BLANK_LINE = "\n\n"


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a table or a heading of a document, in its order."""

    text: str
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Sections:
    pages: tuple[ReadPage, ...]
    headings: tuple[Heading, ...]


def sections_of_blocks(blocks: Iterable[Block]) -> Sections:
    """Blocks put together to sections that begin at headings, named after their first heading."""
    groups: list[list[Block]] = [[]]
    length = 0
    for block in blocks:
        text = tidy(block.text)
        if not text.strip():
            continue
        begins = block.heading and length >= SHORTEST
        overflows = length + len(text) > LONGEST and length > 0 and not _only_headings(groups[-1])
        if begins or overflows:
            groups.append([])
            length = 0
        groups[-1].append(Block(text, block.heading))
        length += len(text) + len(BLANK_LINE)
    return _numbered(groups)


def sections_of_lines(lines: Sequence[str], *, unit: str, between: str = "\n") -> Sections:
    """Lines put together to sections labelled ``lines 1-80`` (or another ``unit``)."""
    pages: list[ReadPage] = []
    start, length = 0, 0
    for index, line in enumerate(lines):
        if length and length + len(line) > LONGEST:
            _append_lines(pages, lines, start, index, unit, between)
            start, length = index, 0
        length += len(line) + len(between)
    _append_lines(pages, lines, start, len(lines), unit, between)
    return Sections(tuple(pages), ())


def pieces(text: str, longest: int = LONGEST) -> Iterator[str]:
    """``text`` in parts of at most ``longest`` characters, cut at line ends or spaces where there are any."""
    start = 0
    while start < len(text):
        end = min(start + longest, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start + longest // 2, end), 0) or text.rfind(
                " ", start + longest // 2, end
            )
            end = cut if cut > start else end
        yield text[start:end]
        start = end


def _only_headings(group: Sequence[Block]) -> bool:
    return all(block.heading for block in group)


def _numbered(groups: Sequence[Sequence[Block]]) -> Sections:
    pages: list[ReadPage] = []
    headings: list[Heading] = []
    name: str | None = None
    for group in groups:
        if not group:
            continue
        page_number, position = len(pages) + 1, 0
        for block in group:
            if block.heading:
                headings.append(Heading(page_number, position, block.text))
            position += len(block.text) + len(BLANK_LINE)
        first = next((block.text for block in group if block.heading), None)
        name = first or name
        pages.append(ReadPage(BLANK_LINE.join(block.text for block in group), name))
    return Sections(tuple(pages), tuple(headings))


def _append_lines(
    pages: list[ReadPage], lines: Sequence[str], start: int, end: int, unit: str, between: str
) -> None:
    text = between.join(lines[start:end]).strip("\n")
    if text.strip():
        label = f"{unit} {start + 1}-{end}" if end > start + 1 else f"{unit.removesuffix('s')} {end}"
        pages.append(ReadPage(text, label))

"""Plain text, logs, Markdown and bibliography files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.ingest.characters import tidy
from workbench.ingest.document import Document
from workbench.ingest.sections import LONGEST, Block, pieces, sections_of_blocks, sections_of_lines

_ATX = re.compile(r" {0,3}#{1,6}\s++(.*)")
_SETEXT = re.compile(r"^ {0,3}(=+|-{3,})\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.S)
_TO_IMPORT = (
    "Added as a paper to search in; “import” takes titles, authors and years from it for the papers you have."
)
_WORK = re.compile(r"@(?!(?:comment|string|preamble)\b)\w+\s*[{(]|TY  - ", re.IGNORECASE)
_ENTRY = re.compile(r"\n+(?=@\w+\s*[{(]|TY  - )")


def read_text(text: str) -> Document:
    """Text as it stands, in sections labelled by line."""
    lines = [part for line in tidy(text).split("\n") for part in _bounded(line)]
    found = sections_of_lines(lines, unit="lines")
    return Document(kind="txt", pages=found.pages, page_unit="section", headings=found.headings)


def read_log(text: str) -> Document:
    """A log: every line stands for itself, so each is parted from the next by a blank line."""
    lines = [part for line in text.split("\n") if line.strip() for part in _bounded(line.rstrip())]
    found = sections_of_lines(lines, unit="lines", between="\n\n")
    return Document(kind="log", pages=found.pages, page_unit="section")


def read_bibliography(text: str, kind: str) -> Document:
    """A .bib or .ris file as text, one entry parted from the next by a blank line."""
    lines = [part for line in _ENTRY.sub("\n\n", tidy(text)).split("\n") for part in _bounded(line)]
    found = sections_of_lines(lines, unit="lines")
    works = sum(1 for line in lines if _WORK.match(line))
    title = f"Bibliography of {works:,} {'work' if works == 1 else 'works'}" if works else None
    return Document(
        kind=kind,
        pages=found.pages,
        page_unit="section",
        title=title,
        warnings=(_TO_IMPORT,) if works else (),
    )


def read_markdown(text: str) -> Document:
    """Markdown in sections named after their headings; the text keeps its marks."""
    blocks = list(markdown_blocks(text))
    found = sections_of_blocks(blocks)
    title = next((block.text for block in blocks if block.heading), None)
    return Document(kind="md", pages=found.pages, page_unit="section", title=title, headings=found.headings)


def markdown_blocks(text: str) -> Iterator[Block]:
    """Paragraphs, code and headings of a Markdown text; headings without their number signs."""
    lines = _FRONT_MATTER.sub("", text, count=1).split("\n")
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence or mark:
            paragraph.append(line)
            if fence:
                fence = "" if mark and line.strip().startswith(fence) else fence
            elif mark:
                fence = mark[1]
            continue
        heading = _heading(line)
        if heading is not None or not line.strip():
            yield from _paragraph(paragraph)
            paragraph = []
            if heading:
                yield Block(heading, heading=True)
        elif _SETEXT.match(line) and len(paragraph) == 1 and "|" not in paragraph[0]:
            yield Block(paragraph.pop().strip(), heading=True)
        else:
            paragraph.append(line)
    yield from _paragraph(paragraph)


def _heading(line: str) -> str | None:
    """What stands behind a line's number signs, without those that close it; None where it has none."""
    match = _ATX.fullmatch(line)
    if match is None:
        return None
    text = match[1].rstrip()
    opened = text.rstrip("#")
    return opened.rstrip() if opened and opened[-1].isspace() else text


def _paragraph(lines: list[str]) -> Iterator[Block]:
    yield from (Block(part) for part in pieces("\n".join(lines)))


def _bounded(line: str) -> Iterator[str]:
    if len(line) <= LONGEST:
        yield line
    else:
        yield from pieces(line)

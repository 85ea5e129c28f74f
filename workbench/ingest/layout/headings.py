"""Which lines are section headings: by the outline, the size and weight of the print, the numbering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.ingest.layout.lines import Line, PageLines
from workbench.ingest.squeeze import squeezed

MAX_HEADING = 120  # characters
_LARGER = 1.15  # times the body's size
_NUMBERED = re.compile(
    r"(?:(?:\d{1,2}\.){0,3}\d{1,2}\.?|[A-Z](?:\.\d{1,2})*\.?|[IVX]{1,5}\.)\s+(?=\S*[^\W\d_]{2})"
)
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_KNOWN = 40  # characters of a heading known by its words
_FOOTNOTED = re.compile("[†‡§¶∗]")  # names of authors, in the print of a heading
_LABEL = re.compile(
    r"(?:fig(?:ure)?s?|tab(?:le|\.)|algorithm|theorem|lemma|listing|equation)\b", re.IGNORECASE
)
_KNOWN = frozenset(
    {
        "abstract", "summary", "introduction", "background", "related work", "methods", "method",
        "materials and methods", "results", "results and discussion", "discussion", "conclusion",
        "conclusions", "limitations", "references", "bibliography", "literature cited", "works cited",
        "acknowledgements", "acknowledgments", "acknowledgement", "acknowledgment", "appendix",
        "appendices", "supplementary material", "keywords", "data availability", "author contributions",
        "conflict of interest", "zusammenfassung", "einleitung", "literatur", "literaturverzeichnis",
        "résumé", "références", "bibliographie", "resumen", "introducción", "referencias",
        "bibliografía", "摘要", "参考文献", "引言", "结论",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeadingStyle:
    """What a heading looks like in one document: ``outline`` holds squeezed titles by page index."""

    body_size: float
    outline: dict[int, frozenset[str]]

    def is_heading(self, line: Line, page_index: int) -> bool:
        """Whether the line reads and looks like a heading."""
        text = line.text
        if not _heading_like(line):
            return False
        titles = self.outline.get(page_index)
        if titles and squeezed(text) in titles:
            return True
        if len(text) <= _LONGEST_KNOWN and _bare(text) in _KNOWN:
            return True
        large = line.size >= _LARGER * self.body_size
        if not (large or line.bold or text.isupper()) or _LABEL.match(text):
            return False
        if large:
            return True
        numbered = _NUMBERED.match(text) is not None and text[-1] not in ".;,"
        if not line.bold or line.size <= 0.85 * self.body_size:
            return numbered and text.isupper()
        opens = text[0].isupper() or text[0].isdigit() or not text[0].isascii()
        return opens and (numbered or (len(text) <= 80 and text[-1] != "."))


def _bare(text: str) -> str:
    """A heading's words without its number."""
    return _NUMBERED.sub("", text, count=1).strip(" .:").casefold()


def _heading_like(line: Line) -> bool:
    text = line.text
    if line.sideways or line.hyphen or not 2 <= len(text) <= MAX_HEADING or text[-1] in ",;":
        return False
    if len(line.cells) > 2 or _FOOTNOTED.search(text):
        return False
    letters = len(_LETTER.findall(text))
    return letters >= 2 and 2 * letters >= len(text) - text.count(" ")


def body_size(pages: Sequence[PageLines]) -> float:
    """The size most characters are set in, in points; 0.0 without text."""
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if not line.sideways:
                weights[round(line.size, 0)] += len(line.text)
    if not weights:
        return 0.0
    common = weights.most_common(1)[0][0]
    near = [
        (line.size, len(line.text))
        for page in pages
        for line in page.lines
        if not line.sideways and round(line.size, 0) == common
    ]
    return sum(size * weight for size, weight in near) / sum(weight for _, weight in near)

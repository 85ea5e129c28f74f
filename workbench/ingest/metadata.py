"""What a PDF says about itself: title, authors, year, DOI. Pure, and never a guess without a source."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from workbench.ingest.bylines import names_under_title
from workbench.ingest.characters import repaired
from workbench.ingest.layout.lines import Line
from workbench.ingest.squeeze import squeezed

MAX_TITLE = 300
_FILE_LIKE = re.compile(
    r"\.(?:dvi|tex|docx?|pdf|eps|indd|qxd|pptx?|rtf|xlsx?|html?|ps|fm)\b|^microsoft\b|^untitled|^\W*$|^[\d\W_]+$"
    r"|^(?:united states|securities and exchange|form \d+-)"
    r"|^(?:document|title|paper|main|manuscript|template|slide|powerpoint|word)\b.{0,12}$|[\\/].*[\\/]",
    re.IGNORECASE,
)
_NOT_A_TITLE = re.compile(
    r"(?:abstract|summary|contents|introduction|摘要|united states|securities and exchange commission"
    r"|form \d+-\w+)\W*",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SPACE = re.compile(r"\s+")
_DOI = re.compile(r"\b10\.\d{4,9}/[-._;()/:a-z0-9]+", re.IGNORECASE)
_DATED = re.compile(
    r"(?:©\s*(?:the author\(?s?\)?,?\s*)?|copyright\s+(?:©\s*)?|\(c\)\s*"
    r"|published(?:\s+online)?:?\s+(?:\w+\s+\d{1,2},?\s+|\d{1,2}\s+\w+\s+)?"
    r"|version posted\s+\w+\s+\d{1,2},\s+"
    r"|(?:neurips|nips|iclr|icml|acl|emnlp|naacl|cvpr|aaai|ijcai|kdd|sigir|sigmod|vldb|www)\s+"
    r"|\bvol(?:ume|\.)?\s*\d+,\s*(?:no\.|issue)?\s*\d*,?\s*|\(neurips\s+)((?:19|20)\d{2})\b",
    re.IGNORECASE,
)
_JOURNAL_YEAR = re.compile(r"^[A-Z][\w&. ]{3,60},? \(?((?:19|20)\d{2})\)?[,; ]\s*(?:vol|\d+)", re.MULTILINE)
_DOI_YEAR = re.compile(r"^10\.1101/(20\d{2})\.")
_ARXIV = re.compile(r"\barXiv:(\d\d)(?:0[1-9]|1[0-2])\.\d{4,5}(?:v\d+)?\b")
_NAME = re.compile(r"[^\W\d_]\S*(?: \S+){1,4}")
# What the first page of a paper shows and that of a form, a table or a list of places does not.
_SCHOLARLY = re.compile(r"@\w|\b(?:abstract|résumé|zusammenfassung|universit|institut|department of)", re.I)
_AUTHOR_SEPARATOR = {
    True: re.compile(r"\s*;\s*"),
    False: re.compile(r"\s*(?:,(?!\s*(?:Jr|Sr|I{2,3})\b)|\band\b|&)\s*"),
}


def from_info(info: Mapping[str, str], key: str) -> str | None:
    """One value of the document information on one line; ``None`` when empty."""
    value = _SPACE.sub(" ", html.unescape(repaired(info.get(key, "")))).strip()
    return value or None


def title(info: Mapping[str, str], first_page: Sequence[Line], first_text: str) -> str | None:
    """The document information's title where page 1 shows it, else the largest print of page 1.

    A title in the information that page 1 does not show is often left over from a template or a figure; it
    is used only when page 1 offers nothing and it does not look like a file's name.
    """
    stated = from_info(info, "Title")
    if stated and (len(stated) > MAX_TITLE or _FILE_LIKE.search(stated)):
        stated = None
    if stated and len(squeezed(stated)) > 3 and squeezed(stated) in squeezed(first_text):
        return stated
    return _largest_print(first_page) or _bold_start(first_page) or stated


def _largest_print(lines: Sequence[Line]) -> str | None:
    """The largest lines of the upper two thirds of page 1 that read like a title, joined."""
    upright = [line for line in lines if not line.sideways and sum(map(str.isalpha, line.text)) >= 3]
    if not upright:
        return None
    top, bottom = max(line.base for line in upright), min(line.base for line in upright)
    upper = [line for line in upright if line.base >= bottom + (top - bottom) / 3]
    sizes = sorted({round(line.size, 1) for line in upper}, reverse=True)
    usual = sorted(line.size for line in upright)[len(upright) // 2]
    for size in sizes[:4]:
        if size < 1.1 * usual:
            return None
        together = _run_of_size(upper, size)
        text = _SPACE.sub(" ", " ".join(line.text for line in together)).strip()
        if _reads_like_a_title(text):
            return text
    return None


def _bold_start(lines: Sequence[Line]) -> str | None:
    """The bold lines a page begins with, as manuscripts set their title in the size of the text."""
    upright = [line for line in lines if not line.sideways]
    top = max((line.base for line in upright), default=0.0)
    first = next(
        (i for i, line in enumerate(upright) if line.bold and top - line.base < 12 * line.size), None
    )
    if first is None:
        return None
    run = [upright[first]]
    for line in upright[first + 1 :]:
        if not line.bold or abs(line.size - run[0].size) > 0.1 * line.size:
            break
        run.append(line)
    text = _SPACE.sub(" ", " ".join(line.text for line in run)).strip()
    return text if len(text.split()) >= 4 and _reads_like_a_title(text) else None


def _reads_like_a_title(text: str) -> bool:
    enough = (len(text.split()) >= 2 and len(text) >= 8) or len(_CJK.findall(text)) >= 4
    sentence = text[0].islower() or "。" in text
    return enough and not sentence and len(text) <= MAX_TITLE and not _FILE_LIKE.search(text)


def _run_of_size(lines: Sequence[Line], size: float) -> list[Line]:
    """The first run of consecutive lines set about as large as ``size``."""
    run: list[Line] = []
    for line in lines:
        if _NOT_A_TITLE.fullmatch(line.text):
            if run:
                break
        elif abs(line.size - size) <= 0.08 * size and (not run or run[-1].base - line.base < 2.2 * size):
            run.append(line)
        elif run:
            break
    return run


def authors(
    info: Mapping[str, str], first_page: Sequence[Line], first_text: str, found_title: str | None
) -> tuple[str, ...]:
    """The names under the title, or the document information's where page 1 shows all of more names."""
    scholarly = _SCHOLARLY.search(first_text) is not None
    printed = names_under_title(first_page, found_title) if scholarly else ()
    stated = from_info(info, "Author")
    if not stated:
        return printed
    page = squeezed(first_text)
    names = [name for name in _AUTHOR_SEPARATOR[";" in stated].split(stated) if name]
    if ";" not in stated and len(names) == 2 and all(" " not in name for name in names):
        names = [f"{names[1]} {names[0]}"]  # "McVey, Mitch"
    shown = [name for name in names if _NAME.fullmatch(name) and squeezed(name) in page]
    if len(shown) < len(names) or len(printed) > len(shown):
        return printed
    return tuple(dict.fromkeys(shown))


def doi(info: Mapping[str, str], first_text: str) -> str | None:
    """The DOI printed on page 1 before any reference list, or stated in the document information."""
    body = re.split(r"\n\s*(?:references|bibliography)\s*\n", first_text, maxsplit=1, flags=re.IGNORECASE)[0]
    stated = " ".join(filter(None, (from_info(info, key) for key in ("Subject", "Keywords", "doi"))))
    found = [match.group().rstrip(".,;:)/") for match in _DOI.finditer(stated or "")]
    if not found:
        found = [match.group().rstrip(".,;:)/") for match in _DOI.finditer(body)]
    distinct = list(dict.fromkeys(value.lower() for value in found))
    return next((value for value in found if value.lower() == distinct[0]), None) if distinct else None


def year(info: Mapping[str, str], first_text: str, found_doi: str | None) -> int | None:
    """The year page 1 prints in an arXiv number, or beside a copyright, a publication date or a volume."""
    if match := _ARXIV.search(first_text):
        return 2000 + int(match[1])
    if found_doi and (match := _DOI_YEAR.match(found_doi)):
        return int(match[1])
    subject = from_info(info, "Subject") or ""
    for text in (first_text, subject):
        match = _DATED.search(text) or _JOURNAL_YEAR.search(text)
        if match:
            return int(match[1])
    return None

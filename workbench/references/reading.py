"""References from the text of a ``.bib`` or ``.ris`` file, as Zotero and Mendeley write them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import InvalidInputError
from workbench.records import Reference

if TYPE_CHECKING:
    from bibtexparser.library import Library
    from bibtexparser.model import Entry

RAW = frozenset({"doi", "url", "file", "eprint", "isbn", "issn"})  # fields that are no LaTeX
_IGNORED = frozenset({"abstract", "annote", "keywords", "owner", "timestamp"})
_LATEX = re.compile(r"[\\{}$~%]|--|``|''|<<|>>|[!?]`")
_AUTHOR = "author "  # one field for each author while names are decoded
_RIS_TYPES = {
    "JOUR": "article", "MGZN": "article", "NEWS": "article", "EJOUR": "article", "BOOK": "book",
    "EBOOK": "book", "CHAP": "incollection", "ECHAP": "incollection", "CONF": "inproceedings",
    "CPAPER": "inproceedings", "THES": "phdthesis", "RPRT": "techreport", "UNPB": "unpublished",
}  # fmt: skip
_RIS_FIELDS = {
    "secondary_title": "journal", "journal_name": "journal", "volume": "volume", "number": "number",
    "publisher": "publisher", "place_published": "address", "issn": "issn", "edition": "edition",
}  # fmt: skip


def read_references(text: str) -> tuple[list[Reference], tuple[str, ...]]:
    """The references of a file's text in its order, and what could not be read, in single lines.

    Raises InvalidInputError for a text that is neither BibTeX nor RIS.
    """
    if re.search(r"^\s*TY {1,2}- ", text, flags=re.MULTILINE):
        return _from_ris(text)
    if re.search(r"^\s*@\w+\s*[{(]", text, flags=re.MULTILINE):
        return _from_bibtex(text)
    raise InvalidInputError("There are no references in this file: give a .bib or a .ris export.")


def year_in(text: str) -> int | None:
    """The first year from 1000 to 2999 that stands in the text."""
    found = re.search(r"(?<!\d)[12]\d{3}(?!\d)", text)
    return int(found[0]) if found else None


def doi_in(text: str) -> str | None:
    """The DOI in the text, without the address that leads to it, in lower case."""
    found = re.search(r"10\.\d{4,9}/\S+", text)
    return found[0].rstrip(".,;").lower() if found else None


# --- BibTeX ----------------------------------------------------------------------------------


def _from_bibtex(text: str) -> tuple[list[Reference], tuple[str, ...]]:
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.library import Library
    from bibtexparser.middlewares import LatexDecodingMiddleware
    from bibtexparser.model import Entry, Field

    logging.getLogger("bibtexparser").setLevel(logging.ERROR)  # what it warns of is in the report
    parsed = parse_string(text)
    entries = [*parsed.entries, *_rescued(parsed)]
    entries.sort(key=lambda entry: entry.start_line or 0)
    references = []
    for entry in entries:
        raw = {field.key.lower(): str(field.value) for field in entry.fields}
        texts, latex = _texts(raw)
        if latex:  # slow, so for what needs it alone
            made = Entry(entry.entry_type, entry.key, [Field(k, v) for k, v in latex.items()])
            decoded = LatexDecodingMiddleware(keep_math_mode=False, keep_braced_groups=False).transform(
                Library([made])
            )
            texts |= {f.key: str(f.value) for e in decoded.entries for f in e.fields}
        references.append(_bibtex_reference(entry, raw, texts))
    lost = len(parsed.failed_blocks) - len(entries) + len(parsed.entries)
    return references, (_not_read(lost),) if lost else ()


def _rescued(parsed: Library) -> Iterator[Entry]:
    """Entries whose key or field occurs twice: whole enough to use."""
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, Entry

    for block in parsed.failed_blocks:
        if isinstance(block, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock):
            inner = block.ignore_error_block
            if isinstance(inner, Entry):
                yield _without_enclosing(inner)


def _without_enclosing(entry: Entry) -> Entry:
    from bibtexparser.library import Library
    from bibtexparser.middlewares import RemoveEnclosingMiddleware

    first = {field.key: field for field in reversed(entry.fields)}
    from bibtexparser.model import Entry as Made

    made = Made(entry.entry_type, entry.key, list(first.values()), entry.start_line)
    return RemoveEnclosingMiddleware().transform(Library([made])).entries[0]


def _texts(raw: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The entry's texts, each author's name in two of its own: those in plain words, and those in LaTeX."""
    texts = {k: v for k, v in raw.items() if k not in RAW | _IGNORED | {"author", "editor"}}
    for number, (shown, ordered) in enumerate(_names(raw.get("author") or raw.get("editor") or "")):
        texts |= {f"{_AUTHOR}{number} shown": shown, f"{_AUTHOR}{number} sorted": ordered}
    latex = {name: text for name, text in texts.items() if _LATEX.search(text)}
    return {name: text for name, text in texts.items() if name not in latex}, latex


def _names(text: str) -> Iterator[tuple[str, str]]:
    """Each name as it is shown and as it is sorted; an organisation in braces is one word."""
    from bibtexparser.middlewares.names import (
        InvalidNameError,
        parse_single_name_into_parts,
        split_multiple_persons_names,
    )

    for name in split_multiple_persons_names(text):
        if name.strip().lower() == "others":
            continue
        if _is_one_group(name):
            yield name, name
            continue
        try:
            parts = parse_single_name_into_parts(name, strict=False)
        except InvalidNameError:
            yield name, name
            continue
        yield parts.merge_first_name_first, parts.merge_last_name_first


def _names_in(texts: Mapping[str, str], form: str) -> list[str]:
    """The authors' names in one of their two forms, in their order."""
    found = {k: v for k, v in texts.items() if k.startswith(_AUTHOR) and k.endswith(form)}
    return [" ".join(found[k].split()) for k in sorted(found, key=lambda k: int(k.split()[1]))]


def _is_one_group(name: str) -> bool:
    """Whether one pair of braces holds the whole name: ``{World Health Organization}``."""
    depth = 0
    for position, char in enumerate(name):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return position == len(name) - 1 and position > 0
    return False


def _bibtex_reference(entry: Entry, raw: Mapping[str, str], texts: Mapping[str, str]) -> Reference:
    plain = {k: " ".join(v.split()) for k, v in texts.items() if not k.startswith(_AUTHOR)}
    shown = _names_in(texts, "shown")
    ordered = _names_in(texts, "sorted")
    fields = {k: v for k, v in plain.items() if k not in {"title", "year", "date"} and v}
    fields |= {k: raw[k].strip() for k in RAW & raw.keys() - {"doi", "file"} if raw[k].strip()}
    braced = [_is_one_group(name) for name, _ in _names(raw.get("author") or raw.get("editor") or "")]
    if ordered and "author" in raw:
        pairs = zip(ordered, braced, strict=False)
        fields["author"] = " and ".join(f"{{{name}}}" if whole else name for name, whole in pairs)
    return Reference(
        key=entry.key or None,
        entry_type=entry.entry_type.lower(),
        title=plain.get("title") or None,
        authors=tuple(name for name in shown if name),
        year=year_in(plain.get("year") or plain.get("date") or ""),
        doi=doi_in(raw.get("doi") or raw.get("url") or ""),
        files=tuple(_linked_files(raw.get("file", ""))),
        fields=fields,
    )


def _linked_files(value: str) -> Iterator[str]:
    """File names in a ``file`` field: ``path``, or ``description:path:type`` several times over."""
    marked = value.replace(r"\:", "\x00").replace(r"\;", "\x01")
    for one in marked.split(";"):
        parts = one.split(":")
        path = parts[1] if len(parts) >= 3 else parts[-1] if len(parts) == 1 else max(parts, key=len)
        name = _base_name(path.replace("\x00", ":").replace("\x01", ";"))
        if name:
            yield name


def _base_name(path: str) -> str:
    return re.split(r"[/\\]+", path.strip().strip("{}"))[-1].strip()


# --- RIS -------------------------------------------------------------------------------------


def _from_ris(text: str) -> tuple[list[Reference], tuple[str, ...]]:
    import rispy

    records = rispy.loads(text)
    lost = len(re.findall(r"^\s*TY {1,2}- ", text, flags=re.MULTILINE)) - len(records)
    return [_ris_reference(record) for record in records], (_not_read(lost),) if lost > 0 else ()


def _ris_reference(record: Mapping[str, Any]) -> Reference:
    kind = _RIS_TYPES.get(str(record.get("type_of_reference", "")).upper(), "misc")
    names = [str(name).strip() for name in record.get("authors") or record.get("first_authors") or ()]
    title = record.get("title") or record.get("primary_title") or record.get("short_title") or ""
    fields = {ours: str(record[theirs]).strip() for theirs, ours in _RIS_FIELDS.items() if record.get(theirs)}
    if kind in {"inproceedings", "incollection"} and "journal" in fields:
        fields["booktitle"] = fields.pop("journal")
    pages = "--".join(str(record[p]) for p in ("start_page", "end_page") if record.get(p))
    urls = [str(url) for url in record.get("urls") or ()]
    fields |= {k: v for k, v in {"pages": pages, "url": urls[0] if urls else ""}.items() if v}
    if names:
        fields["author"] = " and ".join(
            name if "," in name or " " not in name else f"{{{name}}}" for name in names
        )
    return Reference(
        key=str(record.get("id") or "").strip() or None,
        entry_type=kind,
        title=" ".join(str(title).split()) or None,
        authors=tuple(_first_name_first(name) for name in names),
        year=year_in(str(record.get("year") or record.get("publication_year") or record.get("date") or "")),
        doi=doi_in(str(record.get("doi") or "")) or doi_in(" ".join(urls)),
        files=tuple(_ris_files(record)),
        fields=fields,
    )


def _first_name_first(name: str) -> str:
    """``Müller, Änne`` and ``Müller, Änne, Jr`` as they are said."""
    last, *rest = [part.strip() for part in name.split(",")]
    return " ".join(part for part in [*rest[:1], last, *rest[1:]] if part)


def _ris_files(record: Mapping[str, Any]) -> Iterable[str]:
    for field in ("file_attachments1", "file_attachments2", "link_to_pdf", "links"):
        value = record.get(field)
        for one in value if isinstance(value, list) else [value]:
            if one and (name := _base_name(str(one))):
                yield name


def _not_read(count: int) -> str:
    what = "1 entry" if count == 1 else f"{count} entries"
    return f"{what} of the file could not be read: a brace, a quotation mark or an end is missing."

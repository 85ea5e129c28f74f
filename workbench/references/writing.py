"""References as BibTeX, which Zotero, Mendeley, LaTeX and pandoc read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from workbench.records import Paper, Reference
from workbench.references.reading import RAW

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", **{c: f"\\{c}" for c in "&%$#_"},
}  # fmt: skip
_MINOR = frozenset("a an the on of in for to and is are how what why".split())
_NEVER = frozenset({"abstract", "keywords", "file", "doi", "note", "annote", "owner", "timestamp"})


def paper_reference(paper: Paper, known: Reference | None) -> Reference:
    """What is known of a paper: its entry of an imported file, else what the paper says of itself."""
    base = known or Reference(None, "misc", None, (), None, None, (), {})
    return replace(
        base,
        title=paper.title,
        authors=paper.authors,
        year=paper.year,
        doi=paper.doi,
        files=(paper.file,) if paper.kind != "note" else (),
    )


def with_keys(references: Mapping[int, Reference]) -> dict[int, Reference]:
    """The same with a key for each that no other has: its own, else author, year and a word of the title."""
    taken: set[str] = set()
    keyed = {}
    for number, reference in sorted(references.items(), key=lambda item: (item[1].key is None, item[0])):
        wanted = _sound(reference.key or "") or _made_key(reference)
        key, tries = wanted, 0
        while key.casefold() in taken:
            tries += 1
            key = f"{wanted}{_letters(tries)}"
        taken.add(key.casefold())
        keyed[number] = replace(reference, key=key)
    return {number: keyed[number] for number in references}


def bibtex(references: Iterable[Reference]) -> str:
    """The entries, one after another, in UTF-8 text; each has its key already."""
    return "\n".join(_entry(reference) for reference in references)


def _entry(reference: Reference) -> str:
    fields: dict[str, str] = {}
    if reference.authors:
        fields["author"] = _author_field(reference)
    if reference.title:
        fields["title"] = _escaped(reference.title)
    if reference.year is not None:
        fields["year"] = str(reference.year)
    if reference.doi:
        fields["doi"] = _verbatim(reference.doi)
    for name, value in sorted(reference.fields.items()):
        if (
            name not in fields
            and name not in _NEVER
            and name != "author"
            and re.fullmatch(r"[a-z][\w-]*", name)
        ):
            fields[name] = _verbatim(value) if name in RAW else _escaped(value)
    if reference.files:
        fields["file"] = ";".join(
            _verbatim(name).replace(";", r"\;").replace(":", r"\:") for name in reference.files
        )
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{_entry_type(reference.entry_type)}{{{reference.key},\n{lines}}}\n"


def _author_field(reference: Reference) -> str:
    """The names as they were imported, which tells family names of several words; else as they are shown."""
    imported = [name for name in re.split(r"\s+and\s+", reference.fields.get("author", "")) if name.strip()]
    names = imported if len(imported) == len(reference.authors) else list(reference.authors)
    return " and ".join(
        f"{{{_escaped(name[1:-1])}}}" if name.startswith("{") and name.endswith("}") else _escaped(name)
        for name in names
    )


def _escaped(text: str) -> str:
    return "".join(_ESCAPES.get(c, c) for c in " ".join(text.split()))


def _verbatim(text: str) -> str:
    """A text that is no LaTeX; braces would end the field too early."""
    return " ".join(text.translate({ord("{"): None, ord("}"): None}).split())


def _entry_type(text: str) -> str:
    return text if re.fullmatch(r"[a-z]+", text) else "misc"


def _sound(key: str) -> str:
    """A key without what would end it in BibTeX or in pandoc's Markdown."""
    return re.sub(r"[^\w:.+/-]+", "", key).strip(":.+/-")


def _made_key(reference: Reference) -> str:
    words = re.findall(r"[a-z0-9]+", _ascii(reference.title or ""))
    word = next((w for w in words if w not in _MINOR), "")
    surname = "".join(re.findall(r"[a-z]+", _ascii(_surname(reference.authors))))
    year = "" if reference.year is None else str(reference.year)
    return (surname + year + word)[:60] or "paper"


def _surname(authors: Sequence[str]) -> str:
    return authors[0].split()[-1] if authors and authors[0].split() else ""


def _ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()


def _letters(number: int) -> str:
    """a to z, then aa, ab and so on."""
    text = ""
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("a") + rest) + text
    return text

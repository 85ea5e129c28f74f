"""What kind of file some bytes are: the content decides, and the name only among kinds of text."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from workbench.errors import DocumentError

_HEAD = 8192
_TEXT_KINDS = {
    ".md": "md", ".markdown": "md", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json",
    ".log": "log", ".bib": "bib", ".ris": "ris", ".xml": "xml", ".html": "html", ".htm": "html",
    ".xhtml": "html", ".ipynb": "ipynb", ".txt": "txt", ".text": "txt",
}  # fmt: skip
_REFUSED = (  # signature, what it is, what to do
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"II*\0", "a picture"),
    (b"MM\0*", "a picture"),
    (b"BM", "a picture"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"SQLite format 3", "a database"),
    (b"\x1f\x8b", "a compressed archive: unpack it and add the files"),
    (b"BZh", "a compressed archive: unpack it and add the files"),
    (b"\xfd7zXZ", "a compressed archive: unpack it and add the files"),
    (b"7z\xbc\xaf", "a compressed archive: unpack it and add the files"),
    (b"Rar!", "a compressed archive: unpack it and add the files"),
    (b"ID3", "a sound recording"),
    (b"OggS", "a sound recording"),
    (b"RIFF", "a sound or video recording"),
    (b"{\\rtf", "an RTF file: save it as .docx or PDF"),
    (b"%!PS", "a PostScript file: save it as PDF"),
    (b"AT&TFORM", "a DjVu file: save it as PDF"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BINARY_UNLESS_LONG = {b"BM", b"MZ", b"ID3", b"RIFF"}  # words can begin like these
_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TAGS = re.compile(r"</?(?:p|div|span|table|h[1-6]|body|head|script|a|ul|li)\b[^>]*>", re.I)
_BIB = re.compile(r"^\s*@[a-z]+\s*[{(]", re.I | re.M)
_RIS = re.compile(r"^TY  - ", re.M)
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")


def kind_of_bytes(path: Path) -> str | None:
    """``"pdf"``, ``"docx"`` or ``"epub"`` by signature; ``None`` for what may be text.

    Raises DocumentError, with the reason, for files that are known not to be documents.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise DocumentError("the file is empty")
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        return _kind_of_zip(path)
    if head.startswith(_OLE):
        raise DocumentError(_ole_reason(head, path))
    for signature, what in _REFUSED:
        if head.startswith(signature) and (signature not in _BINARY_UNLESS_LONG or _has_zeros(head)):
            raise DocumentError(f"this is {what}, not a document" if ":" not in what else f"this is {what}")
    return None


def kind_of_text(text: str, name: str) -> str:
    """The kind of a decoded text, by its beginning and then by the file's name."""
    start = text[:_HEAD]
    if _HTML.match(start):
        return "html"
    named = _TEXT_KINDS.get(Path(name).suffix.lower())
    stripped = start.lstrip()
    if named in {None, "json", "txt"} and stripped[:1] == "{" and '"nbformat"' in text and '"cells"' in text:
        return "ipynb"
    if named is None:
        return _kind_of_unnamed(start, stripped)
    if named in {"ipynb", "json"} and stripped[:1] not in {"{", "["}:
        return "txt" if named == "ipynb" else named
    return named


def refuse_binary(text: str) -> None:
    """Raises DocumentError for text that is the bytes of something else."""
    sample = text[:_HEAD] + text[len(text) // 2 : len(text) // 2 + _HEAD]
    odd = len(_CONTROL.findall(sample)) + sample.count("\0") + sample.count("\ufffd")
    if odd > 0.05 * len(sample):
        raise DocumentError("this is no text, and no kind of file that can be read")


def check_archive(path: Path, *, most_bytes: int = 600_000_000, most_files: int = 20_000) -> None:
    """Raises DocumentError for a zip file that is damaged, locked, or unpacks to an absurd size."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise DocumentError("the file is damaged or incomplete: it does not open") from error
    size = sum(entry.file_size for entry in entries)
    if size > most_bytes:
        raise DocumentError(f"the file unpacks to {size // 1_000_000} MB: too much to be a document")
    if len(entries) > most_files:
        raise DocumentError(f"the file holds {len(entries)} files: too many to be a document")
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentError("the file needs a password: save a copy without one and add that")


def _kind_of_zip(path: Path) -> str:
    check_archive(path)
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
    if "word/document.xml" in names:
        return "docx"
    if "META-INF/container.xml" in names:
        return "epub"
    if any(name.startswith("xl/") for name in names):
        raise DocumentError("this is an Excel workbook: save the sheet as CSV and add that")
    if any(name.startswith("ppt/") for name in names):
        raise DocumentError("this is a PowerPoint file: save it as PDF and add that")
    if "content.xml" in names and "mimetype" in names:
        raise DocumentError("this is an OpenDocument file: save it as .docx or PDF and add that")
    if any(name.startswith("word/") for name in names):
        return "docx"
    raise DocumentError("this is a zip archive: unpack it and add the files")


def _ole_reason(head: bytes, path: Path) -> str:
    with path.open("rb") as file:
        data = head + file.read(200_000)
    if "EncryptedPackage".encode("utf-16-le") in data:
        return "the file needs a password: save a copy without one and add that"
    return "this is an old Office file (.doc, .xls, .ppt): save it as .docx or PDF and add that"


def _has_zeros(head: bytes) -> bool:
    return head.count(0) > 4


def _kind_of_unnamed(start: str, stripped: str) -> str:
    if _RIS.match(stripped):
        return "ris"
    if _BIB.match(stripped):
        return "bib"
    if stripped.startswith("<?xml"):
        return "xml"
    if stripped[:1] == "<" and len(_HTML_TAGS.findall(start)) > 5:
        return "html"
    if stripped[:1] in {"{", "["} and '"' in stripped[:200]:
        return "json"
    return "txt"

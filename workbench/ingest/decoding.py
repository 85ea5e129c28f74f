"""Bytes to text: the encoding is decided on the whole file, and no byte is dropped in silence."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from workbench.errors import DocumentError
from workbench.ingest.characters import paired

_MARKS = (  # UTF-32 first: its little-endian mark begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([a-z0-9_-]{3,20})""", re.IGNORECASE)
_HEAD = 4096  # where a file declares its encoding
_CONTROLS = bytes([*range(9), *range(14, 27), *range(28, 32)])
_MOST_CONTROLS = 0.02  # share of a text's bytes
_SAMPLE = 200_000  # bytes that hold non-ASCII letters, for the detector
_TWO_BYTE_ENCODINGS = ("gb18030", "cp932", "big5", "euc_kr")
_HANGUL, _HAN = re.compile("[\uac00-\ud7af]"), re.compile("[\u4e00-\u9fff]")
_COMMON_HANGUL = frozenset("이다는을의에가고하지로기사한리도은서대어인자나시라정일그해아수스과를부전보면주")
_WEST_EUROPEAN = re.compile(r"[ -~\t\n\rÀ-ÖØ-öø-ÿŒœŠšŽžŸ€‚„…‘’“”•–—™¡¢£¥§©ª«®°±²³´µ·¹º»¼½¾¿\xa0\xad]*")
_BROKEN = re.compile("\ufffd+")
_SEQUENCE = re.compile("[^\0-\x7f\ufffd]")
_MOST_BROKEN = 0.05  # broken places per character beyond ASCII that was read
_ALONE_IN_WORD = re.compile(r"(?<![À-ÿŒœŠšŽžŸ])[À-ÿŒœŠšŽžŸ](?![À-ÿŒœŠšŽžŸ])")


@dataclass(frozen=True, slots=True)
class Decoded:
    """``encoding`` is the name of what the bytes were read as; ``certain`` where the file itself says so.

    ``broken`` counts the places whose bytes are no character; each is U+FFFD in the text.
    """

    text: str
    encoding: str
    certain: bool
    broken: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """A line for the reader where bytes are broken or the encoding had to be guessed."""
        if self.broken:
            places = "one place" if self.broken == 1 else f"{self.broken:,} places"
            return (f"Read as {self.encoding} text with {places} whose bytes are no character.",)
        return () if self.certain else (f"Read as {self.encoding} text: the file does not say its encoding.",)


def decode(data: bytes) -> Decoded:
    """The text of a file. Raises DocumentError where the bytes are no text in any known encoding.

    In this order: byte order mark, UTF-8, UTF-16 or UTF-32 by their zero bytes, the encoding that HTML or
    XML declares, UTF-8 with a few broken bytes, then detection (charset-normalizer) on the lines that need
    it, checked on the whole file.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_lenient(data[len(mark) :], encoding), encoding, True)
    text = _utf8(data)
    if text is not None and "\0" not in text[:_HEAD]:
        return Decoded(text, "utf-8", True)
    wide = _wide_encoding(data)
    if wide is not None:
        return Decoded(_lenient(data, wide), wide, True)
    if text is not None:
        return Decoded(text, "utf-8", True)
    declared = _declared(data)
    if declared is not None:
        return Decoded(data.decode(declared), declared, True)
    return _damaged_utf8(data) or _detected(data)


def _utf8(data: bytes) -> str | None:
    """UTF-8, also as some programs write it: with halves of characters, which are paired or left out."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return paired(data.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return None


def _damaged_utf8(data: bytes) -> Decoded | None:
    """UTF-8 that was cut inside a character or has a bad byte here and there.

    Hardly any text of another encoding holds a sequence of bytes that is a character of UTF-8, so many of
    them beside a few broken places can be nothing else.
    """
    text = data.decode("utf-8", "replace")
    read, broken = len(_SEQUENCE.findall(text)), len(_BROKEN.findall(text))
    cut_off = broken == 1 and read > 0 and text.endswith("\ufffd")
    return Decoded(text, "utf-8", True, broken) if cut_off or broken <= _MOST_BROKEN * read else None


def _lenient(data: bytes, encoding: str) -> str:
    """Text behind a byte order mark; a file cut in the middle of a character keeps all the others."""
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, told by where the zero bytes stand in mostly Latin text."""
    sample = data[: _HEAD * 4]
    quarter = [sample[i::4].count(0) / max(len(sample[i::4]), 1) for i in range(4)]
    high, low = 0.7, 0.2
    if min(quarter[1:]) > high > low > quarter[0]:
        return "utf-32-le"
    if min(quarter[:3]) > high > low > quarter[3]:
        return "utf-32-be"
    even, odd = (quarter[0] + quarter[2]) / 2, (quarter[1] + quarter[3]) / 2
    if odd > high and even < low:
        return "utf-16-le"
    if even > high and odd < low:
        return "utf-16-be"
    return None


def _declared(data: bytes) -> str | None:
    match = _DECLARED.search(data[:_HEAD])
    if match is None:
        return None
    name = match[1].decode("ascii").lower()
    name = {"iso-8859-1": "cp1252", "latin1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}.get(name, name)
    try:
        data.decode(name)
    except (LookupError, UnicodeDecodeError):
        return None
    return name


def _detected(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes

    if sum(data.count(byte) for byte in _CONTROLS) > _MOST_CONTROLS * len(data):
        raise DocumentError("this is no text, and no kind of file that can be read")
    if _reads_as_west_european(data):
        return Decoded(data.decode("cp1252"), "cp1252", False)
    telling = b"\n".join(line for line in data.splitlines() if any(byte > 0x7F for byte in line))[:_SAMPLE]
    candidates = [match.encoding for match in from_bytes(telling)]
    for encoding in dict.fromkeys([*candidates, *_TWO_BYTE_ENCODINGS, "cp1252"]):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _is_false_korean(text):
            return Decoded(text, encoding, False)
    raise DocumentError("the file's text encoding is not known: save it as UTF-8 and add it again")


def _is_false_korean(text: str) -> bool:
    """Whether Korean came out of other bytes: mixed with Chinese characters, or of rare syllables alone."""
    hangul, han = _HANGUL.findall(text), len(_HAN.findall(text))
    if not hangul:
        return False
    return han > 0.3 * (len(hangul) + han) or (len(hangul) >= 4 and _COMMON_HANGUL.isdisjoint(hangul))


def _reads_as_west_european(data: bytes) -> bool:
    """Whether the bytes above ASCII look like single accented letters inside words and usual signs.

    Detectors fail on the few such bytes of a short file; two-byte encodings come in runs instead.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return False
    beyond = [c for c in text if c > "\x7f"]
    if not beyond or _WEST_EUROPEAN.fullmatch(text) is None:
        return False
    letters = [c for c in beyond if c.isalpha()]
    alone = len(_ALONE_IN_WORD.findall(text))
    return len(beyond) < 0.2 * len(text) and alone >= 0.9 * len(letters) and 2 * len(letters) >= len(beyond)

"""Chunks to vectors: bounded batches, one bad text never loses the paper, a dead embedder is said so."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.errors import ProviderError, ProviderUnavailableError, UnembeddableTextError
from workbench.interfaces import Embedder
from workbench.storage.drafts import ChunkDraft

if TYPE_CHECKING:
    import numpy

BATCH = 64
KEYWORDS_ONLY = "Found by keywords only, until it is reprocessed: "
_MOST_BAD_TEXTS = 25  # in one paper: more means that the embedder itself is at fault
_ROW_KINDS = frozenset({"csv", "log", "bib", "ris"})
_TABLE_TOKENS = 100_000  # of a table that are embedded in all: about half a minute on one core
_LEAST_OF_EACH = 100  # characters of each of its chunks
_WORD_PIECES = re.compile(r"[^\W\d_]{1,5}|\d{1,2}|[^\w\s]|_")  # about what a tokenizer makes of a text
_IDENTIFIERS = re.compile(
    r"^[ \t]*(?:(?:url|doi|issn|isbn|file|month|number|pages|volume|eprint|arxivid|archiveprefix|primaryclass"
    r"|pmid|mendeley-[\w-]+)[ \t]*=|(?:UR|DO|SN|L[1-4]|SP|EP|VL|IS|ID|AN|DA)  - ).*\n?",
    re.MULTILINE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Embedded:
    """``vectors`` has one float32 row per text, or is ``None`` where the embedder failed."""

    vectors: numpy.ndarray | None
    warnings: tuple[str, ...] = ()


def texts_to_embed(kind: str, chunks: Sequence[ChunkDraft]) -> tuple[list[str], tuple[str, ...]]:
    """Blurb and text of each chunk, and what the user should know.

    A long table or log is embedded by the beginning of each chunk, because its rows are looked up by their
    words and the whole would take minutes. The numbers and addresses of a bibliography, half of its tokens,
    say nothing of what a work is about: they are left to keyword search.
    """
    if kind in {"bib", "ris"}:
        chunks = [replace(chunk, text=_IDENTIFIERS.sub("", chunk.text)) for chunk in chunks]
    tokens = (
        sum(1 for chunk in chunks for _ in _WORD_PIECES.finditer(chunk.text)) if kind in _ROW_KINDS else 0
    )
    if tokens <= _TABLE_TOKENS:
        return [f"{chunk.blurb}\n{chunk.text}".strip() for chunk in chunks], ()
    characters = sum(len(chunk.text) for chunk in chunks)
    most = max(characters * _TABLE_TOKENS // tokens // len(chunks), _LEAST_OF_EACH)
    note = (
        f"A long table ({len(chunks):,} pieces): keyword search sees all of it, "
        "search by meaning the beginning of each piece."
    )
    return [f"{chunk.blurb}\n{chunk.text[:most]}".strip() for chunk in chunks], (note,)


def embed(embedder: Embedder, texts: Sequence[str], *, done: Callable[[int], None] | None = None) -> Embedded:
    """Unit vectors of ``texts``, shape (len(texts), dimension).

    A text the embedder cannot embed gets the mean of its halves' vectors, and a warning. Where the embedder
    does not answer, or fails on too many texts, there are no vectors: the reason is the warning.
    """
    import numpy

    batches = _Batches(embedder)
    rows: list[numpy.ndarray] = []
    try:
        for start in range(0, len(texts), BATCH):
            rows.append(batches.vectors(texts[start : start + BATCH]))
            if done is not None:
                done(min(start + BATCH, len(texts)))
    except ProviderError as error:
        reason = " ".join(str(error).split())
        return Embedded(None, (f"{KEYWORDS_ONLY}{reason}",))
    if not rows:
        return Embedded(numpy.empty((0, embedder.dimension), numpy.float32))
    if not batches.approximate:
        return Embedded(numpy.concatenate(rows))
    note = f"{batches.approximate} of {len(texts)} pieces could only be embedded in parts."
    return Embedded(numpy.concatenate(rows), (note,))


class _Batches:
    """Embeds batches and isolates the texts that an embedder fails on, by halving (bisection)."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._retried = False
        self.approximate = 0

    def vectors(self, texts: Sequence[str]) -> numpy.ndarray:
        """float32 array of shape (len(texts), dimension). Raises ProviderError when all ways fail."""
        import numpy

        try:
            return self._checked(texts)
        except UnembeddableTextError:
            pass
        except ProviderUnavailableError:
            raise
        except ProviderError:
            if not self._retried:  # a hiccup passes
                self._retried = True
                return self.vectors(texts)
        if len(texts) == 1:
            return self._approximate(texts[0])[None, :]
        middle = len(texts) // 2
        return numpy.concatenate([self.vectors(texts[:middle]), self.vectors(texts[middle:])])

    def _checked(self, texts: Sequence[str]) -> numpy.ndarray:
        import numpy

        found = numpy.asarray(self._embedder.embed_documents(texts), numpy.float32)
        expected = (len(texts), self._embedder.dimension)
        if found.shape != expected:
            raise ProviderUnavailableError(
                f"the embedder {self._embedder.name} gave vectors of shape {found.shape}, not {expected}."
            )
        if not (numpy.isfinite(found).all() and found.any(axis=1).all()):
            raise UnembeddableTextError("the embedder gave a vector that is not a number or zero.", index=0)
        return found

    def _approximate(self, text: str) -> numpy.ndarray:
        """The mean of the vectors of a text's parts, of length 1; parts that fail are left out."""
        import numpy

        self.approximate += 1
        if self.approximate > _MOST_BAD_TEXTS:
            raise ProviderError(f"the embedder {self._embedder.name} fails on too many texts.")
        total = numpy.zeros(self._embedder.dimension, numpy.float32)
        pending, tries = _halves(text), 0
        while pending and tries < 16:
            part, tries = pending.pop(0), tries + 1
            try:
                total += self._checked([part])[0]
            except ProviderUnavailableError:
                raise
            except ProviderError:
                pending += _halves(part)
        length = float(numpy.linalg.norm(total))
        if length == 0.0:
            raise ProviderError(f"the embedder {self._embedder.name} cannot embed “{text[:60]}…”.")
        unit: numpy.ndarray = total / numpy.float32(length)
        return unit


def _halves(text: str) -> list[str]:
    """Two parts cut at the space nearest the middle; nothing for a text too short to cut."""
    middle = len(text) // 2
    space = max(text.rfind(" ", 1, middle), text.rfind("\n", 1, middle))
    cut = space if space > 0 else middle
    return [part for part in (text[:cut].strip(), text[cut:].strip()) if part] if len(text) > 8 else []

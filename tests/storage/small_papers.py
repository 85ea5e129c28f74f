"""Small whole papers for tests of the library, the same for the same word each time."""

from __future__ import annotations

import hashlib

import numpy

from workbench.records import PAGE_BREAK
from workbench.storage.drafts import ChunkDraft, PageDraft, PaperDraft

DIMENSION = 8


def draft(word: str, *, pages: int = 2, chunks: int = 4, dimension: int | None = DIMENSION) -> PaperDraft:
    """A paper whose every chunk holds ``word``; without vectors where ``dimension`` is ``None``."""
    texts = [f"Page {n} of {word}. " + f"{word} " * 40 for n in range(1, pages + 1)]
    drafts, start = [], 0
    for number, text in enumerate(texts, start=1):
        drafts.append(PageDraft(number, None, text, start, start + len(text)))
        start += len(text) + len(PAGE_BREAK)
    whole = PAGE_BREAK.join(texts)
    pieces = []
    for ordinal in range(chunks):
        page = drafts[ordinal % pages]
        size = 3 * len(word) + 20
        begin = page.char_start + (ordinal // pages) % (len(page.text) - size)
        text = whole[begin : begin + size]
        pieces.append(
            ChunkDraft(
                ordinal,
                "Results",
                f"{word}, part {ordinal}",
                text,
                page.page,
                page.page,
                begin,
                begin + len(text),
            )
        )
    source = f"The file of {word}.".encode()
    return PaperDraft(
        sha256=hashlib.sha256(source).hexdigest(),
        kind="txt",
        title=f"On {word}",
        authors=("A. Author", "B. Author"),
        year=2020,
        doi="10.1000/x",
        page_unit="page",
        pages=tuple(drafts),
        chunks=tuple(pieces),
        vectors=None if dimension is None else unit_vectors(word, chunks, dimension),
        source=source,
    )


def unit_vectors(word: str, count: int, dimension: int = DIMENSION) -> numpy.ndarray:
    """float32 rows of length 1, shape (count, dimension), that depend on ``word`` alone."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    rows = numpy.random.default_rng(seed).normal(size=(count, dimension)).astype(numpy.float32)
    lengths: numpy.ndarray = numpy.linalg.norm(rows, axis=1, keepdims=True)
    unit: numpy.ndarray = rows / lengths
    return unit

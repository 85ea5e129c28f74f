"""Vectors of the whole library in one memory-mapped file, paper after paper.

A folder holds ``vectors-N.f32`` (rows of float32), ``chunks-N.i64`` (the chunk id of each row) and
``manifest.json``, which says which rows belong to which paper. Bytes a manifest points at are never
changed: new papers go behind the last byte, a compacted copy gets the next N, and the manifest is replaced
in one step. So readers in other processes keep what they have mapped while one process writes.

Nothing is flushed to disk on purpose. Each paper's rows carry a checksum that is verified before they are
first used, so rows that a power cut swallowed are noticed and the file is made again.
"""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.indexes.folders import read_note, remove, write_note
from workbench.indexes.ranking import best_rows, ranked_hits
from workbench.records import Hit

FORMAT = 1
_MANIFEST = "manifest.json"
_CHUNK_BYTES = 8


class UnusableIndexError(Exception):
    """An index cannot answer as it is: damaged, or overtaken. Raised and caught inside ``indexes``."""


class Block(NamedTuple):
    """One paper's rows, and the checksum of their vectors and chunk ids."""

    start: int
    length: int
    checksum: int


@dataclass(frozen=True)
class Manifest:
    """What the file holds: the library change it covers, and each paper's rows.

    ``serving`` is the (generation, dimension) of the vectors; ``number`` names the files; ``rows`` is how
    many rows they have, those of removed papers included.
    """

    revision: int
    serving: tuple[int, int]
    number: int
    rows: int
    blocks: dict[int, Block]

    @property
    def live_rows(self) -> int:
        return sum(block.length for block in self.blocks.values())

    @property
    def names(self) -> tuple[str, str]:
        return f"vectors-{self.number}.f32", f"chunks-{self.number}.i64"


def read_manifest(folder: Path) -> Manifest | None:
    """The folder's manifest; ``None`` where it is missing, damaged or of another format."""
    note = read_note(folder / _MANIFEST)
    if note is None or note.get("format") != FORMAT:
        return None
    try:
        manifest = Manifest(
            revision=int(note["revision"]),
            serving=(int(note["generation"]), int(note["dimension"])),
            number=int(note["number"]),
            rows=int(note["rows"]),
            blocks={int(paper): Block(*map(int, block)) for paper, block in note["papers"].items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    whole = all(0 <= b.start <= b.start + b.length <= manifest.rows for b in manifest.blocks.values())
    return manifest if whole and manifest.serving[1] > 0 and manifest.number >= 0 else None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Makes ``manifest`` the folder's own, in one step."""
    note = {
        "format": FORMAT,
        "revision": manifest.revision,
        "generation": manifest.serving[0],
        "dimension": manifest.serving[1],
        "number": manifest.number,
        "rows": manifest.rows,
        "papers": {str(paper): list(block) for paper, block in manifest.blocks.items()},
    }
    write_note(folder / _MANIFEST, note)


def forget(folder: Path, manifest: Manifest) -> None:
    """Removes the folder's manifest if it is still this one: its files are damaged."""
    if read_manifest(folder) == manifest:
        remove(folder / _MANIFEST)


def next_number(folder: Path) -> int:
    """A number that no file in ``folder`` has."""
    return 1 + max((number for number, _ in _numbered(folder)), default=0)


def files_of_others(folder: Path, numbers: Container[int]) -> list[Path]:
    """Vector and chunk files in ``folder`` that none of the manifests with these numbers uses."""
    return [path for number, path in _numbered(folder) if number not in numbers]


def _numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    for path in list(folder.iterdir()):
        named = re.fullmatch(r"(?:vectors|chunks)-(\d+)\.(?:f32|i64)", path.name)
        if named:
            yield int(named[1]), path


def checksum(chunk_ids: np.ndarray, vectors: np.ndarray) -> int:
    """Of one paper's rows, as a block carries it."""
    return zlib.crc32(np.ascontiguousarray(vectors).data, zlib.crc32(np.ascontiguousarray(chunk_ids).data))


class VectorFile:
    """A manifest and its mapped rows. Unchanging, and safe to share between threads.

    Opening raises OSError where a file is missing and UnusableIndexError where it is too short.
    """

    def __init__(self, folder: Path, manifest: Manifest, *, before: VectorFile | None = None) -> None:
        self.manifest = manifest
        rows, dimension = manifest.rows, manifest.serving[1]
        vectors, chunks = manifest.names
        self._maps = (
            _Mapped(folder / vectors, rows * dimension * 4),
            _Mapped(folder / chunks, rows * _CHUNK_BYTES),
        )
        self.vectors = self._maps[0].array(np.dtype("<f4")).reshape(rows, dimension)
        self.chunk_ids = self._maps[1].array(np.dtype("<i8"))
        self._verified: set[int] = set()
        if before is not None and before.manifest.number == manifest.number:
            old, new = before.manifest.blocks, manifest.blocks
            self._verified = {paper for paper in before._verified if new.get(paper) == old[paper]}

    def intact(self) -> bool:
        """False once a mapped file was cut short: reading beyond its end would kill the process."""
        return all(mapped.intact() for mapped in self._maps)

    def verify(self, papers: Iterable[int]) -> None:
        """Compares the papers' rows with their checksums, once. Raises UnusableIndexError."""
        for paper in papers:
            if paper in self._verified:
                continue
            block = self.manifest.blocks[paper]
            rows = slice(block.start, block.start + block.length)
            if checksum(self.chunk_ids[rows], self.vectors[rows]) != block.checksum:
                raise UnusableIndexError(f"The vectors of paper {paper} are damaged.")
            self._verified.add(paper)

    def rows_of(self, paper: int) -> tuple[np.ndarray, np.ndarray]:
        """Chunk ids and vectors of one paper, verified. Raises UnusableIndexError."""
        self.verify((paper,))
        block = self.manifest.blocks[paper]
        rows = slice(block.start, block.start + block.length)
        return self.chunk_ids[rows], self.vectors[rows]

    def search(self, query: np.ndarray, *, papers: Iterable[int] | None, limit: int) -> list[Hit]:
        """The best rows by cosine with ``query`` (length 1); unknown papers have none.

        Raises UnusableIndexError.
        """
        blocks = self.manifest.blocks
        known = blocks.keys() if papers is None else sorted({p for p in papers if p in blocks})
        if papers is not None or len(self._verified) < len(blocks):
            self.verify(known)
        spans = self._all_spans if papers is None else _spans(blocks[paper] for paper in known)
        if not spans:
            return []
        stops = np.array([stop for _, stop in spans])
        ends = np.cumsum([stop - start for start, stop in spans])
        scores = np.empty(ends[-1], dtype=np.float32)
        for (start, stop), end in zip(spans, ends.tolist(), strict=True):
            np.vecdot(self.vectors[start:stop], query, out=scores[end - (stop - start) : end])
        best = best_rows(scores, limit)
        rows = best + (stops - ends)[np.searchsorted(ends, best, side="right")]
        return ranked_hits(self.chunk_ids[rows], self._papers_of(rows), scores[best], limit)

    @cached_property
    def _all_spans(self) -> list[tuple[int, int]]:
        return _spans(self.manifest.blocks.values())

    @cached_property
    def _owners(self) -> tuple[np.ndarray, np.ndarray]:
        """First rows of all papers, ascending, and the papers."""
        owners = sorted((block.start, paper) for paper, block in self.manifest.blocks.items() if block.length)
        return np.array([row for row, _ in owners]), np.array([paper for _, paper in owners])

    def _papers_of(self, rows: np.ndarray) -> np.ndarray:
        starts, papers = self._owners
        owners: np.ndarray = papers[np.searchsorted(starts, rows, side="right") - 1]
        return owners


class _Mapped:
    """A file's first ``size`` bytes, mapped for reading."""

    def __init__(self, path: Path, size: int) -> None:
        self._size = size
        self._map: mmap.mmap | None = None
        with path.open("rb") as file:
            if path.stat().st_size < size:
                raise UnusableIndexError(f"{path.name} is shorter than its manifest says.")
            if size:  # an empty map is an error
                self._map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)

    def array(self, dtype: np.dtype) -> np.ndarray:
        return np.frombuffer(self._map if self._map is not None else b"", dtype=dtype)

    def intact(self) -> bool:
        return self._map is None or self._map.size() >= self._size


def _spans(blocks: Iterable[Block]) -> list[tuple[int, int]]:
    """Start and stop of each run of neighbouring rows that the blocks cover, ascending."""
    spans: list[tuple[int, int]] = []
    for start, length, _ in sorted(blocks):
        if not length:
            continue
        if spans and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], start + length)
        else:
            spans.append((start, start + length))
    return spans


class RowWriter:
    """Adds papers' rows to the files of one number, behind whatever they hold.

    Use as a context manager; raises OSError. ``start_row`` is the first row that is not yet taken.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self._dimension = manifest.serving[1]
        vectors, chunks = (folder / name for name in manifest.names)
        self._vectors = vectors.open("ab")
        self._chunks = chunks.open("ab")
        row_bytes = self._dimension * 4
        # A writer that died may have left half a row: start behind it.
        taken = max(-(-self._vectors.tell() // row_bytes), -(-self._chunks.tell() // _CHUNK_BYTES))
        self.rows = max(taken, manifest.rows)
        self._vectors.truncate(self.rows * row_bytes)
        self._chunks.truncate(self.rows * _CHUNK_BYTES)

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._vectors.close()
        self._chunks.close()

    def add(self, chunk_ids: Sequence[int] | np.ndarray, vectors: np.ndarray) -> Block:
        """Writes one paper's rows and returns where they are."""
        ids = np.asarray(chunk_ids, dtype="<i8")
        rows = np.ascontiguousarray(vectors, dtype="<f4").reshape(len(ids), self._dimension)
        self._vectors.write(rows.data)
        self._chunks.write(ids.data)
        block = Block(self.rows, len(ids), checksum(ids, rows))
        self.rows += len(ids)
        return block

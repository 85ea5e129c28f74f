"""Bringing the vector file up to date: behind its end, or as a compacted copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from workbench.indexes.folders import remove
from workbench.indexes.reading import PaperRows, library_state, paper_rows
from workbench.indexes.vector_file import (
    Manifest,
    RowWriter,
    UnusableIndexError,
    VectorFile,
    files_of_others,
    next_number,
    write_manifest,
)
from workbench.interfaces import IndexSource

_TRIES = 3


def catch_up(folder: Path, source: IndexSource, base: VectorFile | None) -> Manifest | None:
    """Writes what changed since ``base`` and returns the new manifest; ``None`` before the first vector.

    Only for the one writer of the folder. Raises OSError where it cannot write, UnusableIndexError where
    the library switches its embedder again and again meanwhile.

    The revision is read before the vectors: a paper that changes in between is written as it is then, and
    once more at the next catching up, which does no harm.
    """
    for _ in range(_TRIES):
        with source.reading():
            state = library_state(source)
            if state.serving is None:
                return None
            if base is not None and (
                base.manifest.serving != state.serving or not source.has_been(base.manifest.revision)
            ):
                base = None  # another embedder's vectors, or an older copy of the library was put back
            if base is not None and base.manifest.revision == state.revision:
                return base.manifest
            changed = source.changed_since(base.manifest.revision if base else 0)
        start = Manifest(state.revision, state.serving, number=next_number(folder), rows=0, blocks={})
        written = _written(folder, source, start, base, changed)
        if written is not None and library_state(source).serving == state.serving:
            write_manifest(folder, written)
            _tidy(folder, written, base)
            return written
    raise UnusableIndexError("The library's embedder keeps changing.")


def _written(
    folder: Path, source: IndexSource, start: Manifest, base: VectorFile | None, changed: Mapping[int, bool]
) -> Manifest | None:
    """The manifest after ``changed``, its rows written; ``None`` where the dimension changed meanwhile."""
    fetched = sorted(paper for paper, present in changed.items() if present)
    kept = {} if base is None else {p: b for p, b in base.manifest.blocks.items() if p not in changed}
    kept_rows = sum(block.length for block in kept.values())
    if base is not None and base.manifest.rows <= 2 * kept_rows:
        target, blocks = base.manifest, dict(kept)
        incoming: Iterable[PaperRows] = paper_rows(source, fetched)
    else:
        target, blocks = start, {}
        incoming = _in_order(source, base, sorted({*kept, *fetched}), changed)
    with RowWriter(folder, target) as writer:
        for rows in incoming:
            if rows.vectors.shape[1] != start.serving[1]:
                return None
            blocks[rows.paper_id] = writer.add(rows.chunk_ids, rows.vectors)
        return Manifest(start.revision, start.serving, target.number, writer.rows, blocks)


def _in_order(
    source: IndexSource, base: VectorFile | None, papers: Sequence[int], changed: Mapping[int, bool]
) -> Iterator[PaperRows]:
    """Every paper's rows: unchanged ones from the old file, the others from the library."""
    pending: list[int] = []
    for paper in papers:
        rows = None if base is None or paper in changed else _copied(base, paper)
        if rows is None:
            pending.append(paper)
            continue
        yield from paper_rows(source, pending)
        pending = []
        yield rows
    yield from paper_rows(source, pending)


def _copied(base: VectorFile, paper: int) -> PaperRows | None:
    try:
        return PaperRows(paper, *base.rows_of(paper))
    except UnusableIndexError:
        return None


def _tidy(folder: Path, written: Manifest, base: VectorFile | None) -> None:
    """Removes files that neither the new manifest nor the one before it uses.

    Those of the one before stay until the next time: another process may be about to open them.
    """
    numbers = {written.number} | ({base.manifest.number} if base else set())
    for path in files_of_others(folder, numbers):
        remove(path)

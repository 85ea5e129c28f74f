"""Many short papers at once: one statement per table instead of one per paper and table.

The same checks and the same rows as ``papers.insert``, ``papers.link``, ``projects.add_paper`` and
``ledger.record``, for texts that come by the thousand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, InvalidInputError
from workbench.storage import contents, generations, projects, revisions, vectors
from workbench.storage.cleaning import clean_label, clean_text, file_name
from workbench.storage.drafts import PaperDraft


@dataclass(frozen=True, slots=True)
class NewLink:
    """A user's link to a paper: the name it goes by and the user's own id for it."""

    paper_id: int
    file: str
    source_id: str | None


@dataclass(frozen=True, slots=True)
class StageDone:
    """One ledger row of a stage that went well."""

    file: str
    sha256: str
    paper_id: int
    stage: str
    seconds: float


def ids_by_hash(cursor: DuckDBPyConnection, hashes: Sequence[str]) -> dict[str, int]:
    """Ids of the papers that have these hashes; hashes without a paper are left out."""
    rows = cursor.execute(
        "SELECT sha256, paper_id FROM papers WHERE sha256 IN (SELECT unnest(?::VARCHAR[]))", [list(hashes)]
    ).fetchall()
    return {str(row[0]): int(row[1]) for row in rows}


def insert(cursor: DuckDBPyConnection, drafts: Sequence[PaperDraft], *, generation: int | None) -> list[int]:
    """Stores new papers and returns their ids, in order. All drafts have vectors, or none has.

    Sources must be bytes that fit in one piece. Raises ConflictError where a hash is in the library, and
    what ``papers.insert`` raises.
    """
    if not drafts:
        return []
    if ids_by_hash(cursor, [draft.sha256 for draft in drafts]):
        raise ConflictError("One of these papers is in the library already: link it instead.")
    for draft in drafts:
        contents.check(draft)
    ids = _next_ids(cursor, "paper_ids", len(drafts))
    with_vectors = generation is not None and drafts[0].vectors is not None
    _insert_papers(cursor, ids, drafts, generation if with_vectors else None)
    _insert_pages(cursor, ids, drafts)
    chunk_ids = _insert_chunks(cursor, ids, drafts)
    if with_vectors and generation is not None:
        _insert_vectors(cursor, ids, drafts, chunk_ids, generation)
    _insert_sources(cursor, ids, drafts)
    cursor.execute(
        "INSERT INTO paper_changes (paper_id, revision, present)"
        " SELECT paper_id, ?, true FROM (SELECT unnest(?::BIGINT[]) AS paper_id)",
        [revisions.advance(cursor), ids],
    )
    return ids


def link(cursor: DuckDBPyConnection, user: str, links: Sequence[NewLink]) -> None:
    """Puts the papers into the user's library; those that are in it stay as they are."""
    cursor.execute(
        "INSERT INTO library_links (user_name, paper_id, file, source_id)"
        " SELECT ?, unnest(?::BIGINT[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]) ON CONFLICT DO NOTHING",
        [
            user,
            [one.paper_id for one in links],
            [file_name(one.file) for one in links],
            [None if one.source_id is None else clean_label(one.source_id) for one in links],
        ],
    )


def put_into_project(
    cursor: DuckDBPyConnection, user: str, project_id: int, paper_ids: Sequence[int], *, limit: int = 0
) -> None:
    """Puts papers of the user's library into the project. Raises ConflictError where they exceed ``limit``,
    0 for no limit, and then puts none of them in."""
    current = projects.get(cursor, user, project_id)
    new = sorted(set(paper_ids) - set(projects.paper_ids(cursor, user, current.id)))
    projects.require_room(current, len(new), limit=limit)
    cursor.execute(
        "INSERT INTO project_papers (project_id, paper_id, user_name) SELECT ?, unnest(?::BIGINT[]), ?",
        [current.id, new, user],
    )
    projects.touch(cursor, current.id)


def record(cursor: DuckDBPyConnection, user: str, rows: Sequence[StageDone]) -> None:
    """Notes finished stages in the ledger, in order."""
    cursor.execute(
        "INSERT INTO ledger (user_name, file, sha256, paper_id, stage, state, seconds)"
        " SELECT ?, unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::BIGINT[]), unnest(?::VARCHAR[]),"
        " 'done', unnest(?::DOUBLE[])",
        [
            user,
            [file_name(row.file) for row in rows],
            [row.sha256 for row in rows],
            [row.paper_id for row in rows],
            [row.stage for row in rows],
            [row.seconds for row in rows],
        ],
    )


def _next_ids(cursor: DuckDBPyConnection, sequence: str, count: int) -> list[int]:
    rows = cursor.execute(f"SELECT nextval('{sequence}') FROM range(?)", [count]).fetchall()
    return sorted(int(row[0]) for row in rows)


def _insert_papers(
    cursor: DuckDBPyConnection, ids: Sequence[int], drafts: Sequence[PaperDraft], generation: int | None
) -> None:
    cursor.execute(
        "INSERT INTO papers (paper_id, sha256, kind, title, authors, year, doi, page_unit, page_count,"
        " chunk_count, generation) SELECT unnest(?::BIGINT[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),"
        " unnest(?::VARCHAR[]), unnest(?::VARCHAR[][]), unnest(?::INTEGER[]), unnest(?::VARCHAR[]),"
        " unnest(?::VARCHAR[]), unnest(?::INTEGER[]), unnest(?::INTEGER[]), ?",
        [
            list(ids),
            [d.sha256 for d in drafts],
            [clean_label(d.kind) for d in drafts],
            [clean_label(d.title) or "Untitled" for d in drafts],
            [[clean_label(a) for a in d.authors] for d in drafts],
            [d.year for d in drafts],
            [None if d.doi is None else clean_label(d.doi) or None for d in drafts],
            [d.page_unit for d in drafts],
            [len(d.pages) for d in drafts],
            [len(d.chunks) for d in drafts],
            generation,
        ],
    )


def _insert_pages(cursor: DuckDBPyConnection, ids: Sequence[int], drafts: Sequence[PaperDraft]) -> None:
    rows = [(i, page) for i, draft in zip(ids, drafts, strict=True) for page in draft.pages]
    cursor.execute(
        "INSERT INTO pages (paper_id, page, label, text, char_start, char_end)"
        " SELECT unnest(?::BIGINT[]), unnest(?::INTEGER[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]),"
        " unnest(?::BIGINT[]), unnest(?::BIGINT[])",
        [
            [i for i, _ in rows],
            [p.page for _, p in rows],
            [None if p.label is None else clean_label(p.label) for _, p in rows],
            [clean_text(p.text) for _, p in rows],
            [p.char_start for _, p in rows],
            [p.char_end for _, p in rows],
        ],
    )


def _insert_chunks(cursor: DuckDBPyConnection, ids: Sequence[int], drafts: Sequence[PaperDraft]) -> list[int]:
    rows = [(i, chunk) for i, draft in zip(ids, drafts, strict=True) for chunk in draft.chunks]
    chunk_ids = _next_ids(cursor, "chunk_ids", len(rows))
    cursor.execute(
        "INSERT INTO chunks (chunk_id, paper_id, ordinal, heading, blurb, text, page_start, page_end,"
        " char_start, char_end) SELECT unnest(?::BIGINT[]), unnest(?::BIGINT[]), unnest(?::INTEGER[]),"
        " unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::VARCHAR[]), unnest(?::INTEGER[]),"
        " unnest(?::INTEGER[]), unnest(?::BIGINT[]), unnest(?::BIGINT[])",
        [
            chunk_ids,
            [i for i, _ in rows],
            [c.ordinal for _, c in rows],
            [None if c.heading is None else clean_label(c.heading) for _, c in rows],
            [clean_text(c.blurb) for _, c in rows],
            [clean_text(c.text) for _, c in rows],
            [c.page_start for _, c in rows],
            [c.page_end for _, c in rows],
            [c.char_start for _, c in rows],
            [c.char_end for _, c in rows],
        ],
    )
    return chunk_ids


def _insert_vectors(
    cursor: DuckDBPyConnection,
    ids: Sequence[int],
    drafts: Sequence[PaperDraft],
    chunk_ids: Sequence[int],
    generation: int,
) -> None:
    import numpy
    import pandas

    target = generations.get(cursor, generation)
    arrays = [
        vectors.checked(draft.vectors, count=len(draft.chunks), generation=target)
        for draft in drafts
        if draft.vectors is not None
    ]
    if len(arrays) != len(drafts):
        raise InvalidInputError("Papers with and without vectors cannot be stored together.")
    owners = [i for i, draft in zip(ids, drafts, strict=True) for _ in draft.chunks]
    rows = pandas.DataFrame(
        {
            "chunk_id": numpy.asarray(chunk_ids, dtype=numpy.int64),
            "paper_id": numpy.asarray(owners, dtype=numpy.int64),
            "embedding": list(numpy.concatenate(arrays)),
        }
    )
    cursor.register("incoming_vectors", rows)
    try:
        cursor.execute(
            f"INSERT INTO {generations.vector_table(generation)} (chunk_id, paper_id, embedding)"
            f" SELECT chunk_id, paper_id, embedding::FLOAT[{target.dimension}] FROM incoming_vectors"
        )
    finally:
        cursor.unregister("incoming_vectors")


def _insert_sources(cursor: DuckDBPyConnection, ids: Sequence[int], drafts: Sequence[PaperDraft]) -> None:
    pieces = []
    for draft in drafts:
        if not isinstance(draft.source, bytes) or len(draft.source) > contents.SOURCE_PIECE:
            raise InvalidInputError(f"“{draft.title}” is too large to be stored with others: add it alone.")
        if hashlib.sha256(draft.source).hexdigest() != draft.sha256:
            raise InvalidInputError(f"The hash of “{draft.title}” is not that of its text.")
        pieces.append(draft.source)
    cursor.execute(
        "INSERT INTO sources (paper_id, part, data) SELECT unnest(?::BIGINT[]), 0, unnest(?::BLOB[])",
        [list(ids), pieces],
    )

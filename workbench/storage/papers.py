"""Papers: stored once per library, linked to each user who added them, whole or absent.

Every function takes a cursor of a lease; those that change something need a write lease, whose
transaction makes the change whole. A user sees a paper that is linked to them or shared.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from workbench.errors import ConflictError, InvalidInputError, LibraryError, NotFoundError
from workbench.records import Page, Paper
from workbench.storage import contents, departures, generations, revisions, vectors
from workbench.storage.cleaning import clean_label, file_name
from workbench.storage.drafts import PaperDraft
from workbench.storage.generations import Generation
from workbench.storage.moments import utc

_NOT_FOUND = "Paper not found: it is not in your library. List your papers to see their ids."

# One row per paper that the user (bound twice) sees. A shared paper the user has not added goes by the
# name of its first link.
_VISIBLE = """
    SELECT p.paper_id, coalesce(l.title, b.title, p.title), coalesce(l.file, f.file, p.title), p.kind,
           p.page_count, p.chunk_count, p.page_unit,
           p.chunk_count = 0
           OR p.generation IS NOT DISTINCT FROM (SELECT g.generation FROM generations g WHERE g.serving),
           CASE WHEN len(b.authors) > 0 THEN b.authors ELSE p.authors END,
           coalesce(b.year, p.year), coalesce(b.doi, p.doi), l.source_id, p.sha256, p.shared,
           coalesce(l.added_at, p.added_at) AT TIME ZONE 'UTC' AS added
    FROM papers p
    LEFT JOIN library_links l ON l.paper_id = p.paper_id AND l.user_name = ?
    LEFT JOIN bibliography b ON b.paper_id = p.paper_id AND b.user_name = l.user_name
    LEFT JOIN (SELECT paper_id, arg_min(file, added_at) AS file FROM library_links GROUP BY paper_id) f
           ON f.paper_id = p.paper_id
    WHERE (l.user_name = ? OR p.shared)
"""

_PAGE = "SELECT paper_id, page, label, text, char_start, char_end FROM pages WHERE paper_id = ?"


def find_by_hash(cursor: DuckDBPyConnection, sha256: str) -> int | None:
    """Id of the paper with these bytes, whoever added it; ``None`` where there is none."""
    row = cursor.execute("SELECT paper_id FROM papers WHERE sha256 = ?", [sha256]).fetchone()
    return None if row is None else int(row[0])


def insert(cursor: DuckDBPyConnection, draft: PaperDraft, *, generation: int | None) -> int:
    """Stores the paper with its pages, chunks, vectors and source, and returns its id.

    Where the library already has a paper with this hash (another process was faster), that one's id is
    returned and nothing is written: link it. Raises InvalidInputError for a draft that contradicts itself,
    ProviderError for vectors that cannot be searched, DocumentError where the file changed meanwhile.
    """
    existing = find_by_hash(cursor, draft.sha256)
    if existing is not None:
        return existing
    contents.check(draft)
    checked = _checked_generation(cursor, draft, generation)
    row = cursor.execute(
        "INSERT INTO papers (sha256, kind, title, authors, year, doi, page_unit, page_count, chunk_count,"
        " generation) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING paper_id",
        [draft.sha256, *_details(draft, checked)],
    ).fetchone()
    assert row is not None
    paper_id = int(row[0])
    contents.write(cursor, paper_id, draft, generation=checked)
    revisions.bump(cursor, paper_id, present=True)
    return paper_id


def replace_index(
    cursor: DuckDBPyConnection, paper_id: int, draft: PaperDraft, *, generation: int | None
) -> None:
    """Replaces everything the paper consists of; its links, projects and sharing stay.

    Chunks get new ids. While a new generation is built beside the serving one, give the old papers their
    new vectors with ``store_vectors`` instead: this would take them out of today's vector search. Raises
    NotFoundError, ConflictError where the draft's hash is another paper's, and
    what ``insert`` raises.
    """
    _require(cursor, paper_id)
    if find_by_hash(cursor, draft.sha256) not in (None, paper_id):
        raise ConflictError("Another paper of this library has exactly this content already: use that one.")
    contents.check(draft)
    checked = _checked_generation(cursor, draft, generation)
    told = departures.told_of(cursor, paper_id)
    cursor.execute(
        "UPDATE papers SET sha256 = ?, kind = ?, title = ?, authors = ?, year = ?, doi = ?, page_unit = ?,"
        " page_count = ?, chunk_count = ?, generation = ? WHERE paper_id = ?",
        [draft.sha256, *_details(draft, checked), paper_id],
    )
    contents.remove(cursor, paper_id)
    contents.write(cursor, paper_id, draft, generation=checked)
    revisions.bump(cursor, paper_id, present=True)
    if departures.told_of(cursor, paper_id) != told:
        departures.paper_changed(cursor, paper_id)


def store_vectors(cursor: DuckDBPyConnection, paper_id: int, array: Any, *, generation: int) -> None:
    """Gives a paper its vectors of one generation: float32, shape (chunks, dimension), in chunk order."""
    _require(cursor, paper_id)
    target = generations.get(cursor, generation)
    rows = cursor.execute(
        "SELECT chunk_id FROM chunks WHERE paper_id = ? ORDER BY ordinal", [paper_id]
    ).fetchall()
    vectors.store(cursor, paper_id, [row[0] for row in rows], array, generation=target)
    if target.serving:
        cursor.execute("UPDATE papers SET generation = ? WHERE paper_id = ?", [generation, paper_id])
        revisions.bump(cursor, paper_id, present=True)


def link(
    cursor: DuckDBPyConnection,
    user: str,
    paper_id: int,
    *,
    file: str,
    source_id: str | None = None,
    title: str | None = None,
) -> bool:
    """Puts the paper into the user's library under ``file``. False where it was there already; then only a
    ``title`` that is given is new."""
    _require(cursor, paper_id)
    own_title = None if title is None else clean_label(title) or None
    if linked(cursor, user, paper_id):
        if title is not None:
            cursor.execute(
                "UPDATE library_links SET title = ? WHERE user_name = ? AND paper_id = ?",
                [own_title, user, paper_id],
            )
        return False
    cursor.execute(
        "INSERT INTO library_links (user_name, paper_id, file, source_id, title) VALUES (?, ?, ?, ?, ?)",
        [
            user,
            paper_id,
            file_name(file),
            None if source_id is None else clean_label(source_id),
            own_title,
        ],
    )
    return True


def unlink(cursor: DuckDBPyConnection, user: str, paper_id: int) -> None:
    """Takes the paper out of the user's library and projects.

    The paper itself, with everything made from it, goes with its last link unless it is shared. Raises
    NotFoundError where it is not in the user's library.
    """
    gone = cursor.execute(
        "DELETE FROM library_links WHERE user_name = ? AND paper_id = ? RETURNING paper_id", [user, paper_id]
    ).fetchall()
    if not gone:
        raise NotFoundError(_NOT_FOUND)
    departures.paper_left(cursor, user, paper_id)
    for table in ("project_papers", "bibliography"):
        cursor.execute(f"DELETE FROM {table} WHERE user_name = ? AND paper_id = ?", [user, paper_id])
    delete_if_unneeded(cursor, paper_id)


def get(cursor: DuckDBPyConnection, user: str, paper_id: int) -> Paper:
    """The paper as the user sees it. Raises NotFoundError, alike for an unknown and for a hidden one."""
    row = cursor.execute(_VISIBLE + " AND p.paper_id = ?", [user, user, paper_id]).fetchone()
    if row is None:
        raise NotFoundError(_NOT_FOUND)
    return _paper(row)


def list_papers(cursor: DuckDBPyConnection, user: str, paper_ids: Sequence[int] | None = None) -> list[Paper]:
    """The papers the user sees: those of ``paper_ids`` in that order, or all in the order they were added."""
    if paper_ids is None:
        rows = cursor.execute(_VISIBLE + " ORDER BY added, p.paper_id", [user, user]).fetchall()
        return [_paper(row) for row in rows]
    rows = cursor.execute(
        _VISIBLE + " AND p.paper_id IN (SELECT unnest(?::BIGINT[]))", [user, user, list(paper_ids)]
    ).fetchall()
    found = {row[0]: _paper(row) for row in rows}
    return [found[i] for i in dict.fromkeys(paper_ids) if i in found]


def kind_of(cursor: DuckDBPyConnection, paper_id: int) -> str | None:
    """A paper's kind, whoever may see it; ``None`` where the library has no such paper."""
    row = cursor.execute("SELECT kind FROM papers WHERE paper_id = ?", [paper_id]).fetchone()
    return None if row is None else str(row[0])


def stored_title(cursor: DuckDBPyConnection, paper_id: int) -> str:
    """The title that the paper has for every user who gave it none of their own. Raises NotFoundError."""
    row = cursor.execute("SELECT title FROM papers WHERE paper_id = ?", [paper_id]).fetchone()
    if row is None:
        raise NotFoundError(_NOT_FOUND)
    return str(row[0])


def count(cursor: DuckDBPyConnection) -> int:
    """How many papers the whole library has, whoever added them."""
    row = cursor.execute("SELECT count(*) FROM papers").fetchone()
    assert row is not None
    return int(row[0])


def rename_file(cursor: DuckDBPyConnection, user: str, paper_id: int, *, file: str) -> None:
    """Gives the paper another file name in the user's library."""
    cursor.execute(
        "UPDATE library_links SET file = ? WHERE user_name = ? AND paper_id = ?",
        [file_name(file), user, paper_id],
    )


def linked_ids(cursor: DuckDBPyConnection, user: str) -> frozenset[int]:
    """Ids of the papers in the user's own library, without those that only others share."""
    rows = cursor.execute("SELECT paper_id FROM library_links WHERE user_name = ?", [user]).fetchall()
    return frozenset(row[0] for row in rows)


def pages(cursor: DuckDBPyConnection, paper_id: int) -> list[Page]:
    """Every page of the paper, in order. Who may see it is for the caller to ask (``get``)."""
    rows = cursor.execute(f"{_PAGE} ORDER BY page", [paper_id]).fetchall()
    return [Page(*row) for row in rows]


def page_ranges(cursor: DuckDBPyConnection, ranges: Iterable[tuple[int, int, int]]) -> list[Page]:
    """The pages of each (paper id, first page, last page), by paper and page, each once."""
    wanted = sorted(set(ranges))
    if not wanted:
        return []
    select = f"{_PAGE} AND page BETWEEN ? AND ?"
    values = [value for one in wanted for value in one]
    rows = cursor.execute(" UNION ALL ".join([select] * len(wanted)), values).fetchall()
    return sorted({Page(*row) for row in rows}, key=lambda p: (p.paper_id, p.page))


def page(cursor: DuckDBPyConnection, paper_id: int, page: int) -> Page:
    """One page, counted from 1. Raises NotFoundError. Who may see it is for the caller to ask (``get``)."""
    row = cursor.execute(f"{_PAGE} AND page = ?", [paper_id, page]).fetchone()
    if row is None:
        raise NotFoundError(f"This paper has no page {page}: pages count from 1 in file order.")
    return Page(*row)


def page_labels(cursor: DuckDBPyConnection, paper_id: int) -> list[str | None]:
    """The printed label (or a section's name) of each page, in order; None where it is its number."""
    query = "SELECT label FROM pages WHERE paper_id = ? ORDER BY page"
    return [label for (label,) in cursor.execute(query, [paper_id]).fetchall()]


def write_source(cursor: DuckDBPyConnection, paper_id: int, target: Path) -> None:
    """Writes the file the paper was made from to ``target``, in pieces, whole or not at all.

    Raises LibraryError where the disk does not take it.
    """
    _require(cursor, paper_id)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.writelines(contents.source(cursor, paper_id))
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise LibraryError(
            f"The file of a paper cannot be written to {target.parent} ({error.strerror or error}): "
            "free some space there, and try again."
        ) from error


def linked(cursor: DuckDBPyConnection, user: str, paper_id: int) -> bool:
    """Whether the paper is in the user's own library."""
    query = "SELECT 1 FROM library_links WHERE user_name = ? AND paper_id = ?"
    return cursor.execute(query, [user, paper_id]).fetchone() is not None


def _require(cursor: DuckDBPyConnection, paper_id: int) -> None:
    if cursor.execute("SELECT 1 FROM papers WHERE paper_id = ?", [paper_id]).fetchone() is None:
        raise NotFoundError(_NOT_FOUND)


def _checked_generation(
    cursor: DuckDBPyConnection, draft: PaperDraft, generation: int | None
) -> Generation | None:
    """The generation the draft's vectors belong to, once they are known to be fit for it."""
    if draft.vectors is None:
        return None
    if generation is None:
        raise InvalidInputError(
            "Vectors need a generation: call generations.begin(…) for their embedder first."
        )
    target = generations.get(cursor, generation)
    vectors.checked(draft.vectors, count=len(draft.chunks), generation=target)
    return target


def _details(draft: PaperDraft, generation: Generation | None) -> list[object]:
    authors = [clean_label(a) for a in draft.authors]
    return [
        clean_label(draft.kind),
        clean_label(draft.title) or "Untitled",
        [a for a in authors if a],
        draft.year,
        None if draft.doi is None else clean_label(draft.doi) or None,
        draft.page_unit,
        len(draft.pages),
        len(draft.chunks),
        None if generation is None else generation.generation,
    ]


def delete_if_unneeded(cursor: DuckDBPyConnection, paper_id: int) -> None:
    """Deletes a paper that nobody shares and that is in nobody's library."""
    needed = cursor.execute(
        "SELECT 1 FROM papers WHERE paper_id = ?"
        " AND (shared OR paper_id IN (SELECT paper_id FROM library_links))",
        [paper_id],
    ).fetchone()
    if needed is None:
        _delete(cursor, paper_id)


def _delete(cursor: DuckDBPyConnection, paper_id: int) -> None:
    contents.remove(cursor, paper_id)
    for table in (
        "project_papers",
        "retrieval_passages",
        "notes",
        "shares",
        "bibliography",
        "matrix_cells",
        "papers",
    ):
        cursor.execute(f"DELETE FROM {table} WHERE paper_id = ?", [paper_id])
    revisions.bump(cursor, paper_id, present=False)


def _paper(row: tuple[Any, ...]) -> Paper:
    (paper_id, title, file, kind, page_count, chunk_count, unit, served, authors, year, doi) = row[:11]
    source_id, sha256, shared, added = row[11:]
    return Paper(
        id=paper_id,
        title=title,
        file=file,
        kind=kind,
        pages=page_count,
        chunks=chunk_count,
        page_unit=unit,
        state="ready" if served else "indexing",
        authors=tuple(authors),
        year=year,
        doi=doi,
        source_id=source_id,
        sha256=sha256,
        shared=shared,
        added_at=utc(added),
    )

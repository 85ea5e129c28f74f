"""The stored files of papers, written out beside the library for the process that draws their pages."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import InvalidInputError, NotFoundError
from workbench.ingest.sources import sha256_of
from workbench.records import Paper
from workbench.storage import papers
from workbench.storage.database import Database


class StoredFiles:
    """Files in the folder of what is derived: each can be written anew from the library at any time."""

    def __init__(self, database: Database, user: str) -> None:
        self._database, self._user = database, user
        self._whole: dict[Path, tuple[int, int, int]] = {}  # those known to be whole, as they were

    def with_page(self, paper_id: int, page: int) -> Path:
        """The PDF of a paper that has this page. Raises NotFoundError for a page that is not there,
        InvalidInputError for a paper of another kind."""
        with self._database.read() as cursor:
            found = papers.get(cursor, self._user, paper_id)
            if found.kind != "pdf":
                raise InvalidInputError(
                    f"“{found.title}” is a {found.kind} file: it has text, but no page images."
                )
            if not 1 <= page <= found.pages:
                raise NotFoundError(f"“{found.title}” has pages 1 to {found.pages}; there is no page {page}.")
        path = self._path(found)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not self._is_whole(
            path, found
        ):  # outside the lease: writers need not wait for a large file's hash
            with self._database.read() as cursor:
                papers.write_source(cursor, found.id, path)
        return path

    def discard(self, paper: Paper) -> None:
        """Removes the file of a paper that has left the library."""
        self._path(paper).unlink(missing_ok=True)

    def _path(self, paper: Paper) -> Path:
        return self._database.derived / "sources" / f"{paper.sha256}.pdf"

    def _is_whole(self, path: Path, paper: Paper) -> bool:
        """Whether the file is the paper's own, by its hash: asked again only where it changed."""
        if not path.is_file():
            return False
        stat = path.stat()
        seen = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
        if self._whole.get(path) != seen:
            if sha256_of(path) != paper.sha256:
                return False
            self._whole[path] = seen
        return True

"""Chunks by keyword: BM25 over a tantivy index that follows the library."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from workbench.indexes.folders import LOCK_WAIT, read_note, remove, write_note, writing
from workbench.indexes.keyword_store import ENGINE, FileMarks, KeywordStore, check_files, file_marks
from workbench.indexes.reading import paper_texts
from workbench.indexes.vector_file import UnusableIndexError
from workbench.interfaces import IndexSource
from workbench.records import Hit
from workbench.retrieval.terms import query_terms

_NOTE = "keywords.json"


@dataclass(frozen=True, slots=True)
class _Note:
    """Which folder holds the index, the library change it covers, and its files."""

    number: int
    revision: int
    documents: int
    files: FileMarks

    @property
    def name(self) -> str:
        return f"index-{self.number}"


@dataclass(slots=True)
class _InMemory:
    """An index of one scope's papers, built while the folder cannot be used."""

    scope: frozenset[int] | None
    revision: int
    store: KeywordStore


class KeywordTantivyIndex:
    """Best chunks by BM25, strictly inside the given papers. Implements ``interfaces.KeywordIndex``.

    The index catches up with the library at the first search after a change. While it cannot (another
    process is at it, the folder cannot be written), the scope's chunks are indexed in memory and searched
    there: an answer is never incomplete, only slower. Safe to share between threads.

    ``folder`` belongs to this index alone; ``lock_wait`` is the longest wait for another writer, in seconds.
    """

    name = "tantivy"

    def __init__(
        self,
        source: IndexSource,
        folder: Path,
        *,
        lock_wait: float = LOCK_WAIT,
    ) -> None:
        self._source = source
        self._folder = folder
        self._lock_wait = lock_wait
        self._current: tuple[_Note, KeywordStore] | None = None
        self._in_memory: _InMemory | None = None
        self._mutex = threading.Lock()
        self._memory_mutex = threading.Lock()

    def search(
        self, query: str, *, papers: Sequence[int] | None, limit: int, revision: int | None = None
    ) -> list[Hit]:
        """At most ``limit`` hits, best first, ties by chunk id; the score is BM25, above 0.

        A chunk needs one of the query's terms (``retrieval.terms.query_terms``). ``papers=None``: the whole
        library; empty: nothing; unknown ids have no hits. ``revision``: the library's revision where the
        caller has just read it, which saves asking.
        """
        wanted = query_terms(query)
        if limit < 1 or not wanted or (papers is not None and not len(papers)):
            return []
        current = self._current
        if revision is None or current is None or current[0].revision != revision:
            revision = self._source.revision()
        scope = None if papers is None else frozenset(papers)
        store = self._fresh(revision)
        if store is not None:
            try:
                return store.search(wanted, papers=scope, limit=limit)
            except UnusableIndexError:
                self._forget(store)
        store = self._memory_of(scope, revision)
        return store.search(wanted, papers=scope, limit=limit)

    def refresh(self) -> bool:
        """Brings the index up to date now, its files on disk too; False where that is not possible at the
        moment."""
        revision = self._source.revision()
        store = self._fresh(revision)
        if store is not None and not self._is_on_disk(revision):
            # What this object holds open is whole, and what the next process would open is not.
            self._forget(store)
            store = self._fresh(revision)
        return store is not None

    def problems(self) -> list[str]:
        """Where the index says something else than the library, one line each; empty where all is well.

        Changes nothing. An index that merely lags is no problem: it catches up at the next search.
        """
        with self._source.reading():
            revision, present = self._source.revision(), self._source.changed_since(0)
        note = self._read_note()
        if note is None or note.revision != revision:
            return []
        try:
            held = self._opened(note).contents()
        except UnusableIndexError as error:
            return [f"The keyword index is damaged ({error}) and is made again at the next search."]
        with self._source.reading():
            library = {p: sorted(self._source.chunk_ids(p)) for p, there in present.items() if there}
        return [
            f"The keyword index does not hold paper {paper} as the library does: remove {self._folder}."
            for paper in sorted(library.keys() | held.keys())
            if library.get(paper) != held.get(paper)
        ]

    # --- catching up -----------------------------------------------------------------------------

    def _fresh(self, revision: int) -> KeywordStore | None:
        """An index that covers ``revision``; ``None`` where it cannot catch up now."""
        current = self._current
        if current is not None and current[0].revision == revision and self._intact(current[0]):
            return current[1]
        if not self._mutex.acquire(timeout=self._lock_wait):
            return None
        try:
            note = self._read_note()
            if note is None or note.revision != revision or not self._adopted(note):
                with writing(self._folder, wait=self._lock_wait):
                    self._current = self._caught_up()
            self._in_memory = None
            return self._current[1] if self._current else None
        except (OSError, UnusableIndexError):
            return None
        finally:
            self._mutex.release()

    def _adopted(self, note: _Note) -> bool:
        """Makes the index on disk this object's own, where it is what its note says."""
        try:
            store = self._opened(note)
            if store.documents() != note.documents:
                return False
        except UnusableIndexError:
            return False
        self._current = (note, store)
        return True

    def _is_on_disk(self, revision: int) -> bool:
        note = self._read_note()
        if note is None or note.revision != revision:
            return False
        try:
            return self._opened(note).documents() == note.documents
        except UnusableIndexError:
            return False

    def _caught_up(self) -> tuple[_Note, KeywordStore]:
        """The index after writing what changed since the folder's note. Only for the folder's one writer.

        The note follows the commit: a writer that dies in between leaves an index ahead of its note, and the
        same papers are written once more, which does no harm.
        """
        with self._source.reading():
            revision = self._source.revision()
            note = self._read_note()
            if note is not None and not self._source.has_been(note.revision):
                note = None  # another library's, as where an older copy was put back
            changed = self._source.changed_since(note.revision if note else 0)
        if note is not None and note.revision == revision:
            if self._adopted(note) and self._current is not None:
                return self._current
        elif note is not None:
            try:
                return self._written(note, self._opened(note), revision, changed)
            except UnusableIndexError:
                pass  # made again from the start, below
        number = 1 + max((number for number, _ in self._folders()), default=0)
        start = _Note(number, 0, 0, {})
        changed = self._source.changed_since(0)
        return self._written(start, KeywordStore.empty(self._folder / start.name), revision, changed)

    def _written(
        self, before: _Note, store: KeywordStore, revision: int, changed: dict[int, bool]
    ) -> tuple[_Note, KeywordStore]:
        present = sorted(paper for paper, there in changed.items() if there)
        store.write(changed.keys() if before.revision else (), paper_texts(self._source, present))
        files = file_marks(self._folder / before.name, before.files)
        note = _Note(before.number, revision, store.documents(), files)
        write_note(self._folder / _NOTE, {"engine": ENGINE, **asdict(note)})
        for number, path in self._folders():
            if number != note.number:
                remove(path)
        return note, store

    def _opened(self, note: _Note) -> KeywordStore:
        check_files(self._folder / note.name, note.files, contents=True)
        return KeywordStore.opened(self._folder / note.name)

    def _intact(self, note: _Note) -> bool:
        """False once a file was cut short: reading beyond its end would kill the process."""
        try:
            check_files(self._folder / note.name, note.files, contents=False)
        except UnusableIndexError:
            return False
        return True

    def _forget(self, store: KeywordStore) -> None:
        """Drops a damaged index, so that the next search makes it again."""
        with self._mutex:
            if self._current is not None and self._current[1] is store:
                if self._read_note() == self._current[0]:
                    remove(self._folder / _NOTE)
                self._current = None

    def _read_note(self) -> _Note | None:
        note = read_note(self._folder / _NOTE)
        if note is None or note.get("engine") != ENGINE:
            return None
        try:
            files = {str(name): _mark(mark) for name, mark in note["files"].items()}
            return _Note(int(note["number"]), int(note["revision"]), int(note["documents"]), files)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _folders(self) -> list[tuple[int, Path]]:
        """Number and path of every index folder, those of a writer that died included."""
        named = [(path.name.removeprefix("index-"), path) for path in self._folder.glob("index-*")]
        return [(int(number), path) for number, path in named if number.isdecimal()]

    # --- without the folder ----------------------------------------------------------------------

    def _memory_of(self, scope: frozenset[int] | None, revision: int) -> KeywordStore:
        """An index in memory of the scope's chunks as they are now; kept for the next search of the scope."""
        with self._memory_mutex:
            held = self._in_memory
            if held is None or held.scope != scope or held.revision > revision:
                held = _InMemory(scope, 0, KeywordStore.empty())
            if held.revision < revision:
                with self._source.reading():
                    if not self._source.has_been(held.revision):
                        held = _InMemory(scope, 0, KeywordStore.empty())
                    changed = self._source.changed_since(held.revision)
                mine = {p: there for p, there in changed.items() if scope is None or p in scope}
                present = sorted(paper for paper, there in mine.items() if there)
                held.store.write(mine.keys(), paper_texts(self._source, present))
                held.revision = revision
            self._in_memory = held
            return held.store


def _mark(mark: Sequence[int]) -> tuple[int, int, int]:
    size, changed, checksum = map(int, mark)
    return size, changed, checksum

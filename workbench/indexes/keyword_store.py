"""One tantivy index of chunks, on disk or in memory: written paper by paper, searched by BM25.

Texts go in as the terms ``retrieval.terms`` gives, joined by spaces, so that the index and every other part
of the workbench agree on what a word is. tantivy reports each fault as ValueError or OSError; here both
become UnusableIndexError.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import tantivy
from tantivy import Document, Occur, Query, SchemaBuilder

from workbench.indexes.ranking import rank_key
from workbench.indexes.vector_file import UnusableIndexError
from workbench.records import Hit
from workbench.retrieval.terms import TERMS_VERSION, terms

LAYOUT = 2
"""Raised whenever the same chunks would be written otherwise."""

ENGINE = f"tantivy {version('tantivy')}, terms {TERMS_VERSION}, layout {LAYOUT}"
"""What wrote an index: one written by anything else is made again."""

WRITER_BYTES = 64_000_000
SPARE = 16
"""Hits fetched beyond the limit, to see whether the last ones tie."""

ChunkText = tuple[int, str, str]
FileMarks = dict[str, tuple[int, int, int]]
"""Size, time of change in ns, and checksum of each file of an index."""

_OWN_FILES = (".lock", "meta.json", ".managed.json")  # rewritten in place; tantivy checks them itself


class KeywordStore:
    """A tantivy index. Searching is safe from any thread; only one thread may write.

    Every method raises UnusableIndexError.
    """

    def __init__(self, index: tantivy.Index) -> None:
        self._index = index
        self._schema = index.schema
        with _tantivy_errors():
            # By itself tantivy reads on as soon as another process has committed: then this would hold what
            # its note does not say yet, or what an older library that was put back never had.
            index.config_reader(reload_policy="manual")
            index.reload()

    @classmethod
    def opened(cls, folder: Path) -> KeywordStore:
        """The index in ``folder``; never a new one in its place."""
        with _tantivy_errors():
            return cls(tantivy.Index.open(str(folder)))

    @classmethod
    def empty(cls, folder: Path | None = None) -> KeywordStore:
        """A new index in ``folder``, which is made, or in memory."""
        with _tantivy_errors():
            if folder is None:
                return cls(tantivy.Index(_schema()))
            folder.mkdir(mode=0o700, parents=True)
            return cls(tantivy.Index(_schema(), path=str(folder), reuse=False))

    def documents(self) -> int:
        """How many chunks it holds."""
        with _tantivy_errors():
            return int(self._index.searcher().num_docs)

    def write(self, changed: Collection[int], papers: Iterable[tuple[int, list[ChunkText]]]) -> None:
        """Removes what is held of the ``changed`` papers and adds the given ones, in one commit."""
        with _tantivy_errors():
            writer = self._index.writer(heap_size=WRITER_BYTES, num_threads=1)
            try:
                if changed:
                    # delete_documents_by_term takes an int for a signed one and silently deletes nothing.
                    writer.delete_documents_by_query(self._within(changed))
                for paper_id, chunks in papers:
                    for document in _documents(paper_id, chunks):
                        writer.add_document(document)
                writer.commit()
            finally:
                # Ends the writer and lets go of its lock now, not when the object happens to be freed;
                # and segments are merged, or many small additions would slow every search.
                writer.wait_merging_threads()
            self._index.reload()

    def search(self, query: Sequence[str], *, papers: Collection[int] | None, limit: int) -> list[Hit]:
        """At most ``limit`` chunks that hold any of the ``query`` terms, best first, ties by chunk id.

        The score is BM25 (k1 1.2, b 0.75) of title, heading and text as one field.
        """
        with _tantivy_errors():
            searcher = self._index.searcher()
            limit = min(limit, searcher.num_docs)
            if not query or limit < 1:
                return []
            wanted = self._matching(query)
            if papers is not None:
                scope = Query.const_score_query(self._within(papers), 0.0)
                wanted = Query.boolean_query([(Occur.Must, wanted), (Occur.Must, scope)])
            fetched = limit + SPARE
            found = searcher.search(wanted, fetched, count=False).hits
            while len(found) == fetched and found[-1][0] == found[limit - 1][0]:
                fetched *= 4
                found = searcher.search(wanted, min(fetched, searcher.num_docs), count=False).hits
            addresses = [address for _, address in found]
            chunk_ids = _numbers(searcher, "chunk", addresses)
            paper_ids = _numbers(searcher, "paper", addresses)
        scores = [score for score, _ in found]
        hits = [Hit(*row) for row in zip(chunk_ids, paper_ids, scores, strict=True)]
        return sorted(hits, key=rank_key)[:limit]

    def contents(self) -> dict[int, list[int]]:
        """Chunk ids of every paper it holds, ascending."""
        with _tantivy_errors():
            searcher = self._index.searcher()
            if not searcher.num_docs:
                return {}
            found = searcher.search(Query.all_query(), searcher.num_docs, count=False).hits
            addresses = [address for _, address in found]
            papers = _numbers(searcher, "paper", addresses)
            chunks = _numbers(searcher, "chunk", addresses)
        pairs = sorted(zip(papers, chunks, strict=True))
        return {paper: [chunk for _, chunk in rows] for paper, rows in groupby(pairs, key=lambda row: row[0])}

    def _within(self, papers: Collection[int]) -> Query:
        return Query.term_set_query(self._schema, "paper", [paper for paper in papers if paper >= 0])

    def _matching(self, query: Sequence[str]) -> Query:
        words = [Query.term_query(self._schema, "words", term, index_option="freq") for term in query]
        return Query.boolean_query([(Occur.Should, word) for word in words])


def file_marks(folder: Path, before: FileMarks) -> FileMarks:
    """Marks of the index's files as they are; a file is written once, so known ones keep their checksum."""
    marks: FileMarks = {}
    for path in sorted(folder.iterdir()):
        if path.name.endswith(_OWN_FILES):
            continue
        known = before.get(path.name)
        try:
            stat = path.stat()
            checksum = known[2] if known else _checksum(path)
        except FileNotFoundError:
            continue  # tantivy clears away merged files in its own time
        marks[path.name] = (stat.st_size, stat.st_mtime_ns, checksum)
    return marks


def check_files(folder: Path, marks: FileMarks, *, contents: bool) -> None:
    """Raises UnusableIndexError where a file was changed since it was marked.

    A missing one is no fault: whoever wrote last has merged it away. Contents are read only where size or
    time tell of a change, and only if ``contents``.
    """
    for name, (size, changed, checksum) in marks.items():
        path = folder / name
        try:
            stat = path.stat()
        except OSError:
            continue
        if stat.st_size == size and (stat.st_mtime_ns == changed or not contents):
            continue
        if stat.st_size != size or _checksum(path) != checksum:
            raise UnusableIndexError(f"The keyword index's file {name} was changed.")


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value


def _numbers(searcher: tantivy.Searcher, field: str, addresses: list[tantivy.DocAddress]) -> list[int]:
    return [int(value or 0) for value in searcher.fast_field_values(field, addresses)]


def _schema() -> tantivy.Schema:
    builder = SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("paper", indexed=True, fast=True)
    builder.add_unsigned_field("chunk", fast=True)
    return builder.build()


def _documents(paper_id: int, chunks: Sequence[ChunkText]) -> Iterator[Document]:
    """Title and heading stand in one field with the text: a word of either then counts like one of the text,
    and one that both hold counts little more than once."""
    title: str | None = None
    title_terms: list[str] = []
    for chunk_id, chunk_title, text in chunks:
        if chunk_title != title:
            title, title_terms = chunk_title, terms(chunk_title)
        document = Document()
        document.add_unsigned("paper", paper_id)
        document.add_unsigned("chunk", chunk_id)
        document.add_text("words", " ".join([*title_terms, *terms(text)]))
        yield document


@contextmanager
def _tantivy_errors() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise UnusableIndexError(f"tantivy: {error}") from error

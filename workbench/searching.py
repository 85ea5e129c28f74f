"""One question, one scope, the evidence: the steps of a search in their order.

The decisions are pure functions in ``retrieval``; this file fetches for them.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.errors import EmbedderMismatchError, InvalidInputError, LibraryError, ProviderError
from workbench.gathering import Found, Gathered, Stopwatch
from workbench.interfaces import Embedder, KeywordIndex, VectorIndex
from workbench.pooling import MODES, Mode, Pool
from workbench.records import Evidence, Hit, Paper
from workbench.retrieval.parameters import SearchParameters
from workbench.retrieval.placing import Place
from workbench.retrieval.sections import is_references
from workbench.scope import Scope
from workbench.scoping import View, not_ready, view_of
from workbench.storage import chunks, generations, presets, retrievals
from workbench.storage.database import Database

if TYPE_CHECKING:
    import numpy
    from duckdb import DuckDBPyConnection

_log = logging.getLogger(__name__)

DEPTH = 2000  # candidates per list at first: in a project this is every passage, so no score is missing
DEEPEST = 16 * DEPTH  # where shared papers are blended in
_INDEX_TROUBLE = (OSError, ImportError)
LONGEST_QUERY = 4000  # characters
_ROOM_FOR_MARKS = 16  # tokens that an embedder may add to a question: its ends, a prefix


@dataclass(frozen=True)
class Searcher:
    """Searches one library for one user. ``embedder`` is None where vectors cannot be had."""

    database: Database
    user: str
    vector_index: VectorIndex
    keyword_index: KeywordIndex
    embedder: Embedder | None
    warnings: tuple[str, ...] = ()
    shared_share: float = 0.0
    defaults: SearchParameters = field(default_factory=SearchParameters)

    def find(
        self,
        query: str,
        *,
        scope: Scope,
        given: Mapping[str, Any] | None = None,
        mode: Mode = "hybrid",
        paper: int | None = None,
        without: Collection[int] = (),
    ) -> Found:
        """The evidence for ``query``; recorded, so that it can be replayed and compared in SQL.

        ``given`` are the call's own parameters, by the names of ``SearchParameters``; the others are those of
        the project's chosen preset, else ``defaults``. With ``paper`` only this paper is searched, whatever
        the scope; papers ``without`` are left out of the scope.

        Raises InvalidInputError for an empty or overlong query or an unknown mode, NotFoundError for a
        project or paper that is not the user's, EmbedderMismatchError where the library's vectors are not
        this embedder's.
        """
        with self.gather(
            query, scope=scope, given=given, mode=mode, paper=paper, without=without
        ) as gathered:
            found = gathered.found(gathered.current)
        self._record(found.evidence)
        return found

    @contextmanager
    def gather(
        self,
        query: str,
        *,
        scope: Scope,
        given: Mapping[str, Any] | None = None,
        sets: Sequence[SearchParameters] = (),
        mode: Mode = "hybrid",
        paper: int | None = None,
        without: Collection[int] = (),
    ) -> Iterator[Gathered]:
        """Everything that ``query`` finds, deep enough for the parameters in effect and for each of ``sets``,
        which may then choose. Nothing is recorded.

        The library is held open inside the block, in one state from the scope to the passages. Raises what
        ``find`` raises.
        """
        query = checked_query(query, mode)
        watch, warnings = Stopwatch(), list(self.warnings)
        vector = self._query_vector(query, mode, watch, warnings)
        with self.database.read() as cursor:
            with watch.timed("scope"):
                # keywords need no vectors: without the question's, every paper is searched
                needed, blend = vector is not None, self.shared_share > 0
                view = view_of(
                    cursor, self.user, scope, vectors_needed=needed, paper=paper, blend=blend, without=without
                )
            if vector is not None:
                self._check_embedder(cursor)
            warnings += not_ready(view.left_out)
            current, preset = self.in_effect(cursor, scope, given)
            wanted = [current, *sets]
            pool = self._deep_enough(cursor, query, vector, view, wanted, mode, paper, watch, warnings)
            apart = tuple(sorted(without))
            yield Gathered(cursor, self.user, scope, pool, watch, tuple(warnings), current, preset, apart)

    def in_effect(
        self, cursor: DuckDBPyConnection, scope: Scope, given: Mapping[str, Any] | None = None
    ) -> tuple[SearchParameters, str | None]:
        """The parameters of a call: ``given``, before those of the project's chosen preset, before
        ``defaults``; and the preset's name."""
        project = scope.project_id
        preset = None if project is None else presets.chosen(cursor, self.user, project)
        kept = preset.parameters if preset is not None else {}
        return self.defaults.with_values({**kept, **(given or {})}), preset.name if preset else None

    def _check_embedder(self, cursor: DuckDBPyConnection) -> None:
        serving = generations.serving(cursor)
        assert self.embedder is not None
        if serving is not None and serving.embedder != self.embedder.name:
            raise EmbedderMismatchError(
                f"The library's vectors are of {serving.embedder}, and the question's of "
                f"{self.embedder.name}: open the library again."
            )

    def _deep_enough(
        self,
        cursor: DuckDBPyConnection,
        query: str,
        vector: numpy.ndarray | None,
        view: View,
        sets: Sequence[SearchParameters],
        mode: Mode,
        paper: int | None,
        watch: Stopwatch,
        warnings: list[str],
    ) -> Pool:
        """Fetches deeper while any of the sets leaves seats empty and more may come."""
        depth = max([DEPTH, *(8 * each.top_k for each in sets)])
        while True:
            pool = self._pool(cursor, query, vector, view, depth, mode, paper, watch, warnings)
            # seats that shared papers may not take stay empty
            if pool.exhausted or (view.blended and depth >= DEEPEST):
                return pool
            with watch.timed("selection"):
                chosen = ((pool.choose(each.limits, weights=each.weights), each.top_k) for each in sets)
                if all(len(choice.selection.chosen) >= top_k for choice, top_k in chosen):
                    return pool
            depth *= 4

    def _pool(
        self,
        cursor: DuckDBPyConnection,
        query: str,
        vector: numpy.ndarray | None,
        view: View,
        depth: int,
        mode: Mode,
        paper: int | None,
        watch: Stopwatch,
        warnings: list[str],
    ) -> Pool:
        complete = mode == "keyword" or vector is not None
        vector_hits: list[Hit] = []
        keyword_hits: list[Hit] = []
        if vector is not None:
            try:
                with watch.timed("vectors"):
                    vector_hits = self.vector_index.search(vector, papers=view.searched, limit=depth)
            except _INDEX_TROUBLE as error:
                vector, complete = None, False
                warnings.append(f"Searching by keywords only: vectors cannot be read ({error}).")
        if mode != "vector" or vector is None:
            try:
                with watch.timed("keywords"):
                    keyword_hits = self.keyword_index.search(query, papers=view.searched, limit=depth)
            except _INDEX_TROUBLE as error:
                complete = False
                warnings.append(f"Keywords cannot be searched now ({error}).")
        with watch.timed("selection"):
            found = {h.chunk_id for h in vector_hits} | {h.chunk_id for h in keyword_hits}
            standing = chunks.standing_of(cursor, sorted(found))
        return Pool(
            query=query,
            view=view,
            mode=mode,
            paper=paper,
            vector_hits=vector_hits,
            keyword_hits=keyword_hits,
            places={i: _place(s, view.papers.get(s.paper_id)) for i, s in standing.items()},
            share=self.shared_share,
            exhausted=len(vector_hits) < depth and len(keyword_hits) < depth,
            complete=complete,
        )

    def _query_vector(
        self, query: str, mode: Mode, watch: Stopwatch, warnings: list[str]
    ) -> numpy.ndarray | None:
        if mode == "keyword":
            return None
        if self.embedder is None:
            if mode == "vector":
                warnings.append("No embedder is at hand, so this search went by keywords.")
            return None
        try:
            with watch.timed("embedding"):
                return _query_vector(self.embedder, query)
        except ProviderError as error:
            warnings.append(f"{error} Searching by keywords only.")
            return None

    def _record(self, evidence: Evidence) -> None:
        if not self.database.writable:
            return
        try:
            with self.database.write() as cursor:
                retrievals.record(cursor, self.user, evidence)
        except LibraryError as error:  # an answer is worth more than its record
            _log.warning("A retrieval could not be recorded: %s", error)


def checked_query(query: str, mode: str = "hybrid") -> str:
    """The question on one line. Raises InvalidInputError where it cannot be searched for."""
    if mode not in MODES:
        raise InvalidInputError(f"mode={mode!r}: allowed are {', '.join(MODES)}.")
    if not isinstance(query, str):
        raise InvalidInputError(f"The question must be text, not {type(query).__name__}.")
    cleaned = " ".join(query.replace("\x00", " ").encode("utf-8", "ignore").decode().split())
    if not cleaned:
        raise InvalidInputError("The question is empty: type what you want to know.")
    if len(cleaned) > LONGEST_QUERY:
        raise InvalidInputError(
            f"The question has {len(cleaned)} characters; at most {LONGEST_QUERY} work. Shorten it."
        )
    return cleaned


def _place(standing: chunks.Standing, paper: Paper | None) -> Place:
    paged = paper is not None and paper.page_unit == "page" and paper.pages > 1
    return Place(
        standing.page_start,
        standing.page_end,
        standing.ordinal,
        front=paged and standing.page_start == 1,
        references=is_references(standing.heading),
    )


def _query_vector(embedder: Embedder, query: str) -> numpy.ndarray:
    """The question's vector; of one longer than the embedder reads, the mean direction of its parts."""
    room = embedder.max_tokens - _ROOM_FOR_MARKS
    spans = embedder.token_spans(query)
    parts = -(-len(spans) // room)
    if parts <= 1:
        return embedder.embed_query(query)
    size = -(-len(spans) // parts)
    pieces = [spans[at : at + size] for at in range(0, len(spans), size)]
    vectors = [embedder.embed_query(query[piece[0][0] : piece[-1][1]]) for piece in pieces]
    total: numpy.ndarray = vectors[0].copy()
    for vector in vectors[1:]:
        total += vector
    length = float((total**2).sum()) ** 0.5
    return total / length if length else vectors[0]

"""One question, one scope, the evidence: the steps of a search in their order.

The decisions are pure functions in ``retrieval``; this file fetches for them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from workbench.errors import EmbedderMismatchError, InvalidInputError, LibraryError, ProviderError
from workbench.interfaces import Embedder, KeywordIndex, VectorIndex
from workbench.records import Candidate, Chunk, Evidence, Hit, Page, Paper, Passage
from workbench.retrieval.answerability import Answerability, judge_answerable
from workbench.retrieval.blending import select_blended
from workbench.retrieval.fusion import HYBRID, KEYWORD_ONLY, VECTOR_ONLY, FusionWeights, fuse
from workbench.retrieval.placing import Place, weigh_places
from workbench.retrieval.selection import Selection, SelectionLimits
from workbench.scope import Scope
from workbench.scoping import View, elsewhere, not_ready, stored_summaries, view_of
from workbench.storage import chunks, generations, papers, retrievals
from workbench.storage.database import Database

if TYPE_CHECKING:
    import numpy
    from duckdb import DuckDBPyConnection

_log = logging.getLogger(__name__)

Mode = Literal["hybrid", "vector", "keyword"]
_WEIGHTS: dict[str, FusionWeights] = {"hybrid": HYBRID, "vector": VECTOR_ONLY, "keyword": KEYWORD_ONLY}

DEPTH = 2000  # candidates per list at first: in a project this is every passage, so no score is missing
DEEPEST = 16 * DEPTH  # where shared papers are blended in
JUDGED = 100  # candidates whose texts tell whether the scope speaks of the question at all
SUMMARIES_INSTEAD = "No passage was found that way, so stored project summaries are shown instead."
_INDEX_TROUBLE = (OSError, ImportError)
LONGEST_QUERY = 4000  # characters


@dataclass(frozen=True)
class Found:
    """Evidence, the pages its passages stand on as they were at that moment, and whether the scope speaks of
    the question (for answers without a chat model)."""

    evidence: Evidence
    pages: tuple[Page, ...]
    answerable: Answerability

    def pages_of(self, passage: Passage) -> list[Page]:
        """The pages this passage stands on."""
        first, last = passage.page_start, passage.page_end
        return [p for p in self.pages if p.paper_id == passage.paper_id and first <= p.page <= last]


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

    def find(
        self,
        query: str,
        *,
        scope: Scope,
        limits: SelectionLimits,
        mode: Mode = "hybrid",
        paper: int | None = None,
    ) -> Found:
        """The evidence for ``query``; recorded, so that it can be replayed and compared in SQL.

        With ``paper`` only this paper is searched, whatever the scope.

        Raises InvalidInputError for an empty or overlong query or an unknown mode, NotFoundError for a
        project or paper that is not the user's, EmbedderMismatchError where the library's vectors are not
        this embedder's.
        """
        query = checked_query(query, mode)
        watch = _Stopwatch()
        warnings = list(self.warnings)
        vector = self._query_vector(query, mode, watch, warnings)
        with self.database.read() as cursor:  # one state of the library from the scope to the passages
            with watch.timed("scope"):
                # keywords need no vectors: without the question's, every paper is searched
                needed, blend = vector is not None, self.shared_share > 0
                view = view_of(cursor, self.user, scope, vectors_needed=needed, paper=paper, blend=blend)
            if vector is not None:
                self._check_embedder(cursor)
            warnings += not_ready(view.left_out)
            chosen = self._choose(cursor, query, vector, view, limits, mode, watch, warnings)
            with watch.timed("passages"):
                wanted = [*chosen.selection.chosen, *chosen.near[:JUDGED]]
                texts = {c.id: c for c in chunks.by_ids(cursor, [c.chunk_id for c in wanted])}
                pages = _pages_of(cursor, chosen.selection, texts)
            empty = not chosen.selection.chosen and paper is None
            stored = self._instead(cursor, scope, view, chosen, warnings) if empty else ()
        evidence = Evidence(
            query=query,
            scope=scope,
            scope_label=view.label,
            passages=_passages(chosen.selection, texts, view),
            dropped=chosen.selection.dropped[:JUDGED],
            papers_in_scope=view.in_scope,
            parameters={
                **asdict(limits),
                "mode": mode,
                "candidates": chosen.candidates,
                "shared_share": self.shared_share,
            },
            warnings=tuple(dict.fromkeys(warnings)),  # a deeper pass meets the same trouble again
            timing=watch.seconds,
            summaries=stored,
        )
        verdict = judge_answerable(
            query,
            [texts[c.chunk_id].text for c in wanted],
            chosen=len(evidence.passages),
            best_cosine=chosen.best_cosine,
            papers=[(c.paper_id, view.papers[c.paper_id].title) for c in wanted],
        )
        self._record(evidence)
        return Found(evidence, tuple(pages), verdict)

    def _instead(
        self, cursor: DuckDBPyConnection, scope: Scope, view: View, chosen: _Chosen, warnings: list[str]
    ) -> tuple[str, ...]:
        """What to say where nothing was found; the stored summaries where a part of the search was away."""
        warnings += elsewhere(cursor, self.user, scope, view)
        stored = () if chosen.complete else stored_summaries(cursor, self.user, scope)
        warnings += [SUMMARIES_INSTEAD] if stored else []
        return stored

    def _check_embedder(self, cursor: DuckDBPyConnection) -> None:
        serving = generations.serving(cursor)
        assert self.embedder is not None
        if serving is not None and serving.embedder != self.embedder.name:
            raise EmbedderMismatchError(
                f"The library's vectors are of {serving.embedder}, and the question's of "
                f"{self.embedder.name}: open the library again."
            )

    def _choose(
        self,
        cursor: DuckDBPyConnection,
        query: str,
        vector: numpy.ndarray | None,
        view: View,
        limits: SelectionLimits,
        mode: Mode,
        watch: _Stopwatch,
        warnings: list[str],
    ) -> _Chosen:
        """Candidates and choice; fetches deeper while the limits leave seats empty and more may come."""
        depth = max(DEPTH, 8 * limits.top_k)
        complete = mode == "keyword" or vector is not None
        while True:
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
                fused = fuse(vector_hits, keyword_hits, weights=_WEIGHTS[mode])
                pages = chunks.pages_of(cursor, [c.chunk_id for c in fused])
                # a chunk without a page has left the library since the index was read
                known = [c for c in fused if c.chunk_id in pages and c.paper_id in view.papers]
                candidates = weigh_places(known, {i: Place(*pages[i]) for i in pages})
                selection = select_blended(candidates, limits, blended=view.blended, share=self.shared_share)
            more = len(vector_hits) >= depth or len(keyword_hits) >= depth
            if view.blended and depth >= DEEPEST:  # seats that shared papers may not take stay empty
                more = False
            if len(selection.chosen) >= limits.top_k or not more:
                best = max((h.score for h in vector_hits), default=None)
                return _Chosen(selection, candidates, best, complete)
            depth *= 4

    def _query_vector(
        self, query: str, mode: Mode, watch: _Stopwatch, warnings: list[str]
    ) -> numpy.ndarray | None:
        if mode == "keyword":
            return None
        if self.embedder is None:
            if mode == "vector":
                warnings.append("No embedder is at hand, so this search went by keywords.")
            return None
        try:
            with watch.timed("embedding"):
                return self.embedder.embed_query(query)
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


@dataclass(frozen=True)
class _Chosen:
    """``complete``: by everything that was asked for, no part of the search being away."""

    selection: Selection
    ranked: list[Candidate]
    best_cosine: float | None
    complete: bool

    @property
    def candidates(self) -> int:
        return len(self.ranked)

    @property
    def near(self) -> list[Candidate]:
        """The candidates that were not chosen, best first."""
        seated = {c.chunk_id for c in self.selection.chosen}
        return [c for c in self.ranked if c.chunk_id not in seated]


@dataclass
class _Stopwatch:
    """Seconds per step; a step timed twice adds up."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start


def checked_query(query: str, mode: str = "hybrid") -> str:
    """The question on one line. Raises InvalidInputError where it cannot be searched for."""
    if mode not in _WEIGHTS:
        raise InvalidInputError(f"mode={mode!r}: allowed are {', '.join(_WEIGHTS)}.")
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


def heading_of(blurb: str) -> str | None:
    """The heading in a chunk's blurb, which stands between the paper's title and the page."""
    parts = blurb.split(" · ")
    return " · ".join(parts[1:-1]) or None


def _pages_of(cursor: DuckDBPyConnection, selection: Selection, texts: dict[int, Chunk]) -> list[Page]:
    """The pages that the chosen passages stand on."""
    seated = [texts[c.chunk_id] for c in selection.chosen]
    return papers.page_ranges(cursor, [(c.paper_id, c.page_start, c.page_end) for c in seated])


def _passages(selection: Selection, texts: dict[int, Chunk], view: View) -> tuple[Passage, ...]:
    return tuple(
        _passage(n, c, texts[c.chunk_id], view.papers[c.paper_id], shared=c.paper_id in view.shared)
        for n, c in enumerate(selection.chosen, start=1)
    )


def _passage(n: int, candidate: Candidate, chunk: Chunk, paper: Paper, *, shared: bool) -> Passage:
    return Passage(
        n=n,
        chunk_id=chunk.id,
        paper_id=paper.id,
        title=paper.title,
        file=paper.file,
        page_start=chunk.page_start,
        page_end=chunk.page_end,
        text=chunk.text,
        score=round(candidate.relevance, 6),
        vector_rank=candidate.vector_rank,
        keyword_rank=candidate.keyword_rank,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        page_unit=paper.page_unit,
        authors=paper.authors,
        year=paper.year,
        shared=shared,
        heading=heading_of(chunk.blurb),
    )

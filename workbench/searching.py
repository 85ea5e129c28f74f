"""One question, one scope, the evidence: the steps of a search in their order.

The decisions are pure functions in ``retrieval``; this file fetches for them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from workbench.errors import InvalidInputError, LibraryLockedError, ProviderError
from workbench.interfaces import Embedder, KeywordIndex, VectorIndex
from workbench.records import Candidate, Chunk, Evidence, Hit, Paper, Passage
from workbench.retrieval.answerability import Answerability, judge_answerable
from workbench.retrieval.fusion import HYBRID, KEYWORD_ONLY, VECTOR_ONLY, FusionWeights, fuse
from workbench.retrieval.placing import Place, weigh_places
from workbench.retrieval.selection import Selection, SelectionLimits, select_evidence
from workbench.scope import Scope
from workbench.storage import chunks, papers, retrievals, scopes
from workbench.storage.database import Database

Mode = Literal["hybrid", "vector", "keyword"]
_WEIGHTS: dict[str, FusionWeights] = {"hybrid": HYBRID, "vector": VECTOR_ONLY, "keyword": KEYWORD_ONLY}

DEPTH = 2000  # candidates per list at first: in a project this is every passage, so no score is missing
JUDGED = 100  # candidates whose texts tell whether the scope speaks of the question at all
LONGEST_QUERY = 4000  # characters


@dataclass(frozen=True)
class Found:
    """Evidence, and whether the scope speaks of the question (for answers without a chat model)."""

    evidence: Evidence
    answerable: Answerability


@dataclass(frozen=True)
class Searcher:
    """Searches one library for one user. ``embedder`` is None where vectors cannot be had."""

    database: Database
    user: str
    vector_index: VectorIndex
    keyword_index: KeywordIndex
    embedder: Embedder | None
    warnings: tuple[str, ...] = ()

    def find(self, query: str, *, scope: Scope, limits: SelectionLimits, mode: Mode = "hybrid") -> Found:
        """The evidence for ``query``; recorded, so that it can be replayed and compared in SQL.

        Raises InvalidInputError for an empty or overlong query or an unknown mode, NotFoundError for a
        project that is not the user's.
        """
        query = _checked(query, mode)
        watch = _Stopwatch()
        with watch.timed("scope"), self.database.read() as cursor:
            label = scopes.label(cursor, self.user, scope)
            ids = scopes.paper_ids(cursor, self.user, scope)
            visible = {p.id: p for p in papers.list_papers(cursor, self.user, ids)}
        ready = [p.id for p in visible.values() if p.state == "ready"]
        if self.embedder is None or not ready:
            ready = list(visible)  # keywords need no vectors, so nothing has to be left out
        warnings = [*self.warnings, *_not_ready(len(visible) - len(ready))]
        candidates, selection, best_cosine = self._select(query, ready, limits, mode, watch, warnings)
        with watch.timed("passages"), self.database.read() as cursor:
            wanted = [*selection.chosen, *[c for c in candidates if c not in selection.chosen][:JUDGED]]
            texts = {c.id: c for c in chunks.by_ids(cursor, [c.chunk_id for c in wanted])}
        chosen = [c for c in selection.chosen if c.chunk_id in texts]  # a paper may have left meanwhile
        evidence = Evidence(
            query=query,
            scope=scope,
            scope_label=label,
            passages=tuple(
                _passage(n, c, texts[c.chunk_id], visible[c.paper_id]) for n, c in enumerate(chosen, start=1)
            ),
            dropped=selection.dropped,
            papers_in_scope=len(visible),
            parameters={**_as_dict(limits), "mode": mode},
            warnings=tuple(warnings),
            timing=watch.seconds,
        )
        judged = [texts[c.chunk_id].text for c in wanted if c.chunk_id in texts]
        verdict = judge_answerable(query, judged, chosen=len(chosen), best_cosine=best_cosine)
        return Found(self._recorded(evidence), verdict)

    def _select(
        self,
        query: str,
        ready: Sequence[int],
        limits: SelectionLimits,
        mode: Mode,
        watch: _Stopwatch,
        warnings: list[str],
    ) -> tuple[list[Candidate], Selection, float | None]:
        """Candidates and choice; fetches deeper while the limits leave seats empty and more may come."""
        vector = self._query_vector(query, mode, watch, warnings) if ready else None
        depth = max(DEPTH, 8 * limits.top_k)
        while True:
            vector_hits: list[Hit] = []
            keyword_hits: list[Hit] = []
            if vector is not None:
                with watch.timed("vectors"):
                    vector_hits = self.vector_index.search(vector, papers=ready, limit=depth)
            if ready and (mode != "vector" or vector is None):
                with watch.timed("keywords"):
                    keyword_hits = self.keyword_index.search(query, papers=ready, limit=depth)
            candidates = self._placed(fuse(vector_hits, keyword_hits, weights=_WEIGHTS[mode]), watch)
            with watch.timed("selection"):
                selection = select_evidence(candidates, limits)
            more = len(vector_hits) >= depth or len(keyword_hits) >= depth
            if len(selection.chosen) >= limits.top_k or not more:
                best = max((h.score for h in vector_hits), default=None) if vector is not None else None
                return candidates, selection, best
            depth *= 4

    def _placed(self, candidates: list[Candidate], watch: _Stopwatch) -> list[Candidate]:
        with watch.timed("places"), self.database.read() as cursor:
            pages = chunks.pages_of(cursor, [c.chunk_id for c in candidates])
            return weigh_places(candidates, {i: Place(first, last) for i, (first, last) in pages.items()})

    def _query_vector(self, query: str, mode: Mode, watch: _Stopwatch, warnings: list[str]):  # type: ignore[no-untyped-def]
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

    def _recorded(self, evidence: Evidence) -> Evidence:
        try:
            with self.database.write() as cursor:
                retrievals.record(cursor, self.user, evidence)
        except LibraryLockedError:
            return evidence  # an answer is worth more than its record
        return evidence


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


def _checked(query: str, mode: str) -> str:
    if mode not in _WEIGHTS:
        raise InvalidInputError(f"mode={mode!r}: allowed are {', '.join(_WEIGHTS)}.")
    cleaned = " ".join(query.replace("\x00", " ").encode("utf-8", "ignore").decode().split())
    if not cleaned:
        raise InvalidInputError("The question is empty: type what you want to know.")
    if len(cleaned) > LONGEST_QUERY:
        raise InvalidInputError(
            f"The question has {len(cleaned)} characters; at most {LONGEST_QUERY} work. Shorten it."
        )
    return cleaned


def _not_ready(count: int) -> list[str]:
    if not count:
        return []
    what = "1 paper is" if count == 1 else f"{count} papers are"
    return [f"{what} still indexing and left out; run `workbench reprocess --all` if that does not end."]


def _passage(n: int, candidate: Candidate, chunk: Chunk, paper: Paper) -> Passage:
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
    )


def _as_dict(limits: SelectionLimits) -> dict[str, float]:
    return {
        "top_k": limits.top_k,
        "max_per_paper": limits.max_per_paper,
        "min_relevance": limits.min_relevance,
        "qualify_fraction": limits.qualify_fraction,
    }

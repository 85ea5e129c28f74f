"""One question, one scope, the evidence: the steps of a search in their order.

The decisions are pure functions in ``retrieval``; this file fetches for them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.errors import EmbedderMismatchError, InvalidInputError, LibraryError, ProviderError
from workbench.interfaces import Embedder, KeywordIndex, VectorIndex
from workbench.pooling import MODES, Chosen, Mode, Pool
from workbench.records import Candidate, Chunk, Evidence, Hit, Page, Paper, Passage
from workbench.retrieval.answerability import Answerability, judge_answerable
from workbench.retrieval.parameters import SearchParameters
from workbench.retrieval.placing import Place
from workbench.retrieval.sections import is_references
from workbench.retrieval.selection import Selection
from workbench.scope import Scope
from workbench.scoping import View, elsewhere, not_ready, stored_summaries, view_of
from workbench.storage import chunks, generations, papers, presets, retrievals
from workbench.storage.database import Database

if TYPE_CHECKING:
    import numpy
    from duckdb import DuckDBPyConnection

_log = logging.getLogger(__name__)

DEPTH = 2000  # candidates per list at first: in a project this is every passage, so no score is missing
DEEPEST = 16 * DEPTH  # where shared papers are blended in
JUDGED = 100  # candidates whose texts tell whether the scope speaks of the question at all
SUMMARIES_INSTEAD = "No passage was found that way, so stored project summaries are shown instead."
_INDEX_TROUBLE = (OSError, ImportError)
LONGEST_QUERY = 4000  # characters
SILENT_NAMED = 100  # papers of the scope without a passage that an evidence names
_ROOM_FOR_MARKS = 16  # tokens that an embedder may add to a question: its ends, a prefix


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
class Gathered:
    """What one question found, while the library is held open: any parameters may choose from it.

    ``current`` are those in effect for the call and the scope, ``preset`` the name of the project's that made
    some of them, ``without`` the papers that were left out of the scope.
    """

    cursor: DuckDBPyConnection
    user: str
    scope: Scope
    pool: Pool
    watch: _Stopwatch
    warnings: tuple[str, ...]
    current: SearchParameters
    preset: str | None
    without: tuple[int, ...] = ()
    _texts: dict[int, Chunk] = field(default_factory=dict, repr=False)

    def choose(self, parameters: SearchParameters) -> Chosen:
        """The passages that these numbers choose, as candidates, and all that they chose from."""
        with self.watch.timed("selection"):
            return self.pool.choose(parameters.limits, weights=parameters.weights)

    def passages(self, chosen: Chosen) -> tuple[Passage, ...]:
        """The numbered passages of one choice."""
        view, pieces = self.pool.view, self._pieces(chosen.selection)
        return tuple(
            _passage(n, c, pieces[c.chunk_id], view.papers[c.paper_id], shared=c.paper_id in view.shared)
            for n, c in enumerate(chosen.selection.chosen, start=1)
        )

    def _pieces(self, selection: Selection) -> dict[int, list[Chunk]]:
        """What each seat's passage is made of, in the order of the text: its chunk, and any that joined."""
        joined = selection.joined
        texts = self._texts_of([c.chunk_id for c in selection.chosen] + list(joined.values()))
        pieces = {c.chunk_id: [texts[c.chunk_id]] for c in selection.chosen}
        for seat, beside in joined.items():
            pieces[seat] = sorted((texts[seat], texts[beside]), key=lambda chunk: chunk.ordinal)
        return pieces

    def found(self, parameters: SearchParameters) -> Found:
        """The evidence that these numbers choose, with all that an answer needs. Nothing is recorded."""
        pool, view = self.pool, self.pool.view
        chosen = self.choose(parameters)
        with self.watch.timed("passages"):
            passages, near = self.passages(chosen), chosen.near[:JUDGED]
            texts = self._texts_of([c.chunk_id for c in near])
            pages = papers.page_ranges(
                self.cursor, [(p.paper_id, p.page_start, p.page_end) for p in passages]
            )
        notes, summaries = ([], ()) if chosen.selection.chosen or pool.paper else self._instead()
        silent = view.silent({c.paper_id for c in chosen.selection.chosen})
        evidence = Evidence(
            query=pool.query,
            scope=self.scope,
            scope_label=view.label,
            passages=passages,
            dropped=chosen.selection.dropped[:JUDGED],
            papers_in_scope=view.in_scope,
            parameters=self._noted(parameters, candidates=len(chosen.ranked)),
            warnings=tuple(dict.fromkeys([*self.warnings, *notes])),  # a deeper pass meets the same trouble
            timing=dict(self.watch.seconds),
            summaries=summaries,
            papers_silent=len(silent),
            silent=tuple(silent[:SILENT_NAMED]),
        )
        paper_ids = [*(p.paper_id for p in passages), *(c.paper_id for c in near)]
        verdict = judge_answerable(
            pool.query,
            [*(p.text for p in passages), *(texts[c.chunk_id].text for c in near)],
            chosen=len(passages),
            best_cosine=pool.best_cosine,
            papers=[(i, view.papers[i].title) for i in paper_ids],
        )
        return Found(evidence, tuple(pages), verdict)

    def _noted(self, parameters: SearchParameters, *, candidates: int) -> dict[str, Any]:
        """What a stored retrieval needs to be run again; preset and paper only where there is one."""
        pool = self.pool
        found = {"mode": pool.mode, "candidates": candidates, "shared_share": pool.share}
        preset = self.preset if parameters == self.current else None
        more = {"preset": preset, "paper": pool.paper, "without": list(self.without) or None}
        return (
            parameters.values() | found | {name: value for name, value in more.items() if value is not None}
        )

    def _texts_of(self, chunk_ids: Sequence[int]) -> dict[int, Chunk]:
        missing = [i for i in chunk_ids if i not in self._texts]
        if missing:
            self._texts.update((c.id, c) for c in chunks.by_ids(self.cursor, missing))
        return self._texts

    def _instead(self) -> tuple[list[str], tuple[str, ...]]:
        """What to say where nothing was found; the stored summaries where a part of the search was away."""
        notes = elsewhere(self.cursor, self.user, self.scope, self.pool.view)
        stored = () if self.pool.complete else stored_summaries(self.cursor, self.user, self.scope)
        return [*notes, *([SUMMARIES_INSTEAD] if stored else [])], stored


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
        watch, warnings = _Stopwatch(), list(self.warnings)
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
        watch: _Stopwatch,
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
        watch: _Stopwatch,
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


def heading_of(blurb: str) -> str | None:
    """The heading in a chunk's blurb, which stands between the paper's title and the page."""
    parts = blurb.split(" · ")
    return " · ".join(parts[1:-1]) or None


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


def _joined_text(pieces: Sequence[Chunk]) -> str:
    """The text from the first chunk's start to the last one's end: what two chunks share stands once, and
    what lies between them is white space, kept in length so that positions hold."""
    text, end = pieces[0].text, pieces[0].char_end
    for piece in pieces[1:]:
        shared = end - piece.char_start
        text += piece.text[shared:] if shared >= 0 else "\n".ljust(-shared) + piece.text
        end = piece.char_end
    return text


def _passage(n: int, candidate: Candidate, pieces: Sequence[Chunk], paper: Paper, *, shared: bool) -> Passage:
    first, last = pieces[0], pieces[-1]
    return Passage(
        n=n,
        chunk_id=candidate.chunk_id,
        paper_id=paper.id,
        title=paper.title,
        file=paper.file,
        page_start=first.page_start,
        page_end=last.page_end,
        text=_joined_text(pieces),
        score=round(candidate.relevance, 6),
        vector_rank=candidate.vector_rank,
        keyword_rank=candidate.keyword_rank,
        char_start=first.char_start,
        char_end=last.char_end,
        page_unit=paper.page_unit,
        authors=paper.authors,
        year=paper.year,
        shared=shared,
        heading=heading_of(first.blurb),
    )

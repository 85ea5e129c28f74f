"""What one question found, and the evidence that is chosen from it: passages as an answer needs them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbench.pooling import Chosen, Pool
from workbench.records import Candidate, Chunk, Dropped, Evidence, Page, Paper, Passage
from workbench.retrieval.answerability import Answerability, judge_answerable
from workbench.retrieval.parameters import SearchParameters
from workbench.retrieval.selection import Selection
from workbench.retrieval.silence import counted_reasons, reasons_of_silence
from workbench.scope import Scope
from workbench.scoping import elsewhere, stored_summaries
from workbench.storage import chunks, papers

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

JUDGED = 100  # candidates whose texts tell whether the scope speaks of the question at all
SILENT_NAMED = 100  # papers of the scope without a passage that an evidence names
SUMMARIES_INSTEAD = "No passage was found that way, so stored project summaries are shown instead."


@dataclass
class Stopwatch:
    """Seconds per step; a step timed twice adds up."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start


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
    watch: Stopwatch
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
        named, dropped = silent[:SILENT_NAMED], chosen.selection.dropped
        evidence = Evidence(
            query=pool.query,
            scope=self.scope,
            scope_label=view.label,
            passages=passages,
            dropped=tuple(map(self._named, dropped[:JUDGED])),
            papers_in_scope=view.in_scope,
            parameters=self._noted(parameters, candidates=len(chosen.ranked)),
            warnings=tuple(dict.fromkeys([*self.warnings, *notes])),  # a deeper pass meets the same trouble
            timing=dict(self.watch.seconds),
            summaries=summaries,
            papers_silent=len(silent),
            silent=tuple(named),
            silent_because=reasons_of_silence([p.id for p in named], dropped, searched=view.searched),
            dropped_reasons=counted_reasons(dropped),
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

    def _named(self, dropped: Dropped) -> Dropped:
        """With its paper's title and the page it begins on."""
        paper, place = self.pool.view.papers[dropped.paper_id], self.pool.places[dropped.chunk_id]
        return replace(dropped, title=paper.title, page_start=place.page_start, page_unit=paper.page_unit)

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


def heading_of(blurb: str) -> str | None:
    """The heading in a chunk's blurb, which stands between the paper's title and the page."""
    parts = blurb.split(" · ")
    return " · ".join(parts[1:-1]) or None


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

"""``wb.evaluate_chunk_sizes``: papers cut into chunks of other sizes, in scratch libraries, and measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.asking import Asking
from workbench.errors import InvalidInputError
from workbench.evaluating import Measured, Options, Questions, frame_of, measure, questions_of, store
from workbench.evaluation.intervals import check_options
from workbench.evaluation.sweep import COLUMNS, results
from workbench.ingest.chunking import ChunkingParameters
from workbench.ingest.indexing import ASSUMED_WINDOW, PaperIndexer
from workbench.ingest.pipeline import Ingestor
from workbench.records import Paper, Progress
from workbench.scope import Scope
from workbench.scratch import scratch_folder
from workbench.serving import ServingEmbedder
from workbench.storage import papers, scopes
from workbench.storage.database import Database
from workbench.tuning import Gold, Question

if TYPE_CHECKING:
    import pandas

    from workbench.ingest.sandbox import Reader
    from workbench.interfaces import Embedder

SMALLEST = 32  # tokens: less leaves no room for a sentence beside its blurb
MOST_SIZES = 20


def evaluate_chunk_sizes(
    asking: Asking,
    reader: Reader,
    embedder: Embedder | None,
    sizes: Sequence[int],
    questions: Questions | None,
    *,
    scope: Scope,
    options: Options,
) -> pandas.DataFrame:
    """See ``Workbench.evaluate_chunk_sizes``."""
    started = time.perf_counter()
    usual = PaperIndexer(embedder).parameters().max_tokens
    wanted = [size for size in dict.fromkeys(_checked(sizes, embedder)) if size != usual]
    check_options(options.confidence, options.resamples)
    searcher = asking.searcher()
    with asking.database.read() as cursor:
        label = scopes.label(cursor, asking.user, scope)
        current, _ = searcher.in_effect(cursor, scope)
        ids = scopes.paper_ids(cursor, asking.user, scope)
        held = papers.list_papers(cursor, asking.user, ids)
    asked = questions_of(asking, questions, scope)
    found = [measure(asking, asked, scope=scope, sets=[current], options=options)]
    for size in wanted:
        if options.cancelled is not None and options.cancelled():
            break
        with (
            scratch_folder() as folder,
            closing(_Scratch(asking, reader, embedder, folder, size, options)) as scratch,
        ):
            names = scratch.add(held)
            if options.cancelled is not None and options.cancelled():
                break
            there = [_named(q, names) for q in asked]
            measured = measure(scratch.asking(), there, scope=Scope.ALL, sets=[current], options=options)
            found.append(measured)
    shortest = min(len(m.questions) for m in found)  # where it was cancelled, what all of them measured
    scores = [m.scores[0][:shortest] for m in found]
    figures = results(
        [current] * len(found),
        scores,
        confidence=options.confidence,
        resamples=options.resamples,
        seed=options.seed,
    )
    tokens = [usual, *wanted]
    evaluation_id = store(
        asking,
        [(r, {"chunk_tokens": tokens[r.set]} | r.parameters.values()) for r in figures],
        [(0, _first(m, shortest)) for m in found],
        scope=scope,
        label=label,
        options=options,
        seconds=time.perf_counter() - started,
    )
    rows = [{"chunk_tokens": tokens[r.set]} | r.row() for r in figures]
    columns = ["set", "chunk_tokens", *(c for c in COLUMNS if c != "set")]
    warnings = list(dict.fromkeys(w for m in found for w in m.warnings))
    if len(found) < len(tokens):
        left_out = ", ".join(str(size) for size in tokens[len(found) :])
        warnings.append(f"Cancelled: chunks of {left_out} tokens were not measured.")
    return frame_of(rows, columns, evaluation_id, warnings)


class _Scratch:
    """A library in a temporary folder, with the same papers in chunks of another size."""

    def __init__(
        self,
        asking: Asking,
        reader: Reader,
        embedder: Embedder | None,
        folder: Path,
        size: int,
        options: Options,
    ) -> None:
        self._from, self._embedder, self._folder = asking, embedder, folder
        self._options, self._size = options, size
        self._settings = asking.settings.model_copy(
            update={"library": folder / "library.duckdb", "project_max_papers": 0, "shared_share": 0.0}
        )
        self._database = Database(self._settings.library)
        self._ingestor = Ingestor(
            self._database,
            reader,
            embedder,
            max_file_mb=asking.settings.max_file_mb,
            parameters=ChunkingParameters(max_tokens=size, blurb_tokens=min(40, size // 4)),
        )

    def add(self, held: Sequence[Paper]) -> dict[int, str]:
        """Adds the papers from their stored files, and returns the name that each has here."""
        names = {}
        sources = []
        for paper in held:
            place = self._folder / "sources" / str(paper.id)
            place.mkdir(parents=True)
            with self._from.database.read() as cursor:
                papers.write_source(cursor, paper.id, place / paper.file)
            sources.append(place / paper.file)
            names[paper.id] = paper.file
        report = self._ingestor.add_many(
            sources, user=self._from.user, progress=self._told(), cancelled=self._options.cancelled
        )
        cancelled = self._options.cancelled is not None and self._options.cancelled()
        if report.failed and not cancelled:
            first = report.failed[0]
            raise InvalidInputError(f"{first.file} could not be cut into other chunks: {first.error}.")
        return names

    def _told(self) -> Callable[[Progress], None] | None:
        progress, size = self._options.progress, self._size
        if progress is None:
            return None
        return lambda step: progress(replace(step, stage=f"chunks of {size} tokens, {step.stage}"))

    def asking(self) -> Asking:
        serving = ServingEmbedder(self._database, self._settings, self._embedder)
        return Asking(self._database, self._settings, serving, chat_model=self._from.given_chat_model)

    def close(self) -> None:
        self._database.close()


def _named(question: Question, names: dict[int, str]) -> Question:
    """The question with its labels by file name alone: papers have other ids in a scratch library."""
    gold = tuple(Gold(names.get(g.paper_id or 0, g.file), g.page, g.phrase) for g in question.gold)
    return replace(question, gold=gold)


def _first(measured: Measured, count: int) -> Measured:
    return replace(measured, questions=list(measured.questions)[:count])


def _checked(sizes: Sequence[int], embedder: Embedder | None) -> list[int]:
    window = embedder.max_tokens if embedder is not None else ASSUMED_WINDOW
    listed = list(sizes)
    if not listed or len(listed) > MOST_SIZES:
        raise InvalidInputError(f"Give 1 to {MOST_SIZES} chunk sizes, in tokens of the embedder.")
    for size in listed:
        if isinstance(size, bool) or not isinstance(size, int) or not SMALLEST <= size <= window:
            raise InvalidInputError(
                f"A chunk of {size!r} tokens cannot be: allowed are whole numbers from {SMALLEST} to "
                f"{window}, the embedder's window."
            )
    return listed

"""A read document to chunks and vectors, with one embedder and one set of parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.errors import DocumentError
from workbench.ingest.chunking import ChunkingParameters, chunk_document
from workbench.ingest.document import Document
from workbench.ingest.embedding import Embedded, embed, texts_to_embed
from workbench.interfaces import Embedder
from workbench.storage import generations
from workbench.storage.drafts import ChunkDraft

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from workbench.storage.generations import Generation

TARGET_TOKENS = 240
SPARE_TOKENS = 16  # of the embedder's window: a text can have more tokens with its blurb than apart
ASSUMED_WINDOW = 256  # where there is no embedder yet


class PaperIndexer:
    """Chunks and embeds. ``embedder`` may be ``None``: then there are chunks and no vectors."""

    def __init__(self, embedder: Embedder | None, parameters: ChunkingParameters | None = None) -> None:
        self.embedder = embedder
        self._parameters = parameters

    def chunks(self, document: Document) -> list[ChunkDraft]:
        """The document's chunks. Raises DocumentError where it has no text."""
        found = chunk_document(document, token_spans=self._token_spans(), parameters=self.parameters())
        if not found:
            raise DocumentError("there is no text in the file")
        return found

    def parameters(self) -> ChunkingParameters:
        """Those given, else the usual ones made to fit the embedder's window."""
        if self._parameters is not None:
            return self._parameters
        window = self.embedder.max_tokens if self.embedder is not None else ASSUMED_WINDOW
        most = min(TARGET_TOKENS, max(window - SPARE_TOKENS, 16))
        return ChunkingParameters(max_tokens=most, blurb_tokens=min(40, most // 4))

    def embedded(
        self, kind: str, chunks: Sequence[ChunkDraft], *, done: Callable[[int, int], None] | None = None
    ) -> Embedded:
        """Vectors of the chunks, or none without an embedder. ``done`` is told how many of how many."""
        if self.embedder is None:
            return Embedded(None)
        texts, notes = texts_to_embed(kind, chunks)
        if done is not None:
            done(0, len(texts))
        found = embed(
            self.embedder, texts, done=None if done is None else lambda count: done(count, len(texts))
        )
        return Embedded(found.vectors, (*notes, *found.warnings))

    def generation(self, cursor: DuckDBPyConnection) -> Generation:
        """The library's generation of this embedder, begun where there is none. Needs a write lease."""
        assert self.embedder is not None
        return generations.begin(cursor, self.embedder.name, self.embedder.dimension)

    def _token_spans(self) -> Callable[[str], Sequence[tuple[int, int]]]:
        if self.embedder is not None:
            return self.embedder.token_spans
        from workbench.providers.token_estimate import estimated_spans

        return estimated_spans

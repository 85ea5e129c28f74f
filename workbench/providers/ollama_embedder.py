"""Sentence vectors from an embedding model on an Ollama server."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.errors import ProviderError, UnembeddableTextError
from workbench.providers.ollama_connection import (
    KEEP_ALIVE,
    explain,
    facts_of,
    failures,
    open_client,
)
from workbench.providers.token_estimate import estimated_spans
from workbench.providers.vectors import refuse_long_query, refuse_long_texts, unit_rows
from workbench.providers.wording import encodable

if TYPE_CHECKING:
    import numpy
    import ollama

BATCH_TEXTS = 16
LARGEST_WINDOW = 2048  # tokens; servers read no more by default, whatever the model's card says
WINDOW_IF_UNKNOWN = 512
SPECIAL_TOKENS = 2
EMBED_TIMEOUT = 120.0  # s for a batch; the first one waits for the model to load
REMEMBERED_QUERIES = 256

# Models that were trained with a task before each text, and are poor without it.
PREFIXES = {"nomic-embed-text": ("search_document: ", "search_query: ")}

# A server may cut a text whatever it is asked, and tells so only by the number of tokens it read. A word is
# at least one token in every tokenizer, so fewer tokens than words means that something was not read.
_WORD = re.compile(r"\S*[A-Za-z0-9]\S*")


class OllamaEmbedder:
    """An embedding model of Ollama's.

    ``name`` holds the prefixes that are put before documents and queries, because they change the
    vectors. By default they are those in ``PREFIXES``. The server is asked for the window and the
    dimension once, on first use. Token counts are an over-estimate: the server does not tell them.
    """

    def __init__(
        self,
        host: str,
        model: str,
        *,
        document_prefix: str | None = None,
        query_prefix: str | None = None,
        batch_size: int = BATCH_TEXTS,
        timeout: float = EMBED_TIMEOUT,
        keep_alive: str = KEEP_ALIVE,
    ) -> None:
        self.host = host
        self.model = model
        document, query = default_prefixes(model)
        self._document_prefix = document if document_prefix is None else document_prefix
        self._query_prefix = query if query_prefix is None else query_prefix
        self.name = embedder_name(model, self._document_prefix, self._query_prefix)
        self._batch_size = batch_size
        self._timeout = timeout
        self._keep_alive = keep_alive
        self._asking = threading.Lock()
        self._remembered = functools.lru_cache(maxsize=REMEMBERED_QUERIES)(self._query_vector)

    @property
    def dimension(self) -> int:
        with self._asking:
            return self._dimension

    @property
    def max_tokens(self) -> int:
        """The window less a twentieth, for where the count is too low, and less the longer prefix."""
        prefix = max(len(estimated_spans(p)) for p in (self._document_prefix, self._query_prefix))
        return self._context * 19 // 20 - prefix

    def count_tokens(self, text: str) -> int:
        return len(estimated_spans(text)) + SPECIAL_TOKENS

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """An over-count: every true token is at least as long as one of these."""
        return estimated_spans(text)

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        """float32 array of shape (len(texts), dimension); rows have length 1.

        Raises UnembeddableTextError naming a text that is too long or that the model fails on, and
        ProviderUnavailableError where the server or the model is missing.
        """
        return self._embed(texts, self._document_prefix)

    def embed_query(self, text: str) -> numpy.ndarray:
        """float32 array of shape (dimension,), length 1. The last few hundred are remembered."""
        return self._remembered(text).copy()

    def close(self) -> None:
        """Gives the connection back; a later call opens a new one."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    def _query_vector(self, text: str) -> numpy.ndarray:
        refuse_long_query(self.count_tokens(text), self.max_tokens)
        vector: numpy.ndarray = self._embed([text], self._query_prefix)[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> numpy.ndarray:
        import numpy

        dimension = self.dimension
        refuse_long_texts([self.count_tokens(text) for text in texts], self.max_tokens)
        sent = [prefix + encodable(text) for text in texts]
        rows = numpy.empty((len(texts), dimension), numpy.float32)
        for start in range(0, len(sent), self._batch_size):
            indexes = range(start, min(start + self._batch_size, len(sent)))
            vectors = self._vectors(sent, indexes)
            if sizes := {len(vector) for vector in vectors} - {dimension}:
                raise ProviderError(
                    f"{self.model} gave vectors of {min(sizes)} numbers and before of {dimension}:"
                    " its model was replaced. Reprocess the library's papers."
                )
            rows[start : start + len(indexes)] = unit_rows(numpy.asarray(vectors, numpy.float32), indexes)
        return rows

    def _vectors(self, sent: Sequence[str], indexes: range) -> list[Sequence[float]]:
        """Vectors of the texts at ``indexes``. A refusal that one text causes is narrowed down to it."""
        try:
            return self._request([sent[index] for index in indexes])
        except _RefusedError as refusal:
            if len(indexes) == 1:
                raise UnembeddableTextError(
                    f"{self.model} has no vector for text {indexes[0]}: {refusal}. Leave it out or split it.",
                    index=indexes[0],
                ) from refusal
        half = len(indexes) // 2
        return self._vectors(sent, indexes[:half]) + self._vectors(sent, indexes[half:])

    def _request(self, texts: list[str]) -> list[Sequence[float]]:
        import ollama

        try:
            response = self._client.embed(
                self.model,
                texts,
                truncate=False,
                options={"num_ctx": self._context},
                keep_alive=self._keep_alive,
            )
        except failures() as error:
            if isinstance(error, ollama.ResponseError) and _is_about_a_text(error.error):
                raise _RefusedError(_plain_reason(error.error)) from error
            raise explain(error, host=self.host, model=self.model) from error
        read, words = response.prompt_eval_count, sum(len(_WORD.findall(text)) for text in texts)
        if read and read < words:
            raise _RefusedError(f"the server read only {read} tokens of at least {words}")
        vectors = list(response.embeddings)
        if len(vectors) != len(texts):
            raise ProviderError(
                f"{self.model} gave {len(vectors)} vectors for {len(texts)} texts: try again."
            )
        return vectors

    @functools.cached_property
    def _client(self) -> ollama.Client:
        return open_client(self.host, timeout=self._timeout)

    @functools.cached_property
    def _context(self) -> int:
        """The window asked for with every call: constant, because another one would load the model again."""
        try:
            facts = facts_of(self._client, self.model)
        except failures() as error:
            raise explain(error, host=self.host, model=self.model) from error
        return min(facts.context_length or WINDOW_IF_UNKNOWN, LARGEST_WINDOW)

    @functools.cached_property
    def _dimension(self) -> int:
        return len(self._request(["dimension"])[0])


class _RefusedError(Exception):
    """The server refuses a batch because of one of its texts."""


def default_prefixes(model: str) -> tuple[str, str]:
    """What is put before documents and before queries for a model, whatever its tag or owner."""
    base = model.rsplit("/", 1)[-1].split(":", 1)[0]
    return next((prefixes for name, prefixes in PREFIXES.items() if base.startswith(name)), ("", ""))


def embedder_name(model: str, document_prefix: str, query_prefix: str) -> str:
    """The name under which a library records these vectors."""
    tag = model.removesuffix(":latest")
    prefixes = f" [{document_prefix}|{query_prefix}]" if document_prefix or query_prefix else ""
    return f"ollama/{tag}{prefixes}"


def model_in(name: str) -> str | None:
    """The model in a name made by ``embedder_name``, or ``None`` where the name is of another kind."""
    return name.removeprefix("ollama/").split(" [", 1)[0] if name.startswith("ollama/") else None


def _is_about_a_text(reason: str) -> bool:
    return "NaN" in reason or "context length" in reason or "too long" in reason or "too large" in reason


def _plain_reason(reason: str) -> str:
    return "its vector is not a number" if "NaN" in reason else "it is longer than the model reads"

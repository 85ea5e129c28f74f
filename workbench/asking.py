"""What every answer needs: the indexes, the search, the chat model, as one open workbench has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypedDict

from workbench.chat.likelihood import Similarity
from workbench.errors import EmbedderMismatchError, InvalidInputError, ProviderError
from workbench.gathering import Found
from workbench.interfaces import ChatModel, Embedder, KeywordIndex, VectorIndex
from workbench.pooling import Mode
from workbench.retrieval.likeness import Likeness
from workbench.retrieval.parameters import SearchParameters
from workbench.scope import Scope
from workbench.searching import Searcher
from workbench.serving import ServingEmbedder
from workbench.settings import Settings
from workbench.storage import chunks, papers, scopes
from workbench.storage.database import Database
from workbench.storage.index_source import LibraryIndexSource

MOST_ALIKE = 8  # chunks that a sentence is compared with
CHAT_PROVIDERS = ("auto", "ollama", "extractive")


class AskOptions(TypedDict, total=False):
    """How a question is to be answered, where not as the settings say.

    ``top_k`` is the most passages, ``max_per_paper`` the most of one paper, ``min_relevance`` the least
    relevance of a passage (0 to 1). ``mode`` is ``"hybrid"``, ``"vector"`` or ``"keyword"``. ``provider`` is
    ``"extractive"`` (the papers' own sentences, no chat model), ``"ollama"``, or None for what the settings
    choose.
    """

    top_k: int | None
    max_per_paper: int | None
    min_relevance: float | None
    mode: Mode
    provider: str | None


_INSTEAD = {
    "project": "for the papers of one project write scope=Scope.project(…) with a project of wb.projects",
    "scope": "a conversation has its own, which wb.conversations.update(…, scope=…) changes",
    "model": "workbench.open(chat_model=…) takes a chat model",
    "limit": "the number of passages is top_k",
    "k": "the number of passages is top_k",
}


def check_options(call: str, options: Mapping[str, Any]) -> None:
    """Raises TypeError, by the name of the call that was made and with what to write instead, for an option
    that is none of ``AskOptions``."""
    for name in options:
        if name not in AskOptions.__annotations__:
            known = ", ".join(AskOptions.__annotations__)
            hint = f": {_INSTEAD[name]}" if name in _INSTEAD else ""
            raise TypeError(f"{call}() takes no {name!r}{hint}. Its options are {known}.")


def likeness_of(embedder: Embedder) -> Likeness:
    """Cosines of a claim with texts, for the audit. Raises ProviderError when called."""

    def likeness(claim: str, texts: Sequence[str]) -> Sequence[float]:
        cut = [embedder.token_spans(text)[: embedder.max_tokens - 8] for text in (claim, *texts)]
        fitting = [text[: spans[-1][1]] for text, spans in zip((claim, *texts), cut, strict=True) if spans]
        if len(fitting) < 2:
            return [0.0]
        vectors = embedder.embed_documents(fitting)
        return [float(cosine) for cosine in vectors[1:] @ vectors[0]]

    return likeness


class Asking:
    """One user's way from a question to evidence and to a chat model. Indexes open when first used."""

    def __init__(
        self, database: Database, settings: Settings, embedder: ServingEmbedder, *, chat_model: Any | None
    ) -> None:
        self.database, self.settings, self.user = database, settings, settings.user
        self._embedder, self.given_chat_model = embedder, chat_model

    @staticmethod
    def given(
        top_k: int | None, max_per_paper: int | None, min_relevance: float | None
    ) -> dict[str, int | float]:
        """The parameters that a call itself gives. Raises InvalidInputError for values that cannot be."""
        values = {"top_k": top_k, "max_per_paper": max_per_paper, "min_relevance": min_relevance}
        given = {name: value for name, value in values.items() if value is not None}
        SearchParameters().with_values(given)
        return given

    def find(self, question: str, **wanted: Any) -> Found:
        """The evidence for a question; ``wanted`` is what ``Searcher.find`` takes."""
        try:
            return self.searcher().find(question, **wanted)
        except EmbedderMismatchError:  # another process has given the library other vectors since
            self.forget_embedder()
            return self.searcher().find(question, **wanted)

    def forget_embedder(self) -> None:
        """The next search asks anew which embedder serves the library."""
        self._embedder.forget()

    def similarity(self, question: str) -> Similarity | None:
        """Cosines with the question, for answers without a chat model; zeros where the embedder fails."""
        embedder = self._embedder.for_searching().embedder
        if embedder is None:
            return None

        def similarity(texts: Sequence[str]) -> Sequence[float]:
            try:
                cosines = embedder.embed_documents(texts) @ embedder.embed_query(question)
            except ProviderError:
                return [0.0] * len(texts)
            return [float(cosine) for cosine in cosines]

        return similarity

    def chat_model(self, provider: str | None, scope: Scope) -> tuple[ChatModel | None, tuple[str, ...]]:
        """The chat model for a scope, None for answers in the papers' own sentences, and what to tell of it.

        Raises InvalidInputError for an unknown provider, ProviderUnavailableError for one asked for by name.
        """
        from workbench.providers.choose import as_chat_model, choose_chat

        if provider is not None and provider not in CHAT_PROVIDERS:
            raise InvalidInputError(f"provider={provider!r}: allowed are {', '.join(CHAT_PROVIDERS)}.")
        if provider == "extractive":
            return None, ()
        if provider in (None, "auto") and self.given_chat_model is not None:
            return as_chat_model(self.given_chat_model), ()
        settings = self.settings.model_copy(update={"chat": provider}) if provider else self.settings
        model, warnings = choose_chat(settings, project=scope.project_id is not None)
        return model, tuple(warnings)

    def papers_like(self, text: str) -> list[str]:
        """The chunks of the user's papers that come nearest to ``text`` by its words; notes, which are the
        user's own words, are not among them. Empty where the words cannot be searched now."""
        try:
            with self.database.read() as cursor:
                ids = scopes.paper_ids(cursor, self.user, Scope.ALL)
                hits = self._keyword_index.search(text, papers=ids, limit=MOST_ALIKE)
                found = chunks.by_ids(cursor, [hit.chunk_id for hit in hits])
                return [c.text for c in found if papers.kind_of(cursor, c.paper_id) != "note"]
        except (OSError, ImportError):
            return []

    @cached_property
    def _source(self) -> LibraryIndexSource:
        return LibraryIndexSource(self.database)

    @cached_property
    def _vector_index(self) -> VectorIndex:
        from workbench.indexes.exact_vectors import ExactVectorIndex

        exact = ExactVectorIndex(self._source, self.database.derived / "vectors")
        if self.settings.vector_index == "exact":
            return exact
        from workbench.indexes.hnsw_vectors import HnswVectorIndex

        return HnswVectorIndex(self._source, self.database.derived / "hnsw", exact)

    @cached_property
    def _keyword_index(self) -> KeywordIndex:
        from workbench.indexes.keyword import KeywordTantivyIndex

        return KeywordTantivyIndex(self._source, self.database.derived / "keywords")

    def refresh_indexes(self) -> None:
        """After papers came or changed, so that the next search need not wait. One that cannot catch up now
        does so at that search."""
        self._vector_index.refresh()
        self._keyword_index.refresh()

    def mended_indexes(self) -> list[str]:
        """What is wrong with the derived indexes, empty where all is well. One that says something else than
        the library is thrown away and made again first; what is told is what that did not mend."""
        from workbench.indexes.folders import clear

        left: list[str] = []
        for name, folders in (("_vector_index", ("hnsw", "vectors")), ("_keyword_index", ("keywords",))):
            if not getattr(self, name).problems():
                continue
            for folder in folders:
                with suppress(OSError):  # what is still wrong then is told below
                    clear(self.database.derived / folder)
            self.__dict__.pop(name)  # it may still have the old files in use
            getattr(self, name).refresh()
            left += getattr(self, name).problems()
        return left

    def searcher(self) -> Searcher:
        """The search, with the embedder that serves the library now."""
        choice = self._embedder.for_searching()
        return Searcher(
            database=self.database,
            user=self.user,
            vector_index=self._vector_index,
            keyword_index=self._keyword_index,
            embedder=choice.embedder,
            warnings=choice.warnings,
            shared_share=self.settings.shared_share,
            defaults=SearchParameters(
                top_k=self.settings.top_k,
                max_per_paper=self.settings.max_chunks_per_paper,
                min_relevance=self.settings.min_relevance,
            ),
        )

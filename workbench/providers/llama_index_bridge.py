"""A workbench inside LlamaIndex: its search as a retriever, its answers as a query engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from workbench.records import Answer, Evidence, Passage

Search = Callable[[str], Evidence]
Ask = Callable[[str], Answer]


def make_retriever(search: Search) -> BaseRetriever:
    """A retriever whose nodes are the passages of ``search``, in their order, scored 0 to 1.

    A node's metadata has n, paper_id, title, file, page_start and page_end.
    """
    return _Retriever(search)


def make_query_engine(ask: Ask) -> BaseQueryEngine:
    """A query engine whose responses are the answers of ``ask``; ``metadata["answer"]`` holds the record."""
    return _QueryEngine(ask)


class _Retriever(BaseRetriever):
    def __init__(self, search: Search) -> None:
        self._search = search
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(passage) for passage in self._search(query_bundle.query_str)]


class _QueryEngine(BaseQueryEngine):
    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        super().__init__(callback_manager=CallbackManager())

    def _query(self, query_bundle: QueryBundle) -> Response:
        answer = self._ask(query_bundle.query_str)
        nodes = [_node(passage) for passage in answer.evidence]
        metadata: dict[str, Any] = {"answer": answer, "refused": answer.refused}
        return Response(response=answer.text, source_nodes=nodes, metadata=metadata)

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        import asyncio

        return await asyncio.to_thread(self._query, query_bundle)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}


def _node(passage: Passage) -> NodeWithScore:
    metadata = {
        "n": passage.n,
        "paper_id": passage.paper_id,
        "title": passage.title,
        "file": passage.file,
        "page_start": passage.page_start,
        "page_end": passage.page_end,
    }
    node = TextNode(id_=f"chunk-{passage.chunk_id}", text=passage.text, metadata=metadata)
    return NodeWithScore(node=node, score=passage.score)

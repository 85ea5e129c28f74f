"""The seams: what an embedder, a chat model and an index must do. Each ships with a fake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from workbench.records import Hit

if TYPE_CHECKING:
    import numpy


class Embedder(Protocol):
    """Turns texts into unit vectors.

    ``name`` identifies the model and everything that changes its vectors (weights, prefixes), because
    a library never mixes two. ``max_tokens`` is the window; a longer text is an error for the caller to
    avoid, never cut in silence.
    """

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` as the model counts them, special tokens included."""
        ...

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Start and end character of each token of ``text``, without special tokens.

        A provider that cannot know its model's tokens returns a safe over-count.
        """
        ...

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        """float32 array of shape (len(texts), dimension); rows have length 1. Raises ProviderError."""
        ...

    def embed_query(self, text: str) -> numpy.ndarray:
        """float32 array of shape (dimension,), length 1. Raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """What the server reports at the end: ``prompt_tokens`` it really read, if it says so.

    ``answer_cut``: the answer stopped because the window or a limit was full, not because it was finished.
    """

    prompt_tokens: int | None = None
    answer_cut: bool = False


class ChatStream(Protocol):
    """The pieces of an answer and last a ``ChatUsage``. Every generator of them is one."""

    def __iter__(self) -> Iterator[str | ChatUsage]: ...
    def __next__(self) -> str | ChatUsage: ...
    def close(self) -> None:
        """Stops the server's work; no further piece comes."""
        ...


class ChatModel(Protocol):
    """Writes text. Raises ProviderUnavailableError before the first
    piece, ProviderError after it.
    """

    @property
    def name(self) -> str: ...
    @property
    def context_window(self) -> int: ...

    def stream(self, messages: Sequence[ChatMessage]) -> ChatStream: ...


Stoppable = Callable[[Callable[[], None]], None]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a chat model wants run, with the arguments as it gave them."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolDecision:
    """What a chat model does with the tools it was offered: calls, or only text (without its reasoning)."""

    calls: tuple[ToolCall, ...] = ()
    text: str = ""


class ToolCallingModel(ChatModel, Protocol):
    """A chat model that may be offered tools. One that cannot call them decides nothing."""

    def call_tools(
        self,
        messages: Sequence[ChatMessage],
        definitions: Sequence[Mapping[str, Any]],
        *,
        stoppable: Stoppable | None = None,
    ) -> ToolDecision:
        """``definitions`` are as ``ToolBox`` gives them. Raises ProviderError: ProviderUnavailableError only
        where the model cannot answer either.

        ``stoppable``, if given, may be called with a function that ends the server's work from any thread.
        """
        ...


class ToolBox(Protocol):
    """The tools of one conversation."""

    def definitions(self) -> list[dict[str, Any]]:
        """Name, description and parameters (JSON schema) of each, in the form that chat models know:
        ``{"type": "function", "function": {…}}``."""
        ...

    def execute(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """``{"success": True, "type": …, …}``, or ``{"success": False, "error": …}``; never raises for what
        a chat model got wrong."""
        ...


class IndexSource(Protocol):
    """What a derived index may ask of the library. Implemented in ``storage``."""

    def reading(self) -> AbstractContextManager[None]:
        """All calls this thread makes inside the block are one short reading of one state of the library."""
        ...

    def revision(self) -> int:
        """Number of the library's last content change; a switch of the serving generation is one.

        Numbers only grow, and none is ever that of another library, or of this one with other papers.
        """
        ...

    def has_been(self, revision: int) -> bool:
        """Whether the library was ever at ``revision`` (always at 0, empty). What an index has from another
        one, as before an older copy of the library was put back, is not of this library."""
        ...

    def changed_since(self, revision: int) -> dict[int, bool]:
        """Paper ids changed after ``revision``, one where the library has been; True where the paper still
        has chunks."""
        ...

    def chunk_ids(self, paper_id: int) -> list[int]: ...

    def chunk_texts(self, paper_id: int) -> list[tuple[int, str, str]]:
        """(chunk id, title and heading, text) of every chunk of the paper, in order."""
        ...

    def vectors(self, paper_id: int) -> tuple[list[int], numpy.ndarray]:
        """Chunk ids and their float32 vectors, shape (n, dimension), of the serving generation."""
        ...

    def generation(self) -> tuple[int, int] | None:
        """(generation, dimension) that serves searches; None before the first vector."""
        ...


class _DerivedIndex(Protocol):
    """What every derived index can do beside searching."""

    name: str

    def refresh(self) -> bool:
        """Brings the index up to date now; False where that is not possible at the moment."""
        ...

    def problems(self) -> list[str]:
        """What is wrong with it, one line each; empty where all is well. Changes nothing."""
        ...


class VectorIndex(_DerivedIndex, Protocol):
    """Nearest chunks by cosine. Always complete: an index that lags reads the rest from the library."""

    def search(
        self,
        vector: numpy.ndarray,
        *,
        papers: Sequence[int] | None,
        limit: int,
        revision: int | None = None,
    ) -> list[Hit]:
        """At most ``limit`` hits, best first, ties by chunk id; score is cosine, -1 to 1.

        ``papers=None`` means the whole library and an empty sequence means nothing. ``revision`` is the
        library's, where the caller has just read it: it saves asking again. Raises EmbedderMismatchError
        for a vector of another dimension.
        """
        ...


class KeywordIndex(_DerivedIndex, Protocol):
    """Best chunks by BM25, strictly inside the given papers. Always complete, like VectorIndex."""

    def search(
        self, query: str, *, papers: Sequence[int] | None, limit: int, revision: int | None = None
    ) -> list[Hit]: ...

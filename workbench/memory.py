"""``wb.memory``: what the user said in earlier turns, recalled in later ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from workbench.chat.memory import (
    LONGEST,
    MOST_RECALLED,
    Cosines,
    is_copied,
    recalled,
    statements,
    text_key,
)
from workbench.errors import InvalidInputError, ProviderError
from workbench.interfaces import Embedder
from workbench.records import Memory
from workbench.rendering import Listing
from workbench.scope import Scope, as_scope
from workbench.storage import memories
from workbench.storage.database import Database

COMPARED = 200  # memories whose likeness to a question is computed, the last seen ones
MOST_VECTORS = 2_000  # kept in this process

Listed = list  # inside the class the name ``list`` means its method


class Memories:
    """A user's memories. A scope chooses among them: one project's, those of no project, or all.

    They are never evidence: nothing here can be cited. ``embedder`` gives the one that serves searches, or
    None; ``papers_like`` the texts of the user's papers that come nearest to a sentence.
    """

    def __init__(
        self,
        database: Database,
        user: str,
        *,
        embedder: Callable[[], Embedder | None],
        papers_like: Callable[[str], Sequence[str]],
    ) -> None:
        self._database, self._user, self._embedder = database, user, embedder
        self._papers_like = papers_like
        self._vectors: dict[tuple[str, str], Sequence[float]] = {}

    def remember(
        self,
        said: str,
        *,
        scope: Scope = Scope.ORPHANS,
        shown: Iterable[str] = (),
        message_id: int | None = None,
    ) -> Listed[Memory]:
        """Keeps what the user states in a message, sentence by sentence, and returns it; often nothing.

        Questions, requests, suppositions and quotations are left out, and so is what only repeats a text
        that was ``shown`` (passages, recalled memories) or was copied from a paper of the user's. It belongs
        to the scope's project, or to none. The same statement again changes nothing but when it was last
        seen. ``message_id`` is the turn it came from. Raises NotFoundError for a project
        that is not the user's.
        """
        stated = statements(said, shown=shown)
        found = [text for text in stated if not is_copied(text, self._papers_like(text))]
        if not found:
            return []
        with self._database.write() as cursor:
            return [
                memories.remember(
                    cursor,
                    self._user,
                    text,
                    key=text_key(text),
                    project_id=as_scope(scope).project_id,
                    message_id=message_id,
                )
                for text in found
            ]

    def recall(
        self, query: str, *, scope: Scope = Scope.ORPHANS, limit: int = MOST_RECALLED
    ) -> Listed[Memory]:
        """At most ``limit`` memories of the scope that have to do with the query, nearest first."""
        if limit < 0:
            raise InvalidInputError(f"limit={limit}: give how many memories you want, 0 or more.")
        held = self.list(scope)
        return recalled(query, held, cosines=self._cosines(held), limit=limit) if held else []

    def list(self, scope: Scope = Scope.ALL) -> Listing[Memory]:
        """The memories of a scope, last seen first."""
        with self._database.read() as cursor:
            return Listing(Memory, memories.list_memories(cursor, self._user, scope))

    def update(self, memory: Memory | int, text: str) -> Memory:
        """The memory in other words, as you give them.

        Raises InvalidInputError for a text without a word or of more than 300 characters, ConflictError where
        another memory says that already.
        """
        worded = " ".join(text.split())
        if not text_key(worded) or len(worded) > LONGEST:
            raise InvalidInputError(f"A memory is a sentence of up to {LONGEST} characters: give its words.")
        with self._database.write() as cursor:
            return memories.reword(cursor, self._user, _memory_id(memory), worded, key=text_key(worded))

    def forget(self, memory: Memory | int, *more: Memory | int) -> None:
        """Deletes memories for good, given as records or ids: all of them or, on NotFoundError, none."""
        with self._database.write() as cursor:
            memories.forget(cursor, self._user, [_memory_id(given) for given in (memory, *more)])

    def _cosines(self, held: Sequence[Memory]) -> Cosines | None:
        """Likeness by the embedder, for the memories last seen; zero for others, or where it fails."""
        try:
            embedder = self._embedder()
        except ProviderError:
            return None
        if embedder is None:
            return None
        known = {memory.text for memory in held[:COMPARED]}

        def cosines(query: str, texts: Sequence[str]) -> Sequence[float]:
            compared = [text for text in texts if text in known]
            try:
                vectors = self._embedded(embedder, compared)
                asked = embedder.embed_query(query)
            except ProviderError:
                return [0.0] * len(texts)
            likeness = dict(zip(compared, (float(v @ asked) for v in vectors), strict=True))
            return [likeness.get(text, 0.0) for text in texts]

        return cosines

    def _embedded(self, embedder: Embedder, texts: Sequence[str]) -> Listed[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if (embedder.name, text) not in self._vectors]
        if new:
            if len(self._vectors) + len(new) > MOST_VECTORS:
                self._vectors.clear()
                new = list(dict.fromkeys(texts))
            rows = embedder.embed_documents(new)
            self._vectors.update({(embedder.name, text): row for text, row in zip(new, rows, strict=True)})
        return [self._vectors[embedder.name, text] for text in texts]


def _memory_id(memory: Memory | int) -> int:
    given = memory.id if isinstance(memory, Memory) else memory
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidInputError(f"{given!r} is neither a memory nor a memory's id: list your memories.")
    return given if 0 < given < 2**63 else 0

"""An embedder during whose work something else happens in the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from workbench.providers.fake_embedder import FakeEmbedder


class Meanwhile(FakeEmbedder):
    """Has ``work`` done the first time that it embeds."""

    def __init__(self, work: Callable[[], object], dimension: int = 64) -> None:
        super().__init__(dimension)
        self._work = [work]

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        if self._work:
            self._work.pop()()
        return super().embed_documents(texts)

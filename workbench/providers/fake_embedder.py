"""An embedder without a model: texts that share words get vectors that are near each other."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.providers.vectors import refuse_long_query, refuse_long_texts

if TYPE_CHECKING:
    import numpy

SPECIAL_TOKENS = 2
STEM_LENGTH = 5

# One token per word, at most 12 letters of it, and one per sign or letter of a script without spaces.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]{{1,12}}|[^\w\s]")


class FakeEmbedder:
    """A bag of words, projected to ``dimension`` by hashing. The same text always gives the same vector.

    Method: random projection of term counts (Achlioptas 2003), with signs from a hash of the term, so
    that no vocabulary is needed. Words weigh by their damped count, and short words less.
    """

    def __init__(self, dimension: int = 64, *, max_tokens: int = 256) -> None:
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.name = f"fake-words-{dimension}"

    def count_tokens(self, text: str) -> int:
        return len(self.token_spans(text)) + SPECIAL_TOKENS

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(text)]

    def embed_documents(self, texts: Sequence[str]) -> numpy.ndarray:
        import numpy

        refuse_long_texts([self.count_tokens(text) for text in texts], self.max_tokens)
        rows = numpy.zeros((len(texts), self.dimension), numpy.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = self._vector(text)
        return rows

    def embed_query(self, text: str) -> numpy.ndarray:
        """float32 array of shape (dimension,), length 1."""
        refuse_long_query(self.count_tokens(text), self.max_tokens)
        vector: numpy.ndarray = self.embed_documents([text])[0]
        return vector

    def _vector(self, text: str) -> numpy.ndarray:
        import numpy

        words = [text[start:end].casefold() for start, end in self.token_spans(text)]
        vector = numpy.zeros(self.dimension, numpy.float32)
        for word, count in Counter(words).items():
            weight = (1 + math.log(count)) * (1.0 if len(word) > 3 or not word.isascii() else 0.3)
            vector += weight * _term_vector(word, self.dimension)
            if len(word) > STEM_LENGTH:
                vector += 0.5 * weight * _term_vector(word[:STEM_LENGTH], self.dimension)
        length = float(numpy.linalg.norm(vector))
        if length == 0.0:
            vector, length = _term_vector("", self.dimension), math.sqrt(self.dimension)
        unit: numpy.ndarray = vector / numpy.float32(length)
        return unit


@lru_cache(maxsize=20_000)
def _term_vector(term: str, dimension: int) -> numpy.ndarray:
    """Signs of shape (dimension,), +1 or -1, from a hash of the term."""
    import numpy

    digest = hashlib.shake_128(term.encode("utf-8", "surrogatepass")).digest((dimension + 7) // 8)
    bits = numpy.unpackbits(numpy.frombuffer(digest, numpy.uint8))[:dimension]
    return bits.astype(numpy.float32) * 2 - 1

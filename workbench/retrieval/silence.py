"""Why a paper of the scope gave no passage, in a few words a reader can act on. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from workbench.records import Dropped

NOT_SEARCHED = "still indexing, so it was not searched"
NOT_FOUND = "no passage of it was found by meaning or by words"


def reasons_of_silence(
    silent: Sequence[int], dropped: Sequence[Dropped], *, searched: Collection[int] | None
) -> tuple[str, ...]:
    """One reason for each paper of ``silent``: what became of its best passage.

    ``dropped`` are all candidates that were left out, best first; ``searched`` the papers that were searched,
    None for every one.
    """
    best: dict[int, Dropped] = {}
    for each in dropped:
        best.setdefault(each.paper_id, each)
    return tuple(_reason(paper, best.get(paper), searched) for paper in silent)


def counted_reasons(dropped: Sequence[Dropped]) -> dict[str, int]:
    """How many were left out for each reason, the commonest first. What differs from paper to paper in one
    reason counts as the same."""
    counts = Counter(each.kind or each.reason for each in dropped)
    return dict(counts.most_common())


def _reason(paper: int, best: Dropped | None, searched: Collection[int] | None) -> str:
    if best is not None:
        return f"its best passage (relevance {best.relevance:.2f}) was left out: {best.reason}"
    if searched is not None and paper not in searched:
        return NOT_SEARCHED
    return NOT_FOUND

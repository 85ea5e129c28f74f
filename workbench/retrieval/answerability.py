"""Do the papers in scope speak of what the question asks? Decided from evidence, without a chat model.

Two signs that they do not. First, the question names something (an identifier such as ``DuckDB`` or
``BMH-21``) that no candidate passage mentions; candidates come from a keyword search, so a name that
stands in none of them stands nowhere in the scope. Second, no single passage covers much of the
question's specific terms while no passage is close to it in meaning either; the best cosine alone does
not separate the two cases, and neither does coverage alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

from workbench.retrieval.names import mentioned, names
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

LEAST_COVERAGE = 0.36  # of the specific terms, inside the best single passage …
LEAST_COSINE = 0.46  # … unless a passage is at least this close in meaning


@dataclass(frozen=True, slots=True)
class Answerability:
    """``coverage`` is the best passage's share (0 to 1) of the question's terms, rare ones counting more.
    ``missing_names`` are the question's names that no candidate mentions."""

    answerable: bool
    coverage: float
    missing_names: tuple[str, ...]


def judge_answerable(
    question: str, candidate_texts: Sequence[str], *, chosen: int, best_cosine: float | None
) -> Answerability:
    """``candidate_texts`` are all candidates' texts, the ``chosen`` ones first; ``best_cosine`` is None
    where there were no vectors."""
    bags = [term_set(text) for text in candidate_texts]
    missing = tuple(name for name in names(question) if not any(mentioned(name, bag) for bag in bags))
    weights = _specificity(query_terms(question), bags)
    best = max((_share(weights, bag) for bag in bags[:chosen]), default=0.0)
    far = best_cosine is None or best_cosine < LEAST_COSINE
    return Answerability(not missing and not (best < LEAST_COVERAGE and far), best, missing)


def _specificity(wanted: Sequence[str], bags: Sequence[Set[str]]) -> dict[str, float]:
    """Each term's weight: the logarithm of how few candidates hold it."""
    n = len(bags)
    counts = {term: sum(term in bag for bag in bags) for term in dict.fromkeys(wanted)}
    return {term: math.log((n + 1) / (count + 0.5)) for term, count in counts.items()}


def _share(weights: dict[str, float], bag: Set[str]) -> float:
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in bag) / total if total > 0 else 0.0

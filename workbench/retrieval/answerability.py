"""Do the papers in scope speak of what the question asks? Decided from evidence, without a chat model.

Signs that they do not:

- The question names something (an identifier such as ``DuckDB`` or ``BMH-21``), or asks how many of
  something, that no candidate mentions; candidates come from a keyword search, so a word that stands in none
  of them stands nowhere in the scope.
- It asks of one named thing what only papers that never mention it could say.
- No single passage covers much of the question's specific terms while none is close to it in meaning either;
  the best cosine alone does not separate the two cases, and neither does coverage alone.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass

from workbench.retrieval.names import mentioned, names, proper_nouns
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

LEAST_COVERAGE = 0.36  # of the specific terms, inside the best single passage …
LEAST_COVERAGE_OF_NAMED = 0.22  # … or this much, where every name of the question is mentioned …
LEAST_COSINE = 0.46  # … unless a passage is at least this close in meaning

_COUNTED = re.compile(r"\bhow (?:many|much) ([a-z]{3,}(?:-[a-z]+)*)\b", re.IGNORECASE)
_NOT_COUNTED = frozenset(
    {"does", "did", "was", "were", "are", "has", "have", "more", "less", "time", "times"}
)
_JOINED = re.compile(r",|&|/|\b(?:and|or|vs|versus|than|with|from|between|und|oder|et|ou)\b", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:compar\w+|differ\w*|versus|vs|both|each|respectively|between)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answerability:
    """``coverage`` is the best passage's share (0 to 1) of the question's terms, rare ones counting more.
    ``missing_names`` are the question's names, and what it counts, that no candidate mentions (of a list
    of names a part may be missing from an answerable question); ``apart`` are names of which each paper
    mentions one alone."""

    answerable: bool
    coverage: float
    missing_names: tuple[str, ...]
    apart: tuple[str, ...] = ()


def judge_answerable(
    question: str,
    candidate_texts: Sequence[str],
    *,
    chosen: int,
    best_cosine: float | None,
    papers: Sequence[tuple[int, str]] | None = None,
) -> Answerability:
    """``candidate_texts`` are all candidates' texts, the ``chosen`` ones first; ``best_cosine`` is None
    where there were no vectors. ``papers`` gives each candidate's paper: its id and its title."""
    bags = [term_set(text) for text in candidate_texts]
    by_paper = _bags_of_papers(bags, papers or ())
    everywhere = [*bags, *by_paper.values()]
    named, nouns = names(question), proper_nouns(question)
    missing = _missing([*named, *_counted(question)], everywhere)
    strangers = _missing(nouns, everywhere)
    apart = _apart(question, named, list(by_paper.values())) if not missing else ()
    coverage = _best_coverage(question, bags, chosen)
    least = LEAST_COVERAGE_OF_NAMED if named and not missing else LEAST_COVERAGE
    close = best_cosine is not None and best_cosine >= LEAST_COSINE
    partly = _is_list(question, [*named, *nouns]) and len({*missing, *strangers}) < len({*named, *nouns})
    refused = apart or ((missing or (strangers and coverage < LEAST_COVERAGE)) and not partly)
    return Answerability(
        not refused and (coverage >= least or close), coverage, (*missing, *strangers), apart
    )


def _bags_of_papers(bags: Sequence[Set[str]], papers: Sequence[tuple[int, str]]) -> dict[int, set[str]]:
    """The terms of each paper's candidates and of its title."""
    by_paper: dict[int, set[str]] = defaultdict(set)
    for (paper_id, title), bag in zip(papers, bags, strict=False):
        by_paper[paper_id] |= bag | term_set(title)
    return by_paper


def _missing(wanted: Sequence[str], bags: Sequence[Set[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in wanted if not any(mentioned(name, bag) for bag in bags)))


def _counted(question: str) -> list[str]:
    """What the question asks how many of, in the singular or plural it uses."""
    return [word for word in _COUNTED.findall(question) if word.casefold() not in _NOT_COUNTED]


def _apart(question: str, named: Sequence[str], by_paper: Sequence[Set[str]]) -> tuple[str, ...]:
    """Names that no paper mentions together, where the question asks for one of them at the other.

    Names that are listed or compared ("RAG and SEAL", "does RWKV differ from ViT") may each have their paper.
    """
    if len(named) < 2 or not by_paper or _COMPARES.search(question) or _is_list(question, named):
        return ()
    together = max(sum(mentioned(name, bag) for name in named) for bag in by_paper)
    return tuple(named) if together < 2 else ()


def _is_list(question: str, named: Sequence[str]) -> bool:
    """Whether the names are listed: "Boeing and Amcor"."""
    places = [question.find(name) for name in named]
    return len(named) > 1 and _JOINED.search(question, min(places), max(places)) is not None


def _best_coverage(question: str, bags: Sequence[Set[str]], chosen: int) -> float:
    weights = _specificity(query_terms(question), bags)
    return max((_share(weights, bag) for bag in bags[:chosen]), default=0.0)


def _specificity(wanted: Sequence[str], bags: Sequence[Set[str]]) -> dict[str, float]:
    """Each term's weight: the logarithm of how few candidates hold it."""
    n = len(bags)
    counts = {term: sum(term in bag for bag in bags) for term in dict.fromkeys(wanted)}
    return {term: math.log((n + 1) / (count + 0.5)) for term, count in counts.items()}


def _share(weights: dict[str, float], bag: Set[str]) -> float:
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in bag) / total if total > 0 else 0.0

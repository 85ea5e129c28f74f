"""Do the papers in scope speak of what the question asks? Decided from evidence, without a chat model.

Signs that they do not:

- The question names something (an identifier such as ``DuckDB`` or ``BMH-21``), or asks how many of
  something, that no candidate mentions; candidates come from a keyword search, so a word that stands in none
  of them stands nowhere in the scope.
- It asks of one named thing what only papers that never mention it could say, or something ("FAISS licence",
  "how many parameters does GPT-4 have") that no sentence says near its name, in papers on other things.
- No single passage covers much of the question's specific terms while none is close to it in meaning either;
  the best cosine alone does not separate the two cases, and neither does coverage alone.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import combinations

from workbench.retrieval.names import mentioned, names, proper_nouns
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

LEAST_COVERAGE = 0.36  # of the specific terms, inside the best single passage …
LEAST_COVERAGE_OF_NAMED = 0.22  # … or this much, where every name of the question is mentioned …
LEAST_COSINE = 0.46  # … unless a passage is at least this close in meaning

_COUNTED = re.compile(r"\bhow (?:many|much) ([a-z]{3,}(?:-[a-z]+)*)\b", re.IGNORECASE)
_NOT_COUNTED = frozenset(
    {"does", "did", "was", "were", "are", "has", "have", "more", "less", "time", "times"}
)
# Words beside a name that ask nothing of it: what it does, and what kind of thing it is.
_NOT_ASKED_OF = frozenset(
    "achieve answer come compare cost deal differ does feed find from gain get give grow handle have help "
    "hold improve into keep lead learn make name need perform propose reach refer report return score show "
    "spend store support take that than train treat used uses were what when with work works "
    "algorithm algorithms approach architecture authors author benchmark dataset datasets framework index "
    "indexes library method methods model models package paper papers report reports study survey system "
    "technique tool part parts kind kinds type types which role idea ideas use effect effects".split()
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
    if not apart and not missing:
        titles = [title for _, title in papers or ()]
        apart = _never_together(question, [*named, *nouns], candidate_texts, bags, titles)
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
    for one, other in combinations(named, 2):
        if not any(mentioned(one, bag) and mentioned(other, bag) for bag in by_paper):
            return (one, other)
    return ()


def _never_together(
    question: str,
    named: Sequence[str],
    texts: Sequence[str],
    bags: Sequence[Set[str]],
    titles: Sequence[str],
) -> tuple[str, ...]:
    """A name and what is asked of it, where no two neighbouring sentences hold both.

    Of a paper that has the name in its title, any passage will do. Listed names may each have their place.
    """
    if _is_list(question, named):
        return ()
    for name, asked in _asked_of(question, named):
        wanted = set(query_terms(asked))
        if not any(
            wanted & bag
            and (
                (index < len(titles) and mentioned(name, term_set(titles[index])))
                or (mentioned(name, bag) and _near(name, wanted, texts[index]))
            )
            for index, bag in enumerate(bags)
        ):
            return (name, asked)
    return ()


def _asked_of(question: str, named: Sequence[str]) -> list[tuple[str, str]]:
    """Each name with the noun that the question asks of it: what it counts, or the noun behind the name."""
    counted = _counted(question)
    pairs = [(named[0], noun) for noun in counted if len(named) == 1]
    for name in named:
        of_name = rf"\b([a-z]{{4,}}) (?:in \w+ )?of (?:(?:an?|the) )?{re.escape(name)}(?!\w)"
        behind = rf"\b(?:an?|the|which|what|any|of) {re.escape(name)} ([a-z]{{4,}})\b"
        for pattern in (behind, of_name):
            found = re.search(pattern, question, re.I)
            if found and found[1].lower() not in _NOT_ASKED_OF and found[1] not in counted:
                pairs.append((name, found[1]))
    return pairs


def _near(name: str, wanted: Set[str], text: str) -> bool:
    spans = sentence_spans(text)
    for (start, _), (_, end) in zip(spans, spans[1:] + spans[-1:], strict=True):
        bag = term_set(text[start:end])
        if mentioned(name, bag) and wanted & bag:
            return True
    return False


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

"""Do the papers in scope speak of what the question asks? Decided from evidence, without a chat model.

Signs that they do not:

- The question names something (an identifier such as ``DuckDB`` or ``BMH-21``, a proper noun), or asks how
  many of something, that no candidate mentions; candidates come from a keyword search, so a word that stands
  in none of them stands nowhere in the scope.
- It asks of one named thing what only papers that never mention it could say, or something ("FAISS licence",
  "how many parameters does GPT-4 have") that no sentence says near its name, or many things of which hardly
  one is said near it.
- More of what it asks stands nowhere in the papers than stands together in two neighbouring sentences. This
  needs no threshold: both are shares of the same weight. Neither the cosine of the best passage nor its share
  of the question separates the two cases (``tests/benchmarks/ANSWERS.md``).

A question about the papers as such ("What are they about?") asks for nothing that could be missing.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

from workbench.retrieval.asked_terms import asked_terms, asks_for_everything, parts_of_compounds
from workbench.retrieval.languages import in_other_languages
from workbench.retrieval.names import mentioned, names, proper_nouns
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

# Where question and papers are in different languages words cannot be compared, and this cosine decides.
LEAST_COSINE = 0.46
# Of many things asked of one name, this share must be said near it (weighed by rarity). The least among the
# labelled questions with an answer is 0.25.
LEAST_NEAR_NAME = 0.2
FEWEST_ASKED = 3  # of fewer, one that is worded otherwise is too much

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
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_JOINED = re.compile(r",|&|/|\b(?:and|or|vs|versus|than|with|from|between|und|oder|et|ou)\b", re.IGNORECASE)
_COMPARES = re.compile(r"\b(?:compar\w+|differ\w*|versus|vs|both|each|respectively|between)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answerability:
    """``coverage`` is the share (0 to 1) of what the question asks that stands together in two sentences,
    rare terms counting more. ``missing_names`` are the question's names, and what it counts, that no
    candidate mentions (of a list of names a part may be missing from an answerable question); ``apart`` are
    names of which each paper mentions one alone. ``absent`` are the words of an unanswerable question that
    stand nowhere, where that is why."""

    answerable: bool
    coverage: float
    missing_names: tuple[str, ...]
    apart: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


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
    if not chosen or asks_for_everything(question):
        return Answerability(chosen > 0, float(chosen > 0), ())
    named = [name for name in _named(question) if asked_terms(name)]
    found = _Found(candidate_texts, papers or ())
    missing = _missing([*named, *_counted(question)], found.everywhere)
    if missing and not (_is_list(question, named) and set(missing) < set(named)):
        return Answerability(False, 0.0, missing)
    asked = _specificity(asked_terms(question), found.bags)
    apart = _apart(question, names(question), list(found.by_paper.values())) if not missing else ()
    if not apart and not missing:
        apart = _never_together(question, named, asked, found)
    together = _together(asked, [*named, *_YEAR.findall(question)], found.sentences)
    if apart:
        return Answerability(False, together, missing, apart)
    absent = _absent(question, asked, found.everywhere) - {t for name in missing for t in query_terms(name)}
    if _share(asked, absent) <= together:
        return Answerability(True, together, missing)
    close = best_cosine is not None and best_cosine >= LEAST_COSINE
    if close and all(in_other_languages(question, text) for text in candidate_texts[:chosen]):
        return Answerability(True, together, missing)
    return Answerability(False, together, missing, absent=_as_asked(question, absent))


class _Found:
    """The terms of what was found: of each candidate, of each paper with its title, and of each sentence with
    the next one and the title."""

    def __init__(self, texts: Sequence[str], papers: Sequence[tuple[int, str]]) -> None:
        self.bags: list[Set[str]] = [term_set(text) for text in texts]
        self.by_paper = _bags_of_papers(self.bags, papers)
        self.everywhere: list[Set[str]] = [*self.bags, *self.by_paper.values()]
        titles = [title for _, title in papers] or [""] * len(texts)
        self.sentences: list[Set[str]] = [
            bag | term_set(title)
            for text, title in zip(texts, titles, strict=False)
            for bag in _neighbours(text)
        ]
        self.titles, self.texts = titles, texts


def _neighbours(text: str) -> Iterator[Set[str]]:
    """The terms of each sentence and the one behind it."""
    spans = sentence_spans(text)
    for (start, _), (_, end) in zip(spans, spans[1:] + spans[-1:], strict=True):
        yield term_set(text[start:end])


def _named(question: str) -> list[str]:
    return list(dict.fromkeys([*names(question), *proper_nouns(question)]))


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
    question: str, named: Sequence[str], asked: Mapping[str, float], found: _Found
) -> tuple[str, ...]:
    """A name and what is asked of it, where no two neighbouring sentences hold both, or of many things asked
    of a single name hardly any.

    Of a paper that has the name in its title, any passage will do. Listed names may each have their place.
    """
    if _is_list(question, named):
        return ()
    for name, noun in _asked_of(question, named):
        wanted = set(query_terms(noun))
        if not any(
            wanted & bag
            and (mentioned(name, term_set(title)) or (mentioned(name, bag) and _near(name, wanted, text)))
            for text, title, bag in zip(found.texts, found.titles, found.bags, strict=False)
        ):
            return (name, noun)
    own = set(query_terms(named[0])) if len(named) == 1 else set()
    beside = {term: weight for term, weight in asked.items() if term not in own}
    if own and len(beside) >= FEWEST_ASKED and _together(beside, named, found.sentences) < LEAST_NEAR_NAME:
        return (named[0], "what is asked of it")
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
    return any(mentioned(name, bag) and wanted & bag for bag in _neighbours(text))


def _is_list(question: str, named: Sequence[str]) -> bool:
    """Whether the names are listed: "Boeing and Amcor"."""
    places = [question.find(name) for name in named]
    return len(named) > 1 and _JOINED.search(question, min(places), max(places)) is not None


def _together(asked: Mapping[str, float], named: Sequence[str], sentences: Sequence[Set[str]]) -> float:
    """The best share of what is asked in two neighbouring sentences; where names or years are given, in two
    that hold one of them, for the name of which least is said."""
    of_each = [[bag for bag in sentences if mentioned(name, bag)] for name in named] or [list(sentences)]
    return min(max((_share(asked, bag) for bag in bags), default=0.0) for bags in of_each)


def _absent(question: str, asked: Mapping[str, float], bags: Sequence[Set[str]]) -> set[str]:
    """The terms that stand nowhere. A compound ("exact-match") may also stand there in parts."""
    absent = {term for term in asked if not any(term in bag for bag in bags)}
    parts = parts_of_compounds(question)
    return {term for term in absent if not parts.get(term) or parts[term] <= absent}


def _as_asked(question: str, absent: Set[str]) -> tuple[str, ...]:
    """The words of the question that the terms come from."""
    words = re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", question)
    return tuple(dict.fromkeys(word for word in words if absent & set(query_terms(word)[:1])))


def _specificity(wanted: Sequence[str], bags: Sequence[Set[str]]) -> dict[str, float]:
    """Each term's weight: the logarithm of how few candidates hold it."""
    n = len(bags)
    counts = {term: sum(term in bag for bag in bags) for term in dict.fromkeys(wanted)}
    return {term: math.log((n + 1) / (count + 0.5)) for term, count in counts.items()}


def _share(weights: Mapping[str, float], bag: Set[str]) -> float:
    total = sum(weights.values())
    return sum(w for term, w in weights.items() if term in bag) / total if total > 0 else 0.0

"""What a search or an answer is worth, question by question. Pure.

Every metric of one question is a ``Share``: so much, of so much. Over many questions it is the sum of the
one over the sum of the other, so that a question with three pages counts three times where pages are
counted, and once where questions are. ``NOTHING`` (0 of 0) says that the metric does not speak of a
question.

Evidence, of the passages of a search, in their order
    evidence_recall     labelled pages that a passage of their file covers
    evidence_phrase     labelled phrases that stand in a passage of their file
    all_papers          questions on several files of which each has a passage
    papers_covered      files of a question that have a passage, as a mean over questions
    ndcg@10, mrr@10, recall@10      of the pages that the passages open, in order, each page once

Answers
    answered, refused   answerable questions that were answered; unanswerable ones that were refused
    refusal_precision   refusals that were of unanswerable questions (``refused`` is the recall)
    cited_gold          answerable questions whose answer cites a labelled page
    citation_precision  citations that name a labelled page
    citation_recall     labelled pages that are cited
    cited_papers        files of a question that are cited, as a mean over questions
    answer_phrase       labelled phrases that stand in the answer, or in the quote of one of its citations
    quote_on_page       citations whose quote stands on its page
    citations           citations of an answer that was not a refusal

A passage or citation belongs to a label by the file's name. Texts are compared by their letters and
digits alone, whatever their case, spaces, hyphens and ligatures.

Sources: recall, precision and reciprocal rank as in Manning, Raghavan and Schütze, "Introduction to
Information Retrieval" (2008), chapter 8; nDCG with gain 2^g - 1 as in Burges et al., "Learning to rank using
gradient descent" (2005), after Järvelin and Kekäläinen (2002); citation precision and recall after Gao et
al., "Enabling large language models to generate text with citations" (2023), here against labelled pages.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from workbench.records import Answer, Citation, Passage
from workbench.tuning import Gold, Question

DEPTH = 10  # of the ranked metrics

_BROKEN_WORD = re.compile(r"[-‐‑\x02]\s*\n\s*")
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Share:
    """So much, of so much."""

    part: float
    whole: float


NOTHING = Share(0.0, 0.0)


def share(found: Iterable[bool]) -> Share:
    """How many of these are true."""
    listed = list(found)
    return Share(float(sum(listed)), float(len(listed)))


@lru_cache(maxsize=4096)  # a sweep reads the same passages again and again
def letters(text: str) -> str:
    """The letters and digits of ``text`` in one case: what two texts are compared by."""
    whole = unicodedata.normalize("NFKC", text).replace("\ufffe", "").replace("\u00ad", "")
    return _NO_LETTER.sub("", _BROKEN_WORD.sub("", whole).casefold())


# --- evidence --------------------------------------------------------------------------------


def covers(passage: Passage, gold: Gold) -> bool:
    """The passage stands, at least in part, on the labelled page."""
    return _same_file(passage, gold) and passage.page_start <= gold.page <= passage.page_end


def evidence_recall(question: Question, passages: Sequence[Passage]) -> Share:
    return share(any(covers(p, gold) for p in passages) for gold in question.gold)


def evidence_phrase(question: Question, passages: Sequence[Passage]) -> Share:
    """Labels without a phrase are not counted."""
    texts = [(p, letters(p.text)) for p in passages]
    phrases = [(gold, letters(gold.phrase)) for gold in question.gold]
    return share(
        any(_same_file(p, gold) and phrase in text for p, text in texts) for gold, phrase in phrases if phrase
    )


def all_papers(question: Question, passages: Sequence[Passage]) -> Share:
    return share([covered == 1.0]) if (covered := _covered(question, passages)) is not None else NOTHING


def papers_covered(question: Question, passages: Sequence[Passage]) -> Share:
    files = _gold_by_file(question)
    if not files:
        return NOTHING
    return Share(sum(_has_any(golds, passages) for golds in files.values()) / len(files), 1.0)


def pages_in_order(passages: Sequence[Passage]) -> list[tuple[str, int]]:
    """The pages that the passages open, as (file, page), each once, in the order of the numbers."""
    pages = [(p.file, page) for p in passages for page in range(p.page_start, p.page_end + 1)]
    return list(dict.fromkeys(pages))


def ndcg(ranked: Sequence[object], gains: Mapping[object, int], k: int = DEPTH) -> float:
    """Normalized discounted cumulative gain: of the first ``k``, each gain g counts 2^g - 1, divided by the
    binary logarithm of its rank plus one, and the sum is divided by that of the best possible order."""
    found = sum((2 ** gains.get(d, 0) - 1) / math.log2(i + 2) for i, d in enumerate(ranked[:k]))
    best = sorted((g for g in gains.values() if g > 0), reverse=True)[:k]
    ideal = sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(best))
    return float(found / ideal) if ideal else 0.0


def reciprocal_rank(ranked: Sequence[object], relevant: Iterable[object], k: int = DEPTH) -> float:
    """One over the rank of the first relevant of the first ``k``; 0 where none is."""
    wanted = set(relevant)
    return next((1 / rank for rank, d in enumerate(ranked[:k], start=1) if d in wanted), 0.0)


def recall(ranked: Sequence[object], relevant: Iterable[object], k: int = DEPTH) -> float:
    """The share of the relevant that is among the first ``k``; 0 where nothing is relevant."""
    wanted = set(relevant)
    return len(wanted & set(ranked[:k])) / len(wanted) if wanted else 0.0


def evidence_shares(question: Question, passages: Sequence[Passage]) -> dict[str, Share]:
    """Every metric of the evidence, by name. Nothing is said of a question that cannot be answered."""
    if not question.gold:
        return {}
    ranked = pages_in_order(passages)
    pages: dict[object, int] = {(_name_of(gold, passages), gold.page): 1 for gold in question.gold}
    return {
        "evidence_recall": evidence_recall(question, passages),
        "evidence_phrase": evidence_phrase(question, passages),
        "all_papers": all_papers(question, passages),
        "papers_covered": papers_covered(question, passages),
        f"ndcg@{DEPTH}": Share(ndcg(ranked, pages), 1.0),
        f"mrr@{DEPTH}": Share(reciprocal_rank(ranked, pages), 1.0),
        f"recall@{DEPTH}": Share(recall(ranked, pages), 1.0),
        "passages": Share(float(len(passages)), 1.0),
    }


def _same_file(source: Passage | Citation, gold: Gold) -> bool:
    """By the file's name; or by the paper, where the label knows it."""
    return source.file == gold.file or (gold.paper_id is not None and source.paper_id == gold.paper_id)


def _name_of(gold: Gold, sources: Sequence[Passage]) -> str:
    """The name that the labelled paper has in the evidence."""
    return next((s.file for s in sources if _same_file(s, gold)), gold.file)


def _gold_by_file(question: Question) -> dict[str, list[Gold]]:
    files: dict[str, list[Gold]] = {}
    for gold in question.gold:
        files.setdefault(gold.file, []).append(gold)
    return files


def _has_any(golds: Sequence[Gold], sources: Sequence[Passage] | Sequence[Citation]) -> bool:
    return any(_same_file(source, gold) for source in sources for gold in golds)


def _covered(question: Question, passages: Sequence[Passage]) -> float | None:
    """The share of its files that have a passage; None for a question on one file or none."""
    return papers_covered(question, passages).part if len(question.files) > 1 else None


# --- answers ---------------------------------------------------------------------------------


def answer_shares(
    question: Question, answer: Answer, *, page_text: Callable[[int, int], str]
) -> dict[str, Share]:
    """Every metric of an answer, by name. ``page_text(paper_id, page)`` is a page's text, empty where there
    is none."""
    cites = answer.citations
    on_page = share(
        bool(quote) and quote in letters(page_text(c.paper_id, c.page))
        for c in cites
        for quote in [letters(c.quote)]
    )
    if not question.gold:
        return {
            "refused": share([answer.refused]),
            "refusal_precision": share([True]) if answer.refused else NOTHING,
            "quote_on_page": on_page,
        }
    files = _gold_by_file(question)
    said = [letters(answer.text), *(letters(c.quote) for c in cites)]
    phrases = [phrase for gold in question.gold if (phrase := letters(gold.phrase))]
    return {
        "answered": share([not answer.refused]),
        "refusal_precision": share([False]) if answer.refused else NOTHING,
        "cited_gold": share([any(_cites(c, gold) for c in cites for gold in question.gold)]),
        "citation_precision": share(any(_cites(c, gold) for gold in question.gold) for c in cites),
        "citation_recall": share(any(_cites(c, gold) for c in cites) for gold in question.gold),
        "cited_papers": Share(sum(_has_any(golds, cites) for golds in files.values()) / len(files), 1.0),
        "answer_phrase": share(any(phrase in text for text in said) for phrase in phrases),
        "quote_on_page": on_page,
        "citations": Share(float(len(cites)), 1.0) if not answer.refused else NOTHING,
    }


def _cites(citation: Citation, gold: Gold) -> bool:
    return _same_file(citation, gold) and citation.page == gold.page


# --- audit -----------------------------------------------------------------------------------


def audit_shares(judged: Iterable[tuple[bool, bool]]) -> dict[str, Share]:
    """How well an audit tells wrong sentences from right ones, given (it was flagged, it is true).

    A sentence is flagged where the audit calls it unsupported. ``audit_precision`` is the share of flagged
    sentences that are wrong, ``audit_recall`` the share of wrong ones that are flagged, ``false_alarms`` the
    share of true ones that are flagged.
    """
    pairs = list(judged)
    return {
        "audit_precision": share(not true for flagged, true in pairs if flagged),
        "audit_recall": share(flagged for flagged, true in pairs if not true),
        "false_alarms": share(flagged for flagged, true in pairs if true),
    }

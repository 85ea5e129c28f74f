"""Citations: which page and which words stand behind a claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.records import Citation, Evidence, Page, Passage, SentenceVerdict, Support
from workbench.retrieval.audit import audit_text, claim_spans, passage_support, plain_claim
from workbench.retrieval.citations import Quote, find_quote
from workbench.retrieval.markers import marker_numbers

PagesOf = Callable[[Passage], Sequence[Page]]


def cite(
    text: str, evidence: Evidence, pages_of: PagesOf
) -> tuple[tuple[Citation, ...], tuple[SentenceVerdict, ...]]:
    """The citations of a finished answer, in order of use, and the verdict on each of its sentences."""
    audit = audit_text(text, evidence.passages)
    verdicts = {(v.char_start, v.char_end): v.verdict for v in audit}
    citations: dict[tuple[int, int, Support], Citation] = {}
    for start, end in claim_spans(text):
        claim, verdict = plain_claim(text[start:end]), verdicts.get((start, end))
        for n in dict.fromkeys(n for n, _, _ in marker_numbers(text[start:end])):
            passage = evidence.passage(n)
            quote = find_quote(claim, passage, pages_of(passage)) if passage else None
            if passage and quote:
                support = passage_support(claim, passage, verdict=verdict)
                key = (n, quote.char_start, support)
                citations.setdefault(key, citation(passage, quote, support, (start, end)))
    return tuple(citations.values()), audit


def citation(passage: Passage, quote: Quote, support: Support, claim: tuple[int, int]) -> Citation:
    """The record of one quote; ``claim`` is where its claim stands in the answer."""
    return Citation(
        n=passage.n,
        paper_id=passage.paper_id,
        title=passage.title,
        file=passage.file,
        page=quote.page,
        quote=quote.text,
        char_start=quote.char_start,
        char_end=quote.char_end,
        support=support,
        claim_start=claim[0],
        claim_end=claim[1],
        page_label=quote.page_label,
        page_unit=passage.page_unit,
        authors=passage.authors,
        year=passage.year,
        shared=passage.shared,
    )


def place(page_unit: str, quote: Quote | Citation) -> str:
    """``page 7``, or the label of a section where a format has no pages."""
    if page_unit == "page":
        label = f" (printed {quote.page_label})" if quote.page_label else ""
        return f"page {quote.page}{label}"
    return quote.page_label or f"{page_unit} {quote.page}"

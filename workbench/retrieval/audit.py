"""Does the cited passage say what the sentence says?

A lexical check in the manner of fact-verification baselines: every figure of the sentence must stand in
a cited passage, and so must most of its content words. It is deliberately strict about figures, because
a wrong number with a real citation is the error that a reader is least likely to notice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.records import Passage, SentenceVerdict, Support, Verdict
from workbench.retrieval.citations import claim_weights, coverage
from workbench.retrieval.markers import blank_code, marker_numbers
from workbench.retrieval.sentences import sentence_spans

SUPPORTED_FROM = 0.6  # share of the sentence's terms found in one cited passage
PARTLY_FROM = 0.35
FEWEST_WORDS = 3  # shorter stretches are headings or interjections, not claims

_MARKERS = re.compile(r"\s*\[\d{1,4}\]")
_FIGURE = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,]\d+)*")
_LEADING_MARKERS = re.compile(r"\s*(?:\[\d{1,4}\]\s*)+")


def audit_text(text: str, passages: Sequence[Passage]) -> tuple[SentenceVerdict, ...]:
    """A verdict for each sentence of ``text`` that states something, in order.

    ``n`` and ``quote`` name the passage that fits best among those the sentence cites. Offsets count
    characters of ``text``. Headings, code and fragments of fewer than ``FEWEST_WORDS`` words are left out.
    """
    known = {p.n: p for p in passages}
    verdicts = []
    for start, end in claim_spans(text):
        numbers = [n for n, _, _ in marker_numbers(text[start:end]) if n in known]
        claim = plain_claim(text[start:end])
        if len(claim.split()) < FEWEST_WORDS and not numbers:
            continue
        verdict, reason, n, quote = _judge(claim, [known[n] for n in dict.fromkeys(numbers)])
        verdicts.append(SentenceVerdict(claim, verdict, reason, n, quote, start, end))
    return tuple(verdicts)


def claim_spans(text: str) -> list[tuple[int, int]]:
    """Sentences of an answer, each with the markers that follow its full stop."""
    blank = blank_code(text)
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(blank):
        leading = _LEADING_MARKERS.match(blank, start, end)
        if leading and spans and "\n" not in blank[spans[-1][1] : start]:
            spans[-1] = (spans[-1][0], leading.end())
            start = leading.end()
        if blank[start:end].strip():
            spans.append((start, end))
    return spans


def plain_claim(sentence: str) -> str:
    """A sentence without its markers and without list and emphasis signs."""
    return re.sub(r"^[\s#>*•-]+|[*_`]{1,3}", "", _MARKERS.sub("", sentence)).strip()


def support_of(claim: str, source: str) -> tuple[Support, str]:
    """Support of one claim by the text it cites, and the reason in words."""
    missing = missing_figures(claim, source)
    if missing:
        return "unsupported", f"{', '.join(missing)} does not stand in what it cites"
    share = coverage(claim_weights(claim), source)
    if share >= SUPPORTED_FROM:
        return "supported", f"{share:.0%} of its terms stand in what it cites"
    return ("partly" if share >= PARTLY_FROM else "unsupported"), f"only {share:.0%} of its terms stand in what it cites"


def missing_figures(claim: str, text: str) -> list[str]:
    """Figures of the claim that do not stand in the text (thousands separators ignored)."""
    present = {_normal_figure(f) for f in _FIGURE.findall(text)}
    return [f for f in dict.fromkeys(_FIGURE.findall(claim)) if _normal_figure(f) not in present]


def _normal_figure(figure: str) -> str:
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", figure.replace("−", "-")).lstrip("-")
    return plain.replace(",", ".").rstrip(".")


def _judge(claim: str, cited: Sequence[Passage]) -> tuple[Verdict, str, int | None, str]:
    """A sentence may cite several passages for its parts, so they are judged together."""
    if not cited:
        return "uncited", "it cites no passage", None, ""
    verdict, reason = support_of(claim, "\n".join(p.text for p in cited))
    wanted = claim_weights(claim)
    best = max(cited, key=lambda p: (coverage(wanted, p.text), -p.n))
    return verdict, reason, best.n, best_sentence(claim, best.text)


def best_sentence(claim: str, text: str) -> str:
    """The sentence of ``text`` that covers the claim's terms best; the earlier one of equals."""
    wanted = claim_weights(claim)
    spans = sentence_spans(text)
    if not spans:
        return ""
    start, end = max(spans, key=lambda span: (coverage(wanted, text[span[0] : span[1]]), -span[0]))
    return text[start:end]

"""Does the cited passage say what the sentence says?

A lexical check in the manner of fact-verification baselines: every figure and every numbered name of the
sentence must stand in a cited passage, and so must most of its content words. It is deliberately strict about
figures, because a wrong number with a real citation is the error that a reader is least likely to notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from workbench.records import Passage, SentenceVerdict, Support, Verdict
from workbench.retrieval.alterations import altered, word_for_word
from workbench.retrieval.answer_blocks import rows, statements_in_code, without_bars
from workbench.retrieval.belonging import taken_from_elsewhere
from workbench.retrieval.bindings import misplaced
from workbench.retrieval.citations import claim_weights, coverage
from workbench.retrieval.closeness import best_sentence, share_together, word_share
from workbench.retrieval.code_stretches import blank_code
from workbench.retrieval.contradictions import contradiction
from workbench.retrieval.figures import missing_figures, missing_number_words, stated_figures
from workbench.retrieval.languages import in_other_languages
from workbench.retrieval.likeness import Likeness, second_opinion
from workbench.retrieval.markers import marker_numbers
from workbench.retrieval.names import is_numbered, mentioned, names, spelled_out
from workbench.retrieval.sentences import sentence_spans
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

SUPPORTED_FROM = 0.6  # share of the sentence's terms found in the cited passages
PARTLY_FROM = 0.35
TOGETHER_FROM = 0.4  # … and in neighbouring sentences, where the share of all is not enough by itself
BETTER_BY = 0.3  # share by which another passage must hold more of a sentence than the cited ones …
BETTER_FROM = 0.75  # … and the share it must hold
FEWEST_WORDS = 3  # shorter stretches are headings or interjections, not claims

_MARKERS = re.compile(r"[^\S\n]*\[\d{1,4}\]")
_NUMBER = re.compile(r"\[(\d{1,4})\]")
_LEADING_MARKERS = re.compile(r"\s*(?:\[\d{1,4}\][^\S\n]*)+")
_OPENING_SIGNS = re.compile(r"^(?:[\s#>*•◦▪-]+|\(?\d{1,2}[.)]\s+)+")
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
_BOLD_LINE = re.compile(r"(\*\*|__).+\1\s*(?:\(\d{4}\))?:?")


def audit_text(
    text: str, passages: Sequence[Passage], *, likeness: Likeness | None = None
) -> tuple[SentenceVerdict, ...]:
    """A verdict for each sentence of ``text`` that states something, in order.

    ``likeness`` gives an embedder's opinion where the words that claim and source share do not decide.

    ``n`` and ``quote`` name the passage that fits best among those the sentence cites. Offsets count
    characters of ``text``. Headings without a marker, code that is no prose and fragments of fewer
    than ``FEWEST_WORDS`` words are left out. A row of a table is a sentence.
    """
    known = {p.n: p for p in passages}
    verdicts = []
    for start, end in claim_spans(text):
        numbers = [n for n, _, _ in marker_numbers(text[start:end]) if n in known]
        claim = plain_claim(text[start:end])
        if not numbers and (_is_short(claim) or _is_heading(text, start, end)):
            continue
        cited = [known[n] for n in dict.fromkeys(numbers)]
        others = [p for p in passages if p.n not in numbers]
        verdict, reason, n, quote = _judge(claim, cited, others, likeness)
        verdicts.append(SentenceVerdict(claim, verdict, reason, n, quote, start, end))
    for start, end in statements_in_code(text):
        if any(v.char_start < end and start < v.char_end for v in verdicts):
            continue  # inside a sentence that runs on round the code
        numbers = [int(n) for n in _NUMBER.findall(text[start:end]) if int(n) in known]
        claim = plain_claim(text[start:end])
        verdict, reason, n, quote = _judge(claim, [known[n] for n in dict.fromkeys(numbers)], (), likeness)
        verdicts.append(SentenceVerdict(claim, verdict, reason, n, quote, start, end))
    return tuple(sorted(verdicts, key=lambda verdict: verdict.char_start))


def claim_spans(text: str) -> list[tuple[int, int]]:
    """Sentences of an answer, each with the markers that follow its full stop."""
    blank = blank_code(text)
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(blank):
        leading = _LEADING_MARKERS.match(blank, start, end)
        if leading and spans and _belongs_before(blank, spans[-1][1], start, leading.end(), end):
            spans[-1] = (spans[-1][0], leading.end() - _trailing_space(leading.group()))
            start = leading.end()
        if blank[start:end].strip():
            spans += rows(blank, start, end)
    return spans


def plain_claim(sentence: str) -> str:
    """A sentence without its markers and without list and emphasis signs."""
    plain = without_bars(_MARKERS.sub("", sentence))
    return _EMPHASIS.sub("", _OPENING_SIGNS.sub("", plain)).strip()


def support_of(claim: str, source: str) -> tuple[Support, str]:
    """Support of one claim by the text it cites, and the reason in words."""
    if word_for_word(claim, source):
        return "supported", "it stands there word for word"
    nearest = best_sentence(claim, source)
    missing = [
        *missing_figures(claim, source, nearest=nearest),
        *missing_names(claim, source, numbered=True),
    ]
    if missing:
        return "unsupported", f"{_listed(missing)} not stand in what it cites"
    share = word_share(claim, source)
    if share < SUPPORTED_FROM and in_other_languages(claim, source):
        return "partly", "its source is in another language, so only figures and names could be compared"
    together = share_together(claim, source)
    if share < PARTLY_FROM or (share < SUPPORTED_FROM and together < TOGETHER_FROM):
        return "unsupported", f"only {together:.0%} of its terms stand together in what it cites"
    findings = list(_findings(claim, source, nearest))
    unsupported = next((finding for finding in findings if finding[0] == "unsupported"), None)
    if unsupported:
        return unsupported
    if share < SUPPORTED_FROM:
        return "partly", f"only {share:.0%} of its terms stand in what it cites"
    return findings[0] if findings else ("supported", f"{share:.0%} of its terms stand in what it cites")


def _findings(claim: str, source: str, nearest: str) -> Iterator[tuple[Support, str]]:
    """What speaks against a claim whose words stand in its source."""
    elsewhere = misplaced(claim, source)
    if elsewhere:
        yield "unsupported", elsewhere
    change = altered(claim, source)
    if change:
        yield change
    yield from taken_from_elsewhere(claim, source)
    doubts = [*missing_number_words(claim, source), *missing_names(claim, source, numbered=False)]
    if doubts:
        yield "partly", f"{_listed(doubts)} not stand in what it cites"
    against = contradiction(claim, nearest)
    if against:
        yield against


def passage_support(claim: str, passage: Passage, *, verdict: Verdict | None) -> Support:
    """What one of several cited passages gives to a sentence with this verdict: never more than it alone
    holds, and ``"partly"`` where it holds a part of what all of them support together."""
    alone, _ = support_of(claim, source_text(passage))
    if verdict not in {"supported", "partly"}:
        return "unsupported"
    if alone == "unsupported":
        return "partly" if word_share(claim, source_text(passage)) >= PARTLY_FROM else "unsupported"
    return "partly" if verdict == "partly" else alone


def source_text(passage: Passage) -> str:
    """What a citation of ``passage`` may be taken to say: its title and year too."""
    return f"{passage.title} {passage.year or ''}\n\n{passage.text}"


def missing_names(claim: str, source: str, *, numbered: bool) -> list[str]:
    """Names of the claim that the source does not hold; ``numbered`` chooses those with or without digits."""
    bag = term_set(source)
    return [
        name
        for name in names(claim)
        if is_numbered(name) == numbered
        and not stated_figures(name)
        and not mentioned(name, bag)
        and not spelled_out(name, source)
    ]


def _judge(
    claim: str, cited: Sequence[Passage], others: Sequence[Passage], likeness: Likeness | None
) -> tuple[Verdict, str, int | None, str]:
    """A sentence may cite several passages for its parts, so they are judged together."""
    if not cited:
        return "uncited", "it cites no passage", None, ""
    source = "\n\n".join(source_text(p) for p in cited)
    verdict: Verdict
    verdict, reason = support_of(claim, source)
    if likeness is not None:
        verdict, reason = second_opinion(claim, source, verdict, reason, likeness)
    if verdict == "partly":
        better = _says_it_better(claim, source, others)
        if better is not None:
            verdict, reason = "unsupported", f"passage [{better}] says it, not what it cites"
    wanted = claim_weights(claim)
    best = max(cited, key=lambda p: (coverage(wanted, p.text), -p.n))
    return verdict, reason, best.n, best_sentence(claim, best.text)


def _says_it_better(claim: str, source: str, others: Sequence[Passage]) -> int | None:
    """The number of the passage that holds much more of the claim than what it cites."""
    cited = share_together(claim, source)
    shares = [(share_together(claim, source_text(p)), -p.n) for p in others]
    share, number = max(shares, default=(0.0, 0))
    return -number if share >= max(BETTER_FROM, cited + BETTER_BY) else None


def _belongs_before(text: str, before: int, start: int, after: int, end: int) -> bool:
    """Whether markers that open a sentence are the last one's: not where they are a subject, "[2] shows"."""
    gap = text[before:start]
    if text[after:end].strip():
        return "\n" not in gap and not text[after].islower()
    return gap.count("\n") < 2


def _trailing_space(text: str) -> int:
    return len(text) - len(text.rstrip())


def _is_short(claim: str) -> bool:
    """Counted in words, and in pairs of characters where a script has no spaces."""
    return len(claim.split()) < FEWEST_WORDS and len(query_terms(claim)) < FEWEST_WORDS


def _is_heading(text: str, start: int, end: int) -> bool:
    """A markdown heading, a bold line, a title line, or the line that leads to a list."""
    sentence = text[start:end]
    alone = not text[text.rfind("\n", 0, start) + 1 : start].strip() and text[end : end + 1] in {"", "\n"}
    if not alone:
        return False
    if sentence.startswith("#") or _BOLD_LINE.fullmatch(sentence):
        return True
    return sentence.endswith((":", "：")) and not stated_figures(plain_claim(sentence))


def _listed(missing: Sequence[str]) -> str:
    return f"{', '.join(missing)} {'does' if len(missing) == 1 else 'do'}"

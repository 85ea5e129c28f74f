"""What a section's heading says: limits are under "7 Limits", proposals in the abstract, and a list of
references is no text."""

from __future__ import annotations

import re

from workbench.retrieval.asked_terms import asks_for_everything

LONGEST_HEADING = 70  # characters
MOST_WORDS = 9

_REFERENCES = re.compile(
    r"(?:\W*(?:\d+|[IVX]+)\W+)?(?:references(?: and notes)?|bibliography|literature cited|works cited|"
    r"literatur(?:verzeichnis)?|références|bibliographie|referencias|bibliografía|参考文献)\W*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5}|[A-Z])\.?\s+)?[A-Z][^\n.!?;=@]*:?")
_PROPOSAL = re.compile(
    r"^what (?:does|do|did)\b.*\b(?:propose|present|introduce|contribute|show)\b|"
    r"^what (?:is|are)\b.*\babout\W*$|\b(?:main|key) (?:idea|contribution)s?\b",
    re.IGNORECASE,
)
# What a question asks for, and the headings under which papers say it.
_SECTIONS = tuple(
    (re.compile(rf"\b(?:{asked})\b", re.IGNORECASE), re.compile(rf"\b(?:{headed})\b", re.IGNORECASE))
    for asked, headed in (
        (
            r"limitations?|weakness\w*|shortcomings?|drawbacks?|caveats?",
            r"limits?|limitations?|weakness\w*|shortcomings?|drawbacks?|caveats?|threats",
        ),
        (r"(?:main|key|central|most important) (?:findings?|results?|conclusions?)|findings|conclusions?",
         r"conclusions?|findings?|abstract|summary|concluding"),
        (r"future work|next steps", r"future"),
    )
)  # fmt: skip


def is_heading(text: str) -> bool:
    """Whether a line reads like the heading of a section."""
    short = len(text) <= LONGEST_HEADING and len(text.split()) <= MOST_WORDS
    return short and _HEADING.fullmatch(text.strip()) is not None


def asks_for_proposal(question: str) -> bool:
    """Whether a question asks what a paper is about, which its abstract says."""
    return _PROPOSAL.search(question) is not None or asks_for_everything(question)


def section_asked_for(question: str, heading: str) -> bool:
    """Whether the section under ``heading`` is the one that answers ``question``."""
    if asks_for_proposal(question):
        return re.search(r"\b(?:abstract|summary)\b", heading, re.IGNORECASE) is not None
    return any(asked.search(question) and headed.search(heading) for asked, headed in _SECTIONS)


def is_references(heading: str | None) -> bool:
    """Whether ``heading`` is that of a list of references."""
    return heading is not None and _REFERENCES.fullmatch(heading) is not None

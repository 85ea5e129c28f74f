"""Which projects a query means: likeness of the letters, and shared words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from workbench.records import ProjectMatch
from workbench.retrieval.term_sets import term_set
from workbench.retrieval.terms import query_terms

MOST_FOUND = 5
SNIPPET = 200  # characters


@dataclass(frozen=True, slots=True)
class DescribedProject:
    """What a project can be found by. Its papers count through the summary only."""

    id: int
    title: str
    description: str | None
    summary: str | None

    @property
    def text(self) -> str:
        return " ".join(filter(None, (self.title, self.description, self.summary)))

    @property
    def snippet(self) -> str:
        return (self.summary or self.description or "")[:SNIPPET]


def rank_projects(
    query: str, projects: Sequence[DescribedProject], *, limit: int = MOST_FOUND
) -> list[ProjectMatch]:
    """The ``limit`` projects nearest to the query, best first, however far they are; ties by id.

    The score, 0 to 2, is the SequenceMatcher ratio (Ratcliff and Obershelp 1988) of the lower-cased query and
    "title description summary", plus the share of the query's terms that the project's text holds. Works
    without summaries.
    """
    wanted = query_terms(query)
    scored = [(_likeness(query, p.text) + _overlap(wanted, p.text), p) for p in projects]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [ProjectMatch(p.id, p.title, p.snippet, round(score, 4)) for score, p in scored[:limit]]


def _likeness(query: str, text: str) -> float:
    # Without ``autojunk``, which takes every common letter of a text of 200 characters and more for noise.
    return SequenceMatcher(None, query.lower(), text.lower(), autojunk=False).ratio()


def _overlap(wanted: Sequence[str], text: str) -> float:
    held = term_set(text)
    return sum(term in held for term in wanted) / len(wanted) if wanted else 0.0

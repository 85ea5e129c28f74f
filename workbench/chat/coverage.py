"""How much of its scope an answer rests on, and the papers that were silent: asked again on their own."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from workbench.records import Citation, Coverage, Evidence
from workbench.rendering import listed_titles
from workbench.retrieval.markers import as_prose
from workbench.scope import Scope

ASKED_NAMED = 10  # titles in a line


def coverage_of(evidence: Evidence, citations: Sequence[Citation], *, refused: bool) -> Coverage | None:
    """None where no papers were asked. A refusal's citations are the nearest passages: it cites nothing."""
    if not evidence.papers_in_scope:
        return None
    cited = {c.paper_id for c in citations if not c.shared or evidence.scope == Scope.ALL}
    return Coverage(
        papers_in_scope=evidence.papers_in_scope,
        papers_retrieved=evidence.papers_in_scope - evidence.papers_silent,
        papers_cited=0 if refused else len(cited),
        silent=evidence.silent,
    )


def heard(evidence: Evidence) -> frozenset[int]:
    """The papers that have spoken to this question: those with a passage, and those that had one before."""
    return frozenset(p.paper_id for p in evidence.passages) | left_aside(evidence)


def left_aside(evidence: Evidence) -> frozenset[int]:
    """The papers that were left out of the scope, because they had spoken before."""
    without: Collection[int] = evidence.parameters.get("without") or ()
    return frozenset(without)


def asked_line(evidence: Evidence) -> str:
    """Which papers were asked, where it was only those that had been silent; empty for any other question."""
    if not left_aside(evidence):
        return ""
    count = evidence.papers_in_scope
    if not count:
        spoke = len(left_aside(evidence))
        return f"No paper was silent: all that this scope has gave passages before ({spoke})."
    titles = {p.paper_id: p.title for p in evidence.passages} | {p.id: p.title for p in evidence.silent}
    named = listed_titles([as_prose(titles[i]) for i in sorted(titles)[:ASKED_NAMED]], count)
    what = "the paper" if count == 1 else f"the {count} papers"
    return f"Asked only {what} without a passage before: {named}."

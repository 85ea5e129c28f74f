"""An answer with its evidence, small and with everything in it that panels show."""

from __future__ import annotations

from workbench import Answer, Citation, Coverage, Evidence, Passage, Scope, SentenceVerdict, SilentPaper

FIRST = "The engine weaves patterns [1]."
SECOND = "It never originates anything [2]."
TEXT = f"{FIRST} {SECOND}"


def passage(n: int, *, paper_id: int | None = None, title: str = "Notes") -> Passage:
    return Passage(
        n=n,
        chunk_id=n,
        paper_id=paper_id or n,
        title=title,
        file=f"{n}.pdf",
        page_start=n + 1,
        page_end=n + 1,
        text=f"passage number {n}",
        score=0.9 - n / 10,
        vector_rank=n,
        keyword_rank=None,
        char_start=10 * n,
        char_end=10 * n + 9,
        authors=("Ada Lovelace", "Mary Somerville"),
        year=1843,
    )


def citation(n: int, claim: str, *, support: str = "supported", title: str = "Notes") -> Citation:
    start = TEXT.index(claim)
    return Citation(
        n=n,
        paper_id=n,
        title=title,
        file=f"{n}.pdf",
        page=n + 1,
        quote=f"passage number {n}",
        char_start=10 * n,
        char_end=10 * n + 9,
        support=support,  # type: ignore[arg-type]
        claim_start=start,
        claim_end=start + len(claim),
        authors=("Ada Lovelace", "Mary Somerville"),
        year=1843,
    )


def verdict(sentence: str, judged: str, n: int, *, text: str = TEXT) -> SentenceVerdict:
    start = text.index(sentence)
    return SentenceVerdict(sentence, judged, "", n, "", start, start + len(sentence))  # type: ignore[arg-type]


def evidence(*, title: str = "Notes") -> Evidence:
    return Evidence(
        query="What does the engine do?",
        scope=Scope.ORPHANS,
        scope_label="Orphan notes only",
        passages=(passage(1, title=title), passage(2, title=title)),
        papers_in_scope=3,
    )


def answer(*, title: str = "Notes", refused: bool = False) -> Answer:
    return Answer(
        question="What does the engine do?",
        text=TEXT,
        citations=(citation(1, FIRST, title=title), citation(2, SECOND, support="partly", title=title)),
        evidence=evidence(title=title),
        refused=refused,
        provider="extractive",
        scope_label="Orphan notes only",
        audit=(verdict(FIRST, "supported", 1), verdict(SECOND, "partly", 2)),
        warnings=("One thing to know.",),
        timing={"total": 1.26},
        coverage=Coverage(3, 2, 2, (SilentPaper(9, "<b>A third</b>"),)),
    )

"""Small papers with real pages, and evidence over them, for tests of answers."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.chat.task import AnswerTask
from workbench.interfaces import ChatModel
from workbench.records import PAGE_BREAK, Evidence, Page, Passage
from workbench.retrieval.answerability import Answerability
from workbench.scope import Scope

ANSWERABLE = Answerability(True, 1.0, ())

FILTERS = (
    "Approximate indexes promise fast search over a whole collection.",
    "With a filter of ten papers the recall of a FAISS graph index fell to 0.205 [12]. "
    "The loss is the same for all graph indexes [3, 4].",
)
LOCKS = (
    "Opening and closing the library costs 10 ms on a quiet machine. One writer shuts out every reader.",
)


def pages_of_paper(paper_id: int, texts: Sequence[str]) -> list[Page]:
    pages, start = [], 0
    for number, text in enumerate(texts, start=1):
        pages.append(Page(paper_id, number, None, text, start, start + len(text)))
        start += len(text) + len(PAGE_BREAK)
    return pages


def passage(
    n: int, paper_id: int, texts: Sequence[str], *, title: str = "Filters and indexes", score: float = 1.0
) -> Passage:
    text = PAGE_BREAK.join(texts)
    return Passage(
        n=n, chunk_id=10 * paper_id + n, paper_id=paper_id, title=title, file=f"{paper_id}.pdf", page_start=1,
        page_end=len(texts), text=text, score=score, vector_rank=n, keyword_rank=n, char_start=0,
        char_end=len(text), year=2026,
    )  # fmt: skip


def evidence(*passages: Passage, question: str = "How far did recall fall?", papers: int = 2) -> Evidence:
    return Evidence(question, Scope.ALL, "All notes", passages, papers_in_scope=papers)


def task(
    model: ChatModel | None,
    *,
    question: str = "How far did the recall of a graph index fall with a filter?",
    found: Evidence | None = None,
    answerable: Answerability = ANSWERABLE,
    warnings: tuple[str, ...] = (),
) -> AnswerTask:
    """A task over two papers, unless other evidence is given."""
    two = (passage(1, 1, FILTERS), passage(2, 2, LOCKS, title="Locks and leases", score=0.5))
    evidence_at_hand = evidence(*two, question=question) if found is None else found
    texts = {p.paper_id: p.text.split(PAGE_BREAK) for p in evidence_at_hand.passages}
    return AnswerTask(
        question=question,
        evidence=evidence_at_hand,
        pages_of=lambda p: pages_of_paper(p.paper_id, texts[p.paper_id]),
        chat_model=model,
        answerable=answerable,
        warnings=warnings,
    )

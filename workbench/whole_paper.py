"""A whole paper as the evidence of one question, page by page, for models whose window holds it."""

from __future__ import annotations

from duckdb import DuckDBPyConnection

from workbench.gathering import Found
from workbench.records import Evidence, Page, Paper, Passage
from workbench.retrieval.answerability import judge_answerable
from workbench.scope import Scope
from workbench.storage import papers


def whole_paper(cursor: DuckDBPyConnection, user: str, paper_id: int, *, query: str) -> Found:
    """Every page that has text as a numbered passage, in reading order. Raises NotFoundError for a paper that
    is not the user's.

    These passages are no chunks: their ``chunk_id`` is 0, and nothing of them was ranked.
    """
    paper = papers.get(cursor, user, paper_id)
    pages = [page for page in papers.pages(cursor, paper.id) if page.text.strip()]
    evidence = Evidence(
        query=query,
        scope=Scope.ORPHANS,
        scope_label=paper.title,
        passages=tuple(_passage(n, paper, page) for n, page in enumerate(pages, start=1)),
        papers_in_scope=1,
        parameters={"paper": paper.id, "mode": "whole paper"},
    )
    verdict = judge_answerable(query, [p.text for p in pages], chosen=len(pages), best_cosine=None)
    return Found(evidence, tuple(pages), verdict)


def _passage(n: int, paper: Paper, page: Page) -> Passage:
    return Passage(
        n=n,
        chunk_id=0,
        paper_id=paper.id,
        title=paper.title,
        file=paper.file,
        page_start=page.page,
        page_end=page.page,
        text=page.text,
        score=1.0,
        vector_rank=None,
        keyword_rank=None,
        char_start=page.char_start,
        char_end=page.char_end,
        page_unit=paper.page_unit,
        authors=paper.authors,
        year=paper.year,
    )

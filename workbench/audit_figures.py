"""``wb.evaluate_audit``: how well the citation audit does on true and false sentences of one's papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from workbench.asking import Asking
from workbench.errors import InvalidInputError
from workbench.evaluation.audit_set import TRUE_KINDS, AuditItem, AuditPaper, audit_items, verdict_of
from workbench.evaluation.intervals import check_options, estimates
from workbench.evaluation.metrics import NOTHING, Share, audit_shares
from workbench.records import Chunk, Paper, Passage
from workbench.retrieval.audit import audit_text
from workbench.scope import Scope
from workbench.storage import chunks, papers, scopes

if TYPE_CHECKING:
    import pandas

COLUMNS = ("metric", "mean", "low", "high", "sentences")


def evaluate_audit(
    asking: Asking, *, scope: Scope, per_kind: int, seed: int, confidence: float, resamples: int
) -> pandas.DataFrame:
    """See ``Workbench.evaluate_audit``."""
    import pandas

    check_options(confidence, resamples)
    if isinstance(per_kind, bool) or not isinstance(per_kind, int) or not 1 <= per_kind <= 1000:
        raise InvalidInputError(f"per_kind={per_kind!r}: allowed is a whole number from 1 to 1,000.")
    items = audit_items(_papers(asking, scope), seed=seed, per_kind=per_kind)
    if not items:
        raise InvalidInputError("The papers of this scope hold no sentence that could be checked.")
    judged = [(item, verdict_of(item, audit_text) == "unsupported") for item in items]
    shares = [audit_shares([(flagged, _is_true(item))]) | _of_kind(item, flagged) for item, flagged in judged]
    rows = []
    for name in dict.fromkeys(name for one in shares for name in one):
        counted = [s for one in shares if (s := one.get(name, NOTHING)).whole > 0]
        if counted:
            rows.append(_row(name, counted, confidence, resamples, seed))
    return pandas.DataFrame(rows, columns=list(COLUMNS))


def _row(
    name: str, shares: list[Share], confidence: float, resamples: int, seed: int
) -> tuple[str, float, float, float, int]:
    parts, wholes = (numpy.array([[getattr(s, side) for s in shares]]) for side in ("part", "whole"))
    [found] = estimates(parts, wholes, confidence=confidence, resamples=resamples, seed=seed)
    return name, found.mean, found.low, found.high, found.questions


def _is_true(item: AuditItem) -> bool:
    return item.kind in TRUE_KINDS


def _of_kind(item: AuditItem, flagged: bool) -> dict[str, Share]:
    return {f"flagged, {item.kind}": Share(float(flagged), 1.0)}


def _papers(asking: Asking, scope: Scope) -> list[AuditPaper]:
    with asking.database.read() as cursor:
        ids = scopes.paper_ids(cursor, asking.user, scope)
        held = papers.list_papers(cursor, asking.user, ids)
        found = chunks.of_papers(cursor, ids)
    by_paper: dict[int, list[Chunk]] = {}
    for chunk in found:
        by_paper.setdefault(chunk.paper_id, []).append(chunk)
    return [
        AuditPaper("scope", paper.file, tuple(_passage(n, c, paper) for n, c in enumerate(of, start=1)))
        for paper in held
        if (of := by_paper.get(paper.id))
    ]


def _passage(n: int, chunk: Chunk, paper: Paper) -> Passage:
    return Passage(
        n=n,
        chunk_id=chunk.id,
        paper_id=paper.id,
        title=paper.title,
        file=paper.file,
        page_start=chunk.page_start,
        page_end=chunk.page_end,
        text=chunk.text,
        score=1.0,
        vector_rank=None,
        keyword_rank=None,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        page_unit=paper.page_unit,
    )

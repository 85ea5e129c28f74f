"""The ledger and the stored retrievals."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from workbench.errors import InvalidInputError, NotFoundError
from workbench.records import Dropped, Evidence, Passage, StageEnd
from workbench.scope import Scope
from workbench.storage import ledger, papers, retrievals
from workbench.storage.database import Database
from workbench.storage.retrievals import RetrievedChunk


def passage(n: int, chunk_id: int, paper_id: int) -> Passage:
    return Passage(
        n=n, chunk_id=chunk_id, paper_id=paper_id, title="T", file="t.txt", page_start=1, page_end=1,
        text="text", score=1 / n, vector_rank=n, keyword_rank=None, char_start=0, char_end=4,
    )  # fmt: skip


def test_the_ledger_keeps_what_became_of_each_stage(database: Database) -> None:
    with database.write() as cursor:
        ledger.record(cursor, "ann", file="/home/ann/a.pdf", stage="read", state="done", seconds=0.5)
        ledger.record(
            cursor,
            "ann",
            file="b.pdf",
            stage="embed",
            state="failed",
            seconds=1,
            sha256="ff",
            error="two\nlines\x00",
        )
        ledger.record(cursor, "bob", file="c.pdf", stage="read", state="done", seconds=0)
    with database.read() as cursor:
        ends = ledger.stage_ends(cursor, "ann")
    assert ends == [
        StageEnd(None, "a.pdf", "read", "done", None, 0.5, ends[0].finished_at),
        StageEnd(None, "b.pdf", "embed", "failed", "two lines\ufffd", 1.0, ends[1].finished_at),
    ]
    assert all(end.finished_at.utcoffset() is not None for end in ends)


@pytest.mark.parametrize(("stage", "state"), [("guess", "done"), ("read", "maybe")])
def test_the_ledger_knows_its_words(database: Database, stage: str, state: str) -> None:
    with pytest.raises(InvalidInputError, match="no ledger entry"), database.write() as cursor:
        ledger.record(cursor, "ann", file="a", stage=stage, state=state, seconds=0)


@pytest.mark.parametrize("scope", [Scope.ORPHANS, Scope.ALL, Scope(7)])
def test_a_retrieval_can_be_replayed(database: Database, scope: Scope) -> None:
    evidence = Evidence(
        query="what?\x00",
        scope=scope,
        scope_label="label",
        passages=(passage(1, 10, 1), passage(2, 20, 2)),
        dropped=(Dropped(30, 3, 0.1, "below the minimum"), Dropped(31, 3, 0.2, "over the cap")),
        parameters={"top_k": 15, "mode": "hybrid"},
        timing={"vector": 0.01},
    )
    with database.write() as cursor:
        retrieval_id = retrievals.record(cursor, "ann", evidence)
    with database.read() as cursor:
        found = retrievals.get(cursor, "ann", retrieval_id)
        with pytest.raises(NotFoundError):
            retrievals.get(cursor, "bob", retrieval_id)
    assert (found.query, found.scope, found.parameters, found.timing) == (
        "what?\ufffd", scope, {"top_k": 15, "mode": "hybrid"}, {"vector": 0.01},
    )  # fmt: skip
    assert found.chunks == (
        RetrievedChunk(1, 10, 1, 1.0, 1, None, None),
        RetrievedChunk(2, 20, 2, 0.5, 2, None, None),
        RetrievedChunk(None, 31, 3, 0.2, None, None, "over the cap"),
        RetrievedChunk(None, 30, 3, 0.1, None, None, "below the minimum"),
    )


def test_a_retrieval_that_found_nothing_is_stored_too(database: Database) -> None:
    with database.write() as cursor:
        retrieval_id = retrievals.record(cursor, "ann", Evidence("q", Scope.ALL, "All notes", ()))
        assert retrievals.get(cursor, "ann", retrieval_id).chunks == ()


def test_a_removed_paper_leaves_the_stored_retrievals(
    database: Database, add_paper: Callable[..., int]
) -> None:
    gone, kept = add_paper("gone"), add_paper("kept")
    with database.write() as cursor:
        evidence = Evidence("q", Scope.ALL, "All notes", (passage(1, 1, gone), passage(2, 5, kept)))
        retrieval_id = retrievals.record(cursor, "ann", evidence)
        papers.unlink(cursor, "ann", gone)
        assert [c.paper_id for c in retrievals.get(cursor, "ann", retrieval_id).chunks] == [kept]

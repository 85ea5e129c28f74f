from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import InvalidInputError, NotFoundError, Workbench


def test_a_file_that_failed_leaves_the_users_own_ledger_and_papers_keep_their_entries(
    open_as: Callable[..., Workbench], tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    ann, bob = open_as("ann"), open_as("bob")
    for wb in (ann, bob):
        wb.papers.add_many([tmp_path / "broken.pdf"])
    kept = len(ann.sql("SELECT * FROM ledger WHERE paper_id IS NOT NULL"))
    ann.papers.forget_file("broken.pdf")
    assert len(ann.sql("SELECT * FROM ledger WHERE file = 'broken.pdf'")) == 0
    assert len(ann.sql("SELECT * FROM ledger")) == kept > 0
    assert len(bob.sql("SELECT * FROM ledger WHERE file = 'broken.pdf'")) == 1


@pytest.mark.parametrize(("given", "error"), [("nowhere.pdf", NotFoundError), (7, InvalidInputError)])
def test_what_the_ledger_does_not_have_cannot_be_forgotten(
    open_as: Callable[..., Workbench], given: str, error: type[Exception]
) -> None:
    wb = open_as("ann")
    with pytest.raises(error):
        wb.papers.forget_file(given)

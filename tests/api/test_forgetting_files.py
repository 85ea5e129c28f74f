from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench import InvalidInputError, NotFoundError, Settings, Workbench


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


def test_the_stages_are_told_as_they_ended_last_of_papers_and_of_files_that_became_none(
    open_as: Callable[..., Workbench], tmp_path: Path
) -> None:
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    (tmp_path / "later.md").write_bytes(b"")
    wb, other = open_as("ann"), open_as("bob")
    before = wb.papers.stage_ends()
    wb.papers.add_many([tmp_path / "broken.pdf", tmp_path / "later.md"])
    (tmp_path / "later.md").write_text("# Later\n\nWords of a paper that can be read now.\n")
    later = wb.papers.add(tmp_path / "later.md")
    wb.papers.reprocess(later)
    new = [end for end in wb.papers.stage_ends() if end not in before]
    assert [(e.paper_id, e.file, e.stage, e.state, bool(e.error)) for e in new] == [
        (None, "broken.pdf", "read", "failed", True),
        *((later.id, "later.md", stage, "done", False) for stage in ("read", "chunk", "embed", "index")),
    ]
    assert all(end.finished_at.utcoffset() is not None and end.seconds >= 0 for end in new)
    assert not {"broken.pdf", "later.md"} & {end.file for end in other.papers.stage_ends()}
    wb.papers.remove(later)
    wb.papers.forget_file("broken.pdf")
    assert wb.papers.stage_ends() == before


def test_a_name_that_leads_to_no_file_is_told_and_not_kept_in_the_ledger(
    open_as: Callable[..., Workbench], tmp_path: Path
) -> None:
    (tmp_path / "no papers").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "gone.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "large.md").write_text("One paper too large to add. " * 80_000)
    wb = open_as("ann", settings=Settings(max_file_mb=1))
    before = wb.papers.stage_ends()
    names = ["nowhere.pdf", "no papers", "folder", "a\0b", "", "~nosuchuser/x.pdf"]
    report = wb.papers.add_many([name if name[:1] in ("", "~") else str(tmp_path / name) for name in names])
    assert [(f.file, f.status, f.error) for f in report.files] == [
        ("nowhere.pdf", "failed", "there is no such file"),
        ("no papers", "failed", "the folder holds no files"),
        ("gone.md", "failed", "the link leads nowhere"),
        ("a\0b", "failed", "the file cannot be opened: embedded null byte"),
        ("unnamed", "failed", "the path is empty"),
        ("x.pdf", "failed", "the file cannot be opened: Could not determine home directory."),
    ]
    assert wb.papers.stage_ends() == before
    wb.papers.add_many([tmp_path / "large.md"])
    [kept] = [end for end in wb.papers.stage_ends() if end not in before]
    assert (kept.file, kept.state) == ("large.md", "failed"), "a file that is there stays until it is added"


@pytest.mark.parametrize(("given", "error"), [("nowhere.pdf", NotFoundError), (7, InvalidInputError)])
def test_what_the_ledger_does_not_have_cannot_be_forgotten(
    open_as: Callable[..., Workbench], given: str, error: type[Exception]
) -> None:
    wb = open_as("ann")
    with pytest.raises(error):
        wb.papers.forget_file(given)

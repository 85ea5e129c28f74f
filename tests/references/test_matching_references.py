from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from workbench.records import Paper, Reference
from workbench.references.matching import match_references

PAPER = Paper(
    id=1,
    title="Deep Learning for Minerals",
    file="lecun.pdf",
    kind="pdf",
    pages=3,
    chunks=3,
    page_unit="page",
    state="ready",
    authors=("Yann LeCun",),
    year=2015,
    doi="10.1000/dl",
    source_id=None,
    sha256="0",
    shared=False,
    added_at=datetime(2020, 1, 1, tzinfo=UTC),
)
REFERENCE = Reference("k", "article", None, (), None, None, (), {})


def outcome(
    references: list[Reference], papers: list[Paper]
) -> tuple[list[tuple[str | None, int, str]], list[str]]:
    matched, unmatched = match_references(references, papers)
    return [(m.key, m.paper_id, m.by) for _, m in matched], [u.reason for u in unmatched]


def test_case_accents_and_punctuation_of_a_title_make_no_difference() -> None:
    found = replace(REFERENCE, title="Deep learning — for “Minerals”.")
    assert outcome([found], [PAPER]) == ([("k", 1, "title")], [])


def test_a_title_with_another_doi_is_another_work() -> None:
    other = replace(REFERENCE, title=PAPER.title, doi="10.1000/other")
    assert outcome([other], [PAPER]) == ([], ["no paper fits by DOI, file or title"])


def test_a_title_of_two_papers_fits_the_one_whose_year_or_author_agrees_else_none() -> None:
    twin = replace(PAPER, id=2, authors=("Ada Byron",), year=1843, doi=None)
    first = replace(PAPER, doi=None)
    by_year = replace(REFERENCE, title=PAPER.title, year=1843)
    by_author = replace(REFERENCE, title=PAPER.title, authors=("Y. LeCun",))
    neither = replace(REFERENCE, title=PAPER.title)
    assert outcome([by_year], [first, twin]) == ([("k", 2, "title")], [])
    assert outcome([by_author], [first, twin]) == ([("k", 1, "title")], [])
    assert outcome([neither], [first, twin]) == ([], ["2 papers fit by title"])


def test_a_short_title_needs_a_year_or_an_author_too() -> None:
    editorial = replace(PAPER, title="Editorial", doi=None)
    assert outcome([replace(REFERENCE, title="Editorial")], [editorial])[0] == []
    assert outcome([replace(REFERENCE, title="Editorial", year=2015)], [editorial])[0] == [("k", 1, "title")]


def test_a_doi_goes_before_a_title_whatever_the_order_in_the_file() -> None:
    by_title = replace(REFERENCE, key="t", title=PAPER.title)
    by_doi = replace(REFERENCE, key="d", doi="10.1000/dl")
    assert outcome([by_title, by_doi], [PAPER]) == (
        [("d", 1, "doi")],
        ["“Deep Learning for Minerals” has a reference of this file already"],
    )


def test_two_copies_with_one_doi_both_get_its_reference() -> None:
    copy = replace(PAPER, id=2, title="Preprint")
    assert outcome([replace(REFERENCE, doi="10.1000/dl")], [PAPER, copy])[0] == [
        ("k", 1, "doi"),
        ("k", 2, "doi"),
    ]


def test_two_papers_of_one_file_name_are_told_apart_by_title() -> None:
    named = replace(REFERENCE, title=PAPER.title, files=("paper.pdf",))
    papers = [
        replace(PAPER, file="Paper.pdf", doi=None),
        replace(PAPER, id=2, file="paper.pdf", title="Other"),
    ]
    assert outcome([named], papers) == ([("k", 1, "file")], [])
    assert outcome([replace(named, title="Neither one of them")], papers) == ([], ["2 papers fit by file"])

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.records import Answer, Citation, Evidence, Passage, Reference
from workbench.references.markdown import cited_markdown
from workbench.references.reading import read_references
from workbench.references.writing import bibtex, with_keys
from workbench.scope import Scope


def reference(**given: object) -> Reference:
    values: dict[str, object] = {
        "key": None, "entry_type": "misc", "title": None, "authors": (), "year": None, "doi": None,
        "files": (), "fields": {},
    }  # fmt: skip
    return Reference(**{**values, **given})  # type: ignore[arg-type]  # the fields of a Reference


def test_keys_are_author_year_and_word_and_never_the_same_twice() -> None:
    same = reference(title="On the Origin of Minerals", authors=("Änne Müller",), year=2019)
    named = reference(key="muller2019origin")
    keyed = with_keys({1: same, 2: same, 3: named, 4: reference(), 5: reference(key="a b,{c}")})
    assert [r.key for r in keyed.values()] == [
        "muller2019origina",
        "muller2019originb",
        "muller2019origin",
        "paper",
        "abc",
    ]


WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=12)


@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
def test_no_title_breaks_the_file_it_is_written_to(title: str) -> None:
    entries = {1: reference(title=title, key="first"), 2: reference(title="Safe", key="second")}
    back, warnings = read_references(bibtex(entries.values()))
    assert ([r.key for r in back], back[1].title, warnings) == (["first", "second"], "Safe", ())


def test_what_latex_would_read_comes_back_as_it_was() -> None:
    title = r"50 % of H_2O & x #1 $5 ~ a\b"
    [back] = read_references(bibtex([reference(title=title, key="k")]))[0]
    assert back.title == title


def test_a_paper_of_one_author_names_that_author_whether_imported_or_not() -> None:
    plain = reference(authors=("Grace Hopper",), key="a")
    imported = reference(authors=("Grace Hopper",), key="b", fields={"author": "Hopper, Grace"})
    none = reference(key="c")
    assert [line for line in bibtex([plain, imported, none]).splitlines() if "author" in line] == [
        "  author = {Grace Hopper},",
        "  author = {Hopper, Grace},",
    ]


def passage(n: int, paper_id: int, unit: str = "page") -> Passage:
    return Passage(n, n, paper_id, "T", "t.pdf", 4, 5, "text", 1.0, 1, 1, 0, 4, page_unit=unit)


def citation(n: int, paper_id: int, page: int, claim: tuple[int, int], label: str | None = None) -> Citation:
    return Citation(n, paper_id, "T", "t.pdf", page, "q", 0, 1, "supported", *claim, page_label=label)


def answer(text: str, *citations: Citation) -> Answer:
    evidence = Evidence("q", Scope.ALL, "All notes", (passage(1, 7), passage(2, 8), passage(3, 9, "section")))
    return Answer("q", text, citations, evidence, False, "fake", "All notes")


def test_each_marker_becomes_the_page_of_its_own_claim_and_neighbours_share_brackets() -> None:
    text = "One thing [1]. Another [1] [2]. A note [3]."
    made = answer(
        text,
        citation(1, 7, 4, (0, 14)),
        citation(1, 7, 5, (15, 31), label="1207"),
        citation(2, 8, 9, (15, 31)),
    )
    assert cited_markdown(made, {7: "a2019", 8: "weird key", 9: "n"}) == (
        "One thing [@a2019, p. 4]. Another [@a2019, p. 5 (printed 1207); @{weird key}, p. 9]."
        " A note [@n, sec. 4]."
    )


def test_at_signs_of_the_text_are_no_citations_and_a_marker_may_end_it() -> None:
    assert cited_markdown(answer("Ask me@x.org [2]"), {8: "b"}) == r"Ask me\@x.org [@b, p. 4]"
    assert cited_markdown(answer("[2][1] Both."), {7: "a", 8: "b"}) == "[@b, p. 4; @a, p. 4] Both."

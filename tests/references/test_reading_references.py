from __future__ import annotations

import pytest

from workbench.errors import InvalidInputError
from workbench.records import Reference
from workbench.references.reading import doi_in, read_references, year_in


def one(text: str) -> Reference:
    [reference] = read_references(text)[0]
    return reference


def test_latex_in_titles_and_names_becomes_plain_text() -> None:
    found = one(
        r"@article{k, title={{\'E}tude of $\alpha$ \& \textit{in vivo} {H}ela, 5\%}, "
        r"author={G{\"o}del, Kurt and Erd\H{o}s, P\'al}}"
    )
    assert (found.title, found.authors) == ("Étude of α & in vivo Hela, 5%", ("Kurt Gödel", "Pál Erdős"))
    assert found.fields["author"] == "Gödel, Kurt and Erdős, Pál"


@pytest.mark.parametrize(
    ("field", "files"),
    [
        ("a.pdf", ("a.pdf",)),
        ("/home/x/a.pdf", ("a.pdf",)),
        (":C\\:/Users/x/a.pdf:PDF", ("a.pdf",)),
        (
            "Full Text:files/12/a b.pdf:application/pdf;Snapshot:files/13/page.html:text/html",
            ("a b.pdf", "page.html"),
        ),
        (r"D:C\:\\Users\\x\\a\;b.pdf:application/pdf", ("a;b.pdf",)),
        ("", ()),
    ],
)
def test_linked_files_are_read_from_the_forms_that_programs_write(field: str, files: tuple[str, ...]) -> None:
    assert one(f"@misc{{k, title={{T}}, file={{{field}}}}}").files == files


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1000/abc.", "10.1000/abc"),
        ("doi:10.1000/a(b)c", "10.1000/a(b)c"),
        ("none", None),
    ],
)
def test_a_doi_is_one_however_it_is_written(text: str, doi: str | None) -> None:
    assert doi_in(text) == doi


def test_a_year_is_found_in_any_date() -> None:
    assert [year_in(t) for t in ("2019", "2019/05//", "May 2019", "n.d.", "12019")] == [
        2019,
        2019,
        2019,
        None,
        None,
    ]


def test_an_entry_whose_key_or_field_occurs_twice_is_read_and_a_broken_one_is_counted() -> None:
    references, warnings = read_references(
        "@misc{a, title={One}}\n@misc{a, title={Two}}\n"
        "@misc{b, title={Three}, title={Four}}\n@misc{c, title={x\n"
    )
    assert [r.title for r in references] == ["One", "Two", "Three"]
    assert len(warnings) == 1
    assert warnings[0].startswith("1 entry of the file could not be read")


def test_a_ris_record_without_an_end_is_counted() -> None:
    text = "TY  - BOOK\nTI  - Whole\nA1  - Doe, Jane\nER  -\nTY  - JOUR\nTI  - Cut"
    references, warnings = read_references(text)
    assert [(r.entry_type, r.title) for r in references] == [("book", "Whole")]
    assert len(warnings) == 1


def test_other_text_holds_no_references() -> None:
    with pytest.raises(InvalidInputError, match="no references"):
        read_references("An email to a@b.org { }")

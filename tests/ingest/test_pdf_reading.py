from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from tests.ingest import made_files
from workbench.errors import DocumentError
from workbench.ingest.document import Document
from workbench.ingest.readers.pdf import numbers, read_pdf
from workbench.ingest.reading import read_document


def test_a_paper_is_read_with_its_pages_title_authors_and_headings(tmp_path: Path) -> None:
    pages = [
        [
            *made_files.lines_down(["doi:10.1234/abc.5678", "© 2021 The Authors"], top=800),
            (72, 700, "We measure what nobody measured before, and it is large."),
        ],
        made_files.lines_down(["The second page ends the paper."]),
    ]
    path = made_files.pdf(
        tmp_path / "p.pdf",
        pages,
        title="We measure what nobody measured before",
        author="Ann Author; Bob Writer",
    )
    document = read_pdf(path)
    assert [page.text for page in document.pages] == [
        "doi:10.1234/abc.5678 © 2021 The Authors\n\nWe measure what nobody measured before, and it is large.",
        "The second page ends the paper.",
    ]
    assert document.title == "We measure what nobody measured before"
    assert (document.authors, document.year, document.doi) == ((), 2021, "10.1234/abc.5678")
    assert (document.kind, document.page_unit, document.warnings) == ("pdf", "page", ())


def test_nothing_is_invented_for_a_paper_that_states_nothing(tmp_path: Path) -> None:
    path = made_files.text_pdf(tmp_path / "p.pdf")
    document = read_pdf(path)
    assert (document.title, document.authors, document.year, document.doi) == (None, (), None, None)


def test_the_file_information_of_a_template_is_not_taken_for_the_title(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "p.pdf"))
    canvas.setTitle("Microsoft Word - final_v3.docx")
    canvas.setFont("Times-Bold", 20)
    canvas.drawString(72, 760, "A Real Title in Large Print")
    canvas.setFont("Times-Roman", 11)
    canvas.drawString(72, 735, "Ann B. Author, Bob Writer and Carl van Third")
    for index in range(12):
        canvas.drawString(72, 640 - 14 * index, "The abstract says what the paper says at greater length.")
    canvas.save()
    document = read_pdf(tmp_path / "p.pdf")
    assert document.title == "A Real Title in Large Print"
    assert document.authors == ("Ann B. Author", "Bob Writer", "Carl van Third")


def test_two_columns_drawn_in_turns_come_out_one_after_the_other(tmp_path: Path) -> None:
    lefts = [f"Left line {w} of the first column" for w in ("one", "two", "three", "four")]
    rights = [f"Right line {w} of the second one" for w in ("one", "two", "three", "four")]
    placed = [(72.0, 790.0, "A title that stands over both of the columns and is wide enough for them")]
    for index, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        placed += [(72, 740 - 14 * index, left), (310, 740 - 14 * index, right)]
    text = read_pdf(made_files.pdf(tmp_path / "p.pdf", [placed])).pages[0].text
    order = [text.index(line) for line in [placed[0][2], *lefts, *rights]]
    assert order == sorted(order)


def test_words_broken_at_line_ends_are_whole_again(tmp_path: Path) -> None:
    lines = ["What is driving cli-", "mate change is a well-known question, and a well-", "known answer."]
    text = read_pdf(made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(lines)])).pages[0].text
    assert text == "What is driving climate change is a well-known question, and a well-known answer."


def test_running_heads_and_page_numbers_are_left_out(tmp_path: Path) -> None:
    pages = [
        [
            (72, 800, "Journal of Examples"),
            *made_files.lines_down([f"The {word} page has a body.", "It has two lines."], top=700),
            (72, 400, "And a third one."),
            (290, 40, str(number)),
        ]
        for number, word in enumerate(["first", "second", "third", "fourth"], start=1)
    ]
    document = read_pdf(made_files.pdf(tmp_path / "p.pdf", pages))
    assert document.pages[2].text == "The third page has a body. It has two lines.\n\nAnd a third one."


def test_page_labels_are_kept_where_they_differ_from_the_page_number(shared: Path) -> None:
    document = read_pdf(shared / "hard-files" / "layout" / "page-labels-roman.pdf")
    assert [page.label for page in document.pages] == ["iii", "iv", "1", "2", "1"]


def test_a_file_locked_with_a_password_says_so_and_one_that_only_forbids_printing_is_read(
    tmp_path: Path,
) -> None:
    lines = [made_files.lines_down(["Readable without any password."])]
    free = made_files.pdf(tmp_path / "free.pdf", lines, password="")
    locked = made_files.pdf(tmp_path / "locked.pdf", lines, password="secret")
    assert read_pdf(free).pages[0].text == "Readable without any password."
    with pytest.raises(DocumentError, match="needs a password"):
        read_pdf(locked)


def test_scanned_pages_are_refused_or_listed(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="^scanned pages: no text layer, needs OCR$"):
        read_pdf(made_files.image_pdf(tmp_path / "scan.pdf", pages=2))


def test_a_file_with_some_scanned_pages_is_read_and_names_them(shared: Path) -> None:
    document = read_pdf(shared / "hard-files" / "scanned" / "multipage-mixed.pdf")
    assert len(document.pages) == 6
    assert document.pages[3].text
    assert document.warnings == ("No text layer on pages 1-3, 5-6: scanned, needs OCR to be searchable.",)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the file is empty"),
        (b"%PDF-1.4\n%%EOF\n", "damaged or incomplete"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 40, "damaged or incomplete"),
    ],
)
def test_damaged_files_have_a_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "p.pdf"
    path.write_bytes(data)
    with pytest.raises(DocumentError, match=reason):
        read_document(path, name="p.pdf")


def test_a_truncated_file_is_read_or_refused_but_never_read_as_nothing(tmp_path: Path) -> None:
    whole = made_files.text_pdf(tmp_path / "whole.pdf", pages=3).read_bytes()
    for share in (0.3, 0.6, 0.95):
        cut = tmp_path / f"cut{share}.pdf"
        cut.write_bytes(whole[: int(len(whole) * share)])
        try:
            document = read_document(cut, name=cut.name)
        except DocumentError:
            continue
        assert any(page.text for page in document.pages)


def test_a_page_that_cannot_be_read_leaves_the_others_and_their_numbers(tmp_path: Path) -> None:
    path = made_files.text_pdf(tmp_path / "p.pdf", pages=4)
    seen: list[int] = []
    document = read_pdf(path, skip={2}, at_page=seen.append)
    assert seen == [1, 2, 3, 4]
    assert [bool(page.text) for page in document.pages] == [True, False, True, True]
    assert "Page 3 says" in document.pages[2].text
    assert document.warnings == ("Could not read page 2: damaged; the rest of the paper was kept.",)


@pytest.mark.parametrize("instead", [b"null", b"42", b"<< /Type /Font >>"])
def test_a_page_that_is_none_leaves_the_others_and_their_numbers(tmp_path: Path, instead: bytes) -> None:
    path = made_files.pdf_with_a_broken_page(tmp_path / "p.pdf", instead=instead)
    document = read_pdf(path)
    assert [page.text for page in document.pages] == [
        "Page 1 says something of its own in words.",
        "",
        "Page 3 says something of its own in words.",
    ]
    assert document.warnings == ("Could not read page 2: damaged; the rest of the paper was kept.",)


def test_lists_of_pages_read_like_prose() -> None:
    assert (numbers([3]), numbers([1, 2, 3, 7]), numbers([2, 5])) == ("page 3", "pages 1-3, 7", "pages 2, 5")


def _tables_text(document: Document) -> str:
    return "\n".join(page.text for page in document.pages)


def test_the_rows_of_a_financial_table_are_lines(shared: Path) -> None:
    document = read_pdf(shared / "papers" / "sec-filings" / "BOEING_2022_10K.pdf")
    lines = _tables_text(document).split("\n")
    assert "Total assets $137,100 $138,552" in lines
    assert "Accounts payable $10,200 $9,261" in lines

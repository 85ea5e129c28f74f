from __future__ import annotations

from workbench.ingest.layout.columns import in_reading_order
from workbench.ingest.layout.headings import HeadingStyle
from workbench.ingest.layout.hyphens import Vocabulary, hyphen_between
from workbench.ingest.layout.lines import Cell, Line, PageLines
from workbench.ingest.layout.paragraphs import page_text
from workbench.ingest.layout.running_heads import without_running_heads

LEFT = [
    "The left column begins here and",
    "goes on in its second line with",
    "more words about the left side",
    "until it ends in the fourth one.",
]
RIGHT = [
    "The right column is read after",
    "the left one, although the file",
    "draws both of them row by row",
    "as some word processors do it.",
]


def line(
    text: str, *, left: float = 72, base: float = 700, width: float | None = None, **more: object
) -> Line:
    reach = left + (width if width is not None else 5.0 * len(text))
    return Line(text, left, reach, base, 10.0, **more)  # type: ignore[arg-type]  # fields by name


def page(*lines: Line) -> PageLines:
    return PageLines(595, 842, tuple(lines))


def joined(*lines: Line) -> str:
    style = HeadingStyle(10.0, {})
    return page_text(lines, page_index=0, style=style, vocabulary=Vocabulary(lines)).text


def row_by_row() -> list[Line]:
    """Rows as PDFium gives them when a file draws both columns of a row before the next row."""
    rows = []
    for index, (a, b) in enumerate(zip(LEFT, RIGHT, strict=True)):
        cells = (Cell(0, 72, 72 + 5 * len(a)), Cell(len(a) + 1, 310, 310 + 5 * len(b)))
        whole = Line(f"{a} {b}", 72, 310 + 5 * len(b), 700 - 12 * index, 10.0, cells=cells)
        rows.append(whole)
    return rows


def test_two_columns_drawn_row_by_row_are_read_one_after_the_other() -> None:
    title = line("A title over both columns of the page that is quite wide", base=740, width=440)
    foot = line("A line below both columns that crosses the middle of the page too", base=600, width=440)
    ordered = in_reading_order(page(title, *row_by_row(), foot))
    assert [one.text for one in ordered] == [title.text, *LEFT, *RIGHT, foot.text]


def test_columns_drawn_line_by_line_in_turns_are_read_one_after_the_other() -> None:
    turns = []
    for index, (a, b) in enumerate(zip(LEFT, RIGHT, strict=True)):
        turns += [line(a, base=700 - 12 * index), line(b, left=310, base=697 - 12 * index)]
    assert [one.text for one in in_reading_order(page(*turns))] == [*LEFT, *RIGHT]


def test_columns_in_reading_order_are_not_disturbed() -> None:
    lines = [line(text, base=700 - 12 * i) for i, text in enumerate(LEFT)]
    lines += [line(text, left=310, base=700 - 12 * i) for i, text in enumerate(RIGHT)]
    assert in_reading_order(page(*lines)) == tuple(lines)


def test_the_rows_of_a_table_stay_together() -> None:
    rows = []
    for index, (name, value) in enumerate(
        [("Net sales", "51,761"), ("Gross profit", "11,640"), ("Rent", "1,402")] * 2
    ):
        cells = (Cell(0, 72, 72 + 5 * len(name)), Cell(len(name) + 1, 330, 330 + 5 * len(value)))
        text = f"{name} {value}"
        rows.append(Line(text, 72, 330 + 5 * len(value), 700 - 12 * index, 10.0, cells=cells))
    assert in_reading_order(page(*rows)) == tuple(rows)
    assert joined(*rows).split("\n") == [row.text for row in rows]


def test_wrapped_lines_run_on_and_a_short_line_that_ends_a_sentence_ends_the_paragraph() -> None:
    text = joined(
        line("The first line of a paragraph is as wide as the column", base=700, width=300),
        line("and the second one ends early.", base=688, width=150),
        line("A new paragraph follows it directly, again over the full", base=676, width=300),
        line("width of the column.", base=664, width=100),
    )
    assert text == (
        "The first line of a paragraph is as wide as the column and the second one ends early.\n\n"
        "A new paragraph follows it directly, again over the full width of the column."
    )


def test_a_wide_gap_between_lines_is_a_blank_line() -> None:
    upper, lower = line("Above the gap", base=700), line("below the gap", base=650)
    assert joined(upper, lower) == "Above the gap\n\nbelow the gap"


def test_a_raised_note_mark_stays_on_its_line() -> None:
    word = line("as the world changes", base=700, width=100)
    mark = Line("1", 172.2, 175, 704, 7.0)
    assert joined(word, mark) == "as the world changes1"


def test_a_sentence_runs_on_into_the_next_column() -> None:
    text = joined(
        line("The left column is full and its last line stops in the", base=100, width=230),
        line("middle of a sentence.", left=310, base=700),
    )
    assert text == "The left column is full and its last line stops in the middle of a sentence."


def test_words_broken_at_a_line_end_are_joined_and_compounds_keep_their_hyphen() -> None:
    text = joined(
        line("The climate of a well-known valley was found by driving cli", base=700, width=300, hyphen=True),
        line("mate models, which are well", base=688, width=300, hyphen=True),
        line("known, state-of-the", base=676, width=300, hyphen=True),
        line("art and cover the art of the DNA", base=664, width=300, hyphen=True),
        line("binding sites.", base=652, width=80),
    )
    assert text == (
        "The climate of a well-known valley was found by driving climate models, which are well-known, "
        "state-of-the-art and cover the art of the DNA-binding sites."
    )


def test_what_a_document_writes_elsewhere_decides_about_a_hyphen() -> None:
    vocabulary = Vocabulary([line("zero-shot transfer without training, however long")])
    assert hyphen_between("a zero", "shot test", vocabulary) == "-"
    assert hyphen_between("with", "out it", vocabulary) == ""
    assert hyphen_between("IL", "6 levels", vocabulary) == "-"
    assert hyphen_between("infor", "mation", vocabulary) == ""
    assert hyphen_between("Jean", "Pierre", vocabulary) == "-"


def book(count: int) -> list[PageLines]:
    pages = []
    for number in range(1, count + 1):
        head = "The Journal of Examples" if number % 2 else f"{number} A. Author"
        lines = [
            line(head, base=800),
            line(f"Body text of page {number} that nobody may remove.", base=600),
            line("It is followed by another line.", base=588),
            line("And by a third one, in the middle.", base=400),
            line("And by a fourth.", base=300),
            line(str(number), left=290, base=40),
        ]
        pages.append(page(*lines))
    return pages


def test_running_heads_and_page_numbers_go_and_the_body_stays() -> None:
    cleaned = without_running_heads(book(8), body_size=10.0)
    assert [one.text for one in cleaned[3].lines] == [
        "Body text of page 4 that nobody may remove.",
        "It is followed by another line.",
        "And by a third one, in the middle.",
        "And by a fourth.",
    ]
    assert all(len(one.lines) == 4 for one in cleaned)


def test_numbers_that_do_not_count_with_the_pages_stay() -> None:
    values = ["17", "4", "123", "88"]
    pages = [page(line("Total of the day", base=700), line(value, base=40)) for value in values]
    cleaned = without_running_heads(pages, body_size=10.0)
    assert [one.lines[-1].text for one in cleaned] == values


def test_a_head_that_only_some_pages_share_stays_on_the_first_of_them() -> None:
    pages = [
        page(line("Plain body text", base=700 - n), line("Other words", base=300 - n)) for n in range(30)
    ]
    for number in range(10, 16):
        pages[number] = page(line("Form 8743 Display", base=800), *pages[number].lines)
    cleaned = without_running_heads(pages, body_size=10.0)
    with_head = [i for i, one in enumerate(cleaned) if any("8743" in x.text for x in one.lines)]
    assert with_head == [10]


def test_pages_that_say_the_same_keep_their_text() -> None:
    pages = [page(*[line(f"Line {w} of every page", base=760 - 12 * i) for i, w in enumerate("abcdef")])] * 5
    assert without_running_heads(pages, body_size=10.0) == pages


def test_headings_are_told_by_print_numbers_and_outline_and_stand_alone() -> None:
    style = HeadingStyle(10.0, {0: frozenset({"ourfindings"})})
    lines = [
        Line("A Title in Large Print", 72, 300, 760, 18.0),
        Line("1 Introduction", 72, 150, 730, 10.0, bold=True),
        line("Some text that is long enough to be no heading at all.", base=715),
        line("Our findings", base=690),
        line("Text again.", base=675),
        line("References", base=650),
    ]
    found = page_text(lines, page_index=0, style=style, vocabulary=Vocabulary(lines))
    assert [found.text[a:b] for a, b in found.headings] == [
        "A Title in Large Print",
        "1 Introduction",
        "Our findings",
        "References",
    ]
    assert "\n\n1 Introduction\n\nSome text" in found.text

"""The page viewer's state: the cited page, its mark, turning, stepping through citations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tests.widgets.scripted import PNG, ScriptedWorkbench, paper
from widgets.panel import at_once
from widgets.viewer.placing import part_on_page, place_quote
from widgets.viewer.quoting import reference
from widgets.viewer.state import IMAGE_WIDTH, ViewerState
from workbench import DocumentError, NotFoundError, Page, ReaderCrashedError

TEXT = "Ada wrote notes. She wrote notes.\nThey were\nlong."


def cited(
    paper_id: int, page: int, quote: str = "wrote notes", start: int = 0, end: int = 0
) -> dict[str, Any]:
    return {"paper": paper_id, "page": page, "quote": quote, "start": start, "end": end}


@pytest.fixture
def viewer(scripted: ScriptedWorkbench) -> ViewerState:
    for id in (1, 2):
        scripted.papers.held[id] = paper(id, title=f"Paper {id}")
    note = dataclasses.replace(paper(3, title="A note", kind="md"), pages=2)
    scripted.papers.held[3] = note
    scripted.papers.texts[3] = [
        Page(3, 1, None, "First section.", 0, 14),
        Page(3, 2, None, TEXT, 16, 16 + len(TEXT)),
    ]
    return ViewerState(scripted, run=at_once)  # type: ignore[arg-type]


def test_a_citation_opens_its_page_with_the_passage_marked(viewer: ViewerState) -> None:
    viewer.show_citation([cited(1, 1), cited(2, 3)], 1)
    shown = (viewer.title, viewer.page, viewer.pages, viewer.citation, viewer.citations, viewer.marked)
    assert shown == ("Paper 2", 3, 3, 1, 2, "yes")
    assert (viewer.image, viewer.boxes, viewer.loading) == (PNG, [[0.1, 0.2, 0.9, 0.25]], False)


def test_the_head_knows_the_marker_of_the_answer_and_the_printed_page(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    scripted.papers.texts[2] = [Page(2, n, str(500 + n), "", 0, 0) for n in (1, 2, 3)]
    viewer.show_citation([cited(1, 1), {**cited(2, 3), "n": 9}], 1)
    assert (viewer.cited_as, viewer.marker, viewer.label) == ("citation", 9, "503")
    viewer.show_citation([{**cited(1, 1), "n": 4, "score": 0.5}], 0)
    assert (viewer.cited_as, viewer.marker, viewer.label) == ("passage", 4, "")


def test_a_passage_that_cannot_be_placed_marks_nothing_and_says_so(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    scripted.papers.found = False
    viewer.show_citation([cited(1, 2)], 0)
    assert (viewer.boxes, viewer.marked, viewer.image) == ([], "no", PNG)


def test_turning_leaves_the_mark_on_its_own_page(viewer: ViewerState) -> None:
    viewer.show_citation([cited(1, 2)], 0)
    seen = []
    for page in (3, 2, 0, 4):
        viewer.act({"do": "turn_to", "with": {"page": page}})
        seen.append((viewer.page, viewer.marked, len(viewer.boxes)))
    assert seen == [(3, "", 0), (2, "yes", 1), (2, "yes", 1), (2, "yes", 1)]


def test_next_and_previous_go_round_the_citations_of_the_answer(viewer: ViewerState) -> None:
    viewer.show_citation([cited(1, 1), cited(2, 2), cited(1, 3)], 2)
    seen = []
    for by in (1, 1, -1, -1):
        viewer.act({"do": "step_citation", "with": {"by": by}})
        seen.append((viewer.citation, viewer.paper, viewer.page))
    assert seen == [(0, 1, 1), (1, 2, 2), (0, 1, 1), (2, 1, 3)]


def test_a_paper_opens_at_its_first_page_without_a_mark(viewer: ViewerState) -> None:
    viewer.show_citation([cited(1, 2)], 0)
    viewer.show_paper(2)
    assert (viewer.paper, viewer.page, viewer.citation, viewer.quote, viewer.marked) == (2, 1, -1, "", "")


def test_a_page_is_drawn_with_one_pixel_for_each_of_the_screen(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    viewer.show_citation([cited(1, 2)], 0)
    assert scripted.papers.views[0] == (1, 2, "wrote notes", IMAGE_WIDTH)
    widths = []
    viewer.act({"do": "fit", "with": {"width": 428, "ratio": 2}})
    for steps in (1, 1, -1, -5, 0):
        assert viewer._wanted is not None
        widths.append((viewer.zoom, viewer._wanted.width))
        viewer.act({"do": "zoom_by", "with": {"steps": steps}})
    assert widths == [(1.0, 856), (1.25, 1070), (1.5, 1284), (1.25, 1070), (0.5, 428)]
    assert (viewer.zoom, viewer.marked, viewer.page) == (1.0, "yes", 2)


@pytest.mark.parametrize("told", [(0, 1), (-5, 2), (float("nan"), 1), (400, float("inf"))])
def test_a_column_without_a_width_draws_nothing_anew(
    scripted: ScriptedWorkbench, viewer: ViewerState, told: tuple[float, float]
) -> None:
    viewer.show_citation([cited(1, 2)], 0)
    drawn = viewer.drawn
    viewer.act({"do": "fit", "with": {"width": told[0], "ratio": told[1]}})
    assert (viewer.drawn, viewer.error) == (drawn, "")


def test_the_pages_likely_to_come_next_are_fetched_ahead_once(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    viewer.show_citation([cited(1, 1), cited(2, 2, "other words")], 0)
    ahead = [(1, 1, "wrote notes"), (2, 2, "other words"), (1, 2, None)]
    assert [view[:3] for view in scripted.papers.views] == ahead
    viewer.act({"do": "turn_to", "with": {"page": 2}})
    assert viewer.page == 2
    assert [view[:3] for view in scripted.papers.views][3:] == [(1, 3, None)]


def test_the_first_page_of_an_answer_is_made_ready_and_then_not_drawn_again(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    answer = [cited(1, 2), cited(2, 1)]
    viewer.prepare([])
    viewer.prepare(answer)
    assert (viewer.paper, viewer.image, scripted.papers.views) == (
        0,
        b"",
        [(1, 2, "wrote notes", IMAGE_WIDTH)],
    )
    viewer.show_citation(answer, 0)
    assert [view[:2] for view in scripted.papers.views] == [(1, 2), (2, 1), (1, 3)]
    assert viewer.image == PNG


def test_what_is_kept_of_pages_stays_small(scripted: ScriptedWorkbench, viewer: ViewerState) -> None:
    scripted.papers.held[1] = paper(1, pages=1000)
    viewer.show_paper(1)
    for page in range(2, 40):
        viewer.act({"do": "turn_to", "with": {"page": page}})
    assert len(viewer._source._kept) == 4


def test_a_format_without_page_images_shows_its_section_with_the_mark(viewer: ViewerState) -> None:
    start = 16 + TEXT.index("They")
    viewer.show_citation([cited(3, 2, "They were long.", start, start + 15)], 0)
    assert (viewer.image, viewer.text, viewer.unit, viewer.marked) == (b"", TEXT, "section", "yes")
    ((a, b),) = viewer.spans
    assert viewer.text[a:b] == "They were\nlong."


@pytest.mark.parametrize(
    ("quote", "expected", "found"),
    [
        ("wrote notes", (4, 15), (4, 15)),
        ("wrote notes", (21, 32), (21, 32)),
        ("wrote notes", (0, 5), None),
        ("They were long.", (0, 0), (34, 49)),
        ("never written", (0, 13), None),
        ("", (0, 0), None),
    ],
)
def test_a_quote_is_placed_with_certainty_or_not_at_all(
    quote: str, expected: tuple[int, int], found: tuple[int, int] | None
) -> None:
    assert place_quote(TEXT, quote, expected) == found


@pytest.mark.parametrize(
    ("expected", "part"),
    [
        ((4, 15), "as given"),
        ((-20, 17), "Ada wrote notes."),
        ((38, 90), None),
        ((17, 90), "She wrote notes. They were long."),
        ((60, 90), None),
        ((-9, 0), None),
    ],
)
def test_a_quote_that_goes_on_to_another_page_has_its_part_on_each(
    expected: tuple[int, int], part: str | None
) -> None:
    quote = "Before it Ada wrote notes. She wrote notes. They were long. And after."
    assert part_on_page(TEXT, "as given" if part == "as given" else quote, expected) == part


def test_a_passage_over_two_pages_is_marked_on_both(scripted: ScriptedWorkbench, viewer: ViewerState) -> None:
    first, second = "It begins at the end of one page", "and ends at the top of the next."
    scripted.papers.texts[1] = [
        Page(1, 1, None, first, 0, len(first)),
        Page(1, 2, None, second, len(first) + 2, len(first) + 2 + len(second)),
        Page(1, 3, None, "", 999, 999),
    ]
    whole = cited(1, 1, f"{first}\n\n{second}", 0, len(first) + 2 + len(second))
    viewer.show_citation([whole], 0)
    viewer.act({"do": "turn_to", "with": {"page": 2}})
    assert viewer.marked == "yes"
    viewer.act({"do": "turn_to", "with": {"page": 3}})
    assert viewer.marked == ""
    assert [view[2] for view in scripted.papers.views] == [first, second, None]


def test_a_page_is_found_by_its_number_or_by_the_label_printed_on_it(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    scripted.papers.texts[2] = [
        Page(2, n, label, "", 0, 0) for n, label in ((1, "ii"), (2, None), (3, "503"))
    ]
    viewer.show_paper(2)
    seen = []
    for where in ("503", "2", " II ", "99", ""):
        viewer.act({"do": "go_to", "with": {"where": where}})
        seen.append((viewer.page, viewer.error))
    told = "There is no page “99”: they count from 1 to 3."
    assert seen == [(3, ""), (2, ""), (1, ""), (1, told), (1, "")]


def test_a_label_is_looked_up_beside_the_main_thread_and_not_for_a_page_closed_meanwhile(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    scripted.papers.texts[2] = [Page(2, n, f"{n}a", "", 0, 0) for n in (1, 2, 3)]
    viewer.show_paper(2)
    waiting: list[Callable[[], None]] = []
    viewer._run = waiting.append
    viewer.act({"do": "go_to", "with": {"where": "3a"}})
    assert (viewer.page, len(waiting)) == (1, 1)
    viewer.clear()
    waiting.pop()()
    assert (viewer.paper, waiting, viewer.error) == (0, [], "")


def test_a_page_that_fails_after_the_viewer_was_closed_tells_nothing(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    def get(_: Any) -> Any:
        viewer.clear()
        raise NotFoundError("No such paper: it may have been removed.")

    scripted.papers.get = get  # type: ignore[method-assign]
    viewer.show_citation([cited(2, 3), cited(1, 2)], 1)
    assert (viewer.paper, viewer.trouble, viewer.error, viewer.loading) == (0, "", "", False)


def test_a_paper_that_has_gone_says_so_in_the_pages_place_and_the_next_citation_opens(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    def get(wanted: Any) -> Any:
        if wanted == 2:
            raise NotFoundError("No such paper: it may have been removed.")
        return scripted.papers.held[1]

    scripted.papers.get = get  # type: ignore[method-assign]
    viewer.show_citation([{**cited(2, 3), "title": "Gone", "byline": "Ada 1843"}, cited(1, 2)], 0)
    assert (viewer.trouble, viewer.title, viewer.page, viewer.image, viewer.loading) == (
        "No such paper: it may have been removed.",
        "Gone",
        3,
        b"",
        False,
    )
    viewer.act({"do": "step_citation", "with": {"by": 1}})
    assert (viewer.trouble, viewer.title, viewer.image) == ("", "Paper 1", PNG)


@pytest.mark.parametrize(
    "fault", [DocumentError("it is damaged"), ReaderCrashedError("this page takes too long to draw")]
)
def test_a_page_that_cannot_be_drawn_is_shown_as_its_text_with_the_mark(
    scripted: ScriptedWorkbench, viewer: ViewerState, fault: Exception
) -> None:
    scripted.papers.texts[1] = [Page(1, n, None, TEXT, 0, len(TEXT)) for n in (1, 2, 3)]
    scripted.papers.undrawable[2] = fault
    viewer.show_citation([cited(1, 2, "They were long.", 34, 49)], 0)
    assert viewer.notice == f"This page cannot be drawn ({fault}), so its text is shown."
    assert (viewer.image, viewer.text, viewer.spans, viewer.marked) == (b"", TEXT, [[34, 49]], "yes")
    viewer.act({"do": "turn_to", "with": {"page": 3}})
    assert (viewer.image, viewer.notice) == (PNG, "")


def test_the_passage_is_ready_as_a_markdown_quotation_with_its_reference(
    scripted: ScriptedWorkbench, viewer: ViewerState
) -> None:
    scripted.papers.texts[1] = [Page(1, n, str(500 + n), "", 0, 0) for n in (1, 2, 3)]
    viewer.show_citation([{**cited(1, 3, "It <b>wove</b>\n[12] at $5 & `x`."), "n": 2}], 0)
    where = "— Ada Lovelace and Mary Somerville (1843): *Paper 1*, page 3 (printed 503)"
    said = "It &lt;b&gt;wove&lt;/b&gt; \\[12\\] at &#36;5 &amp; \\`x\\`."
    assert viewer.quotation == f"> “{said}”\n>\n> {where} \\[2\\]\n"
    viewer.act({"do": "select", "with": {"text": "other \\( words"}})
    assert viewer.selection == f"> “other &#92;( words”\n>\n> {where}\n"
    viewer.act({"do": "select", "with": {"text": "  "}})
    assert viewer.selection == ""


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            {"authors": ["A", "B", "C", "D"], "year": 2020, "marker": 1},
            "A et al. (2020): *T*, page 2 \\[1\\]",
        ),
        ({"authors": ["A", "B", "C"]}, "A, B and C: *T*, page 2"),
        ({"year": 1843}, "*T* (1843), page 2"),
        ({"unit": "section", "label": "Methods"}, "*T*, section Methods"),
        ({"label": "2"}, "*T*, page 2"),
    ],
)
def test_a_reference_names_what_is_known(facts: dict[str, Any], expected: str) -> None:
    plain: dict[str, Any] = {"authors": [], "year": None, "title": "T", "unit": "page", "page": 2}
    assert reference(**plain | {"label": "", "marker": 0} | facts) == expected

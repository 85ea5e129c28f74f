"""The page viewer's state: the cited page, its mark, turning, stepping through citations."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.widgets.scripted import PNG, ScriptedWorkbench, paper
from widgets.panel import at_once
from widgets.viewer.state import IMAGE_WIDTH, SHARP_WIDTH, ViewerState, place_quote
from workbench import NotFoundError, Page

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


def test_a_zoomed_page_is_drawn_anew_where_it_would_blur(viewer: ViewerState) -> None:
    viewer.show_citation([cited(1, 2)], 0)
    widths = []
    for steps in (1, 1, -1, 0):
        viewer.act({"do": "zoom_by", "with": {"steps": steps}})
        assert viewer._wanted is not None
        widths.append((viewer.zoom, viewer._wanted.width))
    assert widths == [(1.25, IMAGE_WIDTH), (1.5, SHARP_WIDTH), (1.25, IMAGE_WIDTH), (1.0, IMAGE_WIDTH)]


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


def test_a_paper_that_has_gone_is_one_line_and_the_viewer_is_not_left_loading(
    scripted: ScriptedWorkbench, viewer: ViewerState, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: object) -> None:
        raise NotFoundError("No such paper.")

    monkeypatch.setattr(scripted.papers, "get", gone)
    viewer.show_citation([cited(1, 2)], 0)
    assert (viewer.error, viewer.loading) == ("No such paper.", False)

"""The viewer's state over a real library: pages that are long, large, turned, without text, or not there."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A0
from reportlab.pdfgen.canvas import Canvas

from tests.ingest import made_files
from widgets.panel import at_once
from widgets.viewer.state import ViewerState
from workbench import Workbench

WORDS = "Cards tell the hooks which threads to lift."


def added(wb: Workbench, path: Path) -> int:
    (outcome,) = wb.papers.add_many([path]).files
    assert outcome.paper_id is not None, outcome.error
    return outcome.paper_id


def size_of(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", png[16:24])
    return width, height


@pytest.fixture
def viewer(wb: Workbench) -> ViewerState:
    made = ViewerState(wb, run=at_once)
    made.act({"do": "fit", "with": {"width": 500, "ratio": 2}})
    return made


def test_a_poster_is_as_wide_as_the_column_and_its_text_lies_on_it(
    wb: Workbench, viewer: ViewerState, tmp_path: Path
) -> None:
    canvas = Canvas(str(tmp_path / "poster.pdf"), pagesize=A0)
    canvas.setFont("Helvetica", 60)
    canvas.drawString(200, 3000, WORDS)
    canvas.save()
    viewer.show_paper(added(wb, tmp_path / "poster.pdf"))
    assert size_of(viewer.image)[0] == 1000
    (run,) = viewer.runs
    assert run[0] == WORDS
    assert 0.05 < run[1] < run[3] < 1
    assert viewer.shape == pytest.approx(A0[1] / A0[0], abs=0.01)


def test_a_page_without_text_among_others_is_drawn_and_says_so(
    wb: Workbench, viewer: ViewerState, tmp_path: Path
) -> None:
    canvas = Canvas(str(tmp_path / "mixed.pdf"))
    canvas.drawString(72, 700, WORDS)
    canvas.showPage()
    canvas.rect(100, 100, 200, 200, fill=1)
    canvas.showPage()
    canvas.save()
    viewer.show_paper(added(wb, tmp_path / "mixed.pdf"))
    assert (viewer.notice, bool(viewer.runs)) == ("", True)
    viewer.act({"do": "turn_to", "with": {"page": 2}})
    assert (viewer.notice, viewer.runs, viewer.text) == ("This page has no text: it is a picture.", [], "")
    assert viewer.image.startswith(b"\x89PNG")


def test_the_last_page_of_hundreds_comes_like_the_first(
    wb: Workbench, viewer: ViewerState, tmp_path: Path
) -> None:
    path = made_files.text_pdf(tmp_path / "long.pdf", WORDS, pages=300)
    viewer.show_paper(added(wb, path))
    viewer.act({"do": "go_to", "with": {"where": "300"}})
    assert (viewer.page, viewer.pages, viewer.error) == (300, 300, "")
    assert viewer.text.startswith("Page 300 says something of its own")


def test_a_paper_removed_while_it_is_open_is_told_at_the_next_page(
    wb: Workbench, viewer: ViewerState, tmp_path: Path
) -> None:
    paper = added(wb, made_files.text_pdf(tmp_path / "p.pdf", pages=3))
    viewer.show_paper(paper)
    wb.papers.remove(paper)
    viewer.act({"do": "turn_to", "with": {"page": 2}})
    assert viewer.trouble
    assert (viewer.image, viewer.text, viewer.runs, viewer.loading, viewer.error) == (b"", "", [], False, "")


def test_a_copy_that_was_damaged_on_the_disk_is_written_again(
    wb: Workbench, viewer: ViewerState, tmp_path: Path
) -> None:
    paper = added(wb, made_files.text_pdf(tmp_path / "p.pdf", pages=3))
    viewer.show_paper(paper)
    (copy,) = tmp_path.glob("library/*.derived/sources/*.pdf")
    copy.write_bytes(b"%PDF-1.7 no more")
    viewer.act({"do": "turn_to", "with": {"page": 3}})
    assert (viewer.notice, viewer.image[:4]) == ("", b"\x89PNG")


def test_a_sentence_that_stands_twice_on_its_page_is_marked_where_the_citation_has_it(
    wb: Workbench, viewer: ViewerState, tmp_path: Path
) -> None:
    lines = [
        f"The loom of {place} was built in {year}. {WORDS}"
        for place, year in (("Lyon", 1804), ("Kent", 1822))
    ]
    paper = added(wb, made_files.pdf(tmp_path / "looms.pdf", [made_files.lines_down(lines, leading=40)]))
    text = wb.papers.page(paper, 1).text
    places = [text.index(WORDS), text.rindex(WORDS)]
    assert places[0] < places[1]
    tops = []
    for start in (*places, 3):
        cited = {"paper": paper, "page": 1, "quote": WORDS, "start": start, "end": start + len(WORDS), "n": 1}
        viewer.show_citation([cited], 0)
        tops.append([box[1] for box in viewer.boxes])
    assert (len(tops[0]), len(tops[1]), tops[2]) == (1, 1, []), "at 3 other words stand: nothing is certain"
    assert tops[1][0] - tops[0][0] == pytest.approx(40 / 841.89, abs=0.005)

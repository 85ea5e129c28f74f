"""A page's text where it stands on its image, and what is not drawn over it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.colors import Color
from reportlab.pdfgen.canvas import Canvas

from tests.ingest import made_files
from workbench.ingest.page_images import page_view
from workbench.ingest.page_text import MAX_RUNS
from workbench.ingest.sandbox import Reader
from workbench.records import TextRun

LINES = ["The first line of this page.", "The second line ends in a bro-", "ken word and then stops."]


def dark_share(png: bytes, box: tuple[float, float, float, float]) -> float:
    """How much of the box is printed."""
    image = Image.open(io.BytesIO(png)).convert("L")
    sides = (box[0] * image.width, box[1] * image.height, box[2] * image.width, box[3] * image.height)
    area = image.crop(tuple(map(round, sides)))
    return sum(area.histogram()[:128]) / (area.width * area.height)


def test_each_line_is_a_run_where_it_is_printed(tmp_path: Path) -> None:
    path = made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(LINES)])
    with Reader() as reader:
        view = reader.page_view(path, 1, width=1000, with_text=True)
        assert reader.page_view(path, 1, width=1000).runs == ()
    assert [(run.text, run.turn) for run in view.runs] == [
        ("The first line of this page.", 0),
        ("The second line ends in a bro", 0),
        ("ken word and then stops.", 0),
    ]
    assert [run.glued for run in view.runs] == [False, True, False]
    for number, run in enumerate(view.runs):
        assert run.box[0] == pytest.approx(72 / 595.28, abs=0.002)
        assert run.box[1] < (841.89 - 760 + 12 * number) / 841.89 < run.box[3]
        assert 0.08 < dark_share(view.png, run.box) < 0.5


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_the_text_follows_a_turned_page(tmp_path: Path, turn: int) -> None:
    path = made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(LINES, top=500)], turned=turn)
    view = page_view(path, 1, width=700, quote=None, with_text=True)
    assert {run.turn for run in view.runs} == {turn}
    assert all(0.06 < dark_share(view.png, run.box) < 0.6 for run in view.runs)


def test_what_was_cropped_away_is_neither_text_nor_mark(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "cropped.pdf"), pagesize=(600, 800))
    canvas.setCropBox((100, 300, 500, 700))
    canvas.drawString(150, 500, "seen in the middle")
    canvas.drawString(150, 100, "cut off at the foot")
    canvas.save()
    view = page_view(tmp_path / "cropped.pdf", 1, width=800, quote="seen in the middle", with_text=True)
    assert [run.text for run in view.runs] == ["seen in the middle"]
    assert view.runs[0].box[0] == pytest.approx(50 / 400, abs=0.005)
    assert view.boxes[0][0] == pytest.approx(50 / 400, abs=0.005)
    assert view.boxes[0][1] == pytest.approx(1 - 210 / 400, abs=0.02)


def test_two_columns_are_two_runs(tmp_path: Path) -> None:
    path = made_files.pdf(tmp_path / "p.pdf", [[(72, 700, "left column"), (330, 700, "right column")]])
    runs = page_view(path, 1, width=600, quote=None, with_text=True).runs
    assert [run.text for run in runs] == ["left column", "right column"]


def test_a_drawing_of_countless_words_is_cut(tmp_path: Path) -> None:
    places = [(10 + 80 * (i % 7), 800 - 0.25 * i, f"w{i}") for i in range(MAX_RUNS + 50)]
    path = made_files.pdf(tmp_path / "p.pdf", [places], size=4)
    assert len(page_view(path, 1, width=300, quote=None, with_text=True).runs) == MAX_RUNS


def test_a_scan_has_no_runs(tmp_path: Path) -> None:
    view = page_view(made_files.image_pdf(tmp_path / "scan.pdf"), 1, width=300, quote=None, with_text=True)
    assert view.runs == ()


def annotated(path: Path, *, marks: bool) -> Path:
    canvas = Canvas(str(path), pagesize=(400, 400))
    canvas.drawString(60, 300, "A sentence that somebody marked.")
    if marks:
        quad = [60, 312, 240, 312, 60, 296, 240, 296]
        canvas.highlightAnnotation("mine", (60, 296, 240, 312), quad, Color=[1, 1, 0])
    canvas.setFillColor(Color(0.2, 0.4, 0.9))
    canvas.rect(60, 100, 50, 50, fill=1, stroke=0)
    canvas.save()
    return path


def test_what_readers_marked_in_the_file_is_not_drawn_but_the_pages_own_colours_are(tmp_path: Path) -> None:
    plain = page_view(annotated(tmp_path / "plain.pdf", marks=False), 1, width=400, quote=None)
    marked = page_view(annotated(tmp_path / "marked.pdf", marks=True), 1, width=400, quote=None)
    assert marked.png == plain.png
    colours = Image.open(io.BytesIO(marked.png)).convert("RGB").getcolors(1 << 20) or []
    assert (51, 102, 230) in {colour for _, colour in colours}


def test_boxes_without_paint_leave_the_page_as_it_is(tmp_path: Path) -> None:
    path = made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(LINES)])
    painted = page_view(path, 1, width=500, quote=LINES[0])
    bare = page_view(path, 1, width=500, quote=LINES[0], paint=False)
    assert bare.boxes == painted.boxes != ()
    assert bare.png == page_view(path, 1, width=500, quote=None).png != painted.png
    assert Image.open(io.BytesIO(bare.png)).mode == "L"
    assert TextRun("a", (0, 0, 1, 1)) == TextRun("a", (0, 0, 1, 1), 0, False)

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from tests.ingest import made_files
from workbench.errors import InvalidInputError, WorkbenchError
from workbench.ingest.page_images import MARK_COLOUR, page_view
from workbench.ingest.sandbox import Reader

LINES = [
    "The first sentence of this page is plain. The second one wraps over a li-",
    "ne end and says that 78.4% of all passages are found. A third one follows.",
]
QUOTE = "The second one wraps over a line end and says that 78.4% of all passages are found."


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    return made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(LINES)])


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as opened:
        yield opened


def pixels(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def marked_share(image: Image.Image, box: tuple[float, float, float, float]) -> float:
    area = image.crop(
        (
            round(box[0] * image.width),
            round(box[1] * image.height),
            round(box[2] * image.width),
            round(box[3] * image.height),
        )
    )
    colours = area.getcolors(area.width * area.height) or []
    return sum(count for count, colour in colours if colour == MARK_COLOUR) / (area.width * area.height)


def test_a_page_is_drawn_at_the_width_asked_for_with_the_quote_marked(paper: Path, reader: Reader) -> None:
    view = reader.page_view(paper, 1, width=800, quote=QUOTE)
    image = pixels(view.png)
    assert image.size == (view.width, view.height)
    assert view.width == 800
    assert view.height / view.width == pytest.approx(1.414, abs=0.003)
    assert view.found
    assert len(view.boxes) == 2
    first, second = view.boxes
    assert first[0] > 0.3
    assert second[0] == pytest.approx(72 / 595.28, abs=0.005)
    assert second[1] >= first[1] + 0.01
    assert all(marked_share(image, box) > 0.5 for box in view.boxes)
    assert image.getcolors(10_000_000) != pixels(reader.render(paper, 1, width=800)).getcolors(10_000_000)


@pytest.mark.parametrize(
    "quote",
    ["a sentence that stands nowhere on the page", "of", "one", "", "..."],
    ids=["absent", "too short", "twice", "empty", "no letters"],
)
def test_nothing_is_marked_where_the_place_is_not_certain(paper: Path, reader: Reader, quote: str) -> None:
    view = reader.page_view(paper, 1, width=400, quote=quote)
    assert (view.found, view.boxes) == (False, ())
    assert view.png == reader.render(paper, 1, width=400)


TWICE = "All samples were weighed twice."
AGAIN = [
    "Journal of looms. All samples were weighed twice.",  # as a running head that the stored text leaves out
    "The first batch came in May. All samples were weighed twice. None was lost on",
    "the way. The second batch came in June. All samples were weighed twice. One",
    "sample broke.",
]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("The first batch came in May. ", " None was lost on the way. The second batch came in June. All", 1),
        ("batch came in May. All samples were weighed twice. None was lost. The second batch came in June. ",
         " One sample broke.", 2),
        ("Words of another page, then ", " and more of them", None),
        ("", "", None),
    ],
    ids=["first", "second", "elsewhere", "nothing beside it"],
)  # fmt: skip
def test_of_a_quote_that_stands_several_times_the_one_with_its_neighbours_is_marked(
    tmp_path: Path, reader: Reader, before: str, after: str, line: int | None
) -> None:
    path = made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(AGAIN, leading=20)])
    assert not reader.page_view(path, 1, width=400, quote=TWICE).found
    view = reader.page_view(path, 1, width=400, quote=TWICE, between=(before, after))
    height = 841.89
    lines = [round((box[1] + box[3]) / 2 * height - (height - 760)) // 20 + 1 for box in view.boxes]
    assert lines == ([] if line is None else [line])


def test_of_a_quote_whose_neighbours_repeat_too_nothing_is_marked(tmp_path: Path, reader: Reader) -> None:
    lines = ["A sample is weighed. It is dried."] * 40
    path = made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(lines)])
    text = "\n".join(lines)
    start = text.index("It is dried.", 650)
    between = (text[:start], text[start + len("It is dried.") :])
    assert not reader.page_view(path, 1, width=400, quote="It is dried.", between=between).found


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_the_mark_follows_a_turned_page(tmp_path: Path, turn: int) -> None:
    path = made_files.pdf(tmp_path / "p.pdf", [made_files.lines_down(LINES, top=500)], turned=turn)
    view = page_view(path, 1, width=600, quote=QUOTE)
    image = pixels(view.png)
    assert view.found
    upright = [box[2] - box[0] > box[3] - box[1] for box in view.boxes]
    assert upright == [turn in (0, 180)] * 2
    assert all(marked_share(image, box) > 0.5 for box in view.boxes)


def test_no_side_grows_beyond_the_bound(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "long.pdf"), pagesize=(100, 14_000))
    canvas.drawString(10, 13_900, "a very long page")
    canvas.save()
    view = page_view(tmp_path / "long.pdf", 1, width=100_000, quote=None)
    assert view.height == 4800
    assert view.width >= 1
    wide = page_view(made_files.text_pdf(tmp_path / "p.pdf"), 1, width=1_000_000, quote=None)
    assert max(wide.width, wide.height) == 4800


def test_a_page_that_is_not_there_is_an_error_of_the_caller(paper: Path, reader: Reader) -> None:
    for number in (0, 2, -1):
        with pytest.raises(InvalidInputError, match=f"no page {number}"):
            reader.render(paper, number, width=300)


def test_quotes_of_real_papers_are_found_on_their_pages(shared: Path, reader: Reader) -> None:
    folder = shared / "papers"
    places = [
        ("rag-retrieval/rag-2020-lewis.pdf", 6, "achieving 11.8% accuracy in such cases for NQ"),
        ("genome-integrity/g4-tmprss2-2024-demagis.pdf", 3, "currently at advanced phase II clinical trials"),
        ("singles/olap-logs-2012-aligon-fr.pdf", 1, "l’exploitation et la fouille de fichiers logs"),
    ]
    for name, page, quote in places:
        view = reader.page_view(folder / name, page, width=500, quote=quote)
        assert view.found, name


def test_hard_pages_are_drawn_or_refused_with_a_reason(shared: Path, reader: Reader) -> None:
    for path in sorted((shared / "hard-files").rglob("*.pdf")):
        try:
            view = reader.page_view(path, 1, width=300, quote=None)
        except WorkbenchError as refusal:
            reason = str(refusal)
            sound = bool(reason.strip()) and "\n" not in reason
        else:
            sound = pixels(view.png).size == (view.width, view.height)
        assert sound, path

"""The page viewer as a reader meets it: marks on their words, sharp pages, the next citation, a quotation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import workbench
from tests.browser import pdfs
from tests.browser.conftest import Served, serve
from tests.browser.visiting import visit
from tests.ollama_server import OllamaServer
from workbench.providers.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROJECT = "Looms"
DOBBY = "Dobby looms lift at most 24 shafts."
ANSWER = "The portrait was woven from 24,000 cards [1]. Dobby looms lift 24 shafts [2]."

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder with a library: two papers of one project, and a text without pages."""
    folder = tmp_path_factory.mktemp("home")
    papers = [
        pdfs.loom_paper(folder / "looms.pdf"),
        pdfs.write_pdf(folder / "dobby.pdf", title="Dobby looms", pages=[[DOBBY]]),
    ]
    library = folder / "library" / "library.duckdb"
    with workbench.open(library, user="ada", embedder=FakeEmbedder()) as wb:
        wb.papers.add_many(papers, project=wb.projects.create(PROJECT))
    return folder


@pytest.fixture(scope="module")
def served(home: Path, ollama: OllamaServer) -> Iterator[Served]:
    with serve(home, ollama) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """One visit with an answer of two citations; the tests below are its steps, in order."""
    served.ollama.reply(ANSWER)
    with visit(browser, served) as visited:
        opened = visited.page
        opened.get_by_role("button", name=PROJECT).first.click()
        box = opened.get_by_label("Question", exact=True)
        box.fill(
            "From how many punched cards was the portrait of Jacquard woven, and what do dobby looms lift?"
        )
        opened.get_by_role("button", name="Ask", exact=True).click()
        expect(opened.locator(".wb-turn")).to_have_attribute("data-state", "done")
        yield opened


def drawn(page: Page) -> Locator:
    """The page's image, once it has one pixel for each of the screen's."""
    page.wait_for_function(
        """() => {
          const image = document.querySelector(".wb-sheet img"), sheet = document.querySelector(".wb-sheet");
          return image.naturalWidth && !sheet.hidden
            && Math.abs(image.naturalWidth - sheet.clientWidth * devicePixelRatio) <= 2;
        }"""
    )
    return page.locator(".wb-sheet img")


def words_on_page(path: Path, number: int, words: str) -> list[float]:
    """Left, top, right and bottom of the only place of ``words``, as fractions of the page."""
    pdf = pypdfium2.PdfDocument(path)
    sheet = pdf[number - 1]
    width, height = sheet.get_size()
    text = sheet.get_textpage()
    index, count = text.search(words).get_next()
    boxes = [text.get_charbox(i) for i in range(index, index + count)]
    left, right = min(b[0] for b in boxes), max(b[2] for b in boxes)
    bottom, top = min(b[1] for b in boxes), max(b[3] for b in boxes)
    pdf.close()
    return [left / width, 1 - top / height, right / width, 1 - bottom / height]


def on_sheet(page: Page, selector: str) -> list[float]:
    """The same of an element over the sheet."""
    sheet, box = page.locator(".wb-sheet").bounding_box(), page.locator(selector).first.bounding_box()
    assert sheet
    assert box
    return [
        (box["x"] - sheet["x"]) / sheet["width"],
        (box["y"] - sheet["y"]) / sheet["height"],
        (box["x"] + box["width"] - sheet["x"]) / sheet["width"],
        (box["y"] + box["height"] - sheet["y"]) / sheet["height"],
    ]


def marker(page: Page, n: int) -> Locator:
    return page.locator(".wb-answer .wb-cite", has_text=str(n)).first


def open_claim(page: Page) -> int:
    """Opens the citation of the portrait; the number it has in the answer."""
    chip = page.locator(".wb-answer .wb-cite[aria-label*='Weaving by punched card']").first
    chip.click()
    expect(page.locator(".wb-view-title b")).to_have_text("Weaving by punched card")
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()
    drawn(page)
    return int(chip.inner_text())


def test_the_mark_lies_on_the_words_that_are_cited(page: Page, home: Path) -> None:
    open_claim(page)
    expected = words_on_page(home / "looms.pdf", 2, pdfs.CLAIM)
    left, top, right, bottom = on_sheet(page, ".wb-boxes .wb-mark")
    assert left == pytest.approx(expected[0], abs=0.006)
    assert right == pytest.approx(expected[2], abs=0.006)
    assert top <= expected[1] + 0.002 < expected[3] - 0.002 <= bottom
    assert bottom - top < 3 * (expected[3] - expected[1])


def test_the_text_that_is_selected_lies_on_the_same_words_and_is_copied_as_the_library_has_it(
    page: Page, home: Path
) -> None:
    run = page.locator(".wb-run", has_text="The portrait of Jacquard")
    expected = words_on_page(home / "looms.pdf", 2, pdfs.CLAIM)
    found = on_sheet(page, ".wb-run:has-text('The portrait of Jacquard')")
    assert [found[0], found[2]] == pytest.approx([expected[0], expected[2]], abs=0.012)
    run.click(click_count=3)
    page.evaluate(
        """() => { window.copied = "";
          DataTransfer.prototype.setData = (kind, text) => { window.copied = text; };
        }"""
    )
    page.keyboard.press("Control+c")
    page.wait_for_function("window.copied")
    assert page.evaluate("window.copied").strip() == pdfs.CLAIM


def test_the_passage_goes_to_the_clipboard_as_a_quotation_with_its_reference(page: Page) -> None:
    page.evaluate("getSelection().removeAllRanges()")
    n = open_claim(page)
    _catch_copies(page)
    page.get_by_role("button", name="Quote into notebook").click()
    page.wait_for_function("window.caught")
    assert page.evaluate("window.caught") == (
        f"> “{pdfs.CLAIM}”\n>\n> — *Weaving by punched card*, page 2 \\[{n}\\]\n"
    )
    expect(page.locator(".wb-view-note")).to_contain_text("Copied as a Markdown quotation")


def test_over_plain_http_the_older_way_to_the_clipboard_is_taken(page: Page) -> None:
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    page.evaluate(
        """() => { window.caught = ""; document.addEventListener("copy", () => {
          window.caught = document.activeElement.value; }, { once: true }); }"""
    )
    page.locator(".wb-pages").focus()
    page.keyboard.press("q")
    page.wait_for_function("window.caught")
    assert page.evaluate("window.caught").startswith(f"> “{pdfs.CLAIM}”")
    expect(page.locator(".wb-view-note")).to_contain_text("Copied as a Markdown quotation")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "region"


def test_the_next_citation_of_the_answer_is_a_key_away_and_round_the_end(page: Page) -> None:
    n = open_claim(page)
    page.locator(".wb-pages").focus()
    for title in ("Dobby looms", "Weaving by punched card"):
        page.keyboard.press("n")
        expect(page.locator(".wb-view-title b")).to_have_text(title)
    expect(page.locator(".wb-view-steps")).to_contain_text("citation ")
    expect(page.locator(".wb-view-steps")).to_contain_text(f"of 2 · [{n}]")


def test_a_zoomed_page_is_drawn_sharp_and_its_mark_stays_on_its_words(page: Page, home: Path) -> None:
    page.locator(".wb-pages").focus()
    widths = [page.evaluate("document.querySelector('.wb-sheet').clientWidth")]
    for _ in range(4):
        page.keyboard.press("+")
    page.wait_for_function(f"document.querySelector('.wb-sheet').clientWidth > {1.9 * widths[0]}")
    drawn(page)
    expected = words_on_page(home / "looms.pdf", 2, pdfs.CLAIM)
    assert on_sheet(page, ".wb-boxes .wb-mark")[0] == pytest.approx(expected[0], abs=0.004)
    page.keyboard.press("0")
    page.wait_for_function(f"document.querySelector('.wb-sheet').clientWidth == {widths[0]}")
    drawn(page)


def test_a_page_is_found_by_its_number(page: Page) -> None:
    page.locator(".wb-pages").focus()
    page.keyboard.press("g")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.locator(".wb-view-title small")).to_contain_text("page 3 of 3")
    page.keyboard.press("g")
    page.keyboard.type("17")
    page.keyboard.press("Enter")
    expect(page.locator(".wb-viewer .wb-error")).to_contain_text("There is no page “17”")
    page.keyboard.press("Home")
    expect(page.locator(".wb-view-title small")).to_contain_text("page 1 of 3")


def test_on_a_dense_screen_a_page_has_as_many_pixels(browser: Browser, served: Served) -> None:
    context = browser.new_context(viewport={"width": 1024, "height": 768}, device_scale_factor=2)
    page = context.new_page()
    page.goto(served.url)
    page.get_by_role("button", name=PROJECT).first.click()
    page.locator(".wb-answer .wb-cite").first.click(timeout=30_000)
    image = drawn(page)
    assert image.evaluate("(image) => image.naturalWidth / image.clientWidth") == pytest.approx(2, abs=0.02)
    context.close()


def test_the_card_of_a_marker_opens_by_pointer_and_by_keyboard_inside_the_window_and_closes(
    page: Page,
) -> None:
    card = page.get_by_role("tooltip")
    page.mouse.move(5, 5)
    marker(page, 1).hover()
    expect(card).to_be_visible()
    _inside(page, card)
    page.mouse.move(5, 5)
    expect(card).to_be_hidden()
    marker(page, 2).focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(card).to_be_visible()
    _inside(page, card)
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    marker(page, 1).hover()
    expect(card).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_why_these_passages_tells_what_was_left_out(page: Page) -> None:
    page.get_by_role("button", name="Why these passages").last.click()
    listed = page.locator(".wb-passages").last
    expect(listed.locator(".wb-passage").first).to_contain_text("relevance")


def test_a_paper_removed_meanwhile_is_told_where_its_page_would_be(page: Page, home: Path) -> None:
    open_claim(page)
    with workbench.open(home / "library" / "library.duckdb", user="ada", embedder=FakeEmbedder()) as wb:
        wb.papers.remove(next(p for p in wb.papers.list() if p.title == "Dobby looms"))
    page.locator(".wb-pages").focus()
    page.keyboard.press("n")
    expect(page.locator(".wb-trouble")).to_be_visible()
    expect(page.locator(".wb-trouble")).not_to_be_empty()
    expect(page.locator(".wb-view-title b")).to_have_text("Dobby looms")
    page.keyboard.press("n")
    expect(page.locator(".wb-trouble")).to_be_hidden()
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()


def _catch_copies(page: Page) -> None:
    page.evaluate(
        """() => { window.caught = "";
          navigator.clipboard.writeText = async (text) => { window.caught = text; }; }"""
    )


def _inside(page: Page, box: Locator) -> None:
    at, size = box.bounding_box(), page.viewport_size
    assert at
    assert size
    assert at["x"] >= 0
    assert at["y"] >= 0
    assert at["x"] + at["width"] <= size["width"]
    assert at["y"] + at["height"] <= size["height"]

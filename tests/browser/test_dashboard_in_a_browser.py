"""The dashboard as a person meets it: served by Voila, in Chromium, on a real library."""

from __future__ import annotations

import base64
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import pdfs
from tests.browser.conftest import Served, kernels
from tests.browser.visiting import visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROJECT = "Looms"

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """One visit in which a person works; the tests below are its steps, in order."""
    with visit(browser, served) as opened:
        yield opened.page


@pytest.fixture(scope="module")
def loom_paper(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return pdfs.loom_paper(tmp_path_factory.mktemp("papers") / "looms.pdf").read_bytes()


def ask(page: Page, question: str) -> None:
    turns = page.locator(".wb-turn").count()
    box = page.get_by_label("Question", exact=True)
    box.fill(question)
    box.press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(turns + 1)


def outcome(page: Page, status: str, file: str) -> Locator:
    return page.locator(f".wb-outcome.wb-{status}").filter(has_text=file)


def test_the_page_comes_up_with_a_title_and_no_code(page: Page) -> None:
    expect(page).to_have_title("Research Workbench")
    expect(page.get_by_label("Question", exact=True)).to_be_visible()
    expect(page.locator("#loading")).to_have_count(0)
    assert "import workbench" not in page.locator("body").inner_text()
    assert "Traceback" not in page.content()


def test_a_project_is_created_and_chosen(page: Page) -> None:
    page.get_by_role("button", name="+ New").click()
    page.get_by_label("Project name").fill(PROJECT)
    page.keyboard.press("Enter")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text(PROJECT)
    expect(
        page.get_by_label("Papers this question sees")
    ).to_be_hidden()  # a project's own chat sees it alone


def test_a_paper_is_added_by_path_and_its_hostile_title_is_text(page: Page, served: Served) -> None:
    pdfs.hostile_paper(served.library.parent / "dobby.pdf")
    relative = f"{served.library.parent.name}/dobby.pdf"  # from the folder where the dashboard was started
    page.get_by_placeholder("Path of a file or folder").fill(relative)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(outcome(page, "ready", "dobby.pdf")).to_be_visible()
    expect(page.locator(".wb-paper .wb-paper-title")).to_have_text([pdfs.HOSTILE_TITLE])
    assert page.locator("img[src='x']").count() == 0


def test_a_paper_is_uploaded_with_progress_and_a_bad_one_says_why(
    page: Page, tmp_path: Path, loom_paper: bytes
) -> None:
    good = tmp_path / "<b>looms<b>.pdf"
    good.write_bytes(loom_paper)
    bad = tmp_path / "broken.pdf"
    bad.write_bytes(b"%PDF-1.7 and nothing else")
    _note_changes(page, ".wb-job .wb-bar i", "style.width")
    page.locator(".wb-side .wb-uploads input[type=file]").set_input_files([good, bad])
    expect(outcome(page, "ready", "<b>looms<b>.pdf")).to_be_visible()
    expect(outcome(page, "failed", "broken.pdf")).to_contain_text("failed: ")
    expect(page.locator(".wb-paper")).to_have_count(2)
    expect(page.locator(".wb-project[aria-current] small")).to_have_text("2")
    widths = page.evaluate("window.seenChanges")
    assert len({w for w in widths if w not in {"", "0%"}}) >= 2


def test_the_same_bytes_dropped_again_are_a_duplicate(page: Page, loom_paper: bytes) -> None:
    dropped = page.evaluate_handle(
        """(data) => {
          const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], "twin.pdf"));
          return transfer;
        }""",
        base64.b64encode(loom_paper).decode(),
    )
    page.dispatch_event(".wb-side .wb-uploads", "drop", {"dataTransfer": dropped})
    expect(outcome(page, "duplicate", "twin.pdf")).to_be_visible()
    expect(page.locator(".wb-paper")).to_have_count(2)


def test_an_answer_streams_and_its_marker_opens_the_page_with_the_passage(page: Page, served: Served) -> None:
    served.ollama.reply(
        "The portrait ", "was woven ", "in silk ", "from 24,000 ", "cards [1].", piece_delay=0.3
    )
    _note_changes(page, ".wb-turns", "innerText")
    ask(page, "How many punched cards did the silk portrait of Jacquard need?")
    expect(page.locator(".wb-turn")).to_have_attribute("data-state", "done")
    seen = page.evaluate("window.seenChanges")
    assert any("was woven" in text and "cards" not in text.split("?")[-1] for text in seen)
    expect(page.locator(".wb-foot")).to_contain_text("✓ 1 supported")
    expect(page.locator(".wb-coverage")).to_contain_text("2 papers in scope, 2 retrieved, 1 cited")

    marker = page.locator(".wb-answer .wb-cite")
    marker.hover()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("Weaving by punched card")
    expect(card).to_contain_text(pdfs.CLAIM)
    place = marker.bounding_box()
    marker.click()
    expect(page.locator(".wb-view-title small")).to_have_text("page 2 of 3")
    assert marker.bounding_box() == place  # nothing moves under the hand that clicked
    expect(page.locator(".wb-view-steps")).to_have_text("citation · [1]")
    mark = page.locator(".wb-boxes .wb-mark").first
    expect(mark).to_be_visible()
    sheet, box = page.locator(".wb-sheet").bounding_box(), mark.bounding_box()
    assert sheet
    assert box
    assert 0.05 < (box["y"] - sheet["y"]) / sheet["height"] < 0.3
    page.wait_for_function(
        "(([image, sheet]) => Math.abs(image.naturalWidth - sheet.clientWidth) < 3)"
        "(['.wb-sheet img', '.wb-sheet'].map((s) => document.querySelector(s)))"
    )


def test_pages_turn_and_zoom_by_keyboard(page: Page) -> None:
    page.get_by_role("region", name="Page", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".wb-view-title small")).to_have_text("page 3 of 3")
    expect(page.locator(".wb-boxes .wb-mark")).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()
    before = page.locator(".wb-sheet").bounding_box()
    page.keyboard.press("+")
    page.wait_for_function(
        f"document.querySelector('.wb-sheet').clientWidth > {before['width'] * 1.2 if before else 0}"
    )


def test_shift_enter_breaks_the_line_and_escape_stops_the_answer(page: Page, served: Served) -> None:
    served.ollama.disconnected.clear()
    served.ollama.reply_endlessly("and so on. ", piece_delay=0.1)
    box = page.get_by_label("Question", exact=True)
    box.fill("How are")
    box.press("Shift+Enter")
    box.type("cards laced together?")
    assert box.input_value() == "How are\ncards laced together?"
    box.press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(2)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator(".wb-turn").last).to_have_attribute("data-state", "answering")
    box.press("Escape")
    expect(page.locator(".wb-turn").last).to_have_attribute("data-state", "stopped")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    assert served.ollama.disconnected.wait(3), "the chat model was left working"


def test_a_chat_model_that_breaks_is_told_and_the_next_question_works(page: Page, served: Served) -> None:
    served.ollama.reply("The cards ", "are laced ", drop_after=1)
    ask(page, "How are the cards laced?")
    expect(page.locator(".wb-turn").last).not_to_have_attribute(
        "data-state", re.compile("searching|answering")
    )
    assert page.locator(".wb-turn").last.locator(".wb-notes > div").count() >= 1
    served.ollama.reply("Weavers laced them in the order of the pattern [1].")
    ask(page, "In what order were the cards laced?")
    expect(page.locator(".wb-turn").last).to_have_attribute("data-state", "done")


def test_a_citation_of_an_earlier_answer_opens_and_the_thread_stays(page: Page) -> None:
    thread = page.locator(".wb-thread")
    thread.evaluate("node => { node.scrollTop = 0; }")
    page.locator(".wb-turn").first.locator(".wb-cite").click()
    expect(page.locator(".wb-turn").first.locator(".wb-cite")).to_have_class(re.compile("wb-on"))
    page.wait_for_timeout(300)  # what moves the thread would have done so by now
    assert thread.evaluate("node => node.scrollTop") == 0


def test_a_reload_shows_the_thread_and_its_citations_open(page: Page) -> None:
    questions = page.locator(".wb-question").all_inner_texts()
    assert len(questions) == 4
    page.reload()
    expect(page.locator(".wb-question")).to_have_text(questions)
    page.locator(".wb-turn").first.locator(".wb-cite").click()
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()


def test_a_paper_leaves_the_project_by_its_menu_and_comes_back_from_the_library(page: Page) -> None:
    page.get_by_role("button", name="More: Weaving by punched card").click()
    page.get_by_role("menuitem", name="Remove from this project").click()
    expect(page.locator(".wb-paper")).to_have_count(1)
    page.get_by_role("button", name="+ From the library").click()
    page.get_by_role("dialog").get_by_label("Weaving by punched card").check()
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".wb-paper")).to_have_count(2)
    page.get_by_role("button", name="More: Weaving by punched card").click()
    page.get_by_role("menuitem", name="Remove from the library").click()
    expect(page.get_by_role("alertdialog")).to_contain_text("leaves the library and every project")
    page.keyboard.press("Escape")
    expect(page.locator(".wb-paper")).to_have_count(2)


def test_another_scope_shows_its_own_thread_and_the_sidebar_agrees(page: Page) -> None:
    page.locator(".wb-project").filter(has_text="All notes").click()
    expect(page.locator(".wb-turn")).to_have_count(0)
    sees = page.get_by_label("Papers this question sees")
    expect(sees.locator("option:checked")).to_have_text("All notes")
    sees.select_option(label="Orphan notes")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text("Orphan notes")
    sees.select_option(label=PROJECT)
    expect(page.locator(".wb-project[aria-current]")).to_contain_text(PROJECT)
    expect(page.locator(".wb-turn")).to_have_count(0)  # the thread stays, with another scope
    page.locator(".wb-project").filter(has_text=PROJECT).click()
    expect(sees).to_be_hidden()
    expect(page.locator(".wb-turn")).to_have_count(4)


def test_a_twelve_megabyte_upload_arrives_whole(page: Page, tmp_path: Path) -> None:
    large = pdfs.large_paper(tmp_path / "scan.pdf")
    assert large.stat().st_size > 12_000_000
    page.locator(".wb-side .wb-uploads input[type=file]").set_input_files(large)
    expect(outcome(page, "ready", "scan.pdf")).to_be_visible()
    expect(page.locator(".wb-paper .wb-paper-title").last).to_have_text("A large scan of a small pattern")


def test_the_page_never_scrolls_as_a_whole(page: Page) -> None:
    assert page.evaluate("document.scrollingElement.scrollHeight <= innerHeight")
    assert page.evaluate("document.scrollingElement.scrollTop") == 0


def test_both_themes_and_sizes_show_every_panel(browser: Browser, served: Served, tmp_path: Path) -> None:
    with visit(browser, served, theme="dark") as visited:
        page = visited.page
        page.locator(".wb-paper").first.click()
        expect(page.locator(".wb-sheet img")).to_be_visible()
        sidebar = page.locator(".wb-side")
        for theme in ("dark", "light"):
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            for width, height in ((1440, 900), (1024, 768)):
                page.set_viewport_size({"width": width, "height": height})
                expect(sidebar).to_be_visible(visible=width > 1200)
                page.screenshot(path=tmp_path / f"{theme}-{width}.png")
                ground, ink = _chat_colours(page)
                assert (ground < 0.2 and ink > 0.8) if theme == "dark" else (ground > 0.95 and ink < 0.2)
        page.get_by_role("button", name="Show projects and papers").click()
        expect(sidebar).to_be_visible()
        page.get_by_role("button", name="Close the page").click()
        expect(page.locator(".wb-viewer")).to_be_hidden()
        expect(sidebar).to_be_visible()


def test_a_locked_library_says_who_holds_it_and_opens_when_it_is_free(
    browser: Browser, served: Served
) -> None:
    holder = _held(served.library)
    try:
        with visit(browser, served) as visited:
            page = visited.page
            reason = page.locator(".wb-opening-reason")
            expect(reason).to_be_visible()
            assert "\n" not in reason.inner_text()
            assert "Traceback" not in page.content()
            holder.close()
            page.get_by_role("button", name="Try again").click()
            expect(page.get_by_label("Question", exact=True)).to_be_visible()
    finally:
        holder.close()


def _held(library: Path) -> duckdb.DuckDBPyConnection:
    """The library's file, held by this process as soon as a dashboard that still reads lets go of it."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return duckdb.connect(str(library))
        except duckdb.IOException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_a_stranger_without_the_token_gets_a_login_page_and_no_notebook_file(served: Served) -> None:
    bare = served.url.split("?")[0]
    with urllib.request.urlopen(bare, timeout=10) as reply:
        assert "/login" in reply.url
    token = served.url.split("?")[1]
    request = urllib.request.Request(f"{bare}voila/files/dashboard.ipynb?{token}")
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=10)


def test_a_closed_page_leaves_no_kernel_behind(browser: Browser, served: Served) -> None:
    with visit(browser, served) as visited:
        page = visited.page
        expect(page.get_by_label("Question", exact=True)).to_be_visible()
        during = kernels(served)
        page.close(run_before_unload=True)
        deadline = time.monotonic() + 15
        while len(kernels(served)) >= len(during) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert len(kernels(served)) == len(during) - 1


def _note_changes(page: Page, selector: str, value: str) -> None:
    """Collect a value of an element at every change inside it, as ``window.seenChanges``."""
    page.evaluate(
        """([selector, value]) => {
          const read = (node) => value.split(".").reduce((held, name) => held[name], node);
          const node = document.querySelector(selector);
          window.seenChanges = [];
          window.noting?.disconnect();
          window.noting = new MutationObserver(() => window.seenChanges.push(read(node)));
          const everything = { subtree: true, childList: true, characterData: true, attributes: true };
          window.noting.observe(node, everything);
        }""",
        [selector, value],
    )


def _chat_colours(page: Page) -> tuple[float, float]:
    """Lightness of the chat's ground and ink, 0 (black) to 1 (white)."""
    colours = page.evaluate(
        """() => {
          const style = getComputedStyle(document.querySelector(".wb-chat"));
          return [style.backgroundColor, style.color];
        }"""
    )
    ground, ink = (sum(float(n) for n in re.findall(r"[\d.]+", c)[:3]) / (3 * 255) for c in colours)
    return ground, ink

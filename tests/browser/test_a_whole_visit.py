"""One person's whole visit, step by step: the same in the dashboard's own page and in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import pdfs
from tests.browser.conftest import Served, serve, serve_lab
from tests.browser.visiting import Visit, visit
from tests.ollama_server import OllamaServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROJECT = "Looms"
QUESTION = "How many punched cards did the silk portrait of Jacquard need?"
ANSWER = "The portrait was woven in silk from 24,000 punched cards [1]."

expect.set_options(timeout=20_000)


@dataclass
class Papers:
    """Two papers that can be read and a file that cannot."""

    looms: Path
    dobby: Path
    broken: Path


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    folder = tmp_path_factory.mktemp("papers")
    broken = folder / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and nothing else")
    return Papers(
        looms=pdfs.loom_paper(folder / "looms.pdf"),
        dobby=pdfs.write_pdf(
            folder / "dobby.pdf",
            title="Shafts of the dobby loom",
            pages=[["Dobby looms lift at most 24 shafts.", *pdfs.FILLER]],
        ),
        broken=broken,
    )


@pytest.fixture(scope="module", params=["voila", "lab"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer
) -> Iterator[Served]:
    """An empty library's dashboard, as a page of its own and then in JupyterLab."""
    start = {"voila": serve, "lab": serve_lab}[request.param]
    with start(tmp_path_factory.mktemp(request.param), ollama) as running:
        yield running


@pytest.fixture(scope="module")
def visited(browser: Browser, served: Served) -> Iterator[Visit]:
    """The visit whose steps the tests below are, in order."""
    with visit(browser, served) as opened:
        yield opened


@pytest.fixture
def page(visited: Visit) -> Page:
    return visited.page


def question_box(page: Page) -> Locator:
    return page.get_by_label("Question", exact=True)


def begin(page: Page, question: str) -> Locator:
    """Ask, as soon as the conversation can take a question."""
    before = page.locator(".wb-turn").count()
    question_box(page).fill(question)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    question_box(page).press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(before + 1)
    return page.locator(".wb-turn").last


def ask(page: Page, question: str) -> Locator:
    """Ask and wait for the whole answer."""
    turn = begin(page, question)
    expect(turn).to_have_attribute("data-state", "done")
    return turn


def choose_place(page: Page, name: str) -> None:
    """Choose a project or a scope at the left; in a narrow window an open page hides them."""
    entry = page.locator(".wb-project").filter(has_text=name)
    expect(entry).to_have_count(1)
    if not entry.is_visible():
        page.get_by_role("button", name="Close the page").click()
    entry.click()
    expect(page.locator(".wb-project[aria-current]")).to_contain_text(name)
    expect(page.locator(".wb-scope-choice option:checked")).to_have_text(name)  # the thread has changed too


def marked_shares(page: Page) -> list[tuple[float, float, float, float]]:
    """The highlight's boxes in shares of the page's picture."""
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()
    shares: list[tuple[float, float, float, float]] = page.evaluate(
        """() => {
          const sheet = document.querySelector(".wb-sheet img").getBoundingClientRect();
          return [...document.querySelectorAll(".wb-boxes .wb-mark")].map((mark) => {
            const box = mark.getBoundingClientRect();
            return [(box.left - sheet.left) / sheet.width, (box.top - sheet.top) / sheet.height,
              (box.right - sheet.left) / sheet.width, (box.bottom - sheet.top) / sheet.height];
          });
        }"""
    )
    return shares


def test_the_first_start_says_what_to_do(page: Page) -> None:
    expect(question_box(page)).to_be_visible()
    expect(page.locator(".wb-empty")).to_contain_text("Add papers on the left")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text("Orphan notes")
    expect(page.get_by_text("No papers here yet.")).to_be_visible()
    expect(page.locator(".wb-error:visible")).to_have_count(0)


def test_a_project_is_made(page: Page) -> None:
    page.get_by_role("button", name="+ New").click()
    page.get_by_label("Project name").fill(PROJECT)
    page.keyboard.press("Enter")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text(PROJECT)


def test_two_of_three_papers_go_in_and_the_broken_one_says_why(page: Page, papers: Papers) -> None:
    page.locator(".wb-side .wb-uploads input[type=file]").set_input_files(
        [papers.looms, papers.broken, papers.dobby]
    )
    expect(page.locator(".wb-side .wb-paper")).to_have_count(2)
    failed = page.locator(".wb-side .wb-outcome.wb-failed")
    expect(failed).to_have_count(1)
    expect(failed).to_contain_text("broken.pdf")
    expect(failed).to_contain_text("this PDF is damaged or incomplete")
    expect(page.locator(".wb-project[aria-current] small")).to_have_text("2")


def test_an_answer_comes_with_a_card_and_the_page_behind_its_number(page: Page, served: Served) -> None:
    served.ollama.reply(ANSWER)
    turn = ask(page, QUESTION)
    marker = turn.locator(".wb-answer .wb-cite")
    marker.hover()
    card = page.get_by_role("tooltip")
    expect(card).to_contain_text("Weaving by punched card")
    expect(card).to_contain_text("page 2")
    expect(card).to_contain_text(pdfs.CLAIM)
    expect(card).to_contain_text("This sentence is supported.")
    marker.click()
    expect(page.locator(".wb-view-title")).to_contain_text("Weaving by punched card")
    expect(page.locator(".wb-view-title small")).to_contain_text("page 2 of 3")


def test_the_highlight_lies_on_the_cited_words(page: Page, papers: Papers) -> None:
    told = pdfs.places(papers.looms, 2, pdfs.CLAIM)
    marks = marked_shares(page)
    line = told[0][3] - told[0][1]
    for left, top, right, bottom in told:  # every word is under a mark
        assert any(
            m[0] <= left + 0.004
            and m[1] <= top + line / 4
            and m[2] >= right - 0.008  # the full stop may stand outside
            and m[3] >= bottom - line / 4
            for m in marks
        ), (told, marks)
    for mark in marks:  # and no mark reaches into the lines around them
        assert min(t[0] for t in told) - 0.02 <= mark[0]
        assert mark[2] <= max(t[2] for t in told) + 0.02
        assert min(t[1] for t in told) - line <= mark[1]
        assert mark[3] <= max(t[3] for t in told) + line


def test_an_answer_is_stopped_and_what_was_there_stays(page: Page, served: Served) -> None:
    served.ollama.disconnected.clear()
    served.ollama.reply_endlessly("and so on. ", piece_delay=0.1)
    turn = begin(page, "How are cards laced together?")
    expect(turn.locator(".wb-answer")).to_contain_text("and so on.")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(turn).to_have_attribute("data-state", "stopped")
    expect(turn.locator(".wb-answer")).to_contain_text("and so on.")
    assert served.ollama.disconnected.wait(5), "the chat model was left working"


def test_the_scope_is_changed_by_hand_and_then_by_a_tool(page: Page, served: Served) -> None:
    choose_place(page, "Orphan notes")
    chip = page.get_by_label("Papers this question sees")
    expect(chip.locator("option:checked")).to_have_text("Orphan notes")
    chip.select_option(label="All notes")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text("All notes")
    served.ollama.decide({"name": "set_rag_scope", "arguments": {"project_id": 1}})
    served.ollama.reply(ANSWER)
    turn = ask(page, f"Use my project {PROJECT}: how many punched cards did the portrait need?")
    expect(turn.locator(".wb-foot")).to_contain_text(PROJECT)
    expect(chip.locator("option:checked")).to_have_text(PROJECT)


def test_numbers_are_tuned_on_a_past_question_and_saved(page: Page) -> None:
    choose_place(page, PROJECT)
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Tuning").click()
    expect(page.locator(".wb-shown .wb-seats li").first).to_be_visible()
    before = page.locator(".wb-shown ol.wb-seats li").count()
    field = page.locator(".wb-control[data-name=top_k] input[type=number]")
    field.fill("1")
    field.press("Enter")
    expect(page.locator(".wb-shown ol.wb-seats li")).to_have_count(1)
    expect(page.locator(".wb-shown .wb-gone li")).to_have_count(before - 1)
    page.locator(".wb-save input[type=text]").fill("Narrow")
    page.locator(".wb-save").get_by_role("button", name="Save").click()
    expect(page.locator(".wb-presets li").filter(has_text="Narrow")).to_contain_text("in force")
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Chat").click()


def test_a_reload_finds_everything_again(visited: Visit, page: Page) -> None:
    visited.reload()
    choose_place(page, PROJECT)
    expect(page.locator(".wb-side .wb-paper")).to_have_count(2)
    expect(page.locator(".wb-question")).to_have_text([QUESTION, "How are cards laced together?"])
    page.locator(".wb-turn").first.locator(".wb-cite").click()
    expect(page.locator(".wb-view-title small")).to_contain_text("page 2 of 3")
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Tuning").click()
    expect(page.locator(".wb-presets li").filter(has_text="Narrow")).to_contain_text("in force")
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Chat").click()


def test_two_windows_work_on_one_library_at_once(browser: Browser, served: Served, page: Page) -> None:
    with visit(browser, served) as another:
        other = another.page
        choose_place(other, PROJECT)
        choose_place(page, "All notes")
        served.ollama.reply("Dobby looms lift ", "at most 24 shafts [1].", piece_delay=0.5)
        turn = begin(page, "How many shafts does a dobby loom lift?")
        other.get_by_role("button", name="+ New").click()
        other.get_by_label("Project name").fill("Carpets")
        other.keyboard.press("Enter")
        expect(other.locator(".wb-project[aria-current]")).to_contain_text("Carpets")
        expect(turn).to_have_attribute("data-state", "done")
        expect(turn.locator(".wb-answer")).to_contain_text("at most 24 shafts")
        expect(other.locator(".wb-error:visible")).to_have_count(0)
    expect(page.locator(".wb-error:visible")).to_have_count(0)

"""A researcher tunes a question that was asked: passages leave, no chat model is asked, a preset stays."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import pdfs
from tests.browser.conftest import Served
from tests.browser.visiting import visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many punched cards did the silk portrait of Jacquard need?"

expect.set_options(timeout=20_000)


def prepare(page: Page, served: Served) -> None:
    """A project with two papers, one under a hostile title, and a question that was asked of it."""
    page.get_by_role("button", name="+ New").click()
    page.get_by_label("Project name").fill("Looms")
    page.keyboard.press("Enter")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text("Looms")
    folder = served.library.parent / "papers"
    folder.mkdir()
    pdfs.loom_paper(folder / "looms.pdf")
    pdfs.hostile_paper(folder / "dobby.pdf")
    page.locator(".wb-side").get_by_placeholder("Path of a file or folder").fill(str(folder))
    page.locator(".wb-side").get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".wb-side .wb-paper")).to_have_count(2)
    served.ollama.reply("It needed 24,000 cards [1].")
    box = page.get_by_label("Question", exact=True)
    box.fill(QUESTION)
    box.press("Enter")
    expect(page.locator(".wb-turn")).to_have_attribute("data-state", "done")


def tune(page: Page) -> None:
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Tuning").click()
    expect(page.locator(".wb-asked-text")).to_have_text(QUESTION)


def test_a_past_question_is_tuned_and_its_preset_is_in_force_after_a_reload(
    browser: Browser, served: Served
) -> None:
    with visit(browser, served) as opened:
        page = opened.page
        prepare(page, served)
        asked = len(served.ollama.sent("/api/chat"))
        tune(page)
        expect(page.locator(".wb-moves")).to_contain_text("The same ")
        seats = page.locator(".wb-seats:not(.wb-gone) .wb-seat")
        before = seats.count()
        assert before >= 2
        expect(page.locator(".wb-seat-title", has_text=pdfs.HOSTILE_TITLE).first).to_be_visible()

        slider = page.get_by_label("Passages in all", exact=True)
        slider.focus()
        page.keyboard.press("Home")
        expect(page.locator(".wb-moves")).to_contain_text(f"− {before - 1} leave")
        expect(seats).to_have_count(1)
        left = page.locator(".wb-gone .wb-seat").first
        expect(left.locator(".wb-why")).to_have_text("the only seat is taken")
        expect(page.get_by_label("Passages in all, exactly")).to_have_value("1")
        expect(page.locator(".wb-trial")).to_have_text("A trial. Looms still uses the settings' numbers.")
        expect(slider).to_be_focused()

        field = page.get_by_label("Passages in all, exactly")
        told = page.locator(".wb-control[data-name=top_k] .wb-bound")
        for given, taken, words in (
            ("9999", "200", "At most 200."),
            ("0", "1", "At least 1."),
            ("2", "2", ""),
        ):
            field.fill(given)
            field.press("Enter")
            expect(field).to_have_value(taken)
            expect(told).to_have_text(words)
        slider.focus()
        page.keyboard.press("Home")
        expect(seats).to_have_count(1)

        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        expect(seats).to_have_count(1)
        assert len(served.ollama.sent("/api/chat")) == asked, "no chat model is asked"

        seats.first.get_by_role("button", name="answers the question").click()
        expect(seats.first.get_by_role("button", name="answers the question")).to_have_attribute(
            "aria-pressed", "true"
        )
        seats.first.locator(".wb-seat-body").click()
        expect(page.locator(".wb-sheet img")).to_be_visible()
        expect(page.locator(".wb-viewer")).to_contain_text("passage 1 of")
        page.get_by_role("button", name="Close the page").click()

        page.get_by_label("Name of the preset").fill("One only")
        page.get_by_label("Name of the preset").press("Enter")
        expect(page.locator(".wb-presets .wb-on")).to_contain_text("One only")

        opened.reload()
        tune(page)
        expect(page.locator(".wb-presets .wb-on")).to_contain_text("One only")
        expect(page.locator(".wb-trial")).to_have_text("In force in Looms: “One only”.")
        expect(page.get_by_label("Passages in all, exactly")).to_have_value("1")
        expect(seats).to_have_count(1)

        page.get_by_role("tab", name="Labelled questions").click()
        expect(page.locator(".wb-labelled summary")).to_have_text("1 labelled question")
        page.get_by_role("button", name="Measure", exact=True).click()
        expect(page.locator(".wb-words li").first).to_contain_text("Pages found: 100%")
        assert page.evaluate("document.scrollingElement.scrollHeight <= innerHeight")

"""Conversations as a person meets them: listed, found, opened, exported, deleted, in one tab and in two."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import workbench
from tests.browser import pdfs
from tests.browser.conftest import Served
from tests.browser.visiting import visit
from workbench.providers.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROJECT = "Looms"
HOSTILE = "<img src=x onerror=alert(1)> \u202e</script> " + "long " * 60
ANSWER = "The portrait was woven in silk from 24,000 punched cards [1]."

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """One visit in which a person works; the tests below are its steps, in order."""
    with visit(browser, served) as visited:
        opened = visited.page
        opened.get_by_role("button", name="+ New").click()
        opened.get_by_label("Project name").fill(PROJECT)
        opened.keyboard.press("Enter")
        expect(opened.locator(".wb-project[aria-current]")).to_contain_text(PROJECT)
        paper = pdfs.loom_paper(served.library.parent / "looms.pdf")
        opened.get_by_placeholder("Path of a file or folder").fill(str(paper))
        opened.get_by_role("button", name="Add", exact=True).click()
        expect(opened.locator(".wb-paper")).to_have_count(1)
        yield opened


def ask(page: Page, question: str) -> None:
    turns = page.locator(".wb-turn").count()
    box = page.get_by_label("Question", exact=True)
    box.fill(question)
    box.press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(turns + 1)
    expect(page.locator(".wb-turn").last).to_have_attribute("data-state", re.compile("done|refused"))


def talks(page: Page) -> Locator:
    return page.get_by_role("list", name="Conversations").locator(".wb-talk")


def menu(page: Page, row: int, item: str) -> None:
    page.locator(".wb-talks .wb-more").nth(row).click()
    page.get_by_role("menuitem", name=item).click()


def chip(page: Page) -> Locator:
    return page.get_by_label("Papers this question sees")


def test_an_empty_list_says_what_to_do(page: Page) -> None:
    expect(page.locator(".wb-conversations .wb-none")).to_have_text("Ask a question, and it is kept here.")
    expect(page.get_by_label("Find in conversations")).to_be_hidden()


def test_a_conversation_is_begun_by_keyboard_and_listed_with_its_scope(page: Page, served: Served) -> None:
    served.ollama.reply(ANSWER)
    ask(page, "What is the portrait made of?")
    expect(talks(page)).to_have_count(1)
    expect(talks(page).first).to_contain_text("Project chat")
    page.get_by_role("button", name="New conversation").press("Enter")
    expect(page.get_by_label("Question", exact=True)).to_be_focused()
    expect(chip(page).locator("option:checked")).to_have_text(PROJECT)
    served.ollama.reply(ANSWER)
    ask(page, HOSTILE)
    expect(talks(page)).to_have_count(2)
    row = talks(page).first
    expect(row).to_have_attribute("aria-current", "true")
    expect(row.locator("> span")).to_contain_text("<img src=x onerror=alert(1)> </script>")
    box, side = row.bounding_box(), page.locator(".wb-conversations").bounding_box()
    assert box
    assert side
    assert box["width"] <= side["width"]
    assert box["height"] < 60, "one line of title, one of facts"
    assert page.locator("img[src='x']").count() == 0


def test_a_chosen_scope_pulses_and_keeps_the_conversation(page: Page) -> None:
    expect(page.locator(".wb-scope.wb-pulse")).to_have_count(0)
    chip(page).select_option(label="All notes")
    expect(page.locator(".wb-scope.wb-pulse")).to_have_count(1)
    expect(page.locator(".wb-turn")).to_have_count(1)
    expect(page.locator(".wb-project[aria-current]")).to_contain_text("All notes")


def test_a_scope_that_the_model_sets_is_explained_and_pulses(page: Page, served: Served) -> None:
    served.ollama.decide({"name": "set_rag_scope", "arguments": {"project_id": 1}})
    served.ollama.reply(ANSWER)
    page.evaluate("document.querySelector('.wb-scope').classList.remove('wb-pulse')")
    ask(page, "Look into my looms project: what is the portrait made of?")
    expect(page.locator(".wb-turn").last.locator(".wb-asked")).to_have_text(
        f"The chat model set the scope to “{PROJECT}”: this conversation searches there from now on."
    )
    expect(chip(page).locator("option:checked")).to_have_text(PROJECT)
    expect(page.locator(".wb-scope.wb-pulse")).to_have_count(1)


def test_the_last_question_is_asked_again_and_the_first_answer_stays(page: Page, served: Served) -> None:
    served.ollama.reply("It is made of silk, from 24,000 punched cards [1].")
    again = page.get_by_role("button", name="Ask again")
    expect(again).to_have_count(1)  # under the last answer alone
    turns = page.locator(".wb-turn").count()
    again.press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(turns + 1)
    expect(page.locator(".wb-turn").last).to_have_attribute("data-state", "done")
    expect(page.locator(".wb-turn").last.locator(".wb-asked")).to_have_text("The same question, asked again.")


def test_conversations_are_found_renamed_and_opened_after_a_reload(page: Page) -> None:
    turns = page.locator(".wb-question").all_inner_texts()
    menu(page, 0, "Rename…")
    name = page.get_by_label("Rename…")
    name.fill("Portraits")
    name.press("Enter")
    expect(talks(page).first.locator("> span")).to_have_text("Portraits")
    expect(page.locator(".wb-head h2")).to_have_text("Portraits")
    page.reload()
    search = page.get_by_label("Find in conversations")
    search.fill("portraits ONERROR")
    expect(talks(page)).to_have_count(1)
    search.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".wb-question")).to_have_text(turns)
    expect(chip(page).locator("option:checked")).to_have_text(PROJECT)
    search.press("Escape")
    expect(talks(page)).to_have_count(2)


def test_a_conversation_is_saved_as_a_notebook_under_a_safe_name(page: Page) -> None:
    with page.expect_download() as waiting:
        menu(page, 0, "Export as notebook")
    assert waiting.value.suggested_filename == "Portraits.ipynb"
    assert json.loads(waiting.value.path().read_text("utf-8"))["nbformat"] == 4
    page.locator(".wb-head .wb-more").click()
    with page.expect_download() as waiting:
        page.get_by_role("menuitem", name="Export as Markdown").click()
    assert waiting.value.suggested_filename == "Portraits.md"


def test_a_papers_own_chat_opens_beside_its_page_without_a_choice_of_scope(
    page: Page, served: Served
) -> None:
    page.get_by_role("button", name="More: Weaving by punched card").first.click()
    page.get_by_role("menuitem", name="Ask this paper alone").click()
    expect(page.locator(".wb-head .wb-chip")).to_have_text("Paper chat")
    expect(chip(page)).to_be_hidden()
    expect(page.locator(".wb-sheet img")).to_be_visible()
    served.ollama.reply(ANSWER)
    ask(page, "What is the portrait made of?")
    expect(talks(page).first).to_contain_text("Paper chat")


def test_two_tabs_share_their_conversations_and_a_deleted_one_goes_in_both(
    browser: Browser, served: Served, page: Page
) -> None:
    with visit(browser, served, width=1024, height=768) as visited:
        other = visited.page
        expect(talks(other)).to_have_count(3)
        talks(other).filter(has_text="Portraits").click()
        expect(other.locator(".wb-head h2")).to_have_text("Portraits")
        expect(other.locator(".wb-question").first).to_be_visible()
        served.ollama.reply(ANSWER)
        ask(other, "Who was portrayed?")
        count = other.locator(".wb-question").count()
        talks(page).filter(has_text="Portraits").click()
        expect(page.locator(".wb-question")).to_have_count(count)
        menu(other, 0, "Delete…")
        confirm = other.get_by_role("alertdialog")
        expect(confirm).to_contain_text(f"its {2 * count} messages, with every citation in them, are lost")
        confirm.get_by_role("button", name="Delete").click()
        expect(talks(other)).to_have_count(2)
        expect(other.locator(".wb-conversations .wb-told")).to_have_text("“Portraits” is deleted.")
        expect(other.locator(".wb-turn")).to_have_count(0)
    ask_into_the_void(page)


def ask_into_the_void(page: Page) -> None:
    """The other tab still shows the deleted conversation: its question is not lost and files nowhere else."""
    turns = page.locator(".wb-turn").count()
    box = page.get_by_label("Question", exact=True)
    box.fill("Who was portrayed?")
    box.press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(turns + 1)
    expect(page.locator(".wb-turn").last).to_contain_text("deleted in another window")
    page.get_by_role("button", name="Ask again").last.click()
    expect(page.locator(".wb-turn").last).to_have_attribute("data-state", re.compile("done|refused"))
    expect(talks(page)).to_have_count(3)
    expect(talks(page).first).to_contain_text("Who was portrayed?")


def test_who_comes_back_sees_what_another_program_did_and_keeps_the_place(page: Page, served: Served) -> None:
    page.get_by_role("button", name="New conversation").press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(0)
    served.ollama.reply(f"{ANSWER}\n\n" * 20)
    ask(page, "Was it silk?")
    turns = page.locator(".wb-turn").count()
    thread = page.locator(".wb-thread")
    page.set_viewport_size({"width": 1440, "height": 420})
    assert thread.evaluate("node => { node.scrollTop = 7; return node.scrollTop; }") == 7
    page.get_by_label("Question", exact=True).fill("A question half ty")
    id = int(talks(page).first.get_attribute("data-id") or 0)
    with workbench.open(served.library, user="ada", embedder=FakeEmbedder()) as other:
        other.papers.add_texts([{"title": "Notes on looms", "text": "A loom has a warp."}])
        other.conversations.get(id).ask("And of what?", provider="extractive")
        papers = f"{len(other.papers.list())} papers"
    expect(page.locator(".wb-facts")).not_to_contain_text(papers)
    page.wait_for_timeout(2_000)  # it looks no more often
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(page.locator(".wb-facts")).to_contain_text(papers)
    expect(page.locator(".wb-turn")).to_have_count(turns + 1)
    expect(page.locator(".wb-question").last).to_have_text("And of what?")
    assert thread.evaluate("node => node.scrollTop") == 7
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_label("Question", exact=True)).to_be_focused()
    expect(page.get_by_label("Question", exact=True)).to_have_value("A question half ty")


def test_only_panels_scroll(page: Page) -> None:
    assert page.evaluate("document.scrollingElement.scrollHeight <= innerHeight")
    for selector in (".wb-conversations", ".wb-head", ".wb-compose"):
        assert page.locator(selector).evaluate("node => node.scrollWidth <= node.clientWidth"), selector

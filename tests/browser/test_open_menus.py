"""A menu or question that is open stays while the rows beneath it change."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import workbench
from tests.browser import pdfs
from tests.browser.conftest import Served, serve
from tests.browser.visiting import visit
from tests.ollama_server import OllamaServer
from workbench.providers.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with workbench.open(home / "library" / "library.duckdb", user="ada", embedder=FakeEmbedder()) as wb:
        wb.papers.add(pdfs.loom_paper(home / "looms.pdf"), project=wb.projects.create("Looms"))
    with serve(home, ollama) as running:
        yield running


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    with visit(browser, served) as opened:
        opened.page.locator(".wb-project").filter(has_text="Looms").click()
        expect(opened.page.locator(".wb-side .wb-paper").first).to_be_visible()
        yield opened.page


def add(page: Page, served: Served, name: str) -> None:
    """Has the dashboard add a paper, by no pointer and no key: those would close what is open."""
    home = served.library.parent.parent
    path = pdfs.write_pdf(home / f"{name}.pdf", title=f"On {name}", pages=[[f"All about {name}."]])
    page.locator(".wb-side .wb-path form").evaluate(
        "(form, path) => { form.querySelector('input').value = path; form.requestSubmit(); }", str(path)
    )
    expect(page.locator(".wb-outcome.wb-ready").filter(has_text=path.name)).to_be_visible()


def titles(page: Page) -> Locator:
    return page.get_by_role("list", name="Papers").locator(".wb-paper-title")


def test_a_question_about_a_project_stays_until_it_is_answered_and_then_the_list_is_new(
    page: Page, served: Served
) -> None:
    more = page.get_by_role("list", name="Projects").get_by_role("button", name="More: Looms")
    count = page.locator(".wb-project").filter(has_text="Looms").locator("small")
    held = int(count.inner_text())
    more.click()
    page.get_by_role("menuitem", name="Delete…").click()
    question = page.get_by_role("alertdialog", name="Delete…")
    cancel = question.get_by_role("button", name="Cancel")
    expect(cancel).to_be_focused()
    place = cancel.bounding_box()
    add(page, served, "shuttles")
    expect(titles(page)).to_have_count(held + 1)
    expect(cancel).to_be_focused()
    assert cancel.bounding_box() == place
    cancel.click()
    expect(question).to_be_hidden()
    expect(count).to_have_text(str(held + 1))
    expect(more).to_be_focused()


@pytest.mark.parametrize("chosen", [None, "Remove from the library…"])
def test_a_menu_of_a_paper_stays_and_does_what_it_says(
    page: Page, served: Served, chosen: str | None
) -> None:
    held = titles(page).all_inner_texts()
    page.get_by_role("button", name=f"More: {held[0]}", exact=True).click()
    first = page.get_by_role("menuitem", name="Ask this paper alone")
    if chosen:
        page.get_by_role("menuitem", name=chosen).click()
        first = page.get_by_role("alertdialog", name=chosen).get_by_role("button", name="Cancel")
    expect(first).to_be_focused()
    name = "heddles" if chosen else "treadles"
    add(page, served, name)
    expect(page.locator(".wb-project[aria-current] small")).to_have_text(str(len(held) + 1))
    expect(first).to_be_focused()
    if chosen:
        page.get_by_role("alertdialog", name=chosen).get_by_role("button", name="Remove").click()
    else:
        page.get_by_role("menuitem", name="Remove from this project").click()
    expect(titles(page)).to_have_text([*held[1:], f"On {name}"])

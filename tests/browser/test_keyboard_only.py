"""The dashboard without a pointer: Tab comes to everything, and it shows where it is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

import workbench
from tests.browser import pdfs
from tests.browser.conftest import Served, serve
from tests.browser.visiting import visit
from tests.ollama_server import OllamaServer
from workbench.providers.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

expect.set_options(timeout=20_000)

_REACHABLE = """() => {
  const kinds = ":is(button, input, select, textarea, summary, [tabindex])";
  const own = [...document.querySelectorAll(`.wb-page ${kinds}`)].filter((node) =>
    node.tabIndex >= 0 && !node.disabled && node.checkVisibility({ visibilityProperty: true }));
  own.forEach((node, number) => { node.dataset.reach = String(number); });
  return own.length;
}"""
_FOCUSED = """() => {
  const node = document.activeElement;
  const style = getComputedStyle(node), around = getComputedStyle(node.parentElement);
  const seen = style.outlineStyle !== "none" || style.boxShadow !== "none" || around.boxShadow !== "none"
    || around.outlineStyle !== "none";
  return [node.dataset.reach ?? "", seen, node.outerHTML.slice(0, 150)];
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with workbench.open(home / "library" / "library.duckdb", user="ada", embedder=FakeEmbedder()) as wb:
        wb.papers.add(pdfs.loom_paper(home / "looms.pdf"), project=wb.projects.create("Looms"))
    with serve(home, ollama) as running:
        yield running


@pytest.fixture(scope="module")
def page(browser: Browser, served: Served) -> Iterator[Page]:
    with visit(browser, served) as opened:
        expect(opened.page.locator(".wb-project").filter(has_text="Looms")).to_be_visible()
        yield opened.page


def test_a_project_is_chosen_asked_stopped_and_cited_by_keys_alone(page: Page, served: Served) -> None:
    page.locator(".wb-project").filter(has_text="Looms").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".wb-project[aria-current]")).to_contain_text("Looms")
    expect(page.locator(".wb-side .wb-paper")).to_have_count(1)
    box = page.get_by_label("Question", exact=True)
    for question, stop in (
        ("How many punched cards did the portrait need?", False),
        ("How are cards laced together?", True),
    ):
        if stop:
            served.ollama.reply_endlessly("and so on. ", piece_delay=0.1)
        else:
            served.ollama.reply("The portrait was woven in silk from 24,000 punched cards [1].")
        box.focus()
        page.keyboard.type(question)
        expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
        page.keyboard.press("Enter")
        turn = page.locator(".wb-turn").last
        if stop:
            expect(turn.locator(".wb-answer")).to_contain_text("and so on.")
            page.keyboard.press("Escape")
        expect(turn).to_have_attribute("data-state", "stopped" if stop else "done")
    page.locator(".wb-turn").first.locator(".wb-cite").focus()
    expect(page.get_by_role("tooltip")).to_contain_text("Weaving by punched card")
    page.keyboard.press("Enter")
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()


@pytest.mark.parametrize("tab", ["Chat", "Library", "Tuning", "Ledger"])
def test_tab_comes_to_everything_and_shows_where_it_is(page: Page, tab: str) -> None:
    button = page.get_by_role("navigation", name="Views").get_by_role("button", name=tab)
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-current", "page")
    page.wait_for_load_state("networkidle")
    if tab == "Ledger":  # its check begins by itself, and its button rests meanwhile
        expect(page.get_by_text("The library is healthy")).to_be_visible()
    there = page.evaluate(_REACHABLE)
    page.evaluate("document.activeElement.blur()")
    reached, unseen = set(), []
    for _ in range(there * 2 + 20):
        page.keyboard.press("Tab")
        number, seen, node = page.evaluate(_FOCUSED)
        if number in reached and len(reached) == there:
            break
        reached.add(number)
        if number and not seen:
            unseen.append(node)
    missed = page.evaluate(
        """(reached) => [...document.querySelectorAll("[data-reach]")]
          .filter((node) => !reached.includes(node.dataset.reach))
          .map((node) => node.outerHTML.slice(0, 150))""",
        sorted(reached),
    )
    assert missed == []
    assert unseen == []
    page.evaluate("document.querySelectorAll('[data-reach]').forEach((node) => delete node.dataset.reach)")

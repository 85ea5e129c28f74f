"""A page whose program has ended says so and keeps what is typed; one that lives follows other programs."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

import workbench
from tests.browser.conftest import Served, serve
from tests.browser.visiting import visit
from tests.ollama_server import OllamaServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

expect.set_options(timeout=60_000)


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Served]:
    with serve(tmp_path_factory.mktemp("home"), ollama) as running:
        yield running


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    with visit(browser, served) as opened:
        expect(opened.page.get_by_label("Question", exact=True)).to_be_visible()
        yield opened.page
        opened.faults.clear()  # the browser's own words on a server that is gone


def test_an_open_page_shows_what_another_program_made_and_then_that_its_own_has_ended(
    page: Page, served: Served
) -> None:
    silent = page.get_by_role("alert").filter(has_text="does not answer")
    with workbench.open(served.library, user="ada") as wb:
        wb.projects.create("Made elsewhere")
    expect(page.locator(".wb-project").filter(has_text="Made elsewhere")).to_be_visible()
    expect(silent).to_be_hidden()

    served.process.send_signal(signal.SIGKILL)
    served.process.wait(20)
    question = page.get_by_label("Question", exact=True)
    question.fill("What do looms weave?")
    question.press("Enter")
    expect(question).to_have_value("What do looms weave?")
    expect(silent).to_contain_text("start it again and open the address that it prints")

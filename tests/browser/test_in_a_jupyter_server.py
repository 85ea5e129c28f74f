"""The dashboard as an extension of any Jupyter server, set up as the README says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Served, serve_lab
from tests.browser.visiting import visit
from tests.ollama_server import OllamaServer
from widgets.launch import SITE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

expect.set_options(timeout=40_000)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Served]:
    """JupyterLab's server with our folder among its own, at the dashboard's page."""
    site = str(SITE)
    home = tmp_path_factory.mktemp("home")
    path = "voila/render/dashboard.ipynb"
    with serve_lab(home, ollama, path=path, JUPYTER_PATH=site, JUPYTER_CONFIG_PATH=site) as running:
        yield running


def test_it_shows_our_page_and_asks_no_other_host(browser: Browser, served: Served) -> None:
    with visit(browser, served) as opened:
        expect(opened.page.get_by_label("Question", exact=True)).to_be_visible()
        expect(opened.page).to_have_title("Research Workbench")
        opened.page.wait_for_load_state("networkidle")

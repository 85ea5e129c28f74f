"""Two dashboards on one library, each at a path of its own behind a real nginx, as the README says."""

from __future__ import annotations

import os
import re
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

import workbench
from tests.browser import pdfs
from tests.browser.conftest import Served, serve
from tests.browser.reverse_proxy import missing, reverse_proxy
from tests.browser.visiting import visit
from tests.mineral_papers import minerals
from tests.ollama_server import OllamaServer
from workbench import Settings

pytestmark = [pytest.mark.browser, pytest.mark.slow]

expect.set_options(timeout=40_000)

SECRET = "Minerals of Ada"
QUESTION = "What is the melting point of arvenite?"


@dataclass(frozen=True)
class Behind:
    """Each person's dashboard, with the address behind the proxy."""

    ada: Served
    bob: Served

    @property
    def bare(self) -> str:
        """Ada's address without the token."""
        return self.ada.url.split("?")[0]


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, ollama: OllamaServer) -> Iterator[Behind]:
    if reason := missing():
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    folder = tmp_path_factory.mktemp("shared")
    library = folder / "library.duckdb"
    settings = Settings.load(library=library, user="ada", embedder="fake", chat="extractive")
    with workbench.open(settings=settings) as wb:
        wb.papers.add(minerals(1)[0].write(folder), project=wb.projects.create(SECRET))
    with ExitStack() as running:
        served = {}
        for user in ("ada", "bob"):
            options = (f"--DashboardServer.base_url=/research/{user}/",)
            home = tmp_path_factory.mktemp(user)
            variables = {"WORKBENCH_USER": user, "WORKBENCH_CHAT": "extractive"}
            serving = serve(home, ollama, *options, library=library, **variables)
            served[user] = running.enter_context(serving)
        servers = {
            f"/research/{user}/": f"http://{urlsplit(each.url).netloc}" for user, each in served.items()
        }
        proxy = running.enter_context(reverse_proxy(servers, tmp_path_factory.mktemp("nginx")))
        places = {
            user: replace(each, url=re.sub(r"^http://[^/]+", proxy, each.url))
            for user, each in served.items()
        }
        yield Behind(**places)


@pytest.fixture(scope="module")
def page(browser: Browser, behind: Behind) -> Iterator[Page]:
    with visit(browser, behind.ada) as opened:
        expect(opened.page.get_by_label("Question", exact=True)).to_be_visible()
        yield opened.page


def test_a_question_is_answered_through_the_proxy(page: Page, behind: Behind) -> None:
    page.locator(".wb-project").filter(has_text=SECRET).click()
    expect(page.locator(".wb-chat").get_by_role("heading", name=SECRET)).to_be_visible()
    box = page.get_by_label("Question", exact=True)
    box.fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".wb-turn").last).to_contain_text("1013 degrees Celsius")
    page.locator(".wb-turn .wb-cite").first.click()
    expect(page.locator(".wb-sheet img")).to_be_visible()
    assert urlsplit(page.url).path == urlsplit(behind.ada.url).path


def test_an_upload_larger_than_the_proxy_takes_in_one_request_arrives_whole(
    page: Page, tmp_path: Path
) -> None:
    large = pdfs.large_paper(tmp_path / "scan.pdf")
    assert large.stat().st_size > 12_000_000  # bytes; nginx refuses the body of a request above a million
    page.locator(".wb-side .wb-uploads input[type=file]").set_input_files(large)
    expect(page.locator(".wb-side .wb-outcome.wb-ready").filter(has_text="scan.pdf")).to_be_visible()


def test_another_person_on_the_same_library_sees_nothing_of_it(browser: Browser, behind: Behind) -> None:
    with visit(browser, behind.bob) as opened:
        page = opened.page
        expect(page.get_by_label("Question", exact=True)).to_be_visible()
        expect(page.locator(".wb-project").filter(has_text="Orphan notes")).to_be_visible()
        assert SECRET not in page.content()
        assert "arvenite" not in page.content()


def test_without_the_token_nothing_is_shown_and_no_websocket_opens(behind: Behind) -> None:
    with urllib.request.urlopen(behind.bare, timeout=60) as reply:
        assert urlsplit(reply.url).path == urlsplit(behind.bare).path + "login"
        assert SECRET not in reply.read().decode()
    for path in ("api/kernels", "voila/files/dashboard.ipynb", "voila/render/dashboard.ipynb"):
        assert _status(behind.bare + path) in {302, 403, 404}
    kernel = "00000000-0000-0000-0000-000000000000"
    assert _websocket_status(f"{behind.bare}api/kernels/{kernel}/channels") == 403


def test_a_token_of_somebody_else_does_not_open_it(behind: Behind) -> None:
    stranger = behind.bare + "?" + behind.bob.url.split("?")[1]
    with urllib.request.urlopen(stranger, timeout=60) as reply:
        assert urlsplit(reply.url).path.endswith("/login")


def test_the_login_page_takes_the_token(browser: Browser, behind: Behind) -> None:
    with visit(browser, replace(behind.ada, url=behind.bare)) as opened:
        page = opened.page
        page.locator("input[type=password]").first.fill(behind.ada.url.split("token=")[1])
        page.keyboard.press("Enter")
        expect(page.get_by_label("Question", exact=True)).to_be_visible()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def _status(address: str) -> int:
    try:
        with urllib.request.build_opener(_NoRedirects).open(address, timeout=60) as reply:
            return int(reply.status)
    except HTTPError as error:
        return error.code


def _websocket_status(address: str) -> int:
    """What a request for a websocket gets."""
    place = urlsplit(address)
    connection = HTTPConnection(place.netloc, timeout=60)
    wanted = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    connection.request("GET", place.path, headers={**wanted, "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="})
    return connection.getresponse().status

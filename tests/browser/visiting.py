"""Opening the dashboard in a browser that may talk to this machine only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import Served


@dataclass
class Visit:
    """An open dashboard. ``outside`` and ``faults`` are what no visit may do, checked at its end."""

    page: Page
    served: Served
    outside: list[str]
    faults: list[str]

    def reload(self) -> None:
        """The page again from the start; in JupyterLab, the notebook again in a new kernel."""
        self.page.reload()
        if self.served.in_lab:
            run_notebook(self.page, "Restart Kernel and Run All Cells…")
            self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        expect(self.page.get_by_label("Question", exact=True)).to_be_visible()


@contextmanager
def visit(
    browser: Browser,
    served: Served,
    *,
    width: int = 1440,
    height: int = 900,
    theme: str = "light",
    document: str = "",
) -> Iterator[Visit]:
    """Opens the dashboard; at the end checks that nothing asked another machine and that no script failed.

    In JupyterLab, ``document`` is another file to open in its place, with what its address adds.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
    context.set_default_timeout(20_000)
    opened = Visit(context.new_page(), served, [], [])
    _watch(context, opened)
    opened.page.goto(
        served.url.replace("/lab/tree/dashboard.ipynb?", f"/doc/tree/{document}&") if document else served.url
    )
    if served.in_lab and not document:
        run_notebook(opened.page, "Run All Cells")
    yield opened
    context.close()
    assert opened.outside == []
    assert opened.faults == []


def _watch(context: BrowserContext, opened: Visit) -> None:
    def requested(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            opened.outside.append(address)

    def dialog(shown: Any) -> None:
        if shown.type == "beforeunload":
            shown.accept()
        else:
            opened.faults.append(f"dialog: {shown.message}")
            shown.dismiss()

    context.on("request", lambda request: requested(request.url))
    opened.page.on("websocket", lambda socket: requested(socket.url))
    opened.page.on("pageerror", lambda error: opened.faults.append(str(error)))
    opened.page.on("dialog", dialog)


def run_notebook(page: Page, how: str) -> None:
    """Run every cell of the notebook that JupyterLab shows, by an entry of its menu."""
    expect(page.locator(".jp-CodeCell")).to_have_count(2)
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()  # what runs earlier is lost
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text(how, exact=True).click()

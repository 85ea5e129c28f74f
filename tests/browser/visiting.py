"""Opening the dashboard in a browser that may talk to this machine only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page


@contextmanager
def visit(
    browser: Browser, url: str, *, width: int = 1440, height: int = 900, theme: str = "light"
) -> Iterator[Page]:
    """Opens ``url``; at the end checks that nothing asked another machine and that no script failed."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
    context.set_default_timeout(20_000)
    page = context.new_page()
    outside: list[str] = []
    faults: list[str] = []

    def requested(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            outside.append(address)

    page.on("request", lambda request: requested(request.url))
    page.on("websocket", lambda socket: requested(socket.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(f"dialog: {dialog.message}"))
    page.goto(url)
    yield page
    context.close()
    assert outside == []
    assert faults == []

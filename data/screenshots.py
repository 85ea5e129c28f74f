"""Pictures of the dashboard's main states for the README, light and dark, over the sample project.

``make screenshots`` writes them into ``data/screenshots``; it needs the packages of the tests and Debian's
Chromium. ``python data/screenshots.py FOLDER --size 1024x768`` writes others elsewhere.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

import workbench
from widgets.launch import voila_command
from workbench.sample import add_sample

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
USER = "reader"
QUESTION = "How fast is an exact search inside a project, and why not use a graph index there?"
ASKED_BEFORE = [
    "What does it cost to open the library file?",
    "How many tokens does a chunk of 150 words hold?",
    "Which keyword engine finds identifiers such as IL-6?",
]
expect.set_options(timeout=60_000)


def _chat(page: Page) -> None:
    page.locator(".wb-turn").last.locator(".wb-cite").first.click()
    expect(page.locator(".wb-boxes .wb-mark").first).to_be_visible()
    expect(page.locator(".wb-pages.wb-loading")).to_have_count(0)
    page.mouse.move(0, 0)  # the click has closed the card, and only a pointer that comes anew opens it
    page.locator(".wb-turn").last.locator(".wb-cite").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()


def _tab(name: str, ready: str) -> Callable[[Page], None]:
    def show(page: Page) -> None:
        page.get_by_role("navigation", name="Views").get_by_role("button", name=name).click()
        page.wait_for_function("!document.querySelector('.wb-chatting')")
        close = page.get_by_role("button", name="Close the page")
        if close.is_visible():
            close.click()
        expect(page.locator(f".wb-shown {ready}").first).to_be_visible()

    return show


def _tuning(page: Page) -> None:
    """A replay with fewer passages than before: some leave."""
    _tab("Tuning", ".wb-seats li")(page)
    field = page.locator(".wb-control[data-name=top_k] input[type=number]")
    field.fill("8")
    field.press("Enter")
    expect(page.locator(".wb-gone li").first).to_be_visible()


def _conversations(page: Page) -> None:
    page.get_by_role("navigation", name="Views").get_by_role("button", name="Chat").click()
    page.locator(".wb-project").filter(has_text="All notes").click()
    found = page.get_by_role("list", name="Conversations").get_by_role("button")
    found.filter(has_text=ASKED_BEFORE[0][:20]).first.click()
    expect(page.locator(".wb-question").first).to_contain_text(ASKED_BEFORE[0])


STATES: dict[str, Callable[[Page], None]] = {
    "chat": _chat,
    "library": _tab("Library", "tbody tr"),
    "tuning": _tuning,
    "ledger": _tab("Ledger", ".wb-ledger-health:has-text('The library is healthy')"),
    "conversations": _conversations,
}


def pictures(target: Path, width: int, height: int) -> Iterator[Path]:
    """Every state in both themes, as PNG files in ``target``."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="papers-") as scratch, sync_playwright() as playwright:
        empty, filled = Path(scratch) / "empty.duckdb", Path(scratch) / "library.duckdb"
        _fill(filled)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for library, states in ((empty, {"first-start": lambda page: None}), (filled, STATES)):
            with _served(library) as address:
                for theme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": width, "height": height}, locale="en-GB")
                    page.goto(f"{address}&theme={theme}")
                    expect(page.get_by_label("Question", exact=True)).to_be_visible()
                    expect(page.locator(".wb-facts")).to_contain_text("healthy")
                    if library == filled:
                        page.locator(".wb-project").first.click()
                        expect(page.locator(".wb-turn").first).to_be_visible()
                    for name, show in states.items():
                        show(page)
                        page.wait_for_load_state("networkidle")
                        yield _written(page.screenshot(animations="disabled"), target / f"{name}-{theme}.png")
                    page.close()
        browser.close()


def _fill(library: Path) -> None:
    """The sample project with one question in its chat, and conversations beside it."""
    settings = workbench.Settings(library=library, chat="extractive")
    with workbench.open(user=USER, settings=settings) as wb:
        add_sample(wb)
        project = wb.projects.list()[0]
        for asked in ASKED_BEFORE:
            wb.conversations.create(workbench.Scope.ALL, title=asked).ask(asked)
        wb.project_chat(project).ask(QUESTION)


def _written(png: bytes, path: Path) -> Path:
    """``png`` with a palette of its own, which makes it a third as large."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


@contextmanager
def _served(library: Path) -> Iterator[str]:
    """The address of a dashboard that runs over ``library``."""
    log = library.with_suffix(".log")
    environment = {
        **os.environ,
        "HOME": str(library.parent),
        "WORKBENCH_USER": USER,
        "WORKBENCH_CHAT": "extractive",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": str(HERE.parent),
    }
    with log.open("w") as output:
        command = voila_command(library, port=8899, open_browser=False)
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            yield _address(process, log)
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    while process.poll() is None:
        found = re.search(r"The dashboard is at (\S+)", log.read_text("utf-8"))
        if found:
            return found[1]
        time.sleep(0.2)
    raise SystemExit(log.read_text("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE / "screenshots")
    parser.add_argument("--size", default="1440x900")
    given = parser.parse_args()
    width, height = (int(side) for side in given.size.split("x"))
    for path in pictures(given.folder, width, height):
        print(f"{path.name}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()

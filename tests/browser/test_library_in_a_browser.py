"""The Library and the Ledger tab as a person meets them: many papers, hostile titles, the keyboard."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import workbench
from tests.browser.conftest import Served
from tests.browser.visiting import visit
from workbench import Workbench
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.storage import ledger

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HOSTILE = "<img src=x onerror=alert(1)></script>" + "W" * 250
TEXT = "The engine weaves patterns as the loom weaves flowers."

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def wb(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    """The dashboard's library as another process uses it: 130 papers, a file that failed, a small project."""
    broken = tmp_path_factory.mktemp("files") / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and nothing else")
    with workbench.open(served.library, user="ada", embedder=FakeEmbedder()) as opened:
        opened.papers.add_texts(
            {"title": title, "text": f"{TEXT} {title}"}
            for title in [*(f"Paper {n:03d}" for n in range(129)), HOSTILE]
        )
        opened.papers.add_many([broken])
        opened.projects.create("Looms")
        opened.projects.add("Looms", *range(1, 9))
        yield opened


@pytest.fixture(scope="module")
def page(browser: Browser, served: Served, wb: Workbench) -> Iterator[Page]:
    with visit(browser, served, width=1024, height=768) as opened:
        yield opened.page


def test_the_library_is_filtered_chosen_from_and_put_into_a_project_by_keyboard(
    page: Page, wb: Workbench
) -> None:
    page.get_by_role("button", name="Library", exact=True).press("Enter")
    rows = page.locator(".wb-shelf-rows tbody tr")
    expect(rows).to_have_count(50)
    expect(page.locator(".wb-shelf .wb-pager")).to_contain_text("1–50 of 131")
    expect(rows.filter(has_text="broken.pdf")).to_contain_text("failed")
    assert page.locator("img[src='x']").count() == 0
    assert page.evaluate("document.querySelector('.wb-shelf-rows').scrollWidth") <= 772, "nothing overflows"

    page.get_by_label("Filter the library").press_sequentially("paper 02")
    expect(rows).to_have_count(12)
    first = page.get_by_label("Choose Paper 029")
    first.press("Space")
    first.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator(".wb-shelf-chosen")).to_contain_text("2 chosen")
    target = page.get_by_label("Project for the chosen papers")
    target.select_option(label="Looms (8 of 10)")
    expect(page.locator(".wb-shelf-says")).to_have_text("“Looms” is full with these: 10 of 10.")
    page.get_by_label("Choose Paper 027").press("Space")
    expect(page.locator(".wb-shelf-says")).to_contain_text("room for 2 more, and 3 of these are new to it")
    add = page.locator(".wb-shelf-chosen").get_by_role("button", name="Add", exact=True)
    expect(add).to_be_disabled()
    page.get_by_label("Choose Paper 027").press("Space")
    expect(add).to_be_enabled()
    add.press("Enter")
    expect(page.locator(".wb-shelf .wb-said")).to_contain_text("“Looms” holds 10 papers now.")
    assert len(wb.projects.papers("Looms")) == 10
    expect(page.locator(".wb-project[aria-current] small")).to_have_text("10")


def test_papers_leave_the_library_after_a_word_on_what_is_lost(page: Page, wb: Workbench) -> None:
    page.get_by_label("Filter the library").fill("onerror")
    row = page.locator(".wb-shelf-rows tbody tr")
    expect(row).to_have_count(1)
    row.locator(".wb-more").click()
    page.get_by_role("menuitem", name="Remove from the library").click()
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("What goes")
    expect(dialog).to_contain_text("Earlier answers with their quotes")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator(".wb-shelf .wb-said")).to_contain_text("is removed from the library.")
    expect(page.locator(".wb-shelf .wb-shelf-none")).to_contain_text("No paper fits this filter.")
    assert len(wb.papers.list()) == 129
    page.get_by_role("button", name="Show all papers").click()
    expect(page.locator(".wb-shelf .wb-pager")).to_contain_text("1–50 of 130")


def test_a_file_dropped_anywhere_on_the_tab_comes_in_and_beside_it_does_not_replace_the_page(
    page: Page,
) -> None:
    dropped = page.evaluate_handle(
        """(data) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], "dropped.txt"));
          return transfer;
        }""",
        base64.b64encode(b"Dropped beside the loom.").decode(),
    )
    page.dispatch_event(".wb-header", "drop", {"dataTransfer": dropped})
    page.dispatch_event(".wb-shelf-rows tbody", "drop", {"dataTransfer": dropped})
    expect(page.locator(".wb-shelf .wb-said")).to_contain_text("1 added")
    expect(page.locator(".wb-shelf-rows tbody tr").first).to_contain_text("dropped")
    expect(page.locator(".wb-shelf .wb-pager")).to_contain_text("1–50 of 131")


def test_the_ledger_shows_problems_resumes_a_paper_and_writes_a_backup(
    page: Page, wb: Workbench, tmp_path: Path
) -> None:
    with wb._database.write() as cursor:
        ledger.record(
            cursor,
            "ada",
            file="Paper 000",
            stage="embed",
            state="failed",
            seconds=0,
            paper_id=1,
            error="no answer",
        )
    page.get_by_role("button", name="Ledger", exact=True).press("Enter")
    rows = page.locator(".wb-ledger-rows tbody tr")
    expect(rows).to_have_count(50)
    expect(page.locator(".wb-verdict")).to_contain_text("Not checked yet")
    page.get_by_role("button", name="Check the library").press("Enter")
    expect(page.locator(".wb-verdict")).to_contain_text("The library is healthy")
    expect(page.locator(".wb-ledger-facts")).to_contain_text("fake-words-64")
    page.get_by_label("Only problems (2)").check()
    expect(rows).to_have_count(2)
    expect(rows.filter(has_text="Paper 000")).to_contain_text("no answer")
    page.get_by_role("button", name="Resume Paper 000").press("Enter")
    expect(page.locator(".wb-ledger .wb-said")).to_contain_text("1 paper processed again.")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Forget broken.pdf").press("Enter")
    expect(page.locator(".wb-ledger-rows .wb-shelf-none")).to_contain_text("No problems")

    page.get_by_label("Where to write the backup").fill(str(tmp_path / "copy.duckdb"))
    page.keyboard.press("Enter")
    expect(page.locator(".wb-ledger .wb-said")).to_contain_text("A checked copy is at")
    assert (tmp_path / "copy.duckdb").stat().st_size > 100_000

"""Whatever a paper, a name, a question, a chat model or an error holds, it is only ever text.

Each step walks one part of a dashboard whose library is full of attacks, and looks at all of the page: no
script ran, nothing was asked of another machine, no dialog came, nothing alive is in the page, no text turns
around, and no name pushes anything out of its place.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import workbench
from tests.browser import pdfs
from tests.browser.attacks import ATTACKS, EVERY, ONE_LINE, harm, overflow
from tests.browser.conftest import Served, serve, serve_lab
from tests.browser.visiting import Visit, visit
from tests.ollama_server import OllamaServer
from workbench import Scope
from workbench.conversing import Conversation
from workbench.providers.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

expect.set_options(timeout=20_000)

_CARD = """(number) => {
  const marker = [...document.querySelectorAll(".wb-turn")].at(-1).querySelectorAll(".wb-cite")[number];
  marker.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
  return !document.querySelector("[role=tooltip]").hidden;
}"""
"""Point at a marker until its card is there: what scrolls at the same moment hides it again."""


@pytest.fixture(scope="module")
def hostile_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    _fill(folder / "library" / "library.duckdb", folder)
    return folder / "library"


@pytest.fixture(scope="module", params=["voila", "lab"])
def served(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    ollama: OllamaServer,
    hostile_library: Path,
) -> Iterator[Served]:
    home = tmp_path_factory.mktemp(request.param)
    shutil.copytree(hostile_library, home / "library")
    with {"voila": serve, "lab": serve_lab}[request.param](home, ollama) as running:
        yield running


def _fill(library: Path, folder: Path) -> None:
    """Every attack as a note's title and text, a project's name and aim, a conversation's title, a preset's
    name and a memory; one PDF holds them as title and text."""
    with workbench.open(library, user="ada", embedder=FakeEmbedder()) as wb:
        for name, attack in ATTACKS.items():
            project = wb.projects.create(ONE_LINE[name], description=attack, goal=attack)
            wb.notes.create(" ".join(attack.split()), f"{pdfs.CLAIM} {attack}\n\n{EVERY}", project=project)
            wb.presets.save(project, ONE_LINE[name][:100], top_k=7, choose=False)
            wb.conversations.create(Scope.ALL, title=ONE_LINE[name])
        paper = pdfs.write_pdf(
            folder / "attack.pdf", title=ATTACKS["picture"], pages=[[*ATTACKS.values(), pdfs.CLAIM]]
        )
        wb.papers.add(paper, project=wb.projects.list()[-1])


@pytest.fixture(scope="module")
def visited(browser: Browser, served: Served) -> Iterator[Visit]:
    with visit(browser, served) as opened:
        expect(opened.page.locator(".wb-project").first).to_be_visible()
        yield opened


@pytest.fixture
def page(visited: Visit) -> Page:
    return visited.page


def ends(page: Page) -> None:
    expect(page.locator(".wb-turn").last).not_to_have_attribute("aria-busy", "true")


def put(page: Page, question: str) -> None:
    turns = page.locator(".wb-turn").count()
    page.get_by_label("Question", exact=True).fill(question)
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    page.get_by_label("Question", exact=True).press("Enter")
    expect(page.locator(".wb-turn")).to_have_count(turns + 1)
    ends(page)


def test_names_of_projects_and_papers_are_text(visited: Visit, page: Page) -> None:
    expect(page.locator(".wb-project-list:not(.wb-scopes) .wb-project")).to_have_count(len(ATTACKS))
    page.locator(".wb-project").filter(has_text="All notes").click()
    expect(page.locator(".wb-side .wb-paper")).to_have_count(len(ATTACKS) + 1)
    assert harm(visited) == []
    assert overflow(page) == []


def test_files_with_hostile_names_and_the_reasons_for_refusing_them_are_text(
    visited: Visit, page: Page, tmp_path: Path
) -> None:
    names = [f"{text.replace('/', ' ')[:80]}.pdf" for text in ONE_LINE.values()]
    files = [tmp_path / name for name in names]
    for number, file in enumerate(files):
        file.write_bytes(b"%PDF-1.7 and nothing else " + str(number).encode())
    page.locator(".wb-side .wb-uploads input[type=file]").set_input_files(files)
    expect(page.locator(".wb-side .wb-outcome.wb-failed")).to_have_count(len(files))
    page.get_by_placeholder("Path of a file or folder").first.fill(ATTACKS["picture"])
    page.keyboard.press("Enter")
    expect(page.locator(".wb-side .wb-error:visible")).to_contain_text("There is nothing at")
    assert harm(visited) == []
    assert overflow(page) == []


def test_questions_answers_citations_and_pages_are_text(visited: Visit, page: Page, served: Served) -> None:
    served.ollama.reply(f"{EVERY}\n\nThe portrait was woven in silk from 24,000 punched cards [1][2][3].")
    put(page, f"How many punched cards did the portrait of Jacquard need? {EVERY}")
    assert harm(visited) == []
    markers = page.locator(".wb-turn").last.locator(".wb-cite")
    for number in range(markers.count()):
        markers.nth(number).scroll_into_view_if_needed()
        page.wait_for_function(_CARD, arg=number)
        assert harm(visited) == []
        markers.nth(number).click()
        expect(page.locator(".wb-view-title b")).not_to_be_empty()
        expect(page.locator(".wb-pages.wb-loading")).to_have_count(0)
        assert harm(visited) == []
    page.locator(".wb-turn").last.get_by_role("button", name="Why these passages").click()
    expect(page.locator(".wb-passage").first).to_be_visible()
    assert harm(visited) == []
    assert overflow(page) == []


def test_what_a_chat_model_says_when_it_fails_or_calls_tools_is_text(
    visited: Visit, page: Page, served: Served
) -> None:
    served.ollama.reply(status=500, error=EVERY)
    put(page, "How are cards laced together?")
    served.ollama.decide({"name": EVERY, "arguments": {EVERY: EVERY}})
    served.ollama.reply(f"They are laced [1]. {EVERY}")
    put(page, f"Use my project {ATTACKS['picture']}: how are cards laced together?")
    served.ollama.decide({"name": "set_rag_scope", "arguments": {"project_id": 1}})
    served.ollama.reply("They are laced [1].")
    put(page, "Use my first project: in what order are cards laced together?")
    assert harm(visited) == []
    assert overflow(page) == []


def test_every_tab_with_all_it_can_open_is_text(visited: Visit, page: Page) -> None:
    close = page.get_by_role("button", name="Close the page")
    if close.is_visible():
        close.click()
    tabs = page.get_by_role("navigation", name="Views").get_by_role("button")
    for number in range(tabs.count()):
        tabs.nth(number).click()
        expect(tabs.nth(number)).to_have_attribute("aria-current", "page")
        page.wait_for_function("!document.querySelector('.wb-shown [aria-busy=true]')")
        page.evaluate(
            "document.querySelectorAll('.wb-page details').forEach((part) => { part.open = true; })"
        )
        _open_menus(page, visited)
        assert harm(visited) == []
        assert overflow(page) == []
    tabs.first.click()


def _open_menus(page: Page, visited: Visit) -> None:
    """Open each menu in sight, and from it what asks for a name or a yes."""
    menus = page.locator(".wb-page [aria-haspopup=menu]:visible")
    for number in range(min(menus.count(), 20)):
        menus.nth(number).click()
        entries = page.locator(".wb-menu:popover-open [role=menuitem]")
        asking = entries.filter(has_text="…")
        if asking.count():
            asking.first.click()
            assert harm(visited) == []
        page.keyboard.press("Escape")
        expect(page.locator(".wb-menu:popover-open")).to_have_count(0)


def test_a_reload_brings_no_stored_text_to_life(visited: Visit, page: Page) -> None:
    visited.reload()
    page.get_by_role("list", name="Conversations").get_by_role("button").first.click()  # the last one used
    expect(page.locator(".wb-turn").first).to_be_visible()
    assert harm(visited) == []
    assert overflow(page) == []


def test_exported_conversations_are_text_where_jupyterlab_shows_them(
    browser: Browser, served: Served
) -> None:
    """The notebook of a conversation, and its Markdown in a cell of that notebook."""
    if not served.in_lab:
        pytest.skip("notebooks are opened in JupyterLab")
    with workbench.open(served.library, user="ada", embedder=FakeEmbedder()) as wb:
        talk = max((wb.conversations.get(info) for info in wb.conversations.list()), key=_length)
        assert EVERY[:30] in talk.messages[0].text
        notebook = json.loads(wb.bibliography.notebook(talk))
        markdown = wb.bibliography.conversation(talk).markdown
    notebook["cells"].append({"cell_type": "markdown", "id": "exported", "metadata": {}, "source": markdown})
    file = served.library.parent.parent / "notebooks" / "talk.ipynb"
    file.write_text(json.dumps(notebook), "utf-8")
    with visit(browser, served, document=f"{file.name}?") as opened:
        answer = opened.page.locator(".jp-CodeCell .jp-RenderedMarkdown")
        expect(answer.filter(has_text="24,000 punched cards").first).to_be_attached()
        exported = opened.page.locator(".jp-MarkdownCell .jp-RenderedMarkdown")
        expect(exported.filter(has_text="24,000 punched cards")).to_be_attached()
        assert harm(opened, ".jp-RenderedMarkdown") == []


def _length(talk: Conversation) -> int:
    return len(talk.messages)

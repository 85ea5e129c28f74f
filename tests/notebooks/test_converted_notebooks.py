"""A notebook that was saved with hostile papers in its outputs, converted to HTML and opened in Chromium."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Browser, sync_playwright

import workbench
from tests.browser.conftest import CHROMIUM, CHROMIUM_FLAGS
from tests.notebooks.hostile import HOSTILE
from tests.notebooks.test_displays import SHOWN, made
from workbench import Settings
from workbench.providers.fake_chat import FakeChat
from workbench.providers.fake_embedder import FakeEmbedder

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAID = "The hardness of zorblaxite is seven units"
CELLS = [
    "%load_ext workbench",
    "%scope all",
    "%%ask answer\nWhat is the hardness of zorblaxite?",
    "%%wbsql\nSELECT title, file, text FROM papers JOIN pages USING (paper_id)",
    "wb.papers.list()",
    "wb.projects.list()",
    "wb.papers.get(1)",
    "answer.evidence",
    "answer.to_frame()",
    "answer.citations[0]",
    "answer.audit",
    "wb.project_chat(project).ask('What is the hardness of zorblaxite?')",
    "wb.project_chat(project)",
    "wb.project_chat(project).messages[0]",
    "wb.replay(answer, top_k=1)",
    "wb.matrix('What is the hardness of zorblaxite?', project=project)",
    "print(wb.papers.list())",
]
NBCONVERTS_OWN = "https://cdnjs.cloudflare.com/ajax/libs/"  # MathJax and the like, with the network cut


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("converted")
    notebook = new_notebook(cells=[*_cells_of_a_library(folder), *_cells_of_records()])
    nbformat.write(notebook, folder / "hostile.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", str(folder / "hostile.ipynb")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return folder / "hostile.html"


def _cells_of_a_library(folder: Path) -> Iterator[Any]:
    """What the cells above show, of a library whose titles, names, texts and answers are all hostile."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    settings = Settings.load(library=folder / "library.duckdb", user="ann")
    chat = FakeChat(f"{SAID} {HOSTILE} [1].")
    with workbench.open(settings=settings, user="ann", embedder=FakeEmbedder(), chat_model=chat) as wb:
        project = wb.projects.create(f"P {HOSTILE[:80]}", goal=HOSTILE)
        wb.papers.add_texts([{"title": HOSTILE[:200], "text": f"{SAID}. {HOSTILE}"}], project=project)
        shell.user_ns.update(wb=wb, project=project)
        for source in CELLS:
            with capture_output() as captured:
                result = shell.run_cell(source)
            assert result.success, source
            outputs = [new_output("display_data", data=_saved(o.data)) for o in captured.outputs]
            if captured.stdout:
                outputs.append(new_output("stream", name="stdout", text=captured.stdout))
            yield new_code_cell(source, outputs=outputs)
    InteractiveShell.clear_instance()


def _cells_of_records() -> Iterator[Any]:
    """Every record, in each of its forms, and its Markdown pasted into a text."""
    for kind in SHOWN:
        record = made(kind)
        forms = {
            "text/html": record._repr_html_(),
            "text/markdown": record._repr_markdown_(),
            "text/plain": repr(record),
        }
        outputs = [new_output("display_data", data={form: text}) for form, text in forms.items()]
        yield new_code_cell(kind.__name__, outputs=outputs)
        yield new_markdown_cell(forms["text/markdown"])


def _saved(data: dict[str, Any]) -> dict[str, Any]:
    return {form: value for form, value in data.items() if isinstance(value, str)}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


def test_nothing_in_it_asks_runs_or_opens_anything(converted: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    dialogs: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
    page.goto(converted.as_uri())
    page.wait_for_timeout(500)
    assert dialogs == []
    assert [u for u in asked if not u.startswith((converted.as_uri(), NBCONVERTS_OWN, "data:"))] == []
    assert [src for src in _attributes(page, "img", "src") if not src.startswith("data:")] == []
    links = [href for href in _attributes(page, "a", "href") if not href.startswith("#")]
    assert links == []
    assert _attributes(page, "svg, iframe, object, embed, form, .mermaid, .jp-Mermaid", "class") == []
    commands = "href", "require", "style"
    assert [t for t in _texts(page) if any(f"\\{command}{{" in t for command in commands)] == []
    assert [t for t in _texts(page, without=".jp-InputArea, .dataframe") if "\u202e" in t] == []
    assert page.locator("text=hardness of zorblaxite").count() > 10


def _attributes(page: Any, selector: str, name: str) -> list[str]:
    script = "(nodes, name) => nodes.map(n => n.getAttribute(name) ?? '')"
    return list(page.locator(f":is({selector})").evaluate_all(script, name))


def _texts(page: Any, without: str = "pre, code, .jp-InputArea, .dataframe") -> list[str]:
    """Each text by itself, as MathJax looks for formulas. Tables of pandas are pandas' own: there MathJax's
    safe mode has to do."""
    return list(
        page.evaluate(
            """(without) => {
              const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
              const texts = [];
              while (walk.nextNode()) {
                const { parentElement, data } = walk.currentNode;
                if (!parentElement.closest(`script, style, ${without}`)) texts.push(data);
              }
              return texts;
            }""",
            without,
        )
    )

"""The papers panel: the list's leaf, the upload leaf, and a line for a path made of ipywidgets."""

from __future__ import annotations

import ipywidgets

from widgets.assets import module, style
from widgets.panel import PanelState
from widgets.papers.state import PapersState
from widgets.uploads.view import Uploads
from widgets.view import Leaf


class PaperList(PapersState, Leaf):
    """The papers of the chosen scope, the work under way, and what became of each file."""

    _esm = module("menu.js", "papers/job.js", "papers/library.js", "papers/papers.js")
    _css = style("papers/job.css", "papers/papers.css")


def path_line(papers: PanelState, prompt: str = "Path of a file or folder") -> ipywidgets.HBox:
    """A text field and a button that have the panel add the file or folder at a path."""
    field = ipywidgets.Text(placeholder=prompt)
    button = ipywidgets.Button(description="Add", tooltip="Add the file or folder at this path")

    def add() -> None:
        papers.act({"do": "add_path", "with": {"path": field.value}})
        if not papers.error:
            field.value = ""

    button.on_click(lambda _: add())
    field.on_msg(lambda _, message, __: add() if message.get("event") == "submit" else None)
    line = ipywidgets.HBox([field, button])
    line.add_class("wb").add_class("wb-path")
    return line


def papers_panel(papers: PaperList, uploads: Uploads) -> ipywidgets.VBox:
    """The whole panel, top to bottom."""
    panel = ipywidgets.VBox([papers, uploads, path_line(papers)])
    panel.add_class("wb-papers-panel")
    return panel

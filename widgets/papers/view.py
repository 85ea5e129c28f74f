"""The papers panel: the list's leaf, the upload leaf, and the line for a path."""

from __future__ import annotations

import ipywidgets

from widgets.assets import module, style
from widgets.panel import PanelState
from widgets.papers.path_line import PathState
from widgets.papers.state import PapersState
from widgets.uploads.view import Uploads
from widgets.view import Leaf


class PaperList(PapersState, Leaf):
    """The papers of the chosen scope, the work under way, and what became of each file."""

    _esm = module("menu.js", "papers/job.js", "papers/library.js", "papers/papers.js")
    _css = style("papers/job.css", "papers/papers.css")


class PathLine(PathState, Leaf):
    """A field and a button that have a panel add the file or folder at a path.

    The text travels with the request: as a text field of ipywidgets it could come after it.
    """

    _esm = module("papers/path.js")
    _css = style("papers/path.css")


def path_line(papers: PanelState, prompt: str = "Path of a file or folder") -> PathLine:
    """The line that adds to ``papers``."""
    return PathLine(papers, prompt=prompt)


def papers_panel(papers: PaperList, uploads: Uploads) -> ipywidgets.VBox:
    """The whole panel, top to bottom."""
    panel = ipywidgets.VBox([papers, uploads, path_line(papers)])
    panel.add_class("wb-papers-panel")
    return panel

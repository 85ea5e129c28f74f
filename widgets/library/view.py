"""The Library tab: a place to drop files, a line for a path, and the table."""

from __future__ import annotations

import ipywidgets

from widgets.assets import module, style
from widgets.library.state import LibraryState
from widgets.papers.view import path_line
from widgets.uploads.view import Uploads
from widgets.view import Leaf


class LibraryTable(LibraryState, Leaf):
    """Every paper of the library, and what can be done with those that are chosen."""

    _esm = module(
        "menu.js",
        "listing.js",
        "papers/job.js",
        "library/removal.js",
        "library/table.js",
        "library/selection.js",
        "library/library.js",
    )
    _css = style("listing.css", "papers/job.css", "library/library.css")


def library_tab(table: LibraryTable, uploads: Uploads) -> ipywidgets.VBox:
    """The whole tab, top to bottom."""
    adding = ipywidgets.HBox([uploads, path_line(table, "Add by path: a file, or a whole folder")])
    adding.add_class("wb-shelf-add")
    tab = ipywidgets.VBox([adding, table])
    tab.add_class("wb").add_class("wb-shelf-tab")
    return tab

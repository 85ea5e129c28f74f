"""The upload leaf: a place to drop files, which sends them in slices."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.uploads.state import UploadsState
from widgets.view import Leaf


class Uploads(UploadsState, Leaf):
    """Files by drag and drop or from the file dialogue."""

    _esm = module("uploads/uploads.js")
    _css = style("uploads/uploads.css")

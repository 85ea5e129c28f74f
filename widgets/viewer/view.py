"""The page viewer's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.view import Leaf
from widgets.viewer.state import ViewerState


class Viewer(ViewerState, Leaf):
    """One page with the cited passage marked, and ways to the next page and the next citation."""

    _esm = module("viewer/page.js", "viewer/viewer.js")
    _css = style("viewer/viewer.css")

"""The leaf shown until the library is open."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.opening.state import OpeningState
from widgets.view import Leaf


class Opening(OpeningState, Leaf):
    """A calm line while the library opens; the reason and a button where it does not."""

    _esm = module("opening/opening.js")
    _css = style("opening/opening.css", "dashboard.css")

"""The tuning panel's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.tuning.state import TuningState
from widgets.view import Leaf


class Tuning(TuningState, Leaf):
    """The numbers of a search as controls, what they would do to questions asked before, and presets."""

    _esm = module(
        "menu.js", *(f"tuning/{name}.js" for name in ("numbers", "passages", "plots", "measures", "tuning"))
    )
    _css = style("tuning/tuning.css")

"""The header's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.header.state import HeaderState
from widgets.view import Leaf


class Header(HeaderState, Leaf):
    """Name, views, and the library's health."""

    _esm = module("header/header.js")
    _css = style("header/header.css")

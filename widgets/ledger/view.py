"""The Ledger tab's leaf."""

from __future__ import annotations

from widgets.assets import module, style
from widgets.ledger.state import LedgerState
from widgets.view import Leaf


class Ledger(LedgerState, Leaf):
    """What became of every paper, stage by stage, and how the library is."""

    _esm = module("listing.js", "papers/job.js", "ledger/health.js", "ledger/ledger.js")
    _css = style("listing.css", "papers/job.css", "ledger/ledger.css")

"""How records show themselves: one line of text, Markdown, HTML. Titles, names and texts are hostile, so
nothing of them runs, loads or opens anything in any of the three, also in a notebook that was saved and
converted."""

from workbench.rendering.display import Displayed, Listing
from workbench.rendering.html import answer_html, evidence_html, replay_html, table_html
from workbench.rendering.inert import MATHEMATICS, inert
from workbench.rendering.wording import listed_titles, titled

__all__ = [
    "MATHEMATICS",
    "Displayed",
    "Listing",
    "answer_html",
    "evidence_html",
    "inert",
    "listed_titles",
    "replay_html",
    "table_html",
    "titled",
]

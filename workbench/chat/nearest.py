"""What of a passage comes nearest to a question that it does not answer."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.chat.extractive import telling_stretch
from workbench.chat.shown import shortened, shown_text
from workbench.records import Page, Passage
from workbench.retrieval.citations import Quote, find_quote, quote_at


def nearest_words(question: str, passage: Passage, pages: Sequence[Page]) -> tuple[Quote | None, str]:
    """The quote, and its sentence as it is shown; empty where the passage holds no whole sentence."""
    stretch = telling_stretch(question, passage)
    quote = quote_at(stretch.char_start, stretch.char_end, pages) if stretch is not None else None
    if stretch is None or quote is None:
        return find_quote(question, passage, pages), ""
    return quote, shortened(shown_text(stretch.text, beside=passage.text))

"""An answer's markdown as HTML that is safe to show: no script, no HTML of its own, no image. Formulas become
MathML, which the browser draws.

Markers become buttons and judged sentences become spans; both carry nothing but numbers and class
names, so what a model or a paper wrote never reaches an attribute.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import nh3

from widgets.formulas import MATHML_ATTRIBUTES, MATHML_TAGS, formula_html
from workbench import formula_end

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

    from workbench import SentenceVerdict

_MARKER = re.compile(r"\[(\d{1,4})\]")

# Rare characters stand for what is to be marked while the markdown is parsed. They are punctuation, so that
# emphasis beside them still parses; where a text holds one itself a dot is shown.
_OPENINGS = {"partly": "⸢", "unsupported": "⸤"}
_CLOSING = "⸥"
_PLACE = re.compile(r"⸨(\d{1,6})⸩")
_RARE = re.compile("[⸢⸤⸥⸨⸩]")
# What may not reach a page: half characters, controls (an escape may be pasted into a terminal) and signs
# that turn the reading direction, which could show "12" as "21". One stands in for one, so offsets hold.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BLOCK_START = re.compile(r"(?:\s|#{1,6}\s|>|[-*+]\s|\d{1,9}[.)]\s)*")

_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span", "button"),
    *MATHML_TAGS,
}
_ATTRIBUTES = {
    **{"a": {"href"}, "ol": {"start"}, "span": {"class"}, "button": {"class", "type", "data-k"}},
    **{tag: set(MATHML_ATTRIBUTES) for tag in MATHML_TAGS},
}
_SUPPORTS = {"supported", "partly", "unsupported", "pending"}


@dataclass(frozen=True, slots=True)
class Marker:
    """What ``[n]`` means within a stretch of an answer's text (by default, all of it)."""

    n: int
    support: str
    start: int = 0
    end: int = sys.maxsize


def answer_html(text: str, *, markers: Sequence[Marker] = (), audit: Sequence[SentenceVerdict] = ()) -> str:
    """Sanitised HTML of an answer's markdown.

    Each ``[N]`` that one of ``markers`` explains is ``<button class="wb-cite wb-…" data-k="i">N</button>``,
    where i is that marker's index; other brackets stay text. Sentences judged partly or not supported are
    ``<span class="wb-partly">`` or ``<span class="wb-unsupported">``. Never raises: a text that cannot be
    rendered is shown as it is, escaped.
    """
    shown = _UNSHOWN.sub("\ufffd", text)
    try:
        return _rendered(shown, markers, audit)
    except (ValueError, RecursionError):  # an answer that cannot be drawn must not stop the panel
        return f"<p>{escape(shown)}</p>"


def _rendered(text: str, markers: Sequence[Marker], audit: Sequence[SentenceVerdict]) -> str:
    marked = _replaced(_RARE.sub("·", text), [*_sentence_edits(text, audit), *_marker_edits(text, markers)])
    raw = _markdown().render(marked, {"markers": markers})
    for verdict, opening in _OPENINGS.items():
        raw = raw.replace(opening, f'<span class="wb-{verdict}">')
    raw = raw.replace(_CLOSING, "</span>")
    raw = _PLACE.sub(lambda m: _as_text(m[1], markers), raw)  # those in code, where no rule runs
    return nh3.clean(
        raw,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


Edit = tuple[int, int, str]
"""Start and end of a stretch of text, and what to put there."""


def _replaced(text: str, edits: Sequence[Edit]) -> str:
    pieces, done = [], 0
    for start, end, new in sorted(edits, key=lambda e: (e[0], e[1], e[2] != _CLOSING)):
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def _as_text(k: str, markers: Sequence[Marker]) -> str:
    return f"[{markers[int(k)].n}]" if int(k) < len(markers) else ""


def _marker_edits(text: str, markers: Sequence[Marker]) -> list[Edit]:
    edits = []
    for found in _MARKER.finditer(text):
        same = [i for i, marker in enumerate(markers) if marker.n == int(found[1])]
        here = [i for i in same if markers[i].start <= found.start() < markers[i].end]
        if same:
            edits.append((found.start(), found.end(), f"⸨{(here or same)[0]}⸩"))
    return edits


def _sentence_edits(text: str, audit: Sequence[SentenceVerdict]) -> list[Edit]:
    """Where each doubtful sentence opens (after a bullet or a heading's sign) and closes."""
    edits: list[Edit] = []
    done = 0
    for verdict in sorted(audit, key=lambda v: v.char_start):
        opening = _OPENINGS.get(verdict.verdict)
        start, end = verdict.char_start, verdict.char_end
        if opening is None or start < done or not text[start:end].strip():
            continue
        block = _BLOCK_START.match(text, start, end)
        begin = block.end() if block else start
        if begin < end and "\n\n" not in text[begin:end]:
            edits += [(begin, begin, opening), (end, end, _CLOSING)]
            done = end
    return edits


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False, "breaks": False})
    # Without entities: "&#x2e25;" would become one of our signs after those of the text were taken out.
    markdown.enable(["table", "strikethrough"]).disable(["image", "entity"])
    markdown.core.ruler.push("plain_attributes", _drop_free_attributes)
    markdown.inline.add_terminator_char("⸨")
    markdown.inline.add_terminator_char("$")
    markdown.inline.ruler.before("escape", "formula", _formula_rule)
    markdown.add_render_rule("formula", _render_formula)
    markdown.inline.ruler.before("link", "citation", _citation_rule)
    markdown.add_render_rule("citation", _render_citation)
    return markdown


def _drop_free_attributes(state: StateCore) -> None:
    """Link titles and the language of code: texts in attributes, where entities are read all the same."""
    for block in state.tokens:
        block.info = ""
        for token in block.children or []:
            token.attrs.pop("title", None)


def _citation_rule(state: StateInline, silent: bool) -> bool:
    found = _PLACE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("citation", "button", 0).meta = {"k": int(found[1])}
    state.pos = found.end()
    return True


def _formula_rule(state: StateInline, silent: bool) -> bool:
    """A formula between its signs; one that a sentence's mark begins or ends in stays text."""
    if state.src[state.pos] not in "$\\":
        return False
    end = formula_end(state.src, state.pos, complete=True)
    source = state.src[state.pos : end]
    if end is None or not source or re.search("[⸢⸤⸥]", source):
        return False
    if not silent:
        state.push("formula", "", 0).content = source
    state.pos = end
    return True


def _render_formula(
    self: RendererHTML, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]
) -> str:
    source = _PLACE.sub(lambda m: _as_text(m[1], env["markers"]), tokens[index].content)
    return formula_html(source)


def _render_citation(
    self: RendererHTML, tokens: Sequence[Any], index: int, options: Any, env: Mapping[str, Any]
) -> str:
    k = tokens[index].meta["k"]
    marker: Marker = env["markers"][k]
    support = marker.support if marker.support in _SUPPORTS else "pending"
    return f'<button type="button" class="wb-cite wb-{support}" data-k="{k}">{marker.n}</button>'

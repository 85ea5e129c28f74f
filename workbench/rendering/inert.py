"""Texts of papers and chat models as Markdown and HTML that run, load and open nothing."""

from __future__ import annotations

import re
from html import escape

# Half characters, controls, and signs that turn the reading direction, which could show "12" as "21".
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_IMAGE = re.compile(r"!\[")
_ENTITY = re.compile(r"&(?=#|\w{1,32};)")
_LINK = re.compile(r"\](?=[(:])")  # what makes a link, or the address that one refers to
_BARE = re.compile(r"(?<=[A-Za-z]):(?=//)|(?<=\bwww)\.", re.IGNORECASE)  # a bare address becomes a link too
_DIAGRAM = re.compile(r"(`{3,}|~{3,})(?=[ \t]*\{?[ \t]*\.?mermaid)", re.IGNORECASE)

# Commands of TeX with which a formula links, loads, defines, or changes the page around it.
_TEX = re.compile(
    r"\\(?=(?:href|url|class|style|cssId|data|mmlToken|require|bbox|unicode|action|toggle|input|include|write|"
    r"special|html|includegraphics|includesvg|let|[gex]?def|newcommand|renewcommand|newenvironment|"
    r"renewenvironment|DeclareMathOperator|csname|catcode)(?![A-Za-z])|html[A-Z])"
)
_NO_COMMAND = "\\\u2060"  # looks the same, and is no command however often it is unescaped

_SIGNS = re.compile(r"([\\`*_\[\]|#~])")
_BREAKS_FORMULAS = re.compile(r"[$\\]")

MATHEMATICS = "|".join(
    """alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi
    rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi
    Psi Omega frac dfrac tfrac sqrt sum prod int oint lim log ln exp sin cos tan min max arg sup inf
    det cdot cdots ldots dots times div pm mp le leq ge geq ne neq approx sim simeq equiv propto ll gg
    in notin subset subseteq cup cap forall exists neg land lor to rightarrow leftarrow Rightarrow
    Leftarrow leftrightarrow mapsto infty partial nabla circ degree prime hat bar tilde vec dot ddot
    overline underline mathrm mathbf mathit mathcal mathbb text left right quad qquad langle rangle
    lfloor rfloor lceil rceil ell hbar angle perp parallel mid""".split()
)
"""The commands of TeX that are plain mathematics, as alternatives of a pattern."""


def visible(text: str) -> str:
    """``text`` with a replacement sign for each character that is none or turns the reading direction."""
    return _UNSHOWN.sub("\ufffd", text)


def without_commands(text: str) -> str:
    """``text`` in which no formula links, loads or defines anything."""
    return _TEX.sub(lambda _: _NO_COMMAND, text)


def inert(text: str) -> str:
    """``text`` as Markdown that runs, loads and opens nothing: no HTML, no image, no link and no formula with
    one, whoever wrote them. As entities, because a backslash before them may be escaped itself."""
    text = _ENTITY.sub("&amp;", without_commands(visible(text)))
    text = _DIAGRAM.sub(r"\1text ", text)  # a program draws those, with links
    return _bare(_LINK.sub("&#93;", _IMAGE.sub("!&#91;", _TAG.sub("&lt;", text))))


def as_markdown(value: object) -> str:
    """``value`` on one line of Markdown, in which nothing of it is Markdown, HTML or a formula."""
    text = without_commands(visible(" ".join(str(value).split())))
    text = _ENTITY.sub("&amp;", text)
    text = _SIGNS.sub(r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;").replace("$", "&#36;")
    return _bare(text)


def _bare(text: str) -> str:
    return _BARE.sub(lambda found: f"&#{ord(found[0])};", text)


def as_html(text: str) -> str:
    """``text`` as HTML, in which nothing of it is HTML or a formula: those are looked for in the page's text,
    whatever was escaped, but not across tags."""
    return _BREAKS_FORMULAS.sub(r"<span>\g<0></span>", escape(visible(text)))

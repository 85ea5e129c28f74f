"""Records as HTML for a notebook."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from workbench.rendering.inert import as_html, visible, without_commands
from workbench.rendering.wording import (
    EVIDENCE_COLUMNS,
    MARKS,
    REPLAY_COLUMNS,
    evidence_rows,
    moved,
    plain,
    replay_rows,
    shortened,
    titled,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

    from workbench.records import Answer, Evidence
    from workbench.tuning import Replay

CELL_LIMIT = 300

_FORMULA = re.compile(r"(\$\$?)(?=\S)[^$\n]{1,2000}?(?<=\S)\1(?!\d)")


def table_html(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """An HTML table whose cells are escaped and cut to ``CELL_LIMIT`` characters."""
    head = "".join(f"<th style='text-align:left'>{as_html(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{_cell(v)}</td>" for v in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    return as_html(shortened(plain(value), CELL_LIMIT))


def evidence_html(evidence: Evidence) -> str:
    """The question, the scope and the numbered passages."""
    head = f"<p><b>{as_html(evidence.query)}</b> · {as_html(evidence.scope_label)}</p>"
    return head + table_html(EVIDENCE_COLUMNS, evidence_rows(evidence)) + notes_html(evidence.warnings)


def answer_html(answer: Answer) -> str:
    """The answer's text, then its sources with their support marks."""
    rows: list[list[object]] = [
        [f"[{c.n}]", MARKS[c.support], titled(c), c.page_label or c.page, c.quote] for c in answer.citations
    ]
    sources = table_html(["n", "support", "paper", "page", "quote"], rows) if rows else ""
    return prose_html(answer.text) + sources + notes_html(answer.warnings) + _coverage(answer)


def prose_html(text: str) -> str:
    """Markdown as HTML: its paragraphs, lists, tables and formulas, without HTML, links and images."""
    html: str = _markdown().render(without_commands(visible(text)))
    return html


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False})
    markdown.enable(["table", "strikethrough"])
    # Without entities: one could stand for a sign that was taken out.
    markdown.disable(["link", "image", "autolink", "reference", "entity"])
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.add_render_rule("fence", lambda _, tokens, at, *__: _code(tokens[at].content))
    return markdown


def _formula(state: StateInline, silent: bool) -> bool:
    """A formula's signs are no Markdown."""
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("text", "", 0).content = found[0]
    state.pos = found.end()
    return True


def _code(text: str) -> str:
    """Without the language, which would be an attribute of the writer's choice."""
    return f"<pre><code>{as_html(text)}</code></pre>\n"


def notes_html(lines: Sequence[str]) -> str:
    return "".join(f"<p><i>{as_html(line)}</i></p>" for line in lines)


def _coverage(answer: Answer) -> str:
    if answer.coverage is None:
        return ""
    silent = answer.coverage.silent_titles()
    line = f"{answer.coverage}; not retrieved: {silent}" if silent else str(answer.coverage)
    return f"<p><small>{as_html(line)}</small></p>"


def replay_html(replay: Replay) -> str:
    """The question, the numbers before and after, and each passage with its old and new number."""
    asked = f"<b>{as_html(replay.query)}</b> · {as_html(replay.scope_label)}<br>{as_html(moved(replay))}"
    table = table_html(REPLAY_COLUMNS, replay_rows(replay))
    return f"<p>{asked}</p>{table}{notes_html((*replay.changed, *replay.warnings))}"

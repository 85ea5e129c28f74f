"""What a notebook shows of every record and every list of records."""

from __future__ import annotations

import dataclasses
import types
import typing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

import workbench
from tests.mineral_papers import minerals
from tests.notebooks.hostile import HOSTILE
from workbench import Answer, Scope, Settings
from workbench.providers.fake_embedder import FakeEmbedder
from workbench.rendering import Listing

RECORDS = [
    kind
    for name in workbench.__all__
    if isinstance(kind := getattr(workbench, name), type) and dataclasses.is_dataclass(kind)
]
EVENTS_AND_ARGUMENTS = {
    *("EvidenceFound", "TextDelta", "Notice", "AnswerDone", "ScopeChange", "Scope", "SearchParameters"),
}
SHOWN = [kind for kind in RECORDS if kind.__name__ not in EVENTS_AND_ARGUMENTS]
TAGS = set(
    """html head body p b i br small table thead tbody tr th td span strong em code pre ul ol li
    blockquote h1 hr s""".split()
)


WHEN = datetime(2026, 1, 2, 3, 4)


def made(kind: Any, text: str = HOSTILE) -> Any:
    """A record of ``kind``, with ``text`` in every field that takes a text."""
    hints = typing.get_type_hints(kind, localns=vars(workbench))
    return kind(**{f.name: _value(hints[f.name], text) for f in dataclasses.fields(kind) if f.init})


def _value(hint: Any, text: str) -> Any:
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(inside[0], text)
    if origin is typing.Literal:
        return inside[-1]
    if origin is tuple:
        return (_value(inside[0], text),) if inside[-1] is ... else tuple(_value(h, text) for h in inside)
    if origin is dict:
        return {text: 1.5}
    if hint is Scope:
        return Scope.ALL
    if dataclasses.is_dataclass(hint):
        return made(hint, text)
    simple = {
        str: text,
        int: 1,
        float: 0.5,
        bool: True,
        bytes: b"\x89PNG",
        datetime: datetime(2026, 1, 2, 3, 4),
    }
    return simple[hint]


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_a_record_prints_in_one_line(kind: type) -> None:
    line = repr(made(kind))
    assert line.isprintable(), line
    assert kind.__name__ in line
    if kind in SHOWN:
        assert len(line) < 700


@pytest.mark.parametrize("kind", SHOWN, ids=lambda kind: kind.__name__)
def test_a_record_has_markdown_and_html_in_which_nothing_hostile_lives(kind: type) -> None:
    record = made(kind)
    markdown = record._repr_markdown_()
    shown = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    for html in (shown, record._repr_html_()):
        page = LexborHTMLParser(html)
        assert {node.tag for node in page.css("*")} <= TAGS, html
        assert not [
            node for node in page.css("*") if set(node.attributes) - {"style", "start"} and node.tag != "code"
        ]
        for node in page.root.traverse(include_text=True):  # formulas are looked for in one text, not across
            if node.tag == "-text":
                assert "\\href" not in (node.text_content or "")
        assert "\u202e" not in html


def test_an_answers_own_markdown_is_shown_as_such_and_formulas_stay() -> None:
    answer = made(Answer, "**Two** ways:\n\n- $a_1 * b_1$ [1]\n- `x < y`\n\n| a | b |\n| - | - |\n| 1 | 2 |")
    html = answer._repr_html_()
    assert "<strong>Two</strong>" in html
    assert "<li>$a_1 * b_1$ [1]</li>" in html
    assert "<code>x &lt; y</code>" in html
    assert "<td>2</td>" in html
    assert "$a_1 * b_1$ [1]" in answer._repr_markdown_()


def test_lists_are_lists_with_a_table_a_frame_and_a_line_per_record(tmp_path: Path) -> None:
    settings = Settings.load(library=tmp_path / "library.duckdb", user="ann", chat="extractive")
    with workbench.open(settings=settings, user="ann", embedder=FakeEmbedder()) as wb:
        assert wb.papers.list().to_frame().columns.tolist() == [
            field.name for field in dataclasses.fields(workbench.Paper)
        ]
        project = wb.projects.create("Minerals")
        for mineral in minerals(2):
            wb.papers.add(mineral.write(tmp_path), project=project)
        wb.conversations.create(Scope.ALL)
        for found in (
            wb.papers.list(),
            wb.projects.list(),
            wb.projects.papers(project),
            wb.projects.search("Minerals"),
            wb.papers.pages(1),
            wb.papers.chunks(1),
            wb.chunks.list(),
            wb.conversations.list(),
            wb.summaries.list(),
        ):
            assert isinstance(found, list)
            assert found == list(found)
            assert isinstance(found[:1], Listing)
            assert len(found.to_frame()) == len(found) > 0
            assert repr(found).count("\n") == len(found) - 1
            assert found._repr_markdown_().count("\n") == len(found) + 1
            assert found._repr_html_().count("<tr>") == len(found) + 1
        for empty in (wb.notes.list(), wb.memory.list(), wb.questions.list(), wb.presets.list(project)):
            assert (len(empty.to_frame()), repr(empty)) == (0, "[]")
        assert wb.evaluations.list() == wb.matrices.list() == []


def test_a_long_list_shows_its_beginning_and_how_many_more() -> None:
    many = Listing(workbench.SilentPaper, [workbench.SilentPaper(i, f"Paper {i}") for i in range(250)])
    assert repr(many).endswith("id=99, title='Paper 99'), and 150 more]")
    assert many._repr_markdown_().endswith("\n\nand 150 more")
    assert "<p>and 150 more</p>" in many._repr_html_()

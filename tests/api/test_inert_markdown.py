from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from workbench.rendering import inert

HOSTILE = [
    "see [the table](javascript:alert(1)) there",
    "see [the table](https://evil.example/?q=1)",
    "[a]\n\n[a]: javascript:alert(1)",
    "[a][b]\n\n[b]: <javascript:alert(1)> 'title'",
    "<javascript:alert(1)> and <https://evil.example>",
    "![x](https://evil.example/i.png) <img src=x onerror=alert(1)>",
    "\\[x](javascript:alert(1)) \\\\[x](javascript:alert(1))",
    "[[x](javascript:alert(1))](javascript:alert(2))",
    "[x](&#106;avascript:alert(1))",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_shown_markdown_holds_no_link_image_or_tag(text: str) -> None:
    html = MarkdownIt("commonmark", {"html": True}).render(inert(text))
    assert not [tag for tag in ("<a", "<img", "<script") if tag in html], html


def test_numbers_and_pandocs_keys_stay_as_they_are() -> None:
    text = "It melts [1], [2]. It is blue [@a2020, p. 7][@b2021]."
    assert inert(text) == text

"""An answer's markdown becomes HTML that cannot do anything but be read."""

from __future__ import annotations

import re

import pytest

from tests.widgets.answers import SECOND, TEXT, verdict
from widgets.formulas import MATHML_TAGS
from widgets.richtext import Marker, answer_html


def test_markers_become_buttons_that_name_their_citation_by_index() -> None:
    html = answer_html("Fast [2], exact [1].", markers=[Marker(1, "supported"), Marker(2, "partly")])
    assert html.strip() == (
        '<p>Fast <button type="button" class="wb-cite wb-partly" data-k="1">2</button>, exact '
        '<button type="button" class="wb-cite wb-supported" data-k="0">1</button>.</p>'
    )


def test_one_number_with_two_quotes_means_the_quote_of_its_own_sentence() -> None:
    text = "First claim [1]. Second claim [1]."
    markers = [Marker(1, "supported", 0, 16), Marker(1, "unsupported", 17, len(text))]
    assert re.findall(r'wb-(\w+)" data-k="(\d)"', answer_html(text, markers=markers)) == [
        ("supported", "0"),
        ("unsupported", "1"),
    ]


def test_numbers_nobody_gave_and_numbers_in_code_stay_text() -> None:
    html = answer_html("Known [1], unknown [7], `code [1]`.", markers=[Marker(1, "supported")])
    assert html.count("<button") == 1
    assert "unknown [7], <code>code [1]</code>" in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        '<button class="wb-cite" data-k="0" onclick="alert(1)">1</button>',
        "[click](javascript:alert(1))",
        "[click](data:text/html;base64,PHNjcmlwdD4=)",
        "![pixel](http://elsewhere.example/pixel.png)",
        "<svg/onload=alert(1)>",
        "⸢⸤⸥⸨0⸩ &#x2E28;0&#x2E29; &#x2E22;",
        "**⸥** <style>*{display:none}</style>",
    ],
)
def test_hostile_text_is_shown_and_never_becomes_markup(hostile: str) -> None:
    html = answer_html(hostile + "\n\nEnd.", markers=[])
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {"p", "a", "em", "strong", "span"}
    assert not re.search(r"<[^>]*\s(on\w+|src|style)\s*=", html)
    assert not re.search(r'href="(?!https?:)', html)


def test_links_leave_no_trace_and_images_become_links() -> None:
    html = answer_html("[site](https://example.org/a) ![pixel](https://example.org/p.png)")
    assert "<img" not in html
    assert html.count('rel="noopener noreferrer nofollow"') == html.count("<a ") == 2


def test_doubtful_sentences_are_marked_and_supported_ones_are_not() -> None:
    audit = [verdict(SECOND, "partly", 2)]
    html = answer_html(TEXT, markers=[Marker(1, "supported"), Marker(2, "partly")], audit=audit)
    assert re.findall(r'<span class="([^"]+)">It never originates', html) == ["wb-partly"]
    assert html.count("<span") == 1


def test_a_doubtful_list_item_stays_a_list_item() -> None:
    text = "- **Bold.** One [1].\n- Two."
    html = answer_html(
        text,
        markers=[Marker(1, "supported")],
        audit=[verdict("- **Bold.** One [1].", "unsupported", 1, text=text)],
    )
    assert html.startswith('<ul>\n<li><span class="wb-unsupported"><strong>Bold.</strong> One <button')
    assert "<li>Two.</li>" in html


def test_neighbouring_sentences_without_a_space_are_marked_apart() -> None:
    text = "检索快。结果准。"
    audit = [verdict("检索快。", "partly", 1, text=text), verdict("结果准。", "unsupported", 1, text=text)]
    assert answer_html(text, audit=audit).strip() == (
        '<p><span class="wb-partly">检索快。</span><span class="wb-unsupported">结果准。</span></p>'
    )


CITED = [Marker(1, "supported")]


@pytest.mark.parametrize(
    "text",
    [
        "A filter [1]. &#x2e28;" + "9" * 5000 + "&#x2e29;",
        "Half a letter \ud83d [1].",
        "[" * 5000,
        "> " * 3000 + "deep",
        "&#x2e25;A filter cures all. [1]",
        '[a link](http://example.org "&#x2e22; title") [1]',
        "```&#x2e22;\ncode\n```",
    ],
    ids=["huge number", "surrogate", "brackets", "quotes in quotes", "entity", "link title", "code language"],
)
def test_no_answer_can_stop_the_page_or_forge_a_mark(text: str) -> None:
    html = answer_html(text, markers=CITED)
    assert html
    assert not {mark for mark in ("wb-partly", "wb-unsupported", "title=") if mark in html}


def test_signs_that_turn_the_reading_direction_or_steer_a_terminal_are_not_shown() -> None:
    html = answer_html("page 12\u202e of\x1b[31m 21 [1]", markers=CITED)
    assert not {"\u202e", "\x1b"} & set(html)


def test_a_formula_is_set_as_mathml_and_prices_stay_prices() -> None:
    html = answer_html("It is $\\frac{a}{b}$, for $5 and $10, as\n\n$$x^2$$\n\nand `$y$`.")
    assert "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>" in html
    assert '<math display="block"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>' in html
    assert "for $5 and $10" in html
    assert "<code>$y$</code>" in html
    assert html.count("<math") == 2


def test_a_marker_beside_a_formula_is_one_and_a_bracket_inside_is_none() -> None:
    html = answer_html(r"With $x_1$ [1] and $f[1]$.", markers=[Marker(1, "supported")])
    assert html.count('class="wb-cite wb-supported"') == 1
    assert "<mo>[</mo>" in html or '<mo stretchy="false">[</mo>' in html


@pytest.mark.parametrize(
    "formula",
    [
        r"$\href{javascript:alert(1)}{x}$",
        r"$$\href{javascript:alert(1)}{x}$$",
        r"\(\href{javascript:alert(1)}{x}\)",
        r"\[\href{data:text/html,x}{x}\]",
        r"$\style{background:url(http://evil.example/x)}{y}$",
        r"$\class{wb-cite}{z}$ $\cssId{loading}{z}$",
        r"$\unicode{x3c}script\unicode{x3e}$ $\require{html}$",
        r"$\text{<img src=x onerror=alert(1)>}$",
        r"$\text{<button class='wb-cite' data-k='0'>1</button>}$",
        r"$\text{</math><script>alert(1)</script>}$",
        r"$\text{<annotation-xml encoding='text/html'><b>x</b></annotation-xml>}$",
        r"$\def\x{\x\x}\x$ $\newcommand{\a}{\a}\a$",
        r"$\includegraphics{http://evil.example/x.png}$ $\input{/etc/passwd}$",
        r"$\color{url(http://evil.example)}{x}$ $\mathchoice{a}{b}{c}{d}$",
        "$" + "{" * 180 + "x" + "}" * 180 + "$",
        r"$\frac{$ $\left(\frac12$ $\begin{matrix}a&b$",
        r"$[x](javascript:alert(1))$",
    ],
)
def test_commands_inside_formulas_do_nothing_but_draw(formula: str) -> None:
    shown = answer_html(f"It holds that {formula} is so.")
    tags = set(re.findall(r"<([a-z0-9-]+)", shown))
    assert tags <= {"p", *MATHML_TAGS}
    assert not re.search(r"<[^>]*(?:href|style|class|id|src|data-\w+|on\w+)\s*=", shown)
    assert shown.startswith("<p>It holds that ")
    assert shown.strip().endswith(" is so.</p>")

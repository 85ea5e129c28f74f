from __future__ import annotations

import pytest

from workbench.chat.tool_calls import calls_in_text, mended, opens_like_a_call
from workbench.interfaces import ToolCall

SEARCH = ToolCall("search_projects", {"query": "dragons"})
SET_SCIFI = ToolCall("set_rag_scope", {"project_id": 3})
WRITTEN = '{"name": "set_rag_scope", "arguments": {"project_id": 3}}'


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        f"```json\n{WRITTEN}\n```",
        f"<tool_call>\n{WRITTEN}\n</tool_call>",
        f"<|python_tag|>{WRITTEN}",
        f"[TOOL_CALLS] [{WRITTEN}]",
        f"[{WRITTEN}]",
        f"I will set the scope first: {WRITTEN}",
        '{"name": "set_rag_scope", "parameters": {"project_id": 3}}',
        '{"type": "function", "function": {"name": "set_rag_scope", "arguments": {"project_id": 3}}}',
        '{"tool_calls": [{"function": {"name": "set_rag_scope", "arguments": "{\\"project_id\\": 3}"}}]}',
        '<function=set_rag_scope>{"project_id": 3}</function>',
    ],
)
def test_a_call_written_as_text_is_read(text: str) -> None:
    assert calls_in_text(text) == (SET_SCIFI,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "READ",
        "{",
        '{"name": "x"}',
        '{"recall": 0.2}',
        "[1, 2]",
        "{{{",
        "[" * 5000,
        '{"name": 3, "arguments": {}}',
    ],
)
def test_other_text_is_no_call(text: str) -> None:
    assert calls_in_text(text) == ()


def test_several_calls_keep_their_order() -> None:
    search = '{"name": "search_projects", "arguments": {"query": "dragons"}}'
    assert calls_in_text(f"{search}\n{WRITTEN}") == (SEARCH, SET_SCIFI)


def test_numbers_and_null_that_a_model_wrote_as_text_are_mended() -> None:
    for written, meant in (
        ("3", 3),
        (" -1 ", -1),
        (3.0, 3),
        ("null", None),
        ("None", None),
        ("SciFi", "SciFi"),
    ):
        given = ToolCall(" set_rag_scope ", {"project_id": written})
        assert mended(given) == ToolCall("set_rag_scope", {"project_id": meant})


def test_only_an_opening_that_may_become_a_call_is_held_back() -> None:
    assert all(map(opens_like_a_call, ("", "{", '{"na', "```", "```js", "<tool", "[{", "[TOOL", "\n {")))
    assert not any(map(opens_like_a_call, ("The", "[1] says", "```python", "<b>", "- {", "[2, 3]")))

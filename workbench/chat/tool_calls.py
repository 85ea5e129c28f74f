"""Tool calls that a chat model writes out as text, because its template knows no better."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.interfaces import ToolCall

_ARGUMENTS = ("arguments", "parameters", "args", "input")
_OPENINGS = ("{", "[{", "[TOOL_CALLS]", "<tool_call>", "<function=", "<|python_tag|>", "```json")
_NAMED = re.compile(r"<function=([\w.-]+)>")
_WHOLE_NUMBER = re.compile(r"[+-]?\d{1,18}")


def calls_in_text(text: str) -> tuple[ToolCall, ...]:
    """The calls that stand in ``text`` as JSON: alone, in a list, in a fence or in tags, in their order."""
    return tuple(call for start, value in _json_values(text) for call in _calls(value, text[:start]))


def opens_like_a_call(text: str) -> bool:
    """Whether a reply that begins so may turn out to be a tool call."""
    start = re.sub(r"\s+", "", text[:40])
    openings = (re.sub(r"\s+", "", opening) for opening in _OPENINGS)
    return any(start.startswith(opening) or opening.startswith(start) for opening in openings)


def mended(call: ToolCall) -> ToolCall:
    """The call with whole numbers and null written as such, where a chat model wrote them as text."""
    return ToolCall(call.name.strip(), {name: _mended(value) for name, value in call.arguments.items()})


def _mended(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.strip().lower() in {"null", "none"}:
        return None
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value.strip()):
        return int(value)
    return value


def _json_values(text: str) -> Iterator[tuple[int, Any]]:
    """Every object or list of JSON in the text, outermost ones only, with its place."""
    decoder = json.JSONDecoder()
    place = 0
    while found := re.compile(r"[{\[]").search(text, place):
        try:
            value, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
        else:
            yield found.start(), value


def _calls(value: Any, before: str) -> Iterator[ToolCall]:
    if isinstance(value, list):
        for item in value:
            yield from _calls(item, "")
        return
    if not isinstance(value, Mapping):
        return
    if isinstance(value.get("tool_calls"), list):
        yield from _calls(value["tool_calls"], "")
    elif isinstance(value.get("function"), Mapping):
        yield from _calls(value["function"], "")
    elif named := _NAMED.search(before[-60:]):
        yield ToolCall(named[1], value)
    else:
        name = next((value[key] for key in ("name", "function", "tool") if key in value), None)
        arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
        if isinstance(name, str) and (parsed := _arguments(arguments)) is not None:
            yield ToolCall(name, parsed)


def _arguments(value: Any) -> Mapping[str, Any] | None:
    """Arguments as a mapping; some models put them into a string of JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, Mapping) else None

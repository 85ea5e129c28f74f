"""What the front end asks for, held to what an action takes before it is carried out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from workbench import InvalidInputError

MISFIT = "The page asked for something that the dashboard does not know. Reload the page and try again."
_NONE = object()


def asked_for(message: Any) -> tuple[str, dict[str, Any]]:
    """The action's name and its arguments of ``{"do": name, "with": arguments}``; "" where it is none."""
    if not isinstance(message, dict) or not isinstance(message.get("do"), str):
        return "", {}
    given = message.get("with") or {}
    return (message["do"], dict(given)) if isinstance(given, dict) else ("", {})


def check_arguments(method: Callable[..., None], given: Mapping[str, Any]) -> None:
    """Raises InvalidInputError where ``method`` takes no such arguments, or takes them of other types."""
    needed, taken, others = _expected(method)
    if not needed <= given.keys() or (others is _NONE and not given.keys() <= taken.keys()):
        raise InvalidInputError(MISFIT)
    if "self" in given or not all(_fits(value, taken.get(name, others)) for name, value in given.items()):
        raise InvalidInputError(MISFIT)


@cache
def _expected(method: Callable[..., None]) -> tuple[set[str], dict[str, Any], Any]:
    """The arguments that must be given, the types of all by name, and that of any others."""
    parameters, hints = inspect.signature(method).parameters.values(), get_type_hints(method)
    keyword_only = [p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    others = next((hints[p.name] for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD), _NONE)
    needed = {p.name for p in keyword_only if p.default is p.empty}
    return needed, {p.name: hints[p.name] for p in keyword_only}, others


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value from JSON is what the annotation says: a whole number is a float too, True is none."""
    origin = get_origin(hint)
    if origin is UnionType:
        return any(_fits(value, one) for one in get_args(hint))
    if origin is Sequence:
        return isinstance(value, list) and all(_fits(item, get_args(hint)[0]) for item in value)
    if origin is Mapping:
        return isinstance(value, dict)
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)

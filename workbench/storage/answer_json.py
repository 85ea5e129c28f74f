"""An Answer as JSON and back, equal in every field. What an older or newer workbench wrote is read too:
fields it lacked take their defaults, fields that are unknown here are left out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from workbench.records import (
    Answer,
    Citation,
    Coverage,
    Dropped,
    Evidence,
    Passage,
    SentenceVerdict,
    SilentPaper,
)
from workbench.scope import Scope
from workbench.storage.cleaning import clean_text

T = TypeVar("T")


def write_answer(answer: Answer) -> str:
    """The whole answer as one JSON text."""
    return json.dumps(plain_values(dataclasses.asdict(answer)), ensure_ascii=False)


def read_answer(text: str) -> Answer:
    """The answer that ``write_answer`` wrote."""
    values = json.loads(text)
    return _record(
        Answer,
        values,
        citations=tuple(_record(Citation, c) for c in values["citations"]),
        evidence=_evidence(values["evidence"]),
        audit=tuple(_record(SentenceVerdict, v) for v in values.get("audit", ())),
        coverage=_coverage(values.get("coverage")),
    )


def _evidence(values: Mapping[str, Any]) -> Evidence:
    return _record(
        Evidence,
        values,
        scope=Scope(values["scope"]["rag_project_id"]),
        passages=tuple(_record(Passage, p) for p in values["passages"]),
        dropped=tuple(_record(Dropped, d) for d in values.get("dropped", ())),
        silent=_silent(values),
    )


def _coverage(values: Mapping[str, Any] | None) -> Coverage | None:
    return None if values is None else _record(Coverage, values, silent=_silent(values))


def _silent(values: Mapping[str, Any]) -> tuple[SilentPaper, ...]:
    return tuple(_record(SilentPaper, paper) for paper in values.get("silent", ()))


def _record(kind: type[T], values: Mapping[str, Any], **built: Any) -> T:
    """A record of the fields it knows, lists as tuples; ``built`` are those made already."""
    known = [f.name for f in dataclasses.fields(kind)]  # type: ignore[arg-type]  # every kind is a dataclass
    simple = {name: values[name] for name in known if name in values and name not in built}
    frozen = {name: tuple(v) if isinstance(v, list) else v for name, v in simple.items()}
    return kind(**frozen, **built)


def plain_values(value: Any) -> Any:
    """``value`` of JSON's own kinds: numpy's numbers as Python's, texts as the library can hold them."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): plain_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(inner) for inner in value]
    if isinstance(value, float) and value != value:  # JSON has no NaN
        return None
    return value.item() if hasattr(value, "item") else value

"""A conversation as Markdown that pandoc turns into a paper's text: every [N] a key with its page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from workbench.records import Answer, Citation, Message
from workbench.rendering import MATHEMATICS, inert
from workbench.retrieval.markers import marker_numbers

_PLAIN_KEY = re.compile(r"\w(?:[\w:.+/-]*\w)?")


def conversation_markdown(
    messages: Sequence[Message], keys: Mapping[int, str], *, title: str, scope_label: str, bibliography: str
) -> str:
    """Questions as headings, answers below them. ``keys`` are the citation keys of the papers by id;
    ``bibliography`` is the name of the ``.bib`` file that stands beside it."""
    head = ["---", f"title: {_yaml(_prose(title))}", f"bibliography: {_yaml(bibliography)}", "---", ""]
    parts = ["\n".join(head), f"Asked in: {_prose(scope_label)}\n"]
    for message in messages:
        if message.role == "user":
            parts.append(f"## {_prose(' '.join(message.text.split()))}\n")
        else:
            text = message.text if message.answer is None else cited_markdown(message.answer, keys)
            if message.answer is not None and message.answer.scope_label != scope_label:
                parts.append(f"Asked in: {_prose(message.answer.scope_label)}\n")
            parts.append(f"{text if message.answer else _prose(text)}\n")
            parts += [f"*{_prose(line)}*\n" for line in message.changed]
    return "\n".join(parts)


def cited_markdown(answer: Answer, keys: Mapping[int, str]) -> str:
    """An answer's text with ``[@key, p. 7]`` in place of its numbers; numbers side by side share brackets."""
    text, position = answer.text, 0
    pieces: list[str] = []
    group: list[str] = []
    for n, start, end in [*marker_numbers(text), (0, len(text), len(text))]:
        between = text[position:start]
        if group and (between.strip(" ") or not n):
            pieces.append(f"[{'; '.join(dict.fromkeys(group))}]")
            group = []
        if not group or between.strip(" "):
            pieces.append(_prose(between))
        if n:
            group.append(_place(answer, n, start, keys))
        position = end
    return "".join(pieces)


def _place(answer: Answer, n: int, position: int, keys: Mapping[int, str]) -> str:
    """``@key, p. 7``: the page of the claim that this marker stands in."""
    same = [c for c in answer.citations if c.n == n]
    here = next((c for c in same if c.claim_start <= position <= c.claim_end), same[0] if same else None)
    if here is not None:
        return f"{_key(keys, here.paper_id)}, {_locator(here)}"
    passage = answer.evidence.passage(n)
    if passage is None:
        return f"number {n} of the answer"
    unit = "p." if passage.page_unit == "page" else "sec."
    return f"{_key(keys, passage.paper_id)}, {unit} {passage.page_start}"


def _locator(citation: Citation) -> str:
    """Pages as they are counted in the file; a printed number that differs stands behind."""
    if citation.page_unit != "page":
        return f"sec. {citation.page}"
    label = citation.page_label
    printed = f" (printed {label})" if label and label != str(citation.page) else ""
    return f"p. {citation.page}{printed}"


def _key(keys: Mapping[int, str], paper_id: int) -> str:
    key = keys[paper_id]
    return f"@{key}" if _PLAIN_KEY.fullmatch(key) else f"@{{{key}}}"


def _prose(text: str) -> str:
    """``text`` without what pandoc would take for a citation, HTML, an image, or a command of TeX that is not
    plain mathematics: ``\\input`` in a paper's text would read a file into the reader's PDF."""
    text = re.sub(r"\\(?=[A-Za-z@^])(?!(?:" + MATHEMATICS + r")(?![A-Za-z@^]))", r"&#92;", inert(text))
    text = text.replace("{=", "{ =")
    return re.sub(r"(?<!\\)@", r"\\@", text)


def _yaml(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)

"""A conversation as a notebook that asks its questions again, and reads well without a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.records import Message
from workbench.rendering import inert
from workbench.retrieval.markers import as_prose
from workbench.scope import Scope

_OPENING = """\
import workbench
from workbench import Scope

wb = workbench.open()  # the library in its usual place; name another one's path in the brackets
talk = {begun}"""


def conversation_notebook(
    messages: Sequence[Message], *, title: str, projects: Mapping[int, str], paper: int | None = None
) -> str:
    """The notebook as JSON (nbformat 4). ``projects`` are names by id, of those that are still there;
    ``paper`` is the id of the paper whose chat this is."""
    from nbformat import v4, writes

    scope = messages[0].scope if messages else Scope.ORPHANS
    begun = f"wb.paper_chat({paper})" if paper else f"wb.conversations.create({_scope(scope, projects)})"
    cells = [
        v4.new_markdown_cell(f"# {inert(as_prose(title))}"),
        v4.new_code_cell(_OPENING.format(begun=begun)),
    ]
    for question, answer in _turns(messages):
        lines = []
        asked = answer or question
        silent = asked.answer is not None and bool(asked.answer.evidence.parameters.get("without"))
        if question.scope != scope and not paper and not silent:
            scope = question.scope
            lines.append(f"wb.conversations.update(talk, scope={_scope(scope, projects)})")
        lines.append("talk.ask_silent()" if silent else f"talk.ask({question.text!r})")
        cells.append(v4.new_code_cell("\n".join(lines), outputs=_outputs(answer)))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # not a random one, so that the same conversation gives the same file
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return str(writes(v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})))


def _turns(messages: Sequence[Message]) -> list[tuple[Message, Message | None]]:
    """Each question with its answer, or None where it has none."""
    after = [*messages[1:], None]
    return [
        (message, reply if reply is not None and reply.role == "assistant" else None)
        for message, reply in zip(messages, after, strict=True)
        if message.role == "user"
    ]


def _outputs(answer: Message | None) -> list[Any]:
    """What the cell shows without a kernel."""
    if answer is None or answer.answer is None:
        return []
    from nbformat import v4

    shown = {"text/plain": repr(answer.answer), "text/markdown": answer.answer._repr_markdown_()}
    return [v4.new_output("execute_result", data=shown, execution_count=None)]


def _scope(scope: Scope, projects: Mapping[int, str]) -> str:
    """The scope as code. One of a project that has gone is orphans, as it is for the conversation."""
    if scope == Scope.ALL:
        return "Scope.ALL"
    name = projects.get(scope.project_id or 0)
    return "Scope.ORPHANS" if name is None else f"Scope.project(wb.projects.get({name!r}).id)"

"""Tools before the answer: a chat model may look for a project and set the scope.

It decides from the user's own words, before any passage is in a prompt. So nothing that stands in a paper, in
a summary made of papers, or in an answer that quotes them can call a tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from workbench.chat.prompts import DONE, tool_prompt
from workbench.chat.tool_calls import calls_in_text, mended
from workbench.errors import ProviderError
from workbench.interfaces import ChatMessage, ChatModel, ToolBox, ToolCall, ToolCallingModel
from workbench.records import ScopeChange
from workbench.retrieval.markers import as_prose

MOST_ROUNDS = 3
MOST_CALLS = 4  # of one round
NOW_SEARCHES = "This conversation now searches "
SCOPE_SET = "The chat model set the scope to "
NEAREST_PROJECTS = "Your projects that come nearest:"
_SCOPE_SET = re.compile(rf"{NOW_SEARCHES}“[^“”\n]{{1,200}}”\.")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """A call as it was run, and what came of it."""

    call: ToolCall
    result: Mapping[str, Any]

    @property
    def kind(self) -> str | None:
        """The result's type, or None where the tool failed."""
        return self.result.get("type") if self.result.get("success") else None


@dataclass
class ToolRun:
    """What the tools did for one question. ``done``: the question asks for nothing else. ``failure`` is the
    chat model's, after which no further tool ran."""

    outcomes: list[ToolOutcome] = field(default_factory=list)
    done: bool = False
    failure: ProviderError | None = None

    @property
    def scope_change(self) -> ScopeChange | None:
        """The scope that was set last."""
        for outcome in reversed(self.outcomes):
            if outcome.kind == "rag_scope_set":
                return ScopeChange(outcome.call.arguments["project_id"], outcome.result["scope_label"])
        return None

    @property
    def reply(self) -> str:
        """What the tools did or found, for the user; empty where no tool ran."""
        if change := self.scope_change:
            return f"{NOW_SEARCHES}“{as_prose(change.label)}”."
        for outcome in reversed(self.outcomes):
            if outcome.kind == "projects_list":
                names = [f"- {as_prose(project['title'])}" for project in outcome.result["projects"]]
                return "\n".join([NEAREST_PROJECTS, "", *names]) if names else "You have no projects yet."
        errors = [str(outcome.result.get("error", "")) for outcome in self.outcomes]
        return f"{errors[-1].rstrip('.')}." if errors else ""


def scope_set_line(label: str) -> str:
    """What a reader is told of a scope that the chat model set."""
    return f"{SCOPE_SET}“{label}”: this conversation searches there from now on."


def scope_line(warnings: Sequence[str]) -> str:
    """The one of an answer's warnings that says that the chat model set the scope; empty where it did not."""
    return next((line for line in warnings if line.startswith(SCOPE_SET)), "")


def tool_caller(model: ChatModel) -> ToolCallingModel | None:
    """The model, if tools can be offered to it."""
    return cast(ToolCallingModel, model) if hasattr(model, "call_tools") else None


def run_tools(
    model: ToolCallingModel,
    toolbox: ToolBox,
    question: str,
    *,
    scope_label: str,
    history: Sequence[ChatMessage] = (),
) -> ToolRun:
    """Offers the tools for at most ``MOST_ROUNDS`` rounds and runs what the model calls.

    A call that was made before ends the rounds, as does a ProviderError, which the result then holds.
    """
    run = ToolRun()
    definitions = toolbox.definitions()
    for _ in range(MOST_ROUNDS):
        prompt = tool_prompt(
            question,
            scope_label=scope_label,
            history=own_words(history),
            results=[_line(outcome) for outcome in run.outcomes],
            window=model.context_window,
        )
        try:
            decision = model.call_tools(prompt, definitions)
        except ProviderError as error:
            run.failure = error
            return run
        calls = [mended(call) for call in decision.calls or calls_in_text(decision.text)]
        run.done = not calls and bool(run.outcomes) and decision.text.strip(" .*\n").upper() == DONE
        new = [call for call in calls[:MOST_CALLS] if call not in [outcome.call for outcome in run.outcomes]]
        if not new:
            return run
        run.outcomes += [ToolOutcome(call, toolbox.execute(call.name, call.arguments)) for call in new]
    return run


def own_words(history: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The turns without what papers said: the user's words, and what was said of a scope that was set."""
    return [turn for turn in history if turn.role == "user" or _SCOPE_SET.fullmatch(turn.content)]


def _line(outcome: ToolOutcome) -> str:
    """An outcome as the model sees it: without the projects' summaries, which are made of papers."""
    shown = dict(outcome.result)
    if "projects" in shown:
        shown["projects"] = [
            {name: value for name, value in project.items() if name != "summary_snippet"}
            for project in shown["projects"]
        ]
    return f"{outcome.call.name}({_json(outcome.call.arguments)}) gave {_json(shown)}"


def _json(value: Any) -> str:
    return json.dumps(dict(value), ensure_ascii=False, default=str)

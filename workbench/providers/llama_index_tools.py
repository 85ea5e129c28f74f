"""Tools in LlamaIndex's own classes, offered to its models that can call functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.interfaces import ToolCall, ToolDecision
from workbench.providers.thinking import without_thinking

if TYPE_CHECKING:
    from llama_index.core.llms import ChatMessage
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.tools import BaseTool


def decide(
    llm: FunctionCallingLLM, messages: list[ChatMessage], definitions: Sequence[Mapping[str, Any]]
) -> ToolDecision:
    """What the model wants to call, and its words without reasoning. Not streamed: with tools on offer,
    streams of several vendors come back empty. Raises what the vendor raises."""
    tools = [_tool(definition["function"]) for definition in definitions]
    response = llm.chat_with_tools(tools, chat_history=messages, allow_parallel_tool_calls=True)
    selected = llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)
    calls = tuple(ToolCall(call.tool_name, dict(call.tool_kwargs)) for call in selected)
    return ToolDecision(calls, without_thinking(response.message.content or ""))


def _tool(function: Mapping[str, Any]) -> BaseTool:
    """A tool that is only described to the model: this workbench runs it, not LlamaIndex."""
    from llama_index.core.tools import FunctionTool, ToolMetadata

    @dataclass
    class Described(ToolMetadata):
        """Takes the parameters as JSON schema; the base class wants a pydantic model for them."""

        parameters: dict[str, Any] = field(default_factory=dict)

        def get_parameters_dict(self) -> dict[str, Any]:
            return self.parameters

    metadata = Described(
        description=function["description"], name=function["name"], parameters=dict(function["parameters"])
    )
    return FunctionTool(fn=_never_run, metadata=metadata)


def _never_run(**arguments: Any) -> None:
    raise AssertionError("tools are run by the workbench")

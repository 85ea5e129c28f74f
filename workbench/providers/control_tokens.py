"""Signs by which a chat template tells turns apart, made plain text where they stand in a message.

A server puts messages into its model's template and reads the whole with the tokens of the template known
(llama.cpp's ``parse_special``), so a paper that holds ``<|im_end|><|im_start|>system`` would end the user's
turn and speak as the system. The families: ChatML and Llama 3 ``<|…|>``, DeepSeek ``<｜…｜>``, Llama 2 and
Mistral ``[INST]``, ``<<SYS>>``, ``<s>``, Gemma ``<start_of_turn>``, tool and reasoning tags.
"""

from __future__ import annotations

import re

_NAMES = (
    "s|bos|eos|pad|unk|start_of_turn|end_of_turn|think|thinking|tool_call|tool_calls|tool_response|tools|"
    "function_calls|start_of_image|end_of_image|extra_id_[0-9]+"
)
_CAPITALS = "INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG|ARGS|CALL_ID|THINK"
_CONTROL = re.compile(
    rf"<(?P<bars>[|｜][^<>|｜\n]{{1,60}}[|｜])>|<(?P<tag>/?(?:{_NAMES}))>|<<(?P<system>/?SYS)>>"
    rf"|\[(?P<capitals>/?(?:{_CAPITALS}))\]"
)


def without_control_tokens(text: str) -> str:
    """``text`` with the brackets of each control token changed to quotation marks that look alike."""
    return _CONTROL.sub(lambda token: f"‹{token[token.lastgroup or 0]}›", text)

"""The earlier turns that a chat model is shown. What is left out here stays in the conversation."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.chat.prompts import prompt_tokens
from workbench.chat.small_talk import SMALL_TALK
from workbench.interfaces import ChatMessage
from workbench.records import Answer
from workbench.retrieval.audit import plain_claim

MOST_MESSAGES = 12  # questions and answers together
SHARE_OF_WINDOW = 0.25  # of the chat model's window; passages are worth more than old turns
LONGEST_ANSWER = 1600  # characters of one earlier answer; the rest of it is cut


def history_messages(
    answers: Sequence[Answer], *, window: int, most_messages: int = MOST_MESSAGES
) -> tuple[ChatMessage, ...]:
    """The latest turns, oldest first, each a question and its answer without passage numbers.

    At most ``most_messages``, and at most a quarter of the window of ``window`` tokens; a turn is shown whole
    or not at all. Of a refusal only the refusal itself is shown. Small talk and turns without a word of
    answer are left out.
    """
    budget = int(window * SHARE_OF_WINDOW)
    kept: list[ChatMessage] = []
    for answer in reversed(answers):
        text = _shown(answer)
        if not text:
            continue
        turn = [ChatMessage("user", answer.question), ChatMessage("assistant", text)]
        if len(kept) + len(turn) > most_messages or prompt_tokens([*turn, *kept]) > budget:
            break
        kept = turn + kept
    return tuple(kept)


def _shown(answer: Answer) -> str:
    if answer.provider == SMALL_TALK:
        return ""
    # A refusal goes on with the nearest passages, which answered nothing.
    text = answer.text.split("\n\n", 1)[0] if answer.refused else answer.text
    plain = "\n".join(plain_claim(line) if "[" in line else line for line in text.splitlines()).strip()
    return plain if len(plain) <= LONGEST_ANSWER else plain[: LONGEST_ANSWER - 1].rstrip() + "…"
